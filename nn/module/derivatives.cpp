#include <retrace/nn/module/derivatives.h>

#include <retrace/ops/ops.h>

namespace retrace {

std::vector<NamedTensor> per_sample_gradients(const std::vector<NamedTensor>& parameters, std::int64_t samples,
                                              const std::function<Tensor(std::int64_t sample)>& loss) {
  if (samples < 0) throw ValueError(text("per_sample_gradients: ", samples, " samples; give 0 or more"));
  Tensors weights;
  std::vector<NamedTensor> result;
  for (const auto& [name, weight] : parameters) {
    weights.push_back(weight);
    result.push_back({name, empty(weight.shape().inserted(0, samples), weight.dtype())});
  }
  for (std::int64_t b = 0; b < samples; ++b) {
    const auto own_loss = [&] {
      const Tensor value = loss(b);
      if (value.numel() != 1)
        throw ShapeError(text("per_sample_gradients: the loss of sample ", b, " is ", value.shape(),
                              ", and a loss has one element; reduce it with sum() or mean()"));
      return reshape(value, {});
    };
    const Tensors gradients = vjp(LeafFunction(own_loss), weights, full({}, 1));
    for (std::size_t k = 0; k < gradients.size(); ++k) copy_values(gradients[k], result[k].tensor[b]);
  }
  return result;
}

}  // namespace retrace

#include <retrace/nn/layers/mlp.h>

namespace retrace {

Mlp::Mlp(const std::vector<std::int64_t>& sizes, Random& random, const MlpOptions& choices) : options(choices) {
  if (sizes.size() < 2)
    throw ValueError(text("Mlp: ", sizes.size(), " sizes; give those of the input, of each hidden layer and of y"));
  check_probability("Mlp", options.dropout);
  for (std::size_t k = 1; k < sizes.size(); ++k)
    layers.emplace_back(sizes[k - 1], sizes[k], random, BiasOptions{.bias = options.bias});
}

Tensor Mlp::operator()(const Tensor& x, Random* random) const {
  const Scope scope(this, "mlp");
  Tensor y = x;
  for (const Linear& layer : layers) {
    const bool last = &layer == &layers.back();
    y = layer(y, last ? Activation::none : options.activation);
    if (!last && options.dropout > 0) y = dropout(y, options.dropout, random);
  }
  return y;
}

}  // namespace retrace

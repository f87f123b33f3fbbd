#include <retrace/nn/layers/layers.h>

namespace retrace {

Embedding::Embedding(std::int64_t count, std::int64_t features, Random& random, const EmbeddingOptions& of_padding)
    : weight(random.normal(parameter_shape("Embedding", "weight", {count, features}))), options(of_padding) {
  if (!options.padding_idx) return;
  const std::int64_t row = *options.padding_idx + (*options.padding_idx < 0 ? count : 0);
  if (row < 0 || row >= count)
    throw IndexError(text("Embedding: padding_idx ", *options.padding_idx, " is no row of weight", weight.shape(),
                          "; choose one from ", -count, " to ", count - 1));
  dispatch_real(weight.dtype(), "Embedding",
                [&]<class T>(T) { std::fill_n(weight.mutable_values<T>().data() + row * features, features, T(0)); });
}

}  // namespace retrace

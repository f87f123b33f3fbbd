#include <retrace/models/networks/attention_model.h>

#include <retrace/nn/recurrent.h>

namespace retrace {

AttentionBlock::AttentionBlock(std::int64_t size, int heads, Random& random)
    : attention_norm(size),
      mlp_norm(size),
      attention(size, random, {.heads = heads}),
      hidden(size, 2 * size, random),
      out(2 * size, size, random) {}

Tensor AttentionBlock::operator()(const Tensor& rows) const {
  const Scope scope(this, "attention_block");
  const Tensor now = attention_norm(rows);
  return after_attention(rows, attention.without_weights(now, now, now));
}

AttentionBlock::Continued AttentionBlock::continued(const Tensor& rows, const Tensor& seen) const {
  const Scope scope(this, "attention_block");
  const Tensor now = attention_norm(rows), keys = seen.defined() ? concat({seen, now}, 1) : now;
  const Tensor mask = causal_mask(now.dim(1), keys.dim(1), now.dtype());
  return {after_attention(rows, attention.without_weights(now, keys, keys, mask)), keys};
}

Tensor AttentionBlock::after_attention(const Tensor& rows, const Tensor& attended) const {
  const Tensor mixed = rows + attended;
  return mixed + out(hidden(mlp_norm(mixed), Activation::relu));
}

AttentionModel::AttentionModel(const AttentionModelOptions& options, Random& random)
    : input(options.input, options.size, random),
      positions(random.normal(parameter_shape("AttentionModel", "positions", {options.longest, options.size}), 0, 0.1)),
      norm(options.size),
      out(options.size, options.output, random) {
  for (int k = 0; k < options.blocks; ++k) blocks.emplace_back(options.size, options.heads, random);
}

Tensor AttentionModel::operator()(const Tensor& x) const {
  const Scope scope(this, "attention_model");
  const Tensor rows = rows_of(x);
  return out(norm(at_step(rows, x.dim(1) - 1)));
}

Tensor AttentionModel::answers(const Tensor& x, std::int64_t count) const {
  const Scope scope(this, "attention_model");
  return out(norm(last_steps(rows_of(x), count)));
}

StatesOverTime AttentionModel::states(const Tensor& x) const {
  const Scope scope(this, "attention_model");
  StatesOverTime result;
  Tensor rows = embed(x);
  const auto add = [&result](const std::string& name, const Tensor& all_rows) {
    for (const Tensor& row : steps_of(all_rows)) result.add(name, row);
    return stack(result.states.back().values, 1);
  };
  for (std::size_t k = 0; k < blocks.size(); ++k) rows = add(text("block ", k), blocks[k](rows));
  result.answers = add("y", out(norm(rows)));
  return result;
}

Tensor AttentionModel::embed(const Tensor& x) const {
  check_input("AttentionModel", x, 3, input.weight.dim(1));
  const std::int64_t time = x.dim(1), longest = positions.dim(0);
  if (time < 1 || time > longest)
    throw ShapeError(text("AttentionModel: the input ", x, " has ", time, " steps; from 1 to ", longest,
                          " have a position; make the model with a larger `longest`"));
  const Tensor rows = input(x);
  return rows + slice(positions, {range(0, time)});
}

Tensor AttentionModel::rows_of(const Tensor& x) const {
  Tensor rows = embed(x);
  for (const AttentionBlock& block : blocks) rows = block(rows);
  return rows;
}

}  // namespace retrace

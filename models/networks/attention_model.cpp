#include <retrace/models/networks/attention_model.h>

#include <retrace/nn/layers/recurrent.h>

namespace retrace {
namespace {

std::int64_t mlp_features(std::int64_t size, const AttentionBlockOptions& options) {
  return options.feed_forward == 0 ? 2 * size : options.feed_forward;
}

}  // namespace

AttentionBlock::AttentionBlock(std::int64_t size, int heads, Random& random, const AttentionBlockOptions& options)
    : attention_norm(size),
      mlp_norm(size),
      attention(size, random, {.heads = heads, .dropout = options.dropout, .positions = options.positions}),
      hidden(size, mlp_features(size, options), random),
      out(mlp_features(size, options), size, random),
      dropout(options.dropout) {}

Tensor AttentionBlock::operator()(const Tensor& rows, const AttendOptions& attend) const {
  check_input("AttentionBlock", rows, 3, attention.query.weight.dim(1));
  return last(rows, rows.dim(1), attend);
}

Tensor AttentionBlock::last(const Tensor& rows, std::int64_t count, const AttendOptions& attend) const {
  const Scope scope(this, "attention_block");
  const Tensor now = attention_norm(rows);
  const Tensor attended = attention.without_weights(last_steps(now, count), now, now, attend);
  return after_attention(last_steps(rows, count), attended, attend.random);
}

AttentionBlock::Continued AttentionBlock::continued(const Tensor& rows, const Tensor& seen, Random* random) const {
  const Scope scope(this, "attention_block");
  const Tensor now = attention_norm(rows), keys = seen.defined() ? concat({seen, now}, 1) : now;
  const Tensor mask = causal_mask(now.dim(1), keys.dim(1), now.dtype());
  const Tensor attended = attention.without_weights(now, keys, keys, {.mask = mask, .random = random});
  return {after_attention(rows, attended, random), keys};
}

Tensor AttentionBlock::after_attention(const Tensor& rows, const Tensor& attended, Random* random) const {
  const Tensor mixed = rows + dropped(attended, random);
  return mixed + dropped(out(dropped(hidden(mlp_norm(mixed), Activation::relu), random)), random);
}

Tensor AttentionBlock::dropped(const Tensor& x, Random* random) const {
  return dropout > 0 ? retrace::dropout(x, dropout, random) : x;
}

AttentionModel::AttentionModel(const AttentionModelOptions& form, Random& random)
    : input(form.input, form.size, random),
      positions(learned_positions("AttentionModel", form.positions, form.longest, form.size, random)),
      norm(form.size),
      out(form.size, form.output, random),
      options(form) {
  const AttentionBlockOptions block{options.feed_forward, options.dropout, in_attention(options.positions)};
  const TransformerLayerOptions layer{.heads = options.heads,
                                      .feed_forward = options.feed_forward,
                                      .dropout = block.dropout,
                                      .norm_first = true,
                                      .positions = block.positions};
  for (int k = 0; k < options.blocks; ++k)
    if (options.kind == BlockKind::attention_block)
      blocks.emplace_back(options.size, options.heads, random, block);
    else
      layers.emplace_back(options.size, random, layer);
}

const char* AttentionModel::scope_name() const {
  return options.kind == BlockKind::encoder_layer ? "transformer" : "attention_model";
}

Tensor AttentionModel::operator()(const Tensor& x, Random* random) const {
  const Scope scope(this, scope_name());
  return out(norm(at_step(last_rows(x, 1, random), 0)));
}

Tensor AttentionModel::answers(const Tensor& x, std::int64_t count, Random* random) const {
  const Scope scope(this, scope_name());
  return out(norm(last_rows(x, count, random)));
}

StatesOverTime AttentionModel::states(const Tensor& x) const {
  const Scope scope(this, scope_name());
  StatesOverTime result;
  Tensor rows = embed(x);
  const auto add = [&result](const std::string& name, const Tensor& all_rows) {
    for (const Tensor& row : steps_of(all_rows)) result.add(name, row);
    return stack(result.states.back().values, 1);
  };
  for (int k = 0; k < options.blocks; ++k) rows = add(text("block ", k), run_block(k, rows, x.dim(1), nullptr));
  result.answers = add("y", out(norm(rows)));
  return result;
}

Tensor AttentionModel::embed(const Tensor& x) const {
  check_input("AttentionModel", x, 3, input.weight.dim(1));
  const std::int64_t time = x.dim(1), longest = positions ? positions->dim(0) : 0;
  if (!positions && time < 1) throw ShapeError(text("AttentionModel: the input ", x, " has no steps; give 1 or more"));
  if (positions && (time < 1 || time > longest))
    throw ShapeError(text("AttentionModel: the input ", x, " has ", time, " steps; from 1 to ", longest,
                          " have a position; make the model with a larger `longest`"));
  return with_positions(input(x), options.positions, positions, 0);
}

Tensor AttentionModel::run_block(int k, const Tensor& rows, std::int64_t count, Random* random) const {
  const auto place = static_cast<std::size_t>(k);
  const AttendOptions attend{.causal = options.causal, .random = random};
  if (options.kind == BlockKind::attention_block) return blocks[place].last(rows, count, attend);
  return last_steps(layers[place](rows, attend), count);
}

Tensor AttentionModel::last_rows(const Tensor& x, std::int64_t count, Random* random) const {
  Tensor rows = embed(x);
  for (int k = 0; k < options.blocks; ++k) rows = run_block(k, rows, k + 1 < options.blocks ? x.dim(1) : count, random);
  return last_steps(rows, count);
}

}  // namespace retrace

#include <retrace/models/networks/attention_model.h>

#include <retrace/nn/layers/positions.h>
#include <retrace/nn/layers/recurrent.h>

namespace retrace {
namespace {

std::int64_t mlp_features(std::int64_t size, const AttentionBlockOptions& options) {
  return options.feed_forward == 0 ? 2 * size : options.feed_forward;
}

/// The positions that attention itself takes into account.
AttentionPositions in_attention(RowPositions positions) {
  if (positions == RowPositions::rotary) return AttentionPositions::rotary;
  return positions == RowPositions::alibi ? AttentionPositions::alibi : AttentionPositions::none;
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
  const Tensor mixed = last_steps(rows, count) + dropped(attended, attend.random);
  return mixed + dropped(out(dropped(hidden(mlp_norm(mixed), Activation::relu), attend.random)), attend.random);
}

Tensor AttentionBlock::dropped(const Tensor& x, Random* random) const {
  return dropout > 0 ? retrace::dropout(x, dropout, random) : x;
}

AttentionModel::AttentionModel(const AttentionModelOptions& form, Random& random)
    : input(form.input, form.size, random), norm(form.size), options(form) {
  if (options.positions == RowPositions::learned)
    positions.emplace(
        random.normal(parameter_shape("AttentionModel", "positions", {options.longest, options.size}), 0, 0.1));
  if (options.output != 0) out.emplace(options.size, options.output, random);
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
  return answer(at_step(last_rows(x, 1, random), 0));
}

Tensor AttentionModel::answers(const Tensor& x, std::int64_t count, Random* random) const {
  const Scope scope(this, scope_name());
  return answer(last_rows(x, count, random));
}

Continued AttentionModel::continued(const Tensor& x, const SequenceState& state, Random* random) const {
  const Scope scope(this, scope_name());
  if (!options.causal)
    throw ValueError(
        "AttentionModel: attention whose rows see later ones cannot go on from a state; make the model with `causal`");
  const std::size_t count = static_cast<std::size_t>(options.blocks);
  const Tensors parts = state.take(2 * count);
  const bool begins = parts.empty() || !parts.front().defined();
  Tensor rows = embed(x, begins ? 0 : parts.front().dim(1));
  SequenceState after;
  for (std::size_t k = 0; k < count; ++k) {
    KeyValueCache cache{parts[2 * k], parts[2 * k + 1]};
    rows = run_block(static_cast<int>(k), rows, x.dim(1), random, &cache);
    after.parts.insert(after.parts.end(), {cache.keys, cache.values});
  }
  return {answer(rows), std::move(after)};
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
  result.answers = add("y", answer(rows));
  return result;
}

Tensor AttentionModel::embed(const Tensor& x, std::int64_t first) const {
  check_input("AttentionModel", x, 3, input.weight.dim(1));
  const std::int64_t time = x.dim(1), longest = positions ? positions->dim(0) : 0;
  if (!positions && time < 1) throw ShapeError(text("AttentionModel: the input ", x, " has no steps; give 1 or more"));
  if (positions && (time < 1 || first + time > longest))
    throw ShapeError(text("AttentionModel: the input ", x, " has ", time, " steps",
                          first > 0 ? text(" after ", first) : "", "; from 1 to ", longest,
                          " have a position; make the model with a larger `longest`"));
  const Tensor rows = input(x);
  if (positions) return rows + slice(*positions, {range(first, first + time)});
  return options.positions == RowPositions::sinusoidal ? SinusoidalPositions()(rows, first) : rows;
}

Tensor AttentionModel::run_block(int k, const Tensor& rows, std::int64_t count, Random* random,
                                 KeyValueCache* cache) const {
  const auto place = static_cast<std::size_t>(k);
  const AttendOptions attend{.causal = options.causal, .random = random, .cache = cache};
  if (options.kind == BlockKind::attention_block) return blocks[place].last(rows, count, attend);
  return last_steps(layers[place](rows, attend), count);
}

Tensor AttentionModel::last_rows(const Tensor& x, std::int64_t count, Random* random) const {
  Tensor rows = embed(x);
  for (int k = 0; k < options.blocks; ++k) rows = run_block(k, rows, k + 1 < options.blocks ? x.dim(1) : count, random);
  return last_steps(rows, count);
}

}  // namespace retrace

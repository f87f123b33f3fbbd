// Single ops, forward + backward with a given cotangent. GBs counts the minimum traffic: the arrays that must be read
// or written, at four bytes per element.
#include <functional>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include <retrace/core/core.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using Op = std::function<Tensor(const Tensors&)>;

/// One case: `op` of the inputs, which all want gradients; the minimum traffic is `passes` times `elements` elements.
void time_op(benchmark::State& state, const Tensors& inputs, const Op& op, double passes, std::int64_t elements) {
  Random random(2);
  for (const Tensor& input : inputs) input.watch();
  const Tensors cotangents{random.normal(op(inputs).shape())};
  for (auto _ : state) {
    for (const Tensor& input : inputs) input.zero_grad();
    Tape tape;
    Tensors outputs;
    outputs.push_back(op(inputs));  // it has no other handle, so the cotangent need not be copied
    tape.backward(outputs, cotangents);
  }
  state.counters["GBs"] =
      benchmark::Counter(passes * 4e-9 * static_cast<double>(elements), benchmark::Counter::kIsIterationInvariantRate);
}

/// The inputs are standard normal, drawn when the case runs.
void add_op(const std::string& name, std::vector<Shape> shapes, double passes, Op op) {
  const auto run = [shapes = std::move(shapes), passes, op = std::move(op)](benchmark::State& state) {
    Random random(1);
    Tensors inputs;
    for (const Shape& shape : shapes) inputs.push_back(random.normal(shape));
    time_op(state, inputs, op, passes, shapes[0].numel());
  };
  benchmark::RegisterBenchmark(("op_" + name).c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
}

void add_maps() {
  using Map = Tensor (*)(const Tensor&);
  const std::pair<const char*, Map> maps[] = {{"sigmoid", sigmoid}, {"tanh", tanh},           {"exp", exp},
                                              {"gelu_erf", gelu},   {"gelu_tanh", gelu_tanh}, {"softplus", softplus},
                                              {"relu", relu}};
  for (const auto& [name, map] : maps) {
    const Op op = [map](const Tensors& in) { return map(in[0]); };
    add_op(text(name, "_1M"), {{1 << 20}}, 5, op);
    add_op(text(name, "_16K"), {{1 << 14}}, 5, op);
  }
}

void add_rows() {
  for (const std::int64_t columns : {64, 1024}) {
    add_op(text("softmax_4096x", columns), {{4096, columns}}, 5, [](const Tensors& in) { return softmax(in[0]); });
    add_op(text("layer_norm_4096x", columns), {{4096, columns}, {columns}, {columns}}, 5,
           [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); });
  }
  add_op("rotary_32x128x256", {{32, 128, 256}}, 4, [](const Tensors& in) { return rotary(in[0], {.heads = 4}); });
  Random random(3);
  const Tensor labels = random.integers({4096}, 1000), ids = random.integers({8192}, 10000);
  add_op("cross_entropy_4096x1000", {{4096, 1000}}, 4,
         [labels](const Tensors& in) { return cross_entropy(in[0], labels); });
  add_op("embedding_10000x256_8192", {{10000, 256}}, 5, [ids](const Tensors& in) { return embedding(in[0], ids); });
}

void add_sums() {
  const Op sum_of_two = [](const Tensors& in) { return add(in[0], in[1]); };
  add_op("add_1M", {{1 << 20}, {1 << 20}}, 6, sum_of_two);
  add_op("mul_1M", {{1 << 20}, {1 << 20}}, 8, [](const Tensors& in) { return mul(in[0], in[1]); });
  add_op("bias_add_4096x256", {{4096, 256}, {256}}, 5, sum_of_two);
}

const bool registered = (add_rows(), add_maps(), add_sums(), true);

}  // namespace
}  // namespace retrace

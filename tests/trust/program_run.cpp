#include <retrace/core/base/threads_scope.h>
#include <retrace/core/tape/recording.h>
#include <retrace/tests/trust/program.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace retrace {
namespace {

using naive::Array;
using naive::Arrays;
using naive::Number;

/// Pseudo-random signs and cotangents, the same for a node in each run.
double draw(std::uint64_t node, std::uint64_t element) {
  std::uint64_t bits = (node + 1) * 0x9E3779B97F4A7C15U ^ (element + 1) * 0xC2B2AE3D27D4EB4FU;
  bits = (bits ^ bits >> 29) * 0xBF58476D1CE4E5B9U;
  bits ^= bits >> 32;
  return static_cast<float>(static_cast<double>(bits & 0xffffff) / (1 << 23) - 1);  // exact in f32
}

/// The naive interpreter: all nodes, with slopes along a direction, and each number rounded by a factor 1 +-
/// `rounding`.
Arrays evaluate(const Program& program, const std::function<bool(std::size_t node)>& in_direction, double rounding,
                std::uint64_t salt) {
  Arrays values(program.nodes.size());
  const auto finish = [&](std::size_t node, Array value) {
    for (std::size_t k = 0; k < value.at.size(); ++k) {
      Number& number = value.at[k];
      if (in_direction(node)) number.slope += draw(node + 1000, k);
      number.value *= 1 + rounding * draw(node + salt, 2 * k);
      number.slope *= 1 + rounding * draw(node + salt, 2 * k + 1);
    }
    values[node] = std::move(value);
  };
  for (std::size_t k = 0; k < program.nodes.size(); ++k)
    if (program.nodes[k].is_leaf) finish(k, program.nodes[k].value);
  for (const Program::Call& call : program.calls) {
    Arrays in;
    for (const std::size_t k : call.in) in.push_back(values[k]);
    Arrays out = call.op->naive(in, call.numbers);
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (!program.nodes[call.first + k].wants)
        for (Number& number : out[k].at) number.slope = 0;
      finish(call.first + k, std::move(out[k]));
    }
  }
  return values;
}

/// <u, J v>: the slope of the outputs along the direction, weighted by their cotangents, and the sum of the sizes.
Number weighted_slope(const Program& program, const Arrays& values) {
  Number result;
  for (const std::size_t node : program.outputs)
    for (std::size_t k = 0; k < values[node].at.size(); ++k) {
      const double term = draw(node, k) * values[node].at[k].slope;
      result = result + Number(term, std::abs(term));
    }
  return result;
}

Shape shape_of(const Array& x) { return Shape{std::span<const std::int64_t>(x.shape)}; }
std::vector<double> numbers_of(const Tensor& x) {
  const Tensor wide = x.to(f64);
  const auto values = wide.values<double>();
  return {values.begin(), values.end()};
}

/// All tensors that are held after the last run.
std::vector<Tensor> leaves_of(const Program& program) {
  std::vector<Tensor> result(program.nodes.size());
  for (std::size_t k = 0; k < result.size(); ++k) {
    const Program::Node& node = program.nodes[k];
    if (!node.is_leaf) continue;
    std::vector<double> numbers;
    for (const Number& number : node.value.at) numbers.push_back(number.value);
    const Tensor x = tensor(std::span<const double>(numbers), shape_of(node.value), program.dtype);
    result[k] = node.wants ? Tensor(parameter(x)) : x;
  }
  return result;
}

/// A backward within the forward: d sum (w z)^2 / dw = 2 w sum z^2.
bool nested_tape_is_right(const Tensor& z) {
  Tape tape;
  const Tensor w = parameter(full({}, 0.5, z.dtype()), "w");
  tape.backward(sum(square(w * z.detach())));
  double squares = 0;
  for (const double each : numbers_of(z)) squares += each * each;
  return std::abs(w.grad().item() - squares) <= 1e-4 * (1 + squares);
}

Tensors call_on(const Program::Call& call, const Tensors& in) {
  if (call.mode == Program::Mode::without_tape) {
    const NoTape none;
    return call.op->run(in, call.numbers);
  }
  if (call.mode == Program::Mode::after_a_nested_tape && !nested_tape_is_right(in[0]))
    throw ValueError("the gradient of a nested tape is wrong");
  Tensors out = call.op->run(in, call.numbers);
  if (call.mode == Program::Mode::detached)
    for (Tensor& each : out) each = each.detach();
  return out;
}

/// Runs the program on a tape and walks back; `tensors` has its leaves, and then what is held, too.
void run_on_tape(const Program& program, std::vector<Tensor>& tensors) {
  const ThreadsScope scope(program.threads);
  std::map<std::size_t, std::size_t> last_use;
  for (std::size_t k = 0; k < program.calls.size(); ++k)
    for (const std::size_t node : program.calls[k].in) last_use[node] = k;
  Tape tape(program.options);
  for (std::size_t k = 0; k < program.calls.size(); ++k) {
    const Program::Call& call = program.calls[k];
    Tensors in;
    for (const std::size_t node : call.in) in.push_back(tensors[node]);
    const Tensors out = call_on(call, in);
    for (std::size_t j = 0; j < call.count; ++j) tensors[call.first + j] = out[j];
    for (const std::size_t node : call.in)
      if (!program.nodes[node].held && last_use[node] == k) tensors[node] = Tensor();
  }
  Tensors outputs, cotangents;
  for (const std::size_t node : program.outputs) {
    std::vector<double> u;
    for (std::size_t k = 0; k < program.nodes[node].value.at.size(); ++k) u.push_back(draw(node, k));
    outputs.push_back(tensors[node]);
    cotangents.push_back(tensor(std::span<const double>(u), tensors[node].shape(), program.dtype));
  }
  tape.backward(outputs, cotangents);
}

/// Compares <u, J v> with <J^T u, v> for the direction v in these nodes.
std::string difference_along(const Program& program, const std::vector<Tensor>& tensors, double rounding, double runs,
                             const std::function<bool(std::size_t)>& in_direction, const std::string& subject) {
  const Number expected = weighted_slope(program, evaluate(program, in_direction, 0, 0));
  double noise = 0;
  for (const std::uint64_t salt : {5000, 6000, 7000}) {
    const Number rounded = weighted_slope(program, evaluate(program, in_direction, rounding, salt));
    noise = std::max(noise, std::abs(rounded.value - expected.value));
  }
  double found = 0, sizes = expected.slope;
  for (std::size_t node = 0; node < tensors.size(); ++node) {
    if (!in_direction(node) || !tensors[node].has_grad()) continue;
    const std::vector<double> gradient = numbers_of(tensors[node].grad());
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      const double term = gradient[k] / runs * draw(node + 1000, k);
      found += term;
      sizes += std::abs(term);
    }
  }
  const double limit = 300 * noise + 100 * rounding * (sizes + 1);
  if (std::abs(found - expected.value) <= limit) return {};
  return text("the gradient of ", subject, " along a direction is ", found, ", not ", expected.value, " (limit ", limit,
              ")");
}

}  // namespace

std::string difference(const Program& program) {
  if (program.outputs.empty()) return {};
  const double rounding = program.dtype == f32 ? 6e-8 : 1.1e-16;
  std::vector<Tensor> tensors = leaves_of(program);
  try {
    for (int run = 0; run < program.runs; ++run) run_on_tape(program, tensors);
  } catch (const Error& error) {
    return text("an error: ", error.what());
  }
  const auto nowhere = [](std::size_t) { return false; };
  const Arrays rounded = evaluate(program, nowhere, rounding, 5000), again = evaluate(program, nowhere, rounding, 6000);
  for (const std::size_t node : program.outputs) {
    const std::vector<double> found = numbers_of(tensors[node]);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double expected = program.nodes[node].value.at[k].value;
      const double noise =
          std::max(std::abs(rounded[node].at[k].value - expected), std::abs(again[node].at[k].value - expected));
      if (!(std::abs(found[k] - expected) <= 300 * noise + 100 * rounding * (std::abs(expected) + 1)))
        return text("element ", k, " of %", node, " is ", found[k], ", not ", expected);
    }
  }
  const auto is_parameter = [&](std::size_t k) { return program.nodes[k].is_leaf && program.nodes[k].wants; };
  std::string wrong = difference_along(program, tensors, rounding, program.runs, is_parameter, "the parameters");
  for (std::size_t node = 0; node < tensors.size() && wrong.empty(); ++node) {
    if (program.nodes[node].is_leaf || !program.nodes[node].held || !program.nodes[node].wants) continue;
    if (program.nodes[node].is_part && program.options.expand_fused) continue;  // another result is composed of it
    wrong = difference_along(
        program, tensors, rounding, 1, [node](std::size_t k) { return k == node; }, text("the held %", node));
  }
  return wrong;
}

}  // namespace retrace

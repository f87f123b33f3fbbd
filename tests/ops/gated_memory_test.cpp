// The gates of a memory: values by hand, against composed ops, and errors.
#include <gtest/gtest.h>
#include <retrace/core/checks/gradcheck.h>
#include <retrace/tests/ops/gradient_support.h>

#include <cmath>

namespace retrace {
namespace {

double sigmoid_of(double z) { return 1 / (1 + std::exp(-z)); }

TEST(GatedMemory, OneSlotByHand) {
  const Tensor m = tensor({{0.5, -1.0}}, f64), c = tensor({{2.0, 0.25}}, f64);
  const Tensor p = tensor({{1.0, -2.0, 0.5, 3.0}}, f64), q = tensor({0.1, 0.2, 0.3, 0.4}, f64);
  const auto [next, i, f] = gated_memory(m, c, p, q, {.input_bias = number(0.7), .forget_bias = number(-1.1)});
  const double input[] = {sigmoid_of(1.8), sigmoid_of(-1.1)}, forget[] = {sigmoid_of(-0.3), sigmoid_of(2.3)};
  for (std::int64_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(i.at({0, k}), input[k], 1e-15);
    EXPECT_NEAR(f.at({0, k}), forget[k], 1e-15);
    EXPECT_NEAR(next.at({0, k}), input[k] * std::tanh(c.at({0, k})) + forget[k] * m.at({0, k}), 1e-15);
  }
  const auto [mixed, gate, none] =
      gated_memory(m, c, slice(p, {all, range(0, 2)}), slice(q, {range(0, 2)}), {.coupled = true});
  EXPECT_FALSE(none.defined());
  for (std::int64_t k = 0; k < 2; ++k) {
    const double g = sigmoid_of(p.at({0, k}) + q.at({k}));
    EXPECT_NEAR(gate.at({0, k}), g, 1e-15);
    EXPECT_NEAR(mixed.at({0, k}), g * std::tanh(c.at({0, k})) + (1 - g) * m.at({0, k}), 1e-15);
  }
}

TEST(GatedMemory, GatesWithoutLimitKeepOrReplaceASlotExactly) {
  const Tensor m = distinct({2, 3, 4}, 0.1), c = distinct({2, 3, 4}, -0.3), p = distinct({2, 3, 8}, 0.2);
  const Tensor q = distinct({2, 8}, 0.4);
  const Tensor kept =
      gated_memory(m, c, p, q, {.input_bias = number(-infinity), .forget_bias = number(infinity)}).memory;
  const Tensor replaced =
      gated_memory(m, c, p, q, {.input_bias = number(infinity), .forget_bias = number(-infinity)}).memory;
  for (std::int64_t k = 0; k < m.numel(); ++k) {
    EXPECT_EQ(kept.values<double>()[static_cast<std::size_t>(k)], m.values<double>()[static_cast<std::size_t>(k)]);
    EXPECT_NEAR(replaced.values<double>()[static_cast<std::size_t>(k)],
                std::tanh(c.values<double>()[static_cast<std::size_t>(k)]), 1e-15);
  }
}

/// m, c, p, q and two biases for 2 samples of 5 slots with 17 units, which is not a multiple of a vector length.
Tensors memories(std::int64_t gates, Random& random) {
  return {random.normal({2, 5, 17}, f64), random.normal({2, 5, 17}, f64), random.normal({2, 5, gates}, f64),
          random.normal({2, gates}, f64), random.normal({}, f64),         random.normal({}, f64)};
}

/// The gradients of all inputs, when random cotangents come back through the memory and, if wanted, through the gates.
std::vector<double> gradients(const Tensors& numbers, bool coupled, bool through_gates, TapeOptions tape_options) {
  Tensors in;
  for (const Tensor& x : numbers) in.push_back(parameter(x.clone()));
  Tape tape(tape_options);
  const GatedMemoryOptions options{.input_bias = in[4], .forget_bias = coupled ? Tensor() : in[5], .coupled = coupled};
  const auto [next, i, f] = gated_memory(in[0], in[1], in[2], in[3], options);
  EXPECT_EQ(tape.find("gated_memory") == nullptr, tape_options.expand_fused || in[2].dim(-1) < 17);
  Random random(9);
  Tensors outputs{next}, cotangents{random.normal(next.shape(), f64)};
  if (through_gates) {
    outputs.push_back(i), cotangents.push_back(random.normal(i.shape(), f64));
    if (f.defined()) outputs.push_back(f), cotangents.push_back(random.normal(f.shape(), f64));
  }
  tape.backward(outputs, cotangents);
  std::vector<double> result;
  for (const Tensor& x : in)
    if (!(coupled && &x == &in[5]))
      result.insert(result.end(), x.grad().values<double>().begin(), x.grad().values<double>().end());
  return result;
}

TEST(GatedMemory, EqualsTheOpsThatItIsMadeOf) {
  Random random(4);
  for (const bool coupled : {false, true})
    for (const bool through_gates : {false, true}) {
      const Tensors numbers = memories(coupled ? 17 : 34, random);
      const std::vector<double> fused = gradients(numbers, coupled, through_gates, {});
      const std::vector<double> composed = gradients(numbers, coupled, through_gates, {.expand_fused = true});
      ASSERT_EQ(fused.size(), composed.size());
      for (std::size_t k = 0; k < fused.size(); ++k) ASSERT_NEAR(fused[k], composed[k], 1e-13) << k;
    }
}

/// Values and gradients with a candidate of 7 rows, or with a slice of its first 5. The candidate is used once more,
/// before or after the op, so that the gradient of the op arrives second or first.
std::vector<double> with_more_rows(const Tensors& numbers, bool cut, bool coupled, bool used_after) {
  Random random(12);
  const Dtype dtype = numbers[0].dtype();
  const Tensor cotangent = random.normal({2, 5, 17}, dtype), of_rows = random.normal({2, 7, 17}, dtype);
  Tensors in;
  for (const Tensor& x : numbers) in.push_back(parameter(x.clone()));
  Tape tape;
  Tensor other_use = used_after ? Tensor() : sum(in[1] * of_rows);
  const Tensor candidate = cut ? slice(in[1], {all, range(0, 5)}) : in[1];
  const GatedMemoryResult next =
      gated_memory(in[0], candidate, in[2], in[3],
                   {.input_bias = in[4], .forget_bias = coupled ? Tensor() : in[5], .coupled = coupled});
  if (used_after) other_use = sum(in[1] * of_rows);
  tape.backward(sum(next.memory * cotangent) + sum(next.input_gate * cotangent) + other_use);
  std::vector<double> result;
  const auto append = [&](const Tensor& x) {
    const Tensor numbers_of_x = x.to(f64);
    result.insert(result.end(), numbers_of_x.values<double>().begin(), numbers_of_x.values<double>().end());
  };
  append(next.memory);
  for (const Tensor& x : in)
    if (!(coupled && &x == &in[5])) append(x.grad());
  return result;
}

/// Rows of the candidate beyond those of the memory, such as the row of the input, have no effect.
TEST(GatedMemory, MoreRowsOfTheCandidateAreAsIfCutOff) {
  Random random(11);
  for (const Dtype dtype : {f64, f32})
    for (const bool coupled : {false, true})
      for (const std::int64_t gates : {17, 1})
        for (const bool used_after : {false, true}) {
          Tensors numbers = memories(coupled ? gates : 2 * gates, random);
          numbers[1] = random.normal({2, 7, 17}, f64);
          for (Tensor& x : numbers) x = x.to(dtype);
          EXPECT_EQ(with_more_rows(numbers, false, coupled, used_after),
                    with_more_rows(numbers, true, coupled, used_after))
              << coupled << gates << used_after;
        }
}

TEST(GatedMemory, WithoutSlotsTheGatesOfTheInputHaveNoGradient) {
  const Tensor q = parameter(ones({2, 8}, f64));
  Tape tape;
  const Tensor next = gated_memory(zeros({2, 0, 4}, f64), zeros({2, 1, 4}, f64), zeros({2, 0, 8}, f64), q).memory;
  tape.backward(sum(next));
  const Tensor gradient = q.grad();
  for (const double x : gradient.values<double>()) EXPECT_EQ(x, 0);
}

TEST(GatedMemory, OneGateASlotIsThatOfAllItsUnits) {
  Random random(6);
  const Tensors in = memories(2, random);
  const GatedMemoryOptions options{.input_bias = in[4], .forget_bias = in[5]};
  const Tensor of_slots = gated_memory(in[0], in[1], in[2], in[3], options).memory;
  const auto for_units = [](const Tensor& gates) {
    Shape shape = gates.shape().inserted(gates.rank(), 17);
    return reshape(broadcast_to(unsqueeze(gates, -1), shape), gates.shape().replaced(gates.rank() - 1, 34));
  };
  const Tensor of_units = gated_memory(in[0], in[1], for_units(in[2]), for_units(in[3]), options).memory;
  for (std::size_t k = 0; k < 170; ++k) ASSERT_NEAR(of_slots.values<double>()[k], of_units.values<double>()[k], 1e-15);
  const GradcheckResult result = gradcheck(
      [](const Tensors& x) {
        return Tensors{gated_memory(x[0], x[1], x[2], x[3], {.input_bias = x[4], .forget_bias = x[5]}).memory};
      },
      in);
  EXPECT_TRUE(result.passed()) << result;
}

TEST(GatedMemory, Errors) {
  const Tensor m = zeros({2, 3, 4}, f64), p = zeros({2, 3, 8}, f64), q = zeros({2, 8}, f64);
  expect_error<ShapeError>(
      [&] {
        gated_memory(m, zeros({2, 3, 5}, f64), p, q);
      },
      "gated_memory: memory[2, 3, 4], candidate[2, 3, 5], gates_of_memory[2, 3, 8] and "
      "gates_of_input[2, 8]: memory and candidate must be [..., slots, units], the candidate with as many slots or "
      "more; reshape them");
  expect_error<ShapeError>(
      [&] {
        gated_memory(m, m, zeros({2, 3, 4}, f64), q);
      },
      "gated_memory: memory[2, 3, 4], candidate[2, 3, 4], gates_of_memory[2, 3, 4] and "
      "gates_of_input[2, 8]: the gates of the memory must be [..., slots, 8], or [..., slots, 2] for 2 "
      "a slot; reshape them");
  expect_error<ShapeError>(
      [&] {
        gated_memory(m, m, p, zeros({3, 8}, f64));
      },
      "gated_memory: memory[2, 3, 4], candidate[2, 3, 4], gates_of_memory[2, 3, 8] and "
      "gates_of_input[3, 8]: the gates of the input must be [2, 8], the same for every slot");
  expect_error<ShapeError>([&] { gated_memory(m, m, p, q, {.input_bias = zeros({4}, f64)}); },
                           "gated_memory: memory[2, 3, 4], candidate[2, 3, 4], gates_of_memory[2, 3, 8] and "
                           "gates_of_input[2, 8]: input_bias[4] must be one number");
  expect_error<ValueError>(
      [&] {
        gated_memory(m, m, zeros({2, 3, 4}, f64), zeros({2, 4}, f64), {.forget_bias = number(1), .coupled = true});
      },
      "gated_memory: a coupled forget gate is 1 - i and has no bias; leave forget_bias out");
  EXPECT_THROW(gated_memory(m, m, p, q.to(f32)), DtypeError);
  EXPECT_THROW(gated_memory(zeros({4}, f64), zeros({4}, f64), zeros({8}, f64), q), ShapeError);
}

}  // namespace
}  // namespace retrace

// DeltaNet and Mlstm: against their formulas, computed number by number; a state that goes on; lengths; single samples.
#include <retrace/nn/memory/delta_net.h>
#include <retrace/nn/memory/mlstm.h>

#include <retrace/tests/nn/memory/memory_test.h>

#include <span>
#include <utility>
#include <vector>

namespace retrace {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

double sigmoid_of(double z) { return 1 / (1 + std::exp(-z)); }
double silu_of(double z) { return z * sigmoid_of(z); }

double dot(const Vector& a, const Vector& b) {
  double result = 0;
  for (std::size_t k = 0; k < a.size(); ++k) result += a[k] * b[k];
  return result;
}

Vector map(Vector x, auto f) {
  for (double& value : x) value = f(value);
  return x;
}

Vector unit(const Vector& x) {
  const double length = std::sqrt(dot(x, x));
  return map(x, [&](double value) { return value / length; });
}

/// rms_norm(x) gain, without eps.
Vector normalised(const Vector& x, const Tensor& gain) {
  Vector result = unit(x);
  for (std::size_t k = 0; k < x.size(); ++k)
    result[k] *= std::sqrt(static_cast<double>(x.size())) * gain.values<double>()[k];
  return result;
}

/// Numbers that one head reads at one step.
struct HeadInput {
  Vector q, k, v, gate;
  double first, second;
};

/// The rows of W x_t + b that belong to a head.
HeadInput input_of(const auto& module, const Tensor& x, std::int64_t head) {
  const std::int64_t heads = module.options.heads, size = module.options.head_size;
  const Vector z = list(linear(x, module.project.weight, *module.project.bias));
  const auto rows = [&](std::int64_t kind) {
    const auto first = z.begin() + (kind * heads + head) * size;
    return Vector(first, first + size);
  };
  const auto of_gate = [&](std::int64_t kind) {
    return z[static_cast<std::size_t>(4 * heads * size + kind * heads + head)];
  };
  return {rows(0), rows(1), rows(2), rows(3), of_gate(0), of_gate(1)};
}

/// y [T, F] of a module whose heads are computed by Head: head(input) -> the row of this head that goes to `out`.
template <class Head> Tensor plain(const auto& module, const Tensor& x) {
  std::vector<Head> heads(static_cast<std::size_t>(module.options.heads), Head(module));
  Tensors rows;
  for (std::int64_t t = 0; t < x.dim(0); ++t) {
    Vector joined;
    for (std::size_t head = 0; head < heads.size(); ++head) {
      const Vector row = heads[head](input_of(module, x[t], static_cast<std::int64_t>(head)));
      joined.insert(joined.end(), row.begin(), row.end());
    }
    rows.push_back(matmul(module.out.weight, tensor(std::span(std::as_const(joined)), {std::ssize(joined)})));
  }
  return stack(rows);
}

Matrix zero_matrix(const auto& module) {
  const auto size = static_cast<std::size_t>(module.options.head_size);
  return Matrix(size, Vector(size, 0.0));
}

/// The formula of DeltaNet with the whole product S alpha (I - beta k k^T).
struct DeltaHead {
  const DeltaNet& module;
  Matrix s = zero_matrix(module);

  explicit DeltaHead(const DeltaNet& of) : module(of) {}
  Vector operator()(const HeadInput& in) {
    const Vector q = unit(map(in.q, silu_of)), k = unit(map(in.k, silu_of)), v = map(in.v, silu_of);
    const double beta = module.options.largest_step * sigmoid_of(in.first), alpha = sigmoid_of(in.second);
    Vector o;
    for (std::size_t row = 0; row < s.size(); ++row) {
      Vector next(k.size());
      for (std::size_t j = 0; j < k.size(); ++j) {
        for (std::size_t i = 0; i < k.size(); ++i)
          next[j] += s[row][i] * alpha * ((i == j ? 1.0 : 0.0) - beta * k[i] * k[j]);
        next[j] += beta * v[row] * k[j];
      }
      s[row] = next;
      o.push_back(dot(next, q));
    }
    Vector y = normalised(o, module.norm.weight);
    for (std::size_t row = 0; row < y.size(); ++row) y[row] *= silu_of(in.gate[row]);
    return y;
  }
};

/// The formula of Mlstm without a stabiliser.
struct MlstmHead {
  const Mlstm& module;
  Matrix c = zero_matrix(module);
  Vector n = Vector(c.size(), 0.0);

  explicit MlstmHead(const Mlstm& of) : module(of) {}
  Vector operator()(const HeadInput& in) {
    const double i = std::exp(in.first);
    const double f = module.options.forget_gate == MlstmForgetGate::exp ? std::exp(in.second) : sigmoid_of(in.second);
    const double root = std::sqrt(static_cast<double>(n.size()));
    for (std::size_t j = 0; j < n.size(); ++j) {
      n[j] = f * n[j] + i * in.k[j] / root;
      for (std::size_t row = 0; row < n.size(); ++row) c[row][j] = f * c[row][j] + i * in.v[row] * in.k[j] / root;
    }
    Vector h;
    for (const Vector& row : c) h.push_back(dot(row, in.q) / std::max(std::abs(dot(n, in.q)), 1.0));
    Vector y = normalised(h, module.norm.weight);
    for (std::size_t row = 0; row < y.size(); ++row) y[row] *= sigmoid_of(in.gate[row]);
    return y;
  }
};

class MatrixMemoryTest : public MemoryTest {
 protected:
  /// Runs the check on a module of each kind; norms have hardly any eps.
  void on_each(auto check) {
    const DeltaNetOptions delta{.heads = 2, .head_size = 3, .eps = 1e-14};
    const MlstmOptions mlstm{.heads = 2, .head_size = 3, .eps = 1e-14};
    const DeltaNet first(5, random, delta), second(5, random, {.heads = 1, .head_size = 4, .largest_step = 2});
    const Mlstm third(5, random, mlstm), fourth(5, random, {.heads = 1, .forget_gate = MlstmForgetGate::exp});
    scatter(first, random), scatter(second, random), scatter(third, random), scatter(fourth, random);
    check(first, "DeltaNet"), check(second, "DeltaNet of one head");
    check(third, "Mlstm"), check(fourth, "Mlstm of one head");
  }
};

TEST_F(MatrixMemoryTest, DeltaNetIsItsFormula) {
  for (const double largest : {1.0, 2.0}) {
    const DeltaNet m(5, random, {.heads = 2, .head_size = 3, .largest_step = largest, .eps = 1e-14});
    scatter(m, random);
    for (const std::int64_t time : {7, 8, 27}) {
      const Tensor x = random.normal({3, time, 5}), y = m(x).y;
      for (std::int64_t b = 0; b < 3; ++b) expect_near(y[b], plain<DeltaHead>(m, x[b]), 1e-7);
    }
  }
}

TEST_F(MatrixMemoryTest, MlstmIsItsFormulaWithoutAStabiliser) {
  for (const MlstmForgetGate gate : {MlstmForgetGate::sigmoid, MlstmForgetGate::exp}) {
    const Mlstm m(5, random, {.heads = 2, .head_size = 3, .forget_gate = gate, .eps = 1e-14});
    scatter(m, random);
    for (const std::int64_t time : {7, 64, 135}) {
      const Tensor x = random.normal({3, time, 5}, 0, 0.3), y = m(x).y;
      for (std::int64_t b = 0; b < 3; ++b) expect_near(y[b], plain<MlstmHead>(m, x[b]), 1e-7);
    }
  }
}

/// Gates of e^400 overflow without the stabiliser.
TEST_F(MatrixMemoryTest, TheStabiliserKeepsLargeGatesFinite) {
  const Mlstm m(5, random, {.heads = 2, .head_size = 3, .forget_gate = MlstmForgetGate::exp});
  const Tensor x = random.normal({2, 9, 5});
  Tensor bias = m.project.bias->clone();
  for (std::size_t k = 24; k < 28; ++k) bias.mutable_values<double>()[k] = 400;
  copy_values(bias, *m.project.bias);
  Tape tape;
  const Tensor y = m(x).y;
  tape.backward({y}, {random.normal(y.shape())});
  EXPECT_LT(max(abs(y)).item(), 1e3);
  EXPECT_LT(max(abs(m.project.weight.grad())).item(), 1e6);
  EXPECT_GT(max(abs(m.project.weight.grad())).item(), 1e-6);
}

/// e^-m is 0 after some steps of gates of e^3 to e^6, and a row of zeros makes q zero.
TEST_F(MatrixMemoryTest, ARowOfZerosAfterLargeGatesStaysFinite) {
  const Mlstm m(4, random, {.forget_gate = MlstmForgetGate::exp});
  const Tensor x = random.normal({1, 240, 4});
  copy_values(zeros({4}), x[0][200]);
  Tape tape;
  const Tensor y = m(x).y;
  EXPECT_EQ(max(abs(y[0][200])).item(), 0);
  tape.backward({y}, {random.normal(y.shape())});
  EXPECT_LT(max(abs(y)).item(), 1e3);
  EXPECT_LT(max(abs(m.project.weight.grad())).item(), 1e9);
}

TEST_F(MatrixMemoryTest, TheFirstStateIsZero) {
  const DeltaNet delta(5, random, {.heads = 2, .head_size = 3});
  const Tensor x = random.normal({2, 4, 5});
  EXPECT_TRUE(same_bits(delta(x, {zeros({2, 2, 3, 3})}).y, delta(x).y));
  const Mlstm mlstm(5, random, {.heads = 2, .head_size = 3});
  EXPECT_TRUE(same_bits(mlstm(x, {zeros({2, 2, 3, 4}), zeros({2, 2})}).y, mlstm(x).y));
}

TEST_F(MatrixMemoryTest, TwoCallsAreOne) {
  const Tensor x = random.normal({3, 70, 5});
  on_each([&](const auto& m, const char* name) {
    for (const std::int64_t cut : {1, 4, 8, 64, 69}) {
      const auto first = m(slice(x, {all, range(0, cut)})), second = m(slice(x, {all, range(cut)}), first.state);
      const auto whole = m(x);
      expect_near(concat({first.y, second.y}, 1), whole.y, 1e-12, name);
      expect_near(second.state.memory, whole.state.memory, 1e-12, name);
      EXPECT_GT(difference(m(slice(x, {all, range(cut)})).y, second.y), 1e-6) << name;
    }
  });
}

TEST_F(MatrixMemoryTest, ASampleOfABatchIsThatSampleAlone) {
  for (const Shape& sizes : {Shape{4, 6}, Shape{1, 6}, Shape{4, 1}, Shape{1, 1}, Shape{5, 5}}) {
    const std::int64_t batch = sizes[0];
    const Tensor x = random.normal({batch, sizes[1], 5});
    on_each([&](const auto& m, const char* name) {
      const auto whole = m(x);
      for (std::int64_t b = 0; b < batch; ++b) {
        const auto alone = m(slice(x, {range(b, b + 1)}));
        EXPECT_TRUE(same_bits(slice(whole.y, {range(b, b + 1)}), alone.y)) << name << b;
        EXPECT_TRUE(same_bits(slice(whole.state.memory, {range(b, b + 1)}), alone.state.memory)) << name << b;
      }
    });
  }
}

/// With lengths, the state is that after each sample's own last step, and y until there is the same.
TEST_F(MatrixMemoryTest, StatesEndAtTheLengthOfASample) {
  const Tensor x = random.normal({5, 70, 5});
  on_each([&](const auto& m, const char* name) {
    const auto padded = m(x, {}, indices({70, 0, 2, 9, 66}));
    EXPECT_EQ(max(abs(padded.state.memory[1])).item(), 0) << name;
    for (const auto& [b, length] : {std::pair<std::int64_t, std::int64_t>{0, 70}, {2, 2}, {3, 9}, {4, 66}}) {
      const auto alone = m(slice(x, {range(b, b + 1), range(0, length)}));
      EXPECT_TRUE(same_bits(padded.state.memory[b], alone.state.memory[0])) << name << b;
      EXPECT_TRUE(same_bits(slice(padded.y, {b, range(0, length)}), alone.y[0])) << name << b;
    }
    const auto next = m(x, padded.state);
    EXPECT_TRUE(same_bits(next.y[1], m(x).y[1])) << name << ": after no step";
  });
}

/// alpha and the forget gate begin with the values that their options say.
TEST_F(MatrixMemoryTest, GatesBeginAsTheOptionsSay) {
  const DeltaNet delta(5, random, {.heads = 3, .head_size = 2, .least_kept = 0.5, .most_kept = 0.8});
  const Tensor alpha = sigmoid(slice(*delta.project.bias, {range(27)}));
  EXPECT_NEAR(alpha.at({0}), 0.5, 1e-12);
  EXPECT_NEAR(alpha.at({2}), 0.8, 1e-12);
  EXPECT_EQ(max(abs(slice(*delta.project.bias, {range(0, 27)}))).item(), 0);
  const Mlstm mlstm(5, random, {.heads = 3, .head_size = 2});
  expect_near(slice(*mlstm.project.bias, {range(26)}), tensor({0, 3, 4.5, 6}), 1e-12);
}

TEST_F(MatrixMemoryTest, WrongShapesNameTheModule) {
  const DeltaNet delta(5, random, {.heads = 2, .head_size = 3});
  expect_error<ShapeError>(
      [&] {
        delta(zeros({2, 4, 5}), {zeros({2, 2, 3, 4})});
      },
      "DeltaNet: the memory [2, 2, 3, 4] must be [2, 2, 3, 3]; pass on that of an earlier call, or none");
  EXPECT_THROW(delta(zeros({2, 4, 6})), ShapeError);
  EXPECT_THROW(delta(zeros({2, 5})), ShapeError);
  EXPECT_THROW(delta(zeros({2, 0, 5})), ShapeError);
  EXPECT_THROW(delta(Tensor()), ValueError);
  EXPECT_THROW(delta(zeros({2, 4, 5}), {}, indices({1})), ShapeError);
  EXPECT_THROW(delta(zeros({2, 4, 5}), {}, indices({1, 5})), IndexError);
  EXPECT_THROW(DeltaNet(5, random, {.heads = 0}), ValueError);
  EXPECT_THROW(DeltaNet(5, random, {.head_size = 0}), ValueError);
  EXPECT_THROW(DeltaNet(5, random, {.largest_step = 2.5}), ValueError);
  EXPECT_THROW(DeltaNet(5, random, {.most_kept = 1}), ValueError);
  const Mlstm mlstm(5, random, {.heads = 2, .head_size = 3});
  EXPECT_THROW(mlstm(zeros({2, 4, 5}), {zeros({2, 2, 3, 3}), {}}), ShapeError);
  EXPECT_THROW(mlstm(zeros({2, 4, 5}), {{}, zeros({2, 3})}), ShapeError);
  EXPECT_THROW(Mlstm(5, random, {.heads = -1}), ValueError);
}

}  // namespace
}  // namespace retrace

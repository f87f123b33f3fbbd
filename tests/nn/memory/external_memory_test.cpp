// Ntm and Dnc: against their formulas, computed number by number; heads and writes that are certain; a state that goes
// on; lengths.
#include <retrace/nn/memory/dnc.h>
#include <retrace/nn/memory/external_memory.h>
#include <retrace/nn/memory/ntm.h>

#include <retrace/tests/nn/memory/memory_test.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

constexpr std::int64_t features = 3, hidden = 4;

Tensor row(const Vector& numbers, const Shape& shape) { return tensor(std::span<const double>(numbers), shape); }
Tensor row(const Vector& numbers) { return row(numbers, {std::ssize(numbers)}); }

double sigma(double z) { return 1 / (1 + std::exp(-z)); }
double softplus_of(double z) { return std::log1p(std::exp(z)); }

Vector softmax_of(Vector z) {
  double total = 0;
  for (double& each : z) total += each = std::exp(each);
  for (double& each : z) each /= total;
  return z;
}

double cosine(const Vector& a, const Vector& b) {
  const auto dot = [](const Vector& v, const Vector& w) {
    return std::inner_product(v.begin(), v.end(), w.begin(), 0.0);
  };
  return dot(a, b) / std::sqrt((dot(a, a) + 1e-6) * (dot(b, b) + 1e-6));
}

/// softmax(strength cos(key, slot)) over the slots.
Vector content(const Matrix& memory, const Vector& key, double strength) {
  Vector scores;
  for (const Vector& slot : memory) scores.push_back(strength * cosine(key, slot));
  return softmax_of(scores);
}

Vector read(const Matrix& memory, const Vector& weights) {
  Vector result(memory[0].size(), 0.0);
  for (std::size_t i = 0; i < memory.size(); ++i)
    for (std::size_t n = 0; n < result.size(); ++n) result[n] += weights[i] * memory[i][n];
  return result;
}

/// Hands out the numbers of a row in their order.
class Reader {
 public:
  explicit Reader(Vector numbers) : numbers_(std::move(numbers)) {}
  double next() { return numbers_[at_++]; }
  Vector next(std::int64_t count) {
    Vector result;
    for (; count > 0; --count) result.push_back(next());
    return result;
  }
  Matrix rows(std::int64_t count, std::int64_t width) {
    Matrix result;
    for (; count > 0; --count) result.push_back(next(width));
    return result;
  }
  bool at_end() const { return at_ == numbers_.size(); }

 private:
  Vector numbers_;
  std::size_t at_ = 0;
};

/// The LSTM and what both networks have, for one sample.
struct Plain {
  Tensor h, c;
  Matrix memory, reads, read_weights;
  Vector write_weights;

  Vector heads(const auto& m, const Tensor& x) {
    Vector flat;
    for (const Vector& row : reads) flat.insert(flat.end(), row.begin(), row.end());
    const LstmState next = m.controller(unsqueeze(concat({x, row(flat)}), 0), {h, c});
    h = next.h, c = next.c;
    return list(m.heads(h));
  }
  void write(const Vector& erase, const Vector& add) {
    for (std::size_t i = 0; i < memory.size(); ++i)
      for (std::size_t n = 0; n < add.size(); ++n)
        memory[i][n] = memory[i][n] * (1 - write_weights[i] * erase[n]) + write_weights[i] * add[n];
  }
  Vector y() const {
    Vector result = list(h);
    for (const Vector& row : reads) result.insert(result.end(), row.begin(), row.end());
    return result;
  }
};

Vector ntm_weights(const Matrix& memory, const Vector& before, const Vector& key, double strength, double gate,
                   const Vector& shift, double sharpness) {
  const std::size_t count = before.size();
  const Vector by_content = content(memory, key, softplus_of(strength)), s = softmax_of(shift);
  Vector gated(count), moved(count);
  for (std::size_t i = 0; i < count; ++i) gated[i] = sigma(gate) * by_content[i] + (1 - sigma(gate)) * before[i];
  for (std::size_t i = 0; i < count; ++i)
    moved[i] = s[0] * gated[(i + 1) % count] + s[1] * gated[i] + s[2] * gated[(i + count - 1) % count];
  double total = 0;
  for (double& each : moved) total += each = std::pow(each, 1 + softplus_of(sharpness));
  for (double& each : moved) each /= total;
  return moved;
}

/// y [T, H + R W] of x [T, I].
Matrix plain(const Ntm& m, const Tensor& x) {
  const auto [slots, size, reads] = m.options;
  Vector first(static_cast<std::size_t>(slots), 0.0);
  first[0] = 1;
  const auto heads = static_cast<std::size_t>(reads);
  Plain now{zeros({1, hidden}),
            zeros({1, hidden}),
            Matrix(first.size(), Vector(static_cast<std::size_t>(size), 1e-6)),
            Matrix(heads, Vector(static_cast<std::size_t>(size), 0.0)),
            Matrix(heads, first),
            first};
  Matrix result;
  for (std::int64_t t = 0; t < x.dim(0); ++t) {
    Reader numbers(now.heads(m, x[t]));
    Matrix keys = numbers.rows(reads + 1, size);
    for (Vector& key : keys)
      for (double& each : key) each = std::tanh(each);
    const Vector strengths = numbers.next(reads + 1), gates = numbers.next(reads + 1);
    const Matrix shifts = numbers.rows(reads + 1, 3);
    const Vector sharpness = numbers.next(reads + 1);
    Vector erase = numbers.next(size), add = numbers.next(size);
    for (double& each : erase) each = sigma(each);
    for (double& each : add) each = std::tanh(each);
    EXPECT_TRUE(numbers.at_end());
    for (std::size_t k = 0; k <= heads; ++k) {
      Vector& weights = k < heads ? now.read_weights[k] : now.write_weights;
      weights = ntm_weights(now.memory, weights, keys[k], strengths[k], gates[k], shifts[k], sharpness[k]);
      if (k < heads) now.reads[k] = read(now.memory, weights);
    }
    now.write(erase, add);
    result.push_back(now.y());
  }
  return result;
}

struct PlainDnc : Plain {
  Vector usage, precedence;
  Matrix links;

  Vector allocation() const {
    std::vector<std::size_t> order(usage.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return usage[a] < usage[b]; });
    Vector result(usage.size());
    double product = 1;
    for (const std::size_t i : order) {
      const double used = 1e-6 + (1 - 1e-6) * usage[i];
      result[i] = (1 - used) * product;
      product *= used;
    }
    return result;
  }
  void use(const Vector& free) {
    for (std::size_t i = 0; i < usage.size(); ++i) {
      usage[i] += write_weights[i] - usage[i] * write_weights[i];
      for (std::size_t k = 0; k < free.size(); ++k) usage[i] *= 1 - sigma(free[k]) * read_weights[k][i];
    }
  }
  void link() {
    const Vector& w = write_weights;
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t j = 0; j < w.size(); ++j)
        links[i][j] = i == j ? 0 : (1 - w[i] - w[j]) * links[i][j] + w[i] * precedence[j];
    const double written = std::accumulate(w.begin(), w.end(), 0.0);
    for (std::size_t i = 0; i < w.size(); ++i) precedence[i] = (1 - written) * precedence[i] + w[i];
  }
  void move(std::size_t k, const Vector& by_content, const Vector& mode) {
    const Vector before = read_weights[k];
    for (std::size_t i = 0; i < before.size(); ++i) {
      read_weights[k][i] = mode[1] * by_content[i];
      for (std::size_t j = 0; j < before.size(); ++j)
        read_weights[k][i] += (mode[0] * links[j][i] + mode[2] * links[i][j]) * before[j];
    }
    reads[k] = read(memory, read_weights[k]);
  }
};

/// y [T, H + R W] of x [T, I].
Matrix plain(const Dnc& m, const Tensor& x) {
  const auto [slots, size, reads] = m.options;
  const Vector none(static_cast<std::size_t>(slots), 0.0), empty_slot(static_cast<std::size_t>(size), 0.0);
  const auto heads = static_cast<std::size_t>(reads);
  PlainDnc now{{zeros({1, hidden}), zeros({1, hidden}), Matrix(none.size(), empty_slot), Matrix(heads, empty_slot),
                Matrix(heads, none), none},
               none,
               none,
               Matrix(none.size(), none)};
  Matrix result;
  for (std::int64_t t = 0; t < x.dim(0); ++t) {
    Reader numbers(now.heads(m, x[t]));
    const Matrix read_keys = numbers.rows(reads, size);
    const Vector read_strengths = numbers.next(reads), free = numbers.next(reads);
    const Matrix read_modes = numbers.rows(reads, 3);
    const Vector key = numbers.next(size);
    const double strength = numbers.next();
    Vector erase = numbers.next(size);
    for (double& each : erase) each = sigma(each);
    const Vector add = numbers.next(size);
    const double to_free = sigma(numbers.next()), gate = sigma(numbers.next());
    EXPECT_TRUE(numbers.at_end());
    now.use(free);
    const Vector a = now.allocation(), by_content = content(now.memory, key, 1 + softplus_of(strength));
    for (std::size_t i = 0; i < a.size(); ++i)
      now.write_weights[i] = gate * (to_free * a[i] + (1 - to_free) * by_content[i]);
    now.write(erase, add);
    now.link();
    for (std::size_t k = 0; k < heads; ++k)
      now.move(k, content(now.memory, read_keys[k], 1 + softplus_of(read_strengths[k])), softmax_of(read_modes[k]));
    result.push_back(now.y());
  }
  return result;
}

class ExternalMemoryTest : public MemoryTest {
 protected:
  /// check(module, its name) for networks with weights and biases that are scattered.
  void on_each(auto check) {
    const auto both = [&](std::int64_t slots, std::int64_t size, int reads) {
      const Ntm ntm(features, hidden, random, {.slots = slots, .slot_size = size, .read_heads = reads});
      const Dnc dnc(features, hidden, random, {.slots = slots, .slot_size = size, .read_heads = reads});
      scatter(ntm, random), scatter(dnc, random);
      check(ntm, text("Ntm of ", slots, " slots")), check(dnc, text("Dnc of ", slots, " slots"));
    };
    both(5, 3, 2), both(2, 1, 1), both(1, 2, 1);
  }
};

TEST_F(ExternalMemoryTest, IsItsFormula) {
  const Tensor x = random.normal({3, 7, features}, 0, 2);
  on_each([&](const auto& m, const std::string& name) {
    const Tensor y = m(x).y;
    for (std::int64_t b = 0; b < 3; ++b) {
      const Matrix expected = plain(m, x[b]);
      for (std::int64_t t = 0; t < 7; ++t) {
        expect_near(y[b][t], row(expected[static_cast<std::size_t>(t)]), 1e-11, name);
      }
    }
  });
}

/// Biases alone decide: the head moves by one slot in each step, and reads what the write head left there.
TEST_F(ExternalMemoryTest, AnNtmThatOnlyMovesGoesAroundItsSlots) {
  const Ntm m(features, hidden, random, {.slots = 4, .slot_size = 1});
  copy_values(zeros(m.heads.weight.shape()), m.heads.weight);
  Vector bias{0, 0, 0, 0};                            // k and b of both heads
  bias.insert(bias.end(), {-1000, -1000});            // g: where the heads were
  bias.insert(bias.end(), {0, 0, 1000, 1000, 0, 0});  // s: the read head goes up, the write head down
  bias.insert(bias.end(), {50, 50, 1000, 0.5});       // c, e and a
  copy_values(row(bias), *m.heads.bias);
  const NtmState after = m(zeros({1, 3, features})).state;  // writes to slots 3, 2 and 1
  EXPECT_EQ(list(after.read_weights), (Vector{0, 0, 0, 1}));
  EXPECT_EQ(list(after.write_weights), (Vector{0, 1, 0, 0}));
  EXPECT_EQ(list(after.memory), (Vector{1e-6, std::tanh(0.5), std::tanh(0.5), std::tanh(0.5)}));
  EXPECT_EQ(list(after.reads), (Vector{std::tanh(0.5)}));  // slot 3, written two steps before
}

/// Biases alone decide: each step writes to the slot that is used least, and the links are the slots in their order.
TEST_F(ExternalMemoryTest, ADncThatOnlyAllocatesLinksOneSlotToTheNext) {
  const Dnc m(features, hidden, random, {.slots = 2, .slot_size = 1, .read_heads = 1});
  copy_values(zeros(m.heads.weight.shape()), m.heads.weight);
  const auto after = [&](std::int64_t steps, const Vector& mode, double gate, const DncState& state) {
    Vector bias{0, 0, -1000};  // nothing is free again
    bias.insert(bias.end(), mode.begin(), mode.end());
    bias.insert(bias.end(), {0, 0, 0, 0.5, 1000, gate});
    copy_values(row(bias), *m.heads.bias);
    return m(zeros({1, steps, features}), state).state;
  };
  const DncState written = after(2, {0, 0, 0}, 1000, {});
  expect_near(written.memory, tensor({{{0.5}, {0.5}}}), 1e-5, "memory");
  expect_near(written.write_weights, tensor({{{0, 1}}}), 1e-5, "write weights");
  expect_near(written.precedence, tensor({{{0, 1}}}), 1e-5, "precedence");
  expect_near(written.usage, tensor({{{1, 0}}}), 1e-5, "usage before the last write");
  expect_near(written.links, tensor({{{0, 0}, {1, 0}}}), 1e-5, "links");
  const auto moved = [&](const Vector& from, const Vector& mode) {
    DncState state = written;
    state.read_weights = row(from, {1, 1, 2});
    return after(1, mode, -1000, state).read_weights;  // writes nothing
  };
  expect_near(moved({1, 0}, {0, 0, 1000}), tensor({{{0, 1}}}), 1e-5, "forwards");
  expect_near(moved({0, 1}, {1000, 0, 0}), tensor({{{1, 0}}}), 1e-5, "backwards");
  expect_near(moved({0, 1}, {0, 0, 1000}), tensor({{{0, 0}}}), 1e-5, "forwards from the last write");
}

/// A slot that was read with an open free gate is written again.
TEST_F(ExternalMemoryTest, ADncFreesWhatItHasRead) {
  const Dnc m(features, hidden, random, {.slots = 3, .slot_size = 1, .read_heads = 1});
  copy_values(zeros(m.heads.weight.shape()), m.heads.weight);
  copy_values(tensor({0, 0, 1000, 0, 0, 0, 0, 0, 0, 0.5, 1000, 1000}), *m.heads.bias);
  DncState state;
  state.usage = tensor({{{0.9, 0.8, 0.7}}}), state.read_weights = tensor({{{1, 0, 0}}});
  const DncState after = m(zeros({1, 1, features}), state).state;
  expect_near(after.usage, tensor({{{0, 0.8, 0.7}}}), 1e-12, "usage");
  expect_near(after.write_weights, tensor({{{1, 0, 0}}}), 1e-5, "write weights");
}

TEST_F(ExternalMemoryTest, TwoCallsAreOne) {
  const Tensor x = random.normal({3, 6, features});
  on_each([&](const auto& m, const std::string& name) {
    const auto whole = m(x);
    for (const std::int64_t cut : {1, 4, 5}) {
      const auto first = m(slice(x, {all, range(0, cut)}));
      const auto second = m(slice(x, {all, range(cut)}), first.state);
      expect_near(concat({first.y, second.y}, 1), whole.y, 1e-12, name);
      expect_near(second.state.memory, whole.state.memory, 1e-12, name);
    }
  });
}

TEST_F(ExternalMemoryTest, ASampleOfABatchIsThatSampleAlone) {
  for (const Shape& sizes : {Shape{4, 6}, Shape{1, 6}, Shape{4, 1}, Shape{1, 1}, Shape{5, 5}}) {
    const std::int64_t batch = sizes[0];
    const Tensor x = random.normal({batch, sizes[1], features});
    on_each([&](const auto& m, const std::string& name) {
      const auto whole = m(x);
      for (std::int64_t b = 0; b < batch; ++b) {
        const auto alone = m(slice(x, {range(b, b + 1)}));
        EXPECT_TRUE(same_bits(slice(whole.y, {range(b, b + 1)}), alone.y)) << name << b;
        EXPECT_TRUE(same_bits(slice(whole.state.memory, {range(b, b + 1)}), alone.state.memory)) << name << b;
      }
    });
  }
}

TEST_F(ExternalMemoryTest, StatesEndAtTheLengthOfASample) {
  const Tensor x = random.normal({3, 6, features});
  on_each([&](const auto& m, const std::string& name) {
    const auto padded = m(x, {}, indices({6, 0, 2}));
    EXPECT_EQ(max(abs(padded.y[1])).item(), 0) << name;
    for (const auto& [b, length] : {std::pair<std::int64_t, std::int64_t>{0, 6}, {2, 2}}) {
      const auto alone = m(slice(x, {range(b, b + 1), range(0, length)}));
      EXPECT_TRUE(same_bits(padded.state.memory[b], alone.state.memory[0])) << name << b;
      EXPECT_TRUE(same_bits(padded.state.read_weights[b], alone.state.read_weights[0])) << name << b;
      EXPECT_TRUE(same_bits(padded.state.write_weights[b], alone.state.write_weights[0])) << name << b;
      EXPECT_TRUE(same_bits(padded.state.c[b], alone.state.c[0])) << name << b;
      EXPECT_TRUE(same_bits(padded.y[b][5], alone.y[0][length - 1])) << name << b;
    }
  });
  const Dnc dnc(features, hidden, random, {.slots = 3, .slot_size = 2, .read_heads = 1});
  const DncState padded = dnc(x, {}, indices({6, 0, 2})).state, alone = dnc(slice(x, {range(2, 3), range(0, 2)})).state;
  EXPECT_TRUE(same_bits(padded.usage[2], alone.usage[0]));
  EXPECT_TRUE(same_bits(padded.links[2], alone.links[0]));
  EXPECT_TRUE(same_bits(padded.precedence[2], alone.precedence[0]));
}

/// Empty slots, heads that are certain, and weights that underflow to 0 give no infinite gradient.
TEST_F(ExternalMemoryTest, GradientsAreFiniteInSinglePrecision) {
  const DtypeScope singles(f32);
  Random own(3);
  const Tensor x = own.normal({2, 40, features}, 0, 10);
  const auto check = [&](const auto& m, const char* name) {
    for (const NamedTensor& each : parameters(m)) copy_values(own.normal(each.tensor.shape(), 0, 100), each.tensor);
    Tape tape;
    const Tensor y = m(x).y;
    tape.backward({y}, {own.normal(y.shape())});
    for (const NamedTensor& each : parameters(m)) {
      ASSERT_TRUE(each.tensor.grad().defined()) << name << ", " << each.name;
      EXPECT_TRUE(std::isfinite(max(abs(each.tensor.grad())).item())) << name << ", " << each.name;
    }
  };
  check(Ntm(features, hidden, own, {.slots = 32, .slot_size = 3, .read_heads = 2}), "Ntm");
  check(Dnc(features, hidden, own, {.slots = 32, .slot_size = 3, .read_heads = 2}), "Dnc");
}

TEST_F(ExternalMemoryTest, WrongShapesNameTheModule) {
  const Ntm ntm(features, hidden, random, {.slots = 4, .slot_size = 2});
  const Dnc dnc(features, hidden, random, {.slots = 4, .slot_size = 2, .read_heads = 3});
  const Tensor x = zeros({2, 4, features});
  expect_error<ShapeError>(
      [&] {
        ntm(x, {{}, {}, zeros({2, 4, 3}), {}, {}, {}});
      },
      "Ntm: memory[2, 4, 3] of the state must be [2, 4, 2]; pass on the state of an earlier call, or none");
  EXPECT_THROW(ntm(x, {zeros({2, 3}), {}, {}, {}, {}, {}}), ShapeError);
  EXPECT_THROW(ntm(x, {{}, {}, {}, {}, zeros({2, 2, 4}), {}}), ShapeError);
  const auto wrong = [&](Tensor DncState::*part, const Shape& shape) {
    DncState state;
    state.*part = zeros(shape);
    EXPECT_THROW(dnc(x, state), ShapeError);
  };
  wrong(&DncState::c, {1, 4}), wrong(&DncState::reads, {2, 2, 2}), wrong(&DncState::usage, {2, 4});
  wrong(&DncState::links, {2, 4, 3}), wrong(&DncState::precedence, {2, 1, 3});
  const auto both = [&](const auto& m) {
    EXPECT_THROW(m({}), ValueError);
    EXPECT_THROW(m(zeros({2, 4, 6})), ShapeError);
    EXPECT_THROW(m(zeros({4, features})), ShapeError);
    EXPECT_THROW(m(zeros({2, 0, features})), ShapeError);
    EXPECT_THROW(m(x, {}, indices({1, 5})), IndexError);
  };
  both(ntm), both(dnc);
  EXPECT_THROW(Ntm(features, hidden, random, {.slots = 0}), ValueError);
  EXPECT_THROW(Ntm(features, hidden, random, {.slot_size = -1}), ValueError);
  EXPECT_THROW(Ntm(features, 0, random), ValueError);
  EXPECT_THROW(Dnc(features, hidden, random, {.read_heads = 0}), ValueError);
  EXPECT_THROW(Dnc(features, hidden, random, {.slots = -1}), ValueError);
  EXPECT_THROW(Dnc(features, -1, random), ValueError);
}

}  // namespace
}  // namespace retrace

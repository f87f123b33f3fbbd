// SoftMemoryRnn: against its formula, computed number by number; single actions; a state that goes on; lengths.
#include <retrace/nn/memory/soft_memory_rnn.h>

#include <retrace/tests/nn/memory/memory_test.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace retrace {
namespace {

using Vector = std::vector<double>;
using Cells = std::vector<Vector>;

constexpr std::int64_t features = 5, hidden = 4;

SoftMemoryRnnOptions stacks() { return {.memories = 2, .cells = 3, .cell_size = 2}; }
SoftMemoryRnnOptions tapes() {
  return {.kind = SoftMemoryKind::tape, .memories = 2, .cells = 5, .cell_size = 2, .jump = 3};
}

/// The cells of a stack after push, pop and nothing.
std::vector<Cells> stack_actions(const Cells& s, const Vector& v) {
  Cells pushed = s, popped = s;
  pushed.insert(pushed.begin(), v), pushed.pop_back();
  popped.erase(popped.begin()), popped.push_back(Vector(v.size(), 0.0));
  return {pushed, popped, s};
}

/// The cells of a tape, after writing v, stay, left, right and the jumps.
std::vector<Cells> tape_actions(Cells s, const Vector& v, int jump) {
  s[0] = v;
  const auto left = [](Cells cells, int times) {
    for (; times > 0; --times) std::rotate(cells.begin(), cells.begin() + 1, cells.end());
    return cells;
  };
  const auto right = [](Cells cells, int times) {
    for (; times > 0; --times) std::rotate(cells.begin(), cells.end() - 1, cells.end());
    return cells;
  };
  std::vector<Cells> all_of_them{s, left(s, 1), right(s, 1)};
  if (jump > 0) all_of_them.push_back(left(s, jump)), all_of_them.push_back(right(s, jump));
  return all_of_them;
}

/// h [H] after every step for x [T, I], one memory after the other, one action after the other.
Tensor plain(const SoftMemoryRnn& m, const Tensor& x) {
  const auto memories = static_cast<std::size_t>(m.options.memories), size = std::size_t{2};
  std::vector<Cells> memory(memories, Cells(static_cast<std::size_t>(m.options.cells), Vector(size, 0.0)));
  Tensor h = zeros({hidden});
  Tensors all_h;
  for (std::int64_t t = 0; t < x.dim(0); ++t) {
    Vector tops;
    for (const Cells& cells : memory) tops.insert(tops.end(), cells[0].begin(), cells[0].end());
    const Tensor read = tensor(std::span<const double>(tops), {std::ssize(tops)});
    h = tanh(m.input(x[t]) + matmul(m.recurrent.weight, concat({h, read})));
    all_h.push_back(h);
    const Vector acts = list(m.act(h));
    const auto count = static_cast<std::size_t>(m.actions());
    for (std::size_t n = 0; n < memories; ++n) {
      const Vector v(acts.begin() + static_cast<std::ptrdiff_t>(n * size),
                     acts.begin() + static_cast<std::ptrdiff_t>((n + 1) * size));
      const auto results = m.options.kind == SoftMemoryKind::stack
                               ? stack_actions(memory[n], v)
                               : tape_actions(memory[n], v, static_cast<int>(m.options.jump));
      double total = 0;
      for (std::size_t j = 0; j < count; ++j) total += std::exp(acts[memories * size + n * count + j]);
      Cells mixed(memory[n].size(), Vector(size, 0.0));
      for (std::size_t j = 0; j < count; ++j)
        for (std::size_t k = 0; k < mixed.size(); ++k)
          for (std::size_t c = 0; c < size; ++c)
            mixed[k][c] += std::exp(acts[memories * size + n * count + j]) / total * results[j][k][c];
      memory[n] = mixed;
    }
  }
  return stack(all_h);
}

class SoftMemoryRnnTest : public MemoryTest {
 protected:
  void on_each(auto check) {
    SoftMemoryRnnOptions without_jumps = tapes(), single = stacks();
    without_jumps.jump = 0, single.cells = 1, single.memories = 1;
    for (const SoftMemoryRnnOptions& options : {stacks(), tapes(), without_jumps, single}) {
      const SoftMemoryRnn m(features, hidden, random, options);
      scatter(m, random);
      check(m, text(options.kind == SoftMemoryKind::stack ? "stack" : "tape", " of ", options.cells, " cells, jump ",
                    options.jump));
    }
  }
  /// A network whose actions do not depend on h: `action` is certain, and v is its bias.
  SoftMemoryRnn always(SoftMemoryRnnOptions options, std::int64_t action) {
    options.memories = 1, options.cell_size = 1;
    SoftMemoryRnn m(features, hidden, random, options);
    copy_values(zeros(m.act.weight.shape()), m.act.weight);
    copy_values(concat({tensor({7}), 1000 * one_hot(indices({action}), m.actions())[0]}), *m.act.bias);
    return m;
  }
  std::vector<double> cells_after(const SoftMemoryRnn& m, const Tensor& cells) {
    const Tensor h = zeros({1, hidden});
    return list(m(zeros({1, 1, features}), {h, reshape(cells, {1, 1, cells.numel(), 1})}).state.cells);
  }
};

TEST_F(SoftMemoryRnnTest, IsItsFormula) {
  const Tensor x = random.normal({3, 7, features});
  on_each([&](const SoftMemoryRnn& m, const std::string& name) {
    const Tensor y = m(x).y;
    for (std::int64_t b = 0; b < 3; ++b) expect_near(y[b], plain(m, x[b]), 1e-12, name);
  });
}

TEST_F(SoftMemoryRnnTest, AnActionThatIsCertainMovesTheCells) {
  using List = std::vector<double>;
  const Tensor cells = tensor({1, 2, 3, 4, 5});
  const SoftMemoryRnnOptions stack{.cells = 5}, tape{.kind = SoftMemoryKind::tape, .cells = 5, .jump = 2};
  EXPECT_EQ(cells_after(always(stack, 0), cells), (List{7, 1, 2, 3, 4}));
  EXPECT_EQ(cells_after(always(stack, 1), cells), (List{2, 3, 4, 5, 0}));
  EXPECT_EQ(cells_after(always(stack, 2), cells), (List{1, 2, 3, 4, 5}));
  EXPECT_EQ(cells_after(always(tape, 0), cells), (List{7, 2, 3, 4, 5}));
  EXPECT_EQ(cells_after(always(tape, 1), cells), (List{2, 3, 4, 5, 7}));
  EXPECT_EQ(cells_after(always(tape, 2), cells), (List{5, 7, 2, 3, 4}));
  EXPECT_EQ(cells_after(always(tape, 3), cells), (List{3, 4, 5, 7, 2}));
  EXPECT_EQ(cells_after(always(tape, 4), cells), (List{4, 5, 7, 2, 3}));
}

/// A push for each of 40 steps, and then 40 pops: the first number comes back last.
TEST_F(SoftMemoryRnnTest, AStackWithoutASizeLosesNothing) {
  const SoftMemoryRnn push = always({}, 0), pop = always({}, 1);
  const Tensor x = zeros({1, 40, features});
  const SoftMemoryState full = push(x).state;
  EXPECT_EQ(list(full.cells), std::vector<double>(40, 7));
  const SoftMemoryState last = pop(slice(x, {all, range(1)}), full).state;
  EXPECT_EQ(last.cells.shape(), (Shape{1, 1, 40, 1}));
  EXPECT_EQ(last.cells.at({0, 0, 0, 0}), 7);
  EXPECT_EQ(sum(last.cells).item(), 7);
}

TEST_F(SoftMemoryRnnTest, TheJumpOfAStateReplacesThatOfTheOptions) {
  const Tensor x = random.normal({2, 6, features});
  SoftMemoryRnnOptions one = tapes();
  one.jump = 1;
  const SoftMemoryRnn three(features, hidden, random, tapes()), other(features, hidden, random, one);
  scatter(three, random);
  assign(other, parameters(three));
  const SoftMemoryResult first = other(slice(x, {all, range(0, 2)}), {.jump = 3});
  EXPECT_TRUE(same_bits(other(slice(x, {all, range(2)}), first.state).state.h, three(x).state.h));
  EXPECT_GT(max(abs(other(x).y - three(x).y)).item(), 1e-3);
}

TEST_F(SoftMemoryRnnTest, TwoCallsAreOne) {
  const Tensor x = random.normal({3, 6, features});
  on_each([&](const SoftMemoryRnn& m, const std::string& name) {
    const SoftMemoryResult whole = m(x);
    for (const std::int64_t cut : {1, 4, 5}) {
      const SoftMemoryResult first = m(slice(x, {all, range(0, cut)}));
      const SoftMemoryResult second = m(slice(x, {all, range(cut)}), first.state);
      expect_near(concat({first.y, second.y}, 1), whole.y, 1e-12, name);
      expect_near(second.state.cells, whole.state.cells, 1e-12, name);
    }
  });
}

TEST_F(SoftMemoryRnnTest, ASampleOfABatchIsThatSampleAlone) {
  for (const Shape& sizes : {Shape{4, 6}, Shape{1, 6}, Shape{4, 1}, Shape{1, 1}, Shape{5, 5}}) {
    const std::int64_t batch = sizes[0];
    const Tensor x = random.normal({batch, sizes[1], features});
    on_each([&](const SoftMemoryRnn& m, const std::string& name) {
      const SoftMemoryResult whole = m(x);
      EXPECT_TRUE(same_bits(slice(whole.y, {all, -1}), whole.state.h)) << name;
      for (std::int64_t b = 0; b < batch; ++b) {
        const SoftMemoryResult alone = m(slice(x, {range(b, b + 1)}));
        EXPECT_TRUE(same_bits(slice(whole.y, {range(b, b + 1)}), alone.y)) << name << b;
        EXPECT_TRUE(same_bits(slice(whole.state.cells, {range(b, b + 1)}), alone.state.cells)) << name << b;
      }
    });
  }
}

TEST_F(SoftMemoryRnnTest, StatesEndAtTheLengthOfASample) {
  const Tensor x = random.normal({3, 6, features});
  on_each([&](const SoftMemoryRnn& m, const std::string& name) {
    const SoftMemoryResult padded = m(x, {}, indices({6, 0, 2}));
    EXPECT_EQ(max(abs(padded.y[1])).item(), 0) << name;
    for (const auto& [b, length] : {std::pair<std::int64_t, std::int64_t>{0, 6}, {2, 2}}) {
      const SoftMemoryResult alone = m(slice(x, {range(b, b + 1), range(0, length)}));
      EXPECT_TRUE(same_bits(padded.state.cells[b], alone.state.cells[0])) << name << b;
      EXPECT_TRUE(same_bits(padded.y[b][5], alone.state.h[0])) << name << b;
    }
  });
}

TEST_F(SoftMemoryRnnTest, WrongShapesNameTheModule) {
  const SoftMemoryRnn m(features, hidden, random, stacks());
  expect_error<ShapeError>(
      [&] {
        m(zeros({2, 4, 5}), {zeros({2, 4}), zeros({2, 2, 3, 1})});
      },
      "SoftMemoryRnn: the memory [2, 2, 3, 1] must be [2, 2, 3, 2]; pass on that of an earlier call, or none");
  EXPECT_THROW(m(zeros({2, 4, 5}), {zeros({2, 3}), {}}), ShapeError);
  EXPECT_THROW(m(zeros({2, 4, 6})), ShapeError);
  EXPECT_THROW(m(zeros({2, 0, 5})), ShapeError);
  EXPECT_THROW(m(zeros({2, 4, 5}), {.jump = -1}), ValueError);
  const SoftMemoryRnn unsized(features, hidden, random, {.memories = 2, .cell_size = 2});
  EXPECT_THROW(unsized(zeros({2, 4, 5}), {{}, zeros({2, 2, 0, 2})}), ShapeError);
  EXPECT_THROW(unsized(zeros({2, 4, 5}), {{}, zeros({2, 2})}), ShapeError);
  EXPECT_THROW(m(zeros({2, 4, 5}), {}, indices({1, 5})), IndexError);
  for (const SoftMemoryRnnOptions& wrong : {SoftMemoryRnnOptions{.memories = 0}, SoftMemoryRnnOptions{.cells = -1},
                                            SoftMemoryRnnOptions{.cell_size = -1}, SoftMemoryRnnOptions{.jump = -1}})
    EXPECT_THROW(SoftMemoryRnn(features, hidden, random, wrong), ValueError);
  EXPECT_THROW(SoftMemoryRnn(features, 0, random), ValueError);
}

}  // namespace
}  // namespace retrace

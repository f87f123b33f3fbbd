// The text of printed tapes: exact for small ones.
#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/recording.h>
#include <retrace/core/tape/scope.h>
#include <retrace/core/trace/inspect.h>

#include <gtest/gtest.h>

#include <sstream>

#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/tape/identity.h>
#include <retrace/core/tape/recording.h>
#include <retrace/core/tape/scope.h>

namespace retrace {
namespace {

constexpr OpInfo twice_info{"twice", "y = 2 x", "dx = 2 dy", "x"};

void twice_backward(Record& r) {
  const float* dy = r.grad_out<float>();
  r.grad_in<float>(0).put(r.in(0).numel(), [dy](std::int64_t k) { return 2 * dy[k]; });
}

Tensor twice(const Tensor& x) {
  const Tensor y = empty(x.shape());
  for (std::size_t k = 0; k < y.values<float>().size(); ++k) y.mutable_values<float>()[k] = 2 * x.values<float>()[k];
  record(twice_info, twice_backward, {&x}, {&y});
  return y;
}

constexpr OpInfo dot_info{"dot", "y = <a, b>", "da = dy b, db = dy a", "a, b"};

void dot_backward(Record& r) {
  const float dy = *r.grad_out<float>();
  for (int i = 0; i < 2; ++i) {
    if (!r.wants(i)) continue;
    const float* other = r.saved(1 - i).values<float>();
    r.grad_in<float>(i).put(r.in(i).numel(), [dy, other](std::int64_t k) { return dy * other[k]; });
  }
}

Tensor dot(const Tensor& a, const Tensor& b) {
  const Tensor y = zeros({});
  for (std::size_t k = 0; k < a.values<float>().size(); ++k)
    y.mutable_values<float>()[0] += a.values<float>()[k] * b.values<float>()[k];
  record(dot_info, dot_backward, {&a, &b}, {&y}, {&a, &b});
  return y;
}

// A module with a module in it.
struct Inner {
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "inner");
    return twice(x);
  }
};
struct Outer {
  Inner inner;
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "outer");
    return identity(inner(x));
  }
};

template <class Printable> std::string printed(const Printable& what) {
  std::ostringstream out;
  out << what;
  return out.str();
}

TEST(Inspect, ATapeIsATable) {
  const Tensor w = parameter(tensor({1, 2}), "w");
  const Outer outer;
  Tape tape;
  const Tensor loss = dot(outer(w), tensor({3, 4})).named("loss");
  EXPECT_EQ(printed(tape),
            "tape of 3 records\n"
            "0  outer/inner  %0[2]   <- twice w[2]        y = 2 x     dx = 2 dy\n"
            "1  outer        %1[2]   <- identity %0[2]    y = x       dx = dy\n"
            "2               loss[]  <- dot %1[2], x0[2]  y = <a, b>  da = dy b, db = dy a\n");
  tape.backward(loss);
  EXPECT_EQ(printed(tape),
            "tape of 3 records\n"
            "0  outer/inner  %0[2]   <- twice w[2]        y = 2 x     dx = 2 dy\n"
            "1  outer        %1[2]   <- identity %0[2]    y = x       dx = dy\n"
            "2               loss[]  <- dot %1[2], x0[2]  y = <a, b>  da = dy b, db = dy a  dloss = (1)\n"
            "leaf w[2]  dw = (6, 8)\n");
}

constexpr OpInfo power_info{"power", "y = x^p", "dx = dy p x^(p - 1)", "x", [](const Record& r) -> Formulas {
                              return {text("y = x^", r.attributes<int>()), "dx = dy of this call"};
                            }};

TEST(Inspect, ARecordMayHaveFormulasOfItsOwn) {
  const Tensor w = parameter(ones({2}), "w");
  Tape tape;
  for (const int power : {2, 3}) {
    const Tensor y = ones({2});
    record(power_info, twice_backward, {&w}, {&y}, {}, power);
  }
  EXPECT_EQ(printed(tape),
            "tape of 2 records\n"
            "0  %0[2]  <- power w[2]  y = x^2  dx = dy of this call\n"
            "1  %1[2]  <- power w[2]  y = x^3  dx = dy of this call\n");
  EXPECT_EQ(to_text(*tape.records()[1]), "1  %1[2]  <- power w[2]  y = x^3  dx = dy of this call");
  EXPECT_NE(to_dot(tape).find("tooltip=\"y = x^3\\ndx = dy of this call\""), std::string::npos);
  EXPECT_NE(to_json(tape).find("\"forward\":\"y = x^3\""), std::string::npos);
}

TEST(Inspect, AnEmptyTapeSaysSo) { EXPECT_EQ(printed(Tape()), "tape of 0 records\n"); }

TEST(Inspect, AKeepingTapeShowsEveryGradient) {
  const Tensor w = parameter(tensor({1, 2}), "w");
  Tape tape({.keep = true});
  tape.backward(dot(twice(w), tensor({3, 4})));
  EXPECT_EQ(printed(tape),
            "tape of 2 records\n"
            "0  %0[2]  <- twice w[2]        y = 2 x     dx = 2 dy             d%0 = (3, 4)\n"
            "1  %1[]   <- dot %0[2], x0[2]  y = <a, b>  da = dy b, db = dy a  d%1 = (1)\n"
            "leaf w[2]  dw = (6, 8)\n");
}

TEST(Inspect, AWalkShowsWhatFlowsBack) {
  const Tensor w = parameter(tensor({1, 2}), "w");
  std::string lines;
  Tape tape;
  const Tensor loss = dot(twice(twice(w)), tensor({3, 4}));
  for (BackwardWalk walk(tape, loss); walk.next();) lines += printed(walk.record()) + "\n";
  EXPECT_EQ(lines,
            "2  %2[]  <- dot %1[2], x0[2]  y = <a, b>  da = dy b, db = dy a  d%2 = (1) -> d%1 = (3, 4)\n"
            "1  %1[2]  <- twice %0[2]  y = 2 x  dx = 2 dy  d%1 = (3, 4) -> d%0 = (6, 8)\n"
            "0  %0[2]  <- twice w[2]  y = 2 x  dx = 2 dy  d%0 = (6, 8) -> dw = (12, 16)\n");
}

TEST(Inspect, AnInputThatComesTwiceHasOneGradient) {
  const Tensor x = parameter(tensor({1, 2}));
  Tape tape;
  const Tensor y = dot(x, x);
  BackwardWalk walk(tape, y);
  ASSERT_TRUE(walk.next());
  EXPECT_EQ(to_text(walk.record()),
            "0  %0[]  <- dot x0[2], x0[2]  y = <a, b>  da = dy b, db = dy a  d%0 = (1) -> dx0 = (2, 4)");
}

TEST(Inspect, ManyNumbersAreShortenedAndTheirNormGiven) {
  const Tensor x = parameter(ones({25}));
  Tape tape;
  tape.backward(dot(x, full({25}, 3)));
  EXPECT_NE(printed(tape).find("leaf x0[25]  dx0 = (3, 3, 3, ...; norm 15)\n"), std::string::npos) << printed(tape);
}

TEST(Inspect, ModulesGoByTheirNamesWhereTheyAreKnown) {
  const Tensor w = parameter(ones({1}), "w");
  const Outer outer;
  Tape tape;
  outer(w);
  Names names;
  names.add_module(outer.inner, "layer.3");  // at the address of `outer`
  names.add(w, "layer.weight");
  EXPECT_EQ(path_of(*tape.records()[0]), "outer/inner");
  EXPECT_EQ(path_of(*tape.records()[0], names), "outer/layer.3");
  EXPECT_NE(to_text(tape, names).find("0  outer/layer.3  %0[1]  <- twice layer.weight[1]"), std::string::npos);
}

TEST(Inspect, FindTakesTheFirstRecordWhosePathEndsSo) {
  const Tensor w = parameter(ones({1}), "w");
  const Outer outer;
  Tape tape;
  twice(outer(twice(w)));
  EXPECT_EQ(tape.find("twice")->index(), 0);
  EXPECT_EQ(tape.find("inner/twice")->index(), 1);
  EXPECT_EQ(tape.find("outer/inner/twice")->index(), 1);
  EXPECT_EQ(tape.find("outer/identity")->index(), 2);
  EXPECT_EQ(tape.find("outer/twice"), nullptr);
  EXPECT_EQ(tape.find("ice"), nullptr);
}

TEST(Inspect, DotHasBoxesForOpsAndEllipsesForLeaves) {
  const Tensor w = parameter(tensor({1, 2}), "the \"w\"");
  const Inner inner;
  Tape tape;
  dot(inner(w), w);
  EXPECT_EQ(to_dot(tape),
            "digraph tape {\n"
            "  rankdir=LR;\n"
            "  leaf0 [shape=ellipse, label=\"the \\\"w\\\" = (1, 2)\"];\n"
            "  op1 [shape=box, label=\"dot\", tooltip=\"y = <a, b>\\nda = dy b, db = dy a\"];\n"
            "  subgraph cluster0 {\n"
            "    label=\"inner\";\n"
            "    op0 [shape=box, label=\"twice\\n%0 = (2, 4)\", tooltip=\"y = 2 x\\ndx = 2 dy\"];\n"
            "  }\n"
            "  leaf0 -> op0 [label=\"[2]\"];\n"
            "  op0 -> op1 [label=\"[2]\"];\n"
            "  leaf0 -> op1 [label=\"[2]\"];\n"
            "}\n");
}

TEST(Inspect, JsonHasValuesAndGradientsThatAreHeld) {
  const Tensor w = parameter(tensor({0.5}), "w");
  Tape tape;
  tape.backward(twice(w));
  std::string compact;
  for (const char c : to_json(tape))
    if (c != '\n' && c != ' ') compact += c;
  EXPECT_EQ(compact, R"([{"index":0,"path":"","op":"twice","forward":"y=2x","backward":"dx=2dy",)"
                     R"("inputs":[{"name":"w","dtype":"f32","shape":[1],"values":[0.5],"gradient":[2.0]}],)"
                     R"("outputs":[{"name":"%0","dtype":"f32","shape":[1]}]}])");
}

TEST(Inspect, TheFlagsOfTheStreamNeitherMatterNorChange) {
  const Tensor w = parameter(ones({1}), "w");
  Tape tape;
  twice(w);
  std::ostringstream out;
  out << std::hex << std::scientific;
  const auto flags = out.flags();
  out << tape;
  EXPECT_EQ(out.str(), printed(tape));
  EXPECT_EQ(out.flags(), flags);
}

}  // namespace
}  // namespace retrace

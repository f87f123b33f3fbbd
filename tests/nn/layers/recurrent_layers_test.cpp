// Several layers and both directions: against cells run by hand, samples of different lengths, dropout, errors.
#include <retrace/nn/layers/recurrent_layers.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/nn/module/module_test.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

constexpr std::int64_t features = 3, hidden = 4, batch = 4, time_steps = 5;

/// A common interface to the three layers. A state is a list, {h, c} or {h}; an empty list stands for zeros.
struct LayersRun {
  Tensor y;
  Tensors state;
};
struct LstmLayers {
  using Module = Lstm;
  static LayersRun run(const Lstm& m, const Tensor& x, const Tensors& s = {}, const Tensor& lengths = {},
                       Random* random = nullptr) {
    const LstmResult result = m(x, s.empty() ? LstmState{} : LstmState{s[0], s[1]}, lengths, random);
    return {result.y, {result.state.h, result.state.c}};
  }
  static Tensors step(const LstmCell& cell, const Tensor& x, const Tensors& s) {
    const LstmState next = cell(x, {s[0], s[1]});
    return {next.h, next.c};
  }
  static constexpr int states = 2;
};
template <class M> struct GruOrRnnLayers {
  using Module = M;
  static LayersRun run(const M& m, const Tensor& x, const Tensors& s = {}, const Tensor& lengths = {},
                       Random* random = nullptr) {
    const auto result = m(x, s.empty() ? Tensor() : s[0], lengths, random);
    return {result.y, {result.h}};
  }
  static Tensors step(const auto& cell, const Tensor& x, const Tensors& s) { return {cell(x, s[0])}; }
  static constexpr int states = 1;
};

template <class Kind> class RecurrentLayers : public testing::Test {
 protected:
  using Layer = typename Kind::Module;

  Layer make(const RecurrentOptions& options) {
    Layer module(features, hidden, random, options);
    for (const NamedTensor& parameter : parameters(module))
      copy_values(random.normal(parameter.tensor.shape(), 0, 0.5), parameter.tensor);
    return module;
  }
  Tensors random_states(std::int64_t cells) {
    Tensors states;
    for (int k = 0; k < Kind::states; ++k) states.push_back(random.normal({cells, batch, hidden}));
    return states;
  }
  /// One sample alone through all layers, one step of one cell at a time.
  LayersRun by_hand(const Layer& module, const Tensor& x, const Tensors& start, std::int64_t sample,
                    std::int64_t length) {
    const int directions = module.options.bidirectional ? 2 : 1;
    Tensors below, last(Kind::states);
    for (std::int64_t t = 0; t < length; ++t) below.push_back(slice(x, {range(sample, sample + 1), t}));
    for (int k = 0; k < cells_of(module.options); k += directions) {
      std::vector<Tensors> outputs(below.size());
      for (int direction = 0; direction < directions; ++direction) {
        const int number = k + direction;
        const auto& cell = number == 0 ? module.cell : module.further[static_cast<std::size_t>(number) - 1];
        Tensors state;
        for (const Tensor& part : start) state.push_back(slice(part, {number, range(sample, sample + 1)}));
        for (std::size_t n = 0; n < below.size(); ++n) {
          const std::size_t t = direction == 0 ? n : below.size() - 1 - n;
          state = Kind::step(cell, below[t], state);
          outputs[t].push_back(state[0]);
        }
        for (std::size_t part = 0; part < state.size(); ++part)
          last[part] = last[part].defined() ? concat({last[part], state[part]}, 0) : state[part];
      }
      for (std::size_t t = 0; t < below.size(); ++t) below[t] = concat(outputs[t], -1);
    }
    return {concat(below, 0), last};
  }
  static Tensors everything(const LayersRun& run) {
    Tensors all_parts{run.y};
    all_parts.insert(all_parts.end(), run.state.begin(), run.state.end());
    return all_parts;
  }

  DtypeScope doubles{f64};
  Random random{1};
  Tensor series = random.normal({batch, time_steps, features}), lengths = indices({3, 5, 1, 4});
};
using RecurrentKinds = testing::Types<LstmLayers, GruOrRnnLayers<Gru>, GruOrRnnLayers<Rnn>>;
TYPED_TEST_SUITE(RecurrentLayers, RecurrentKinds);

TYPED_TEST(RecurrentLayers, AreTheirCellsStepByStepInEveryLayerAndDirection) {
  for (const bool bidirectional : {false, true})
    for (const int layers : {1, 3}) {
      if (layers == 1 && !bidirectional) continue;
      const auto module = this->make({.layers = layers, .bidirectional = bidirectional});
      const int directions = bidirectional ? 2 : 1;
      const Tensors start = this->random_states(layers * directions);
      const LayersRun run = TypeParam::run(module, this->series, start, this->lengths);
      ASSERT_EQ(run.y.shape(), (Shape{batch, time_steps, directions * hidden}));
      for (std::int64_t b = 0; b < batch; ++b) {
        const std::int64_t length = this->lengths.template values<std::int64_t>()[static_cast<std::size_t>(b)];
        const LayersRun alone = this->by_hand(module, this->series, start, b, length);
        EXPECT_LT(difference(slice(run.y, {b, range(0, length)}), alone.y), 1e-13) << layers << bidirectional << b;
        for (std::size_t part = 0; part < run.state.size(); ++part)
          EXPECT_LT(difference(slice(run.state[part], {all, b}), alone.state[part]), 1e-13) << part;
      }
    }
}

TYPED_TEST(RecurrentLayers, WithoutLengthsOrAStateItIsAllStepsFromZero) {
  const auto module = this->make({.layers = 2, .bidirectional = true});
  const Tensors zero(TypeParam::states, zeros({4, batch, hidden}));
  const LayersRun plain = TypeParam::run(module, this->series);
  const LayersRun given = TypeParam::run(module, this->series, zero, full({batch}, time_steps, i64));
  const Tensors one = this->everything(plain), other = this->everything(given);
  for (std::size_t part = 0; part < one.size(); ++part) EXPECT_TRUE(same_bits(one[part], other[part])) << part;
}

/// NaN in the padding reaches nothing; nor do more steps of padding.
TYPED_TEST(RecurrentLayers, PaddingChangesNoBitOfTheOthers) {
  for (const Dtype dtype : {f32, f64}) {
    const auto module = this->make({.layers = 2, .bidirectional = true});
    to(module, dtype);
    const Tensor own = this->series.to(dtype);
    const Tensor inside = reshape(exp(padding_mask(this->lengths, time_steps)).to(i64), {batch, time_steps, 1});
    const Tensor padded = where(inside, own, full_like(own, nan));
    const LayersRun run = TypeParam::run(module, own, {}, this->lengths);
    const LayersRun other = TypeParam::run(module, padded, {}, this->lengths);
    const LayersRun longer =
        TypeParam::run(module, concat({padded, full({batch, 2, features}, nan, dtype)}, 1), {}, this->lengths);
    const Tensors parts = this->everything(run), in_nan = this->everything(other), in_more = this->everything(longer);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      EXPECT_TRUE(same_bits(parts[part], in_nan[part])) << dtype << part;
      const Tensor shortened = part == 0 ? slice(in_more[0], {all, range(0, time_steps)}) : in_more[part];
      EXPECT_TRUE(same_bits(parts[part], shortened)) << dtype << part;
    }
  }
}

TYPED_TEST(RecurrentLayers, BehindItsLengthASampleRepeatsItsStates) {
  const auto module = this->make({.bidirectional = true});
  const LayersRun run = TypeParam::run(module, this->series, {}, this->lengths);
  const Tensor expected = reshape(transpose(run.state[0], {1, 0, 2}), {batch, 2 * hidden});
  EXPECT_TRUE(same_bits(slice(run.y, {2, time_steps - 1}), expected[2]));
}

TYPED_TEST(RecurrentLayers, Gradients) {
  const auto module = this->make({.layers = 2, .bidirectional = true, .dropout = 0.3});
  const auto everything = [&](const Tensor& x) {
    Random masks(3);
    const LayersRun run = TypeParam::run(module, x, {}, this->lengths, &masks);
    Tensors flat;
    for (const Tensor& part : this->everything(run)) flat.push_back(reshape(part, {part.numel()}));
    return concat(flat);
  };
  const GradcheckOptions no_kink_between{.step = 1e-4};
  const auto of_weights = gradcheck(
      module, [&](const auto&) { return everything(this->series); }, no_kink_between);
  EXPECT_TRUE(of_weights.passed()) << of_weights;
  const auto of_input = gradcheck(everything, this->series, no_kink_between);
  EXPECT_TRUE(of_input.passed()) << of_input;
}

/// The gradient of the padding is exactly zero.
TYPED_TEST(RecurrentLayers, NoGradientReachesThePadding) {
  const auto module = this->make({.layers = 2, .bidirectional = true});
  const Tensor x = this->series.clone().watch();
  Tape tape;
  const LayersRun run = TypeParam::run(module, x, {}, this->lengths);
  tape.backward({run.state[0]}, {this->random.normal(run.state[0].shape())});
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = this->lengths.template values<std::int64_t>()[static_cast<std::size_t>(b)];
    EXPECT_GT(norm(slice(x.grad(), {b, range(0, length)})).item(), 0) << b;
    EXPECT_EQ(norm(slice(x.grad(), {b, range(length)})).item(), 0) << b;
  }
}

TYPED_TEST(RecurrentLayers, DropoutActsBetweenLayersAndOnlyWithAGenerator) {
  Random one(5), again(5);
  const auto module = this->make({.layers = 2, .dropout = 1}), single = this->make({.layers = 1, .dropout = 1});
  const LayersRun evaluated = TypeParam::run(module, this->series),
                  trained = TypeParam::run(module, this->series, {}, {}, &one);
  EXPECT_TRUE(same_bits(slice(evaluated.state[0], {0}), slice(trained.state[0], {0}))) << "the layer below";
  EXPECT_GT(difference(evaluated.y, trained.y), 1e-3);
  const Tensor other = this->random.normal({batch, time_steps, features});
  EXPECT_TRUE(same_bits(TypeParam::run(module, other, {}, {}, &again).y, trained.y)) << "nothing comes up from below";
  EXPECT_TRUE(same_bits(TypeParam::run(single, other, {}, {}, &one).y, TypeParam::run(single, other).y));
}

TYPED_TEST(RecurrentLayers, CellsGoByLayerAndDirection) {
  const auto module = this->make({.layers = 2, .bidirectional = true});
  const std::vector<std::string> names = parameter_names_of(module);
  EXPECT_EQ(names.front(), "weight_ih");
  for (const char* name : {"l0_reverse.weight_ih", "l1.weight_ih", "l1_reverse.weight_ih"})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  const auto one_way = this->make({.layers = 2});
  EXPECT_EQ(parameter_names_of(one_way)[names.size() / 4], "l1.weight_ih");
  EXPECT_EQ(one_way.further[0].weight_ih.dim(1), hidden);
  EXPECT_EQ(module.further[1].weight_ih.dim(1), 2 * hidden);
  EXPECT_EQ(weights_hash(clone(module)), weights_hash(module));
}

TYPED_TEST(RecurrentLayers, NoStepsAndNoSamples) {
  const auto module = this->make({.layers = 2, .bidirectional = true});
  const Tensors start = this->random_states(4);
  const LayersRun none = TypeParam::run(module, zeros({batch, 0, features}), start, zeros({batch}, i64));
  EXPECT_EQ(none.y.shape(), (Shape{batch, 0, 2 * hidden}));
  EXPECT_TRUE(same_bits(none.state[0], start[0]));
  EXPECT_EQ(TypeParam::run(module, zeros({0, 3, features})).state[0].shape(), (Shape{4, 0, hidden}));
}

TYPED_TEST(RecurrentLayers, Errors) {
  using Module = typename TypeParam::Module;
  EXPECT_NE(message_of([&] { Module(features, hidden, this->random, {.layers = 0}); }).find(": 0 layers; at least one"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              Module(features, hidden, this->random, {.dropout = 1.5});
            }).find(": the probability of dropout 1.5 must lie from 0 to 1"),
            std::string::npos);
  const auto module = this->make({.layers = 2});
  const Tensors wrong(TypeParam::states, zeros({batch, hidden}));
  EXPECT_NE(message_of<ShapeError>([&] { TypeParam::run(module, this->series, wrong); })
                .find(": the state h[4, 4] must be [2, 4, 4], one [batch, hidden] for each layer and direction; stack "
                      "them"),
            std::string::npos);
  const auto both = this->make({.bidirectional = true});
  EXPECT_THROW(TypeParam::run(both, this->series, {}, indices({1, 2, 3, 6})), IndexError);
  EXPECT_THROW(TypeParam::run(both, this->series, {}, indices({1, 2, 3})), ShapeError);
}

TEST(ReverseTime, TurnsEachSampleRoundWithinItsLength) {
  const Tensor x = indices({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  EXPECT_TRUE(same_values(reverse_time(x, {}), indices({{3, 2, 1}, {6, 5, 4}, {9, 8, 7}})));
  EXPECT_TRUE(same_values(reverse_time(x, indices({2, 0, 3})), indices({{2, 1, 3}, {4, 5, 6}, {9, 8, 7}})));
  EXPECT_EQ(message_of<ShapeError>([&] { reverse_time(x, indices({1})); }),
            "reverse_time: lengths[1] of dtype i64 must be i64 [3], one for each sample of x[3, 3]");
  EXPECT_EQ(message_of<IndexError>([&] {
              reverse_time(x, indices({1, -1, 2}));
            }),
            "reverse_time: the length -1 is not in [0, 3], the time of x[3, 3]; give each sample's number of steps");
  EXPECT_EQ(message_of<ShapeError>([&] { reverse_time(indices({1}), {}); }),
            "reverse_time: x[1] must be [batch, time, ...]; reshape it");
}

}  // namespace
}  // namespace retrace

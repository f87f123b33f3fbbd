// Values of the recurrent ops over sequences with lengths: after its length, a sample keeps its state.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <retrace/core/tensor/random.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

constexpr std::int64_t batch = 5, time = 4, hidden = 3;

/// y of every step, and the last states, of which h comes first.
struct Sequence {
  Tensor y;
  Tensors states;
};

/// A common interface to the ops: p, the initial states and the lengths give a sequence.
struct Layer {
  std::string name;
  std::int64_t gates;
  std::size_t states;
  std::function<Sequence(const Tensor& p, const Tensors& states, const Tensor& lengths)> op;
};

std::vector<Layer> layers(Random& random, Dtype dtype) {
  const auto weight = [&](std::int64_t gates) { return random.normal({gates * hidden, hidden}, f64).to(dtype); };
  const Tensor bias = random.normal({3 * hidden}, f64).to(dtype);
  const auto rnn = [of_rnn = weight(1)](Activation activation) {
    return [=](const Tensor& p, const Tensors& states, const Tensor& lengths) {
      const auto [y, h] = rnn_sequence(p, states[0], of_rnn, activation, lengths);
      return Sequence{y, {h}};
    };
  };
  return {{"lstm", 4, 2,
           [of_lstm = weight(4)](const Tensor& p, const Tensors& states, const Tensor& lengths) {
             const auto [y, h, c] = lstm_sequence(p, states[0], states[1], of_lstm, lengths);
             return Sequence{y, {h, c}};
           }},
          {"gru", 3, 1,
           [=, of_gru = weight(3)](const Tensor& p, const Tensors& states, const Tensor& lengths) {
             const auto [y, h] = gru_sequence(p, states[0], of_gru, bias, lengths);
             return Sequence{y, {h}};
           }},
          {"rnn with tanh", 1, 1, rnn(Activation::tanh)},
          {"rnn with relu", 1, 1, rnn(Activation::relu)}};
}

/// A layer and an input whose samples have no steps, some, and all.
struct Example {
  const Layer& layer;
  Tensor p;
  Tensors before;
  Tensor lengths = indices({2, 0, 4, 1, 3});

  Example(const Layer& of, Random& random, Dtype dtype)
      : layer(of), p(random.normal({batch, time, of.gates * hidden}, f64).to(dtype)) {
    for (std::size_t k = 0; k < of.states; ++k) before.push_back(random.normal({batch, hidden}, f64).to(dtype));
  }
  std::int64_t length(std::int64_t sample) const {
    return lengths.values<std::int64_t>()[static_cast<std::size_t>(sample)];
  }
  Sequence run() const { return layer.op(p, before, lengths); }
  /// The result of one sample alone, truncated to its length.
  Sequence alone(std::int64_t sample) const {
    const auto rows = [=](const Tensor& x) { return slice(x, {range(sample, sample + 1)}).clone(); };
    Tensors states;
    for (const Tensor& state : before) states.push_back(rows(state));
    return layer.op(slice(rows(p), {all, range(0, length(sample))}).clone(), states, {});
  }
};

class RecurrentLengths : public testing::TestWithParam<Dtype> {
 protected:
  template <class Body> void for_each_layer(Body&& body) {
    Random random(31);
    for (const Layer& layer : layers(random, GetParam())) {
      SCOPED_TRACE(layer.name);
      body(Example(layer, random, GetParam()));
    }
  }
};

TEST_P(RecurrentLengths, ASampleIsThatSampleAloneUpToItsLength) {
  for_each_layer([](const Example& example) {
    const Sequence together = example.run();
    for (std::int64_t sample = 0; sample < batch; ++sample) {
      const std::int64_t length = example.length(sample);
      const Sequence alone = example.alone(sample);
      EXPECT_TRUE(same_bits(slice(together.y[sample], {range(0, length)}), alone.y[0])) << "sample " << sample;
      for (std::size_t k = 0; k < alone.states.size(); ++k)
        EXPECT_TRUE(same_bits(together.states[k][sample], alone.states[k][0]))
            << "sample " << sample << ", state " << k;
    }
  });
}

TEST_P(RecurrentLengths, AfterItsLengthASampleKeepsItsState) {
  for_each_layer([](const Example& example) {
    const auto [y, states] = example.run();
    for (std::int64_t sample = 0; sample < batch; ++sample) {
      for (std::int64_t t = example.length(sample); t < time; ++t)
        EXPECT_TRUE(same_bits(y[sample][t], states[0][sample])) << "sample " << sample << ", step " << t;
      if (example.length(sample) > 0) continue;
      for (std::size_t k = 0; k < states.size(); ++k)
        EXPECT_TRUE(same_bits(states[k][sample], example.before[k][sample])) << "no steps, state " << k;
    }
  });
}

TEST_P(RecurrentLengths, WhatComesAfterALengthCountsNowhere) {
  for_each_layer([](const Example& example) {
    Example other = example;
    const Tensor is_padding = 1 - exp(padding_mask(example.lengths, time, GetParam()));
    other.p = example.p + 7 * reshape(is_padding, {batch, time, 1});
    const Sequence expected = example.run(), changed = other.run();
    EXPECT_TRUE(same_bits(changed.y, expected.y));
    for (std::size_t k = 0; k < expected.states.size(); ++k)
      EXPECT_TRUE(same_bits(changed.states[k], expected.states[k])) << "state " << k;
  });
}

TEST_P(RecurrentLengths, TheSequenceIsItsComposedTwin) {
  for_each_layer([](const Example& example) {
    const Sequence fused = example.run();
    Tape tape({.expand_fused = true});
    const Sequence composed = example.run();
    const double limit = GetParam() == f32 ? 1e-6 : 1e-14;
    EXPECT_LT(difference(fused.y, composed.y), limit);
    for (std::size_t k = 0; k < fused.states.size(); ++k)
      EXPECT_LT(difference(fused.states[k], composed.states[k]), limit) << "state " << k;
  });
}

INSTANTIATE_TEST_SUITE_P(Dtypes, RecurrentLengths, testing::Values(f32, f64, dual),
                         [](const auto& of) { return text(of.param); });

}  // namespace
}  // namespace retrace

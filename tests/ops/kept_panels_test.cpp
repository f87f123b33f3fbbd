// Weights that stay packed give the bits of weights that every call packs.
#include <gtest/gtest.h>
#include <retrace/core/tape/tape.h>
#include <retrace/core/tensor/random.h>
#include <retrace/ops/loops/kept_panels.h>
#include <retrace/ops/ops.h>

#include <optional>
#include <vector>

#include <retrace/tests/compare.h>

namespace retrace {
namespace {

struct Weights {
  Tensor of_lstm, of_gru;
};

/// The gradients of two calls, the second of other rows.
std::vector<double> gradients_of(const Weights& w, bool kept) {
  Random random(3);
  const auto h = [&](std::int64_t rows) { return random.normal({rows, 24}); };
  std::optional<KeptPanels> panels;
  if (kept) panels.emplace(Tensors{w.of_lstm, w.of_gru});
  std::vector<double> numbers;
  for (const std::int64_t rows : {3, 2}) {
    Tape tape;
    const Tensor y = lstm_sequence(random.normal({rows, 4, 96}), h(rows), h(rows), w.of_lstm).y;
    const Tensor z = gru_sequence(random.normal({rows, 4, 72}), h(rows), w.of_gru, random.normal({72})).y;
    tape.backward(sum(y * y) + sum(z * z * z));
    for (const Tensor& each : {w.of_lstm.grad(), w.of_gru.grad()})
      for (const float number : each.values<float>()) numbers.push_back(number);
    w.of_lstm.zero_grad(), w.of_gru.zero_grad();
  }
  return numbers;
}

TEST(KeptPanels, GiveTheBitsOfPanelsOfEveryCall) {
  Random random(7);
  const Weights w{parameter(random.normal({96, 24}), "lstm"), parameter(random.normal({72, 24}), "gru")};
  const std::vector<double> packed_each_time = gradients_of(w, false);
  EXPECT_EQ(gradients_of(w, true), packed_each_time);
  EXPECT_EQ(gradients_of(w, true), packed_each_time);
}

TEST(KeptPanels, OfAWeightAreFilledByTheFirstCall) {
  Random random(7);
  const Tensor weight = random.normal({96, 24});
  const KeptPanels panels(Tensors{weight});
  lstm_sequence(random.normal({3, 4, 96}), random.normal({3, 24}), random.normal({3, 24}), weight);
  EXPECT_TRUE(KeptPanels::place_for({weight.values<float>().data(), 24, 96, true})->defined());
}

TEST(KeptPanels, OfAWeightThatChangesAreNotUsed) {
  Random random(7);
  const Tensor weight = parameter(random.normal({96, 24}));
  const Tensor x = random.normal({3, 4, 96}), h = random.normal({3, 24}), c = random.normal({3, 24});
  const KeptPanels panels(Tensors{weight});
  lstm_sequence(x, h, c, weight);
  weight.update<float>([](std::span<float> values) {
    for (float& value : values) value *= 2;
  });
  const Tensor y = lstm_sequence(x, h, c, weight).y;
  EXPECT_TRUE(same_bits(y, lstm_sequence(x, h, c, weight.detach().clone()).y));
}

TEST(KeptPanels, ThatCannotBeMadeLeaveNoneBehind) {
  EXPECT_THROW(KeptPanels(Tensors{Tensor()}), ValueError);
  EXPECT_EQ(KeptPanels::place_for({nullptr, 1, 1, true}), nullptr);
}

TEST(KeptPanels, AreOnlyOfTheGivenWeightsAndTheirWholeForm) {
  const Tensor weight = zeros({8, 4}), other = zeros({8, 4});
  const float* const values = weight.values<float>().data();
  EXPECT_EQ(KeptPanels::place_for({values, 4, 8, true}), nullptr);
  const KeptPanels panels(Tensors{weight});
  Tensor* const place = KeptPanels::place_for({values, 4, 8, true});
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(KeptPanels::place_for({values, 4, 8, true}), place);
  EXPECT_NE(KeptPanels::place_for({values, 8, 4, false}), place);
  EXPECT_EQ(KeptPanels::place_for({other.values<float>().data(), 4, 8, true}), nullptr);
  {
    const KeptPanels of_other(Tensors{other});
    EXPECT_EQ(KeptPanels::place_for({values, 4, 8, true}), nullptr);
  }
  EXPECT_EQ(KeptPanels::place_for({values, 4, 8, true}), place);
}

}  // namespace
}  // namespace retrace

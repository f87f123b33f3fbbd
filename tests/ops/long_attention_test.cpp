// Attention of long sequences, which does not store its weights, is bit-identical to attention that stores them if q, k
// and v are different tensors.
#include <gtest/gtest.h>

#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

struct AttentionSizes {
  const char* name;
  std::int64_t queries, keys;
  AttentionOptions options;
};

Tensor padding(std::int64_t keys, Dtype dtype) { return padding_mask(indices({keys - 40, keys}), keys, dtype); }

std::vector<AttentionSizes> cases(Dtype dtype) {
  return {
      {"square", 300, 300, {.heads = 2}},
      {"one head", 270, 250, {}},
      {"causal, some blocks of keys are seen", 1200, 1200, {.heads = 2, .causal = true}},
      {"few queries come last", 70, 1100, {.heads = 2, .causal = true}},
      {"some queries see nothing", 1100, 70, {.causal = true}},
      {"padding is hidden", 90, 800, {.heads = 2, .mask = padding(800, dtype)}},
      {"padding and what comes later are hidden", 700, 700, {.heads = 2, .causal = true, .mask = padding(700, dtype)}}};
}

struct Attended {
  Tensor y, dq, dk, dv;
};

/// Every input is used once more, so that the gradients of attention are accumulated.
template <class Attention> Attended attended(const AttentionSizes& of, Dtype dtype, bool adds, Attention&& attention) {
  Random random(3);
  const auto rows = [&](std::int64_t count, std::int64_t columns, const char* name) {
    return parameter(random.normal({2, count, columns}, dtype), name);
  };
  const Tensor q = rows(of.queries, 12, "q"), k = rows(of.keys, 12, "k"), v = rows(of.keys, 6, "v");
  const Tensor cotangent = random.normal({2, of.queries, 6}, dtype);
  Tape tape;
  const Tensor y = attention(q, k, v, of.options);
  Tensor loss = sum(y * cotangent);
  if (adds) loss = loss + sum(square(q)) + sum(square(k)) + sum(square(v));
  tape.backward(loss);
  const auto widened = [](const Tensor& x) { return to(x.detach(), f64); };
  return {widened(y), widened(q.grad()), widened(k.grad()), widened(v.grad())};
}

void expect_same_bits(const Attended& a, const Attended& b) {
  EXPECT_TRUE(same_bits(a.y, b.y)) << "y";
  EXPECT_TRUE(same_bits(a.dq, b.dq)) << "dq";
  EXPECT_TRUE(same_bits(a.dk, b.dk)) << "dk";
  EXPECT_TRUE(same_bits(a.dv, b.dv)) << "dv";
}

class LongAttention : public testing::TestWithParam<Dtype> {};

TEST_P(LongAttention, HasTheBitsOfStoredWeights) {
  for (const AttentionSizes& of : cases(GetParam()))
    for (const bool adds : {false, true}) {
      SCOPED_TRACE(text(of.name, adds ? ", added" : ""));
      const auto stored = [](const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
        return attention_with_weights(q, k, v, options).y;
      };
      expect_same_bits(attended(of, GetParam(), adds, attention), attended(of, GetParam(), adds, stored));
    }
}

TEST_P(LongAttention, HasTheBitsOfOneThread) {
  for (const AttentionSizes& of : cases(GetParam())) {
    SCOPED_TRACE(of.name);
    const auto with_threads = [&](int count) {
      const ThreadsScope scope(count);
      return attended(of, GetParam(), false, attention);
    };
    expect_same_bits(with_threads(3), with_threads(1));
  }
}

TEST_P(LongAttention, PackedHasTheBitsOfStoredWeights) {
  for (const PackedAttentionOptions& options :
       {PackedAttentionOptions{.heads = 2, .key_size = 3, .causal = true},
        PackedAttentionOptions{.heads = 2, .key_size = 3, .layout = PackedLayout::by_head, .queries = 100},
        PackedAttentionOptions{.heads = 2, .key_size = 3, .mask = padding(700, GetParam())}}) {
    Random random(4);
    const Tensor qkv = parameter(random.normal({2, 700, 20}, GetParam()));
    const auto gradient = [&](const auto& attend) {
      Random of_cotangent(5);
      Tape tape;
      const Tensor y = attend();
      tape.backward({y}, {of_cotangent.normal(y.shape(), GetParam())});
      return std::pair(to(y.detach(), f64), to(qkv.grad().detach(), f64));
    };
    const auto [y, dqkv] = gradient([&] { return packed_attention(qkv, options); });
    qkv.zero_grad();
    const auto [stored_y, stored_dqkv] = gradient([&] { return packed_attention_with_weights(qkv, options).y; });
    EXPECT_TRUE(same_bits(y, stored_y));
    EXPECT_TRUE(same_bits(dqkv, stored_dqkv));
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, LongAttention, testing::Values(f32, f64),
                         [](const auto& of) { return text(of.param); });

bool shares_values(const Tensor& a, const Tensor& b) { return a.values<double>().data() == b.values<double>().data(); }

/// q, k and v share tensors, and only some want gradients. The bits may differ if the contributions to one gradient are
/// summed in another order.
TEST(LongAttentionRecord, SharedAndUnwantedOperands) {
  Random random(7);
  const Tensor a = random.normal({2, 300, 4}, f64), b = random.normal({2, 300, 4}, f64);
  const std::pair<const char*, Tensors> operands[] = {
      {"a a a", {a, a, a}}, {"a a b", {a, a, b}}, {"a b a", {a, b, a}}, {"a b b", {a, b, b}}, {"b a a", {b, a, a}}};
  for (const auto& [name, in] : operands)
    for (const auto& [wanted, other] : {std::pair(a, b), {b, a}}) {
      SCOPED_TRACE(text(name, shares_values(wanted, a) ? ", a is wanted" : ", b is wanted"));
      Tensors shared;
      const Tensor parameter_of = parameter(wanted.clone());
      bool is_used = false;
      for (const Tensor& x : in) {
        const bool is_wanted = shares_values(x, wanted);
        is_used = is_used || is_wanted;
        shared.push_back(is_wanted ? parameter_of : x);
      }
      if (!is_used) continue;
      const auto gradient = [&](auto&& attend) {
        parameter_of.zero_grad();
        Tape tape;
        tape.backward(sum(square(attend())));
        return parameter_of.grad().detach();
      };
      const AttentionOptions options{.heads = 2, .causal = true};
      const Tensor tiled = gradient([&] { return attention(shared[0], shared[1], shared[2], options); });
      const Tensor stored =
          gradient([&] { return attention_with_weights(shared[0], shared[1], shared[2], options).y; });
      EXPECT_LT(max(abs(tiled - stored)).item(), 1e-12);
    }
}

TEST(LongAttentionRecord, AMaskThatChangesBeforeBackwardIsAnError) {
  Random random(9);
  const Tensor x = parameter(random.normal({300, 4})), mask = zeros({300});
  Tape tape;
  const Tensor loss = sum(attention(x, x, x, {.mask = mask}));
  mask.mutable_values<float>()[0] = 1;
  EXPECT_THROW(tape.backward(loss), TapeError);
}

/// Dual numbers carry derivatives through the same loops.
TEST(LongAttentionRecord, TakesDualNumbers) {
  Random random(8);
  const Tensor q = to(random.normal({260, 2}, f64), dual), k = to(random.normal({260, 2}, f64), dual);
  EXPECT_TRUE(same_bits(to(attention(q, k, k), f64), to(attention_with_weights(q, k, k).y, f64)));
}

}  // namespace
}  // namespace retrace

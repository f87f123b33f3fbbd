// The register kernels of small heads are bit-identical to the general loops, and every instruction set agrees with the
// plain loops.
#include <retrace/ops/attention/choose.h>
#include <retrace/ops/kernels/isa.h>
#include <retrace/tests/ops/kernel_numbers.h>

#include <cstring>

namespace retrace {
namespace {

using kernels::normal_numbers;
using kernels::same_bits;

/// q, k and v of 2 samples with 2 heads, packed as for packed_attention, and all results and gradients of attention.
template <class T> struct Heads {
  AttentionSizes n;
  std::vector<T> qkv, dy, dweights;
  std::vector<T> weights, y, dqkv;

  explicit Heads(const AttentionSizes& sizes) : n(sizes) {
    qkv = normal_numbers<T>(n.batch * n.keys * columns(), 1);
    dqkv = normal_numbers<T>(n.batch * n.keys * columns(), 2);  // initial values to add to
    dy = normal_numbers<T>(n.batch * n.queries * n.heads * n.values, 3);
    dweights = normal_numbers<T>(n.batch * n.heads * n.queries * n.keys, 4);
    weights.resize(dweights.size()), y.resize(dy.size());
  }

  std::int64_t columns() const { return n.heads * (2 * n.features + n.values); }
  template <class Number> AttentionOperands<Number> parts(Number* x) const {
    const std::int64_t step = columns(), sample = n.keys * step, q_and_k = n.heads * n.features;
    return {{x, step, n.features, sample},
            {x + q_and_k, step, n.features, sample},
            {x + 2 * q_and_k, step, n.values, sample}};
  }
  template <class Number> Matrices<Number> rows_of_y(Number* x) const {
    return in_features(x, n.queries, n.values, n.heads);
  }

  AttentionGradient<T> gradient(bool add, bool from_weights) {
    return {.in = parts<const T>(qkv.data()),
            .weights = weights.data(),
            .dy = rows_of_y<const T>(dy.data()),
            .dweights = from_weights ? dweights.data() : nullptr,
            .out = parts<T>(dqkv.data()),
            .add_v = add,
            .add_q = add,
            .add_k = add};
  }
};

template <class T> class SmallHeads : public testing::Test {
 public:
  template <class Body> void for_each_size(Body&& body) {
    for (const std::int64_t keys : {1, 2, 5, 8, 9, 16})
      for (const std::int64_t queries : {std::int64_t{1}, keys / 2 + 1, keys})
        for (const auto& [features, values] :
             {std::pair(1, 3), std::pair(16, 16), std::pair(20, 8), std::pair(64, 33)}) {
          SCOPED_TRACE(text(queries, " queries, ", keys, " keys, ", features, " features, ", values, " values"));
          body(AttentionSizes{2, 2, queries, keys, features, values, usual_scale(features)});
        }
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallHeads, Types);

TYPED_TEST(SmallHeads, HaveTheBitsOfTheLoopsForAnySize) {
  using T = TypeParam;
  int compared = 0;
  this->for_each_size([&](const AttentionSizes& n) {
    if (!fits_in_registers<T>(n)) return;
    for (const bool other : {false, true}) {  // causal; accumulated gradients, also through the weights
      Heads<T> small(n), large(n);
      single_heads_forward<T>(n, small.template parts<const T>(small.qkv.data()), {.causal = other},
                              small.weights.data(), small.template rows_of_y<T>(small.y.data()));
      large_heads_forward<T>(n, large.template parts<const T>(large.qkv.data()), {.causal = other},
                             large.weights.data(), large.template rows_of_y<T>(large.y.data()));
      ASSERT_TRUE(same_bits(small.weights, large.weights));
      ASSERT_TRUE(same_bits(small.y, large.y));
      single_heads_backward<T>(n, small.gradient(other, other));
      large_heads_backward<T>(n, large.gradient(other, other));
      ASSERT_TRUE(same_bits(small.dqkv, large.dqkv));
      ++compared;
    }
  });
  EXPECT_GT(compared, 0);
}

/// Which gradients of a head are accumulated, and which outputs have a gradient.
struct Way {
  bool add_q, add_k, add_v;
  bool from_y = true, from_weights = false;
};
constexpr Way ways[] = {{false, true, false},
                        {true, false, true},
                        {.add_q = true, .add_k = false, .add_v = false, .from_weights = true},
                        {.add_q = false, .add_k = true, .add_v = true, .from_y = false, .from_weights = true}};

/// The two functions that compute a head: kernels of a table, or the plain loops.
template <class T> struct HeadFunctions {
  void (*forward)(const HeadForward<T>&);
  void (*backward)(const HeadBackward<T>&);
};

template <class T> HeadFunctions<T> heads_of(const kernels::KernelTable& table) {
  return {table.head_forward.of<T>(), table.head_backward.of<T>()};
}

/// One head alone: weights, y, dq, dk and dv in one list.
template <class T> std::vector<T> one_head(const HeadFunctions<T>& run, const AttentionSizes& n, const Way& way) {
  const auto rows = [](std::int64_t count, std::int64_t columns, unsigned seed) {
    return normal_numbers<T>(count * columns, seed);
  };
  const std::vector<T> q = rows(n.queries, n.features, 5), k = rows(n.keys, n.features, 6),
                       v = rows(n.keys, n.values, 7);
  const std::vector<T> dy = rows(n.queries, n.values, 8), dweights = rows(n.queries, n.keys, 10);
  std::vector<T> weights = rows(n.queries, n.keys, 9), y = dy, dq = q, dk = k, dv = v;
  run.forward({.n = sizes_of_head(n),
               .q = {q.data(), n.features},
               .k = {k.data(), n.features},
               .v = {v.data(), n.values},
               .weights = weights.data(),
               .y = {y.data(), n.values},
               .scale = T(0.3),
               .causal = true});
  run.backward({.n = sizes_of_head(n),
                .q = {q.data(), n.features},
                .k = {k.data(), n.features},
                .v = {v.data(), n.values},
                .dy = {way.from_y ? dy.data() : nullptr, n.values},
                .weights = weights.data(),
                .dweights = way.from_weights ? dweights.data() : nullptr,
                .dq = {dq.data(), n.features},
                .dk = {dk.data(), n.features},
                .dv = {dv.data(), n.values},
                .scale = T(0.3),
                .add_q = way.add_q,
                .add_k = way.add_k,
                .add_v = way.add_v});
  std::vector<T> all = weights;
  for (const std::vector<T>* x : {&y, &dq, &dk, &dv}) all.insert(all.end(), x->begin(), x->end());
  return all;
}

TYPED_TEST(SmallHeads, OfEveryInstructionSetAreThoseOfThePlainLoops) {
  using T = TypeParam;
  const HeadFunctions<T> plain{plain::head_forward<T>, plain::head_backward<T>};
  this->for_each_size([&](const AttentionSizes& n) {
    for (const Way& way : ways) {
      const std::vector<T> expected = one_head(plain, n, way);
      for (const kernels::KernelTable* table : kernels::supported_kernel_tables())
        if (n.keys * std::int64_t{sizeof(T)} <= table->vector_bytes)
          kernels::expect_close(expected, one_head(heads_of<T>(*table), n, way), 64, table->name);
    }
  });
}

}  // namespace
}  // namespace retrace

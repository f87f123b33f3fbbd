// The kernels over rows agree with their plain twins on every instruction set of this machine, for every row length
// around that of a vector, and the bits of a row depend on that row alone.
#include <retrace/core/base/error.h>
#include <retrace/ops/kernels/isa.h>
#include <retrace/tests/ops/kernel_numbers.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace retrace::kernels {
namespace {

template <class T> class RowKernel : public testing::Test {
 public:
  /// Calls body(kernels, length) for every instruction set and many lengths.
  template <class Body> void for_each_length(Body&& body) {
    for (const KernelTable* table : supported_kernel_tables())
      for (const std::int64_t length : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1000}) {
        SCOPED_TRACE(testing::Message() << table->name << ", rows of " << length);
        body(*table, length);
      }
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RowKernel, Types);

constexpr std::int64_t rows = 19;  // more than one group of a pass

TYPED_TEST(RowKernel, SoftmaxEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> x = normal_numbers<T>(rows * length, 1, 5);
    std::vector<T> plain(x.size()), fast(x.size());
    plain::softmax<T>({x.data(), plain.data(), rows, length, T(0.5)});
    kernels.softmax.template of<T>()({x.data(), fast.data(), rows, length, T(0.5)});
    expect_close(plain, fast, 8, "softmax");
  });
}

TYPED_TEST(RowKernel, TurnedRowsEqualThoseOfThePlainTwin) {
  using T = TypeParam;
  constexpr std::int64_t time = 7, heads = 3;
  this->for_each_length([](const KernelTable& kernels, std::int64_t pairs) {
    const std::int64_t width = heads * 2 * pairs;
    const std::vector<T> x = normal_numbers<T>(rows * width, 1), turns = normal_numbers<T>(2 * time * 2 * pairs, 2);
    for (const bool halves : {false, true})
      for (const bool backwards : {false, true})
        for (const bool add : {false, true}) {
          std::vector<T> plain = normal_numbers<T>(rows * width, 3), fast = plain;
          const auto run = [&](auto&& kernel, std::vector<T>& y) {
            kernel(
                TurnedRows<T>{x.data(), y.data(), rows, 5, time, heads, pairs, turns.data(), halves, backwards, add});
          };
          run(plain::turn_rows<T>, plain);
          run(kernels.turn_rows.template of<T>(), fast);
          expect_close(plain, fast, 2, halves ? "halves" : "adjacent");
        }
  });
}

TYPED_TEST(RowKernel, SoftmaxOfWhatIsMaskedIsZeroAndNanStays) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  this->for_each_length([&](const KernelTable& kernels, std::int64_t length) {
    std::vector<T> x(static_cast<std::size_t>(3 * length), -infinity), y(x.size());
    x[static_cast<std::size_t>(2 * length - 1)] = 3;    // the second row has one number
    x[static_cast<std::size_t>(3 * length - 1)] = nan;  // the third nothing but NaN
    kernels.softmax.template of<T>()({x.data(), y.data(), 3, length});
    for (std::int64_t k = 0; k < 3 * length - 1; ++k)
      EXPECT_EQ(y[static_cast<std::size_t>(k)], k == 2 * length - 1 ? T(1) : T(0)) << k;
    EXPECT_TRUE(std::isnan(y.back()));
  });
}

TYPED_TEST(RowKernel, ACausalSoftmaxIsThatOfWhatEachRowSees) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> x = normal_numbers<T>(rows * length, 1, 5);
    for (const std::int64_t first_seen : {std::int64_t{-2}, std::int64_t{1}, length - 3}) {
      std::vector<T> plain(x.size(), T(7)), fast = plain, row_by_row(x.size(), T(0));
      plain::softmax<T>({x.data(), plain.data(), rows, length, T(0.5), true, first_seen});
      kernels.softmax.template of<T>()({x.data(), fast.data(), rows, length, T(0.5), true, first_seen});
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t seen = std::clamp<std::int64_t>(first_seen + row, 0, length);
        kernels.softmax.template of<T>()({x.data() + row * length, row_by_row.data() + row * length, 1, seen, T(0.5)});
      }
      expect_close(plain, fast, 8, "causal softmax");
      EXPECT_TRUE(same_bits(fast, row_by_row)) << "from " << first_seen;
    }
  });
}

TYPED_TEST(RowKernel, GradientOfSoftmaxEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> y = normal_numbers<T>(rows * length, 2), dy = normal_numbers<T>(rows * length, 3);
    for (const bool add : {false, true}) {
      std::vector<T> plain = normal_numbers<T>(rows * length, 4), fast = plain;
      plain::softmax_gradient<T>({y.data(), dy.data(), plain.data(), rows, length, T(0.25), add});
      kernels.softmax_gradient.template of<T>()({y.data(), dy.data(), fast.data(), rows, length, T(0.25), add});
      expect_close(plain, fast, 16, add ? "dx +=" : "dx =");
    }
  });
}

TYPED_TEST(RowKernel, AStepOfAGruEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> q = normal_numbers<T>(3 * length, 1), before = normal_numbers<T>(length, 2);
    std::vector<T> gates = normal_numbers<T>(3 * length, 3), fast_gates = gates;
    std::vector<T> h(before.size()), fast_h(before.size());
    plain::gru_forward<T>({gates.data(), q.data(), before.data(), h.data(), length});
    kernels.gru_forward.template of<T>()({fast_gates.data(), q.data(), before.data(), fast_h.data(), length});
    expect_close(gates, fast_gates, 8, "gates");
    expect_close(h, fast_h, 8, "h");

    const std::vector<T> dy = normal_numbers<T>(length, 4);
    for (const T* its_dy : {static_cast<const T*>(nullptr), dy.data()}) {
      std::vector<T> dh = normal_numbers<T>(length, 5), fast_dh = dh;
      std::vector<T> dp(q.size()), dq(q.size()), fast_dp(q.size()), fast_dq(q.size());
      plain::gru_backward<T>({gates.data(), q.data(), before.data(), its_dy, dh.data(), dp.data(), dq.data(), length});
      kernels.gru_backward.template of<T>()(
          {gates.data(), q.data(), before.data(), its_dy, fast_dh.data(), fast_dp.data(), fast_dq.data(), length});
      expect_close(dp, fast_dp, 8, "dp");
      expect_close(dq, fast_dq, 8, "dq");
      expect_close(dh, fast_dh, 8, "dh");
    }
  });
}

TYPED_TEST(RowKernel, LogSumExpAndScaledExpEqualTheirPlainTwins) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> x = normal_numbers<T>(rows * length, 5, 10);
    std::vector<T> plain_max(rows), plain(rows), plain_inverse(rows), max_x(rows), fast(rows), inverse(rows);
    plain::log_sum_exp<T>({x.data(), plain_max.data(), plain.data(), plain_inverse.data(), rows, length});
    kernels.log_sum_exp.template of<T>()({x.data(), max_x.data(), fast.data(), inverse.data(), rows, length});
    EXPECT_EQ(plain_max, max_x);
    expect_close(plain, fast, 4, "ln sum e^x");
    expect_close(plain_inverse, inverse, 8, "1 / sum e^x");
    for (const bool add : {false, true}) {
      std::vector<T> sum = normal_numbers<T>(length, 6), plain_sum = sum;
      kernels.scaled_exp.template of<T>()({x.data(), T(30), T(2), sum.data(), length, add});
      for (std::size_t k = 0; k < sum.size(); ++k) plain_sum[k] = (add ? plain_sum[k] : T(0)) + 2 * std::exp(x[k] - 30);
      expect_close(plain_sum, sum, 4, add ? "scaled_exp added" : "scaled_exp");
    }
  });
}

TYPED_TEST(RowKernel, LayerNormEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> x = normal_numbers<T>(rows * length, 7, 3), gamma = normal_numbers<T>(length, 8);
    const std::vector<T> beta = normal_numbers<T>(length, 9), residual = normal_numbers<T>(rows * length, 10);
    for (const bool whole : {false, true}) {  // with gamma, beta and a residual
      std::vector<T> plain[4], fast[4];
      const auto run = [&](auto&& kernel, std::vector<T>(&out)[4]) {
        out[0].resize(x.size()), out[1].resize(rows), out[2].resize(rows), out[3].resize(x.size());
        kernel(LayerNormRows<T>{x.data(), whole ? gamma.data() : nullptr, whole ? beta.data() : nullptr, out[0].data(),
                                out[1].data(), out[2].data(), rows, length, T(1e-2), whole ? residual.data() : nullptr,
                                out[3].data()});
      };
      run(plain::layer_norm<T>, plain);
      run(kernels.layer_norm.template of<T>(), fast);
      expect_close(plain[0], fast[0], 32, "y");
      expect_close(plain[1], fast[1], 64, "mean");
      expect_close(plain[2], fast[2], 16, "inverse");
      EXPECT_EQ(plain[3], fast[3]) << "the sum";
      if (!whole) continue;
      std::vector<T> in_place(x.size());  // the sum where y will be
      kernels.layer_norm.template of<T>()({x.data(), gamma.data(), beta.data(), in_place.data(), fast[1].data(),
                                           fast[2].data(), rows, length, T(1e-2), residual.data(), in_place.data()});
      EXPECT_EQ(in_place, fast[0]);
    }
  });
}

TYPED_TEST(RowKernel, GradientOfLayerNormEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> x = normal_numbers<T>(rows * length, 10), dy = normal_numbers<T>(rows * length, 11);
    const std::vector<T> gamma = normal_numbers<T>(length, 12), mean = normal_numbers<T>(rows, 13);
    const std::vector<T> inverse = normal_numbers<T>(rows, 14), beta = normal_numbers<T>(length, 17);
    const std::vector<T> one_over_gamma = normal_numbers<T>(length, 18);
    for (const bool whole : {false, true}) {
      for (const bool from_y : {false, true}) {
        SCOPED_TRACE(from_y ? "from y" : "from x");
        std::vector<T> plain[3], fast[3];
        const auto run = [&](auto&& kernel, std::vector<T>(&out)[3]) {
          out[0] = normal_numbers<T>(rows * length, 15);
          out[1] = out[2] = std::vector<T>(static_cast<std::size_t>(length), T(20));  // the added values do not cancel
          LayerNormGradientRows<T> at{x.data(),      dy.data(),      whole ? gamma.data() : nullptr,
                                      mean.data(),   inverse.data(), out[0].data(),
                                      out[1].data(), out[2].data(),  rows,
                                      length,        !whole};
          if (from_y) at.y = std::exchange(at.x, nullptr), at.mean = nullptr;
          if (from_y && whole) at.beta = beta.data(), at.one_over_gamma = one_over_gamma.data();
          kernel(at);
        };
        run(plain::layer_norm_gradient<T>, plain);
        run(kernels.layer_norm_gradient.template of<T>(), fast);
        expect_close(plain[0], fast[0], 64, "dx");
        expect_close(plain[1], fast[1], 16, "dgamma");
        expect_close(plain[2], fast[2], 16, "dbeta");
      }
    }
  });
}

TYPED_TEST(RowKernel, ARowsBitsDependOnThatRowAlone) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> x = normal_numbers<T>(rows * length, 17);
    std::vector<T> together(x.size()), alone(x.size());
    kernels.softmax.template of<T>()({x.data(), together.data(), rows, length});
    for (std::int64_t first = 0; first < rows * length; first += length)
      kernels.softmax.template of<T>()({x.data() + first, alone.data() + first, 1, length});
    EXPECT_EQ(std::memcmp(together.data(), alone.data(), x.size() * sizeof(T)), 0);
  });
}

/// dx in the buffer of dy, accumulated or not, and each of the three gradients alone.
TYPED_TEST(RowKernel, GradientOfLayerNormIsWrittenWhereItIsWanted) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> x = normal_numbers<T>(rows * length, 10), dy = normal_numbers<T>(rows * length, 11);
    const std::vector<T> gamma = normal_numbers<T>(length, 12), mean = normal_numbers<T>(rows, 13);
    const std::vector<T> inverse = normal_numbers<T>(rows, 14);
    for (const int wanted : {0, 1, 2, 3, 4}) {  // dx, dgamma, dbeta, dx added, dx over dy
      std::vector<T> plain, fast;
      const auto run = [&](auto&& kernel, std::vector<T>& out) {
        out = wanted == 4 ? dy : normal_numbers<T>(wanted == 1 || wanted == 2 ? length : rows * length, 15);
        kernel(LayerNormGradientRows<T>{x.data(), wanted == 4 ? out.data() : dy.data(), gamma.data(), mean.data(),
                                        inverse.data(), wanted == 1 || wanted == 2 ? nullptr : out.data(),
                                        wanted == 1 ? out.data() : nullptr, wanted == 2 ? out.data() : nullptr, rows,
                                        length, wanted == 3});
      };
      run(plain::layer_norm_gradient<T>, plain);
      run(kernels.layer_norm_gradient.template of<T>(), fast);
      expect_close(plain, fast, 64, text("wanted ", wanted).c_str());
    }
  });
}

/// A vector whose elements begin `offset` elements after a multiple of 64 bytes.
template <class T> class Placed {
 public:
  Placed(std::int64_t count, std::int64_t offset) : room_(static_cast<std::size_t>(count + offset) + 64) {
    void* place = room_.data();
    std::size_t bytes = room_.size() * sizeof(T);
    first_ = static_cast<T*>(std::align(64, sizeof(T), place, bytes)) + offset;
  }
  T* data() { return first_; }

 private:
  std::vector<T> room_;
  T* first_;
};

/// From an aligned address and from others.
TYPED_TEST(RowKernel, LayerNormHasTheSameBitsPastTheCache) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> x = normal_numbers<T>(rows * length, 19), dy = normal_numbers<T>(rows * length, 20);
    for (const std::int64_t offset : {0, 1})
      for (const char* sum_is : {"x", "y", "of its own"}) {
        SCOPED_TRACE(testing::Message() << "from element " << offset << ", the sum is " << sum_is);
        const bool has_residual = *sum_is != 'x';
        std::vector<T> results[2];
        for (const bool past_cache : {false, true}) {
          std::vector<T> mean(rows), inverse(rows), sum(x.size());
          Placed<T> y(rows * length, offset), dx(rows * length, offset);
          std::copy(dy.begin(), dy.end(), dx.data());  // initial values to add to
          LayerNormRows<T> forward{x.data(),       nullptr, nullptr, y.data(), mean.data(),
                                   inverse.data(), rows,    length,  T(1e-5)};
          if (has_residual) forward.residual = dy.data(), forward.sum = *sum_is == 'y' ? y.data() : sum.data();
          forward.past_cache = past_cache;
          kernels.layer_norm.template of<T>()(forward);
          LayerNormGradientRows<T> backward{x.data(), dy.data(), nullptr, mean.data(), inverse.data(), dx.data(),
                                            nullptr,  nullptr,   rows,    length,      has_residual};
          backward.past_cache = past_cache;
          kernels.layer_norm_gradient.template of<T>()(backward);
          std::vector<T>& all = results[past_cache];
          all.assign(y.data(), y.data() + x.size());
          all.insert(all.end(), dx.data(), dx.data() + x.size());
          all.insert(all.end(), sum.begin(), sum.end());
        }
        EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(T)), 0);
      }
  });
}

}  // namespace
}  // namespace retrace::kernels

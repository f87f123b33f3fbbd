// The kernels of Adam, of the LSTM's gates and of a memory's gates agree with their plain twins, on every instruction
// set of this machine and for every length around that of a vector.
#include <limits>
#include <utility>

#include <retrace/nn/optim/adam.h>
#include <retrace/ops/kernels/isa.h>
#include <retrace/tests/ops/kernel_numbers.h>

namespace retrace::kernels {
namespace {

template <class T> bool all_finite(const KernelTable& kernels, const T* x, std::int64_t count) {
  bool are_finite = false;
  kernels.check_finite.of<T>()({x, count, &are_finite});
  return are_finite;
}

template <class T> class UpdateKernel : public testing::Test {
 public:
  template <class Body> void for_each_length(Body&& body) {
    for (const KernelTable* table : supported_kernel_tables())
      for (const std::int64_t length : {1, 3, 7, 8, 9, 16, 17, 33, 100}) {
        SCOPED_TRACE(testing::Message() << table->name << ", length " << length);
        body(*table, length);
      }
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(UpdateKernel, Types);

TYPED_TEST(UpdateKernel, AdamEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> g = normal_numbers<T>(length, 1);
    for (const bool amsgrad : {false, true}) {
      std::vector<T> plain[4], fast[4];
      const auto run = [&](auto&& kernel, std::vector<T>(&state)[4]) {
        for (unsigned k = 0; k < 4; ++k) state[k] = normal_numbers<T>(length, 2 + k);
        for (T& v : state[2]) v *= v;
        for (int step = 0; step < 3; ++step)
          kernel(AdamStep<T>{state[0].data(), state[1].data(), state[2].data(), amsgrad ? state[3].data() : nullptr,
                             g.data(), length, T(0.9), T(0.1), T(0.99), T(0.01), T(0.1), T(1.5), T(1e-3), T(0.9),
                             T(0.2)});
      };
      run(plain::adam<T>, plain);
      run(kernels.adam.template of<T>(), fast);
      for (int k = 0; k < 4; ++k) expect_close(plain[k], fast[k], 16, "state");
    }
  });
}

TYPED_TEST(UpdateKernel, OneNumberThatIsNotFiniteIsFoundWhereverItIs) {
  using T = TypeParam;
  constexpr T largest = std::numeric_limits<T>::max(), infinity = std::numeric_limits<T>::infinity();
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    std::vector<T> numbers = normal_numbers<T>(length, 1);
    numbers.back() = largest;
    numbers.front() = -largest;
    EXPECT_TRUE(all_finite<T>(kernels, numbers.data(), length));
    EXPECT_TRUE(all_finite<T>(kernels, numbers.data(), 0));
    for (T& number : numbers)
      for (const T bad : {infinity, -infinity, std::numeric_limits<T>::quiet_NaN()}) {
        const T before = std::exchange(number, bad);
        EXPECT_FALSE(all_finite<T>(kernels, numbers.data(), length)) << bad << " at " << &number - numbers.data();
        number = before;
      }
  });
}

TYPED_TEST(UpdateKernel, LstmForwardEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> c_before = normal_numbers<T>(length, 7);
    std::vector<T> plain[3], fast[3];
    const auto run = [&](auto&& kernel, std::vector<T>(&out)[3]) {
      out[0] = normal_numbers<T>(4 * length, 8, 3);
      out[1].resize(c_before.size()), out[2].resize(c_before.size());
      kernel(LstmForward<T>{out[0].data(), c_before.data(), out[1].data(), out[2].data(), length});
    };
    run(plain::lstm_forward<T>, plain);
    run(kernels.lstm_forward.template of<T>(), fast);
    for (int k = 0; k < 3; ++k) expect_close(plain[k], fast[k], 8, k == 0 ? "gates" : k == 1 ? "c" : "h");
  });
}

TYPED_TEST(UpdateKernel, LstmBackwardEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> gates = normal_numbers<T>(4 * length, 9), c_before = normal_numbers<T>(length, 10);
    const std::vector<T> c = normal_numbers<T>(length, 11), dy = normal_numbers<T>(length, 12);
    for (const bool from_y : {false, true}) {
      std::vector<T> plain[3], fast[3];
      const auto run = [&](auto&& kernel, std::vector<T>(&out)[3]) {
        out[0] = normal_numbers<T>(length, 13), out[1] = normal_numbers<T>(length, 14), out[2].resize(gates.size());
        kernel(LstmBackward<T>{gates.data(), c_before.data(), c.data(), from_y ? dy.data() : nullptr, out[0].data(),
                               out[1].data(), out[2].data(), length});
      };
      run(plain::lstm_backward<T>, plain);
      run(kernels.lstm_backward.template of<T>(), fast);
      for (int k = 0; k < 3; ++k) expect_close(plain[k], fast[k], 32, k == 0 ? "dh" : k == 1 ? "dc" : "dz");
    }
  });
}

TYPED_TEST(UpdateKernel, SlotForwardEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    const std::vector<T> m = normal_numbers<T>(length, 15), c = normal_numbers<T>(length, 16, 3);
    const std::vector<T> p = normal_numbers<T>(2 * length, 17, 3), q = normal_numbers<T>(2 * length, 18, 3);
    for (const bool coupled : {false, true}) {
      std::vector<T> plain[3], fast[3];
      const auto run = [&](auto&& kernel, std::vector<T>(&out)[3]) {
        for (std::vector<T>& x : out) x.assign(m.size(), T(-7));
        kernel(SlotForward<T>{m.data(), c.data(), p.data(), q.data(), out[0].data(), out[1].data(),
                              coupled ? nullptr : out[2].data(), length, T(0.3), T(1.2), coupled});
      };
      run(plain::slot_forward<T>, plain);
      run(kernels.slot_forward.template of<T>(), fast);
      for (int k = 0; k < 3; ++k) expect_close(plain[k], fast[k], 8, k == 0 ? "next" : k == 1 ? "i" : "f");
    }
  });
}

TYPED_TEST(UpdateKernel, SlotBackwardEqualsItsPlainTwin) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    std::vector<T> in[7];
    for (unsigned k = 0; k < 7; ++k) in[k] = normal_numbers<T>(length, 19 + k);
    for (const int way : {0, 1, 2, 3}) {  // which outputs have a gradient, and which inputs want one
      const bool coupled = way % 2 == 1, through_gates = way >= 2;
      std::vector<T> plain[3], fast[3];
      const auto run = [&](auto&& kernel, std::vector<T>(&out)[3]) {
        out[0].assign(2 * in[0].size(), T(-7));
        out[1] = normal_numbers<T>(length, 30), out[2] = normal_numbers<T>(length, 31);
        kernel(SlotBackward<T>{.m = in[0].data(),
                               .c = in[1].data(),
                               .i = in[2].data(),
                               .f = coupled ? nullptr : in[3].data(),
                               .dnext = way == 3 ? nullptr : in[4].data(),
                               .di = through_gates ? in[5].data() : nullptr,
                               .df = through_gates && !coupled ? in[6].data() : nullptr,
                               .dz = out[0].data(),
                               .dm = out[1].data(),
                               .dc = way == 2 ? nullptr : out[2].data(),
                               .size = length,
                               .coupled = coupled,
                               .add_m = way < 2,
                               .add_c = way % 2 == 1});
      };
      run(plain::slot_backward<T>, plain);
      run(kernels.slot_backward.template of<T>(), fast);
      for (int k = 0; k < 3; ++k) expect_close(plain[k], fast[k], 16, k == 0 ? "dz" : k == 1 ? "dm" : "dc");
    }
  });
}

TYPED_TEST(UpdateKernel, SlotBackwardMayWriteOverWhatFlowsBack) {
  using T = TypeParam;
  this->for_each_length([](const KernelTable& kernels, std::int64_t length) {
    std::vector<T> in[5];
    for (unsigned k = 0; k < 5; ++k) in[k] = normal_numbers<T>(length, 32 + k);
    const auto run = [&](bool in_place) {
      std::vector<T> dm = in[4], dz(2 * dm.size()), dc(dm.size());
      kernels.slot_backward.template of<T>()({.m = in[0].data(),
                                              .c = in[1].data(),
                                              .i = in[2].data(),
                                              .f = in[3].data(),
                                              .dnext = in_place ? dm.data() : in[4].data(),
                                              .di = nullptr,
                                              .df = nullptr,
                                              .dz = dz.data(),
                                              .dm = dm.data(),
                                              .dc = dc.data(),
                                              .size = length,
                                              .coupled = false,
                                              .add_m = false,
                                              .add_c = false});
      dm.insert(dm.end(), dz.begin(), dz.end());
      dm.insert(dm.end(), dc.begin(), dc.end());
      return dm;
    };
    EXPECT_EQ(run(true), run(false));
  });
}

}  // namespace
}  // namespace retrace::kernels

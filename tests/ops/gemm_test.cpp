#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/core/base/threads_scope.h>
#include <retrace/core/tensor/dual.h>
#include <retrace/ops/kernels/isa.h>
#include <retrace/tests/ops/kernel_numbers.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace retrace::kernels {
namespace {

using Index = std::int64_t;

std::mt19937& generator() {
  static std::mt19937 instance(7);
  return instance;
}

Index pick(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(generator()); }

template <class T> std::vector<T> random_numbers(Index count) {
  std::normal_distribution<double> normal;
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& number : numbers) number = static_cast<T>(normal(generator()));
  return numbers;
}

/// Stands for an activation: f(z) = z^2 / 2, whose slope is z.
template <class T> void half_of_square(T* values, T* slopes, Index count) {
  for (Index k = 0; k < count; ++k) {
    const T z = values[k];
    values[k] = z * z / 2;
    if (slopes != nullptr) slopes[k] = z;
  }
}

/// A random product: the memory of its operands, and the arguments of a kernel.
template <class T> struct Product {
  GemmShape shape;
  GemmOperand<T> a, b;
  GemmResult<T> c;
  std::vector<T> a_data, b_data, c_data, bias;
  bool wants_slopes;

  explicit Product(GemmShape s) : shape(s) {
    a = operand(a_data, shape.m, shape.k);
    b = operand(b_data, shape.k, shape.n);
    c.row_stride = shape.n + pick(0, 1) * pick(0, 9);
    c.batch_stride = shape.m * c.row_stride + pick(0, 5);
    c_data = random_numbers<T>(shape.batch * c.batch_stride + 1);
    bias = random_numbers<T>(shape.n);
    c.accumulate = pick(0, 2) == 0;
    c.bias = pick(0, 1) == 0 ? bias.data() : nullptr;
    c.activation = pick(0, 1) == 0 ? half_of_square<T> : nullptr;
    wants_slopes = pick(0, 1) == 0;
  }

  GemmOperand<T> operand(std::vector<T>& memory, Index rows, Index columns) {
    const bool transposed = pick(0, 1) == 1;
    if (transposed) std::swap(rows, columns);
    const Index row_stride = columns + pick(0, 1) * pick(0, 9);
    const Index batch_stride = pick(0, 2) == 0 ? 0 : rows * row_stride + pick(0, 5);
    memory = random_numbers<T>(shape.batch * batch_stride + rows * row_stride + 1);
    return {memory.data(), row_stride, transposed, batch_stride};
  }

  /// Runs the kernel on a copy of C. Returns the whole memory of C, including the gaps between rows, then that of the
  /// slopes.
  template <class Kernel> std::vector<T> run(Kernel* kernel) const {
    std::vector<T> memory = c_data, slopes = c_data;
    GemmResult<T> result = c;
    result.data = memory.data();
    if (wants_slopes) result.slopes = slopes.data();
    kernel(shape, a, b, result);
    memory.insert(memory.end(), slopes.begin(), slopes.end());
    return memory;
  }
};

template <class T> GemmFunction<T>* gemm_of(const KernelTable& table) {
  if constexpr (std::is_same_v<T, float>)
    return table.gemm_float;
  else
    return table.gemm_double;
}

/// On every instruction set of this machine, kernels with fused multiply-add are bit-identical to the plain twin, and
/// others equal it to rounding.
template <class T> void expect_equals_plain(const Product<T>& product) {
  const std::vector<T> plain = product.run(gemm_plain<T>);
  const GemmShape& s = product.shape;
  for (const KernelTable* table : supported_kernel_tables()) {
    SCOPED_TRACE(text(table->name, ": ", s.batch, " x ", s.m, " x ", s.n, " x ", s.k, ", transposed ",
                      product.a.transposed, " ", product.b.transposed));
    const std::vector<T> fast = product.run(gemm_of<T>(*table));
    if (table->fused) {
      EXPECT_TRUE(same_bits(plain, fast));
      continue;
    }
    const double tolerance = 8 * std::numeric_limits<T>::epsilon() * static_cast<double>(s.k + 1);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const bool squared = product.c.activation != nullptr && i < product.c_data.size();
      // f(z) = z^2 / 2 multiplies an error of z by z, the square root of 2 f.
      const double growth = squared ? 1 + std::sqrt(2 * std::abs(plain[i])) : 1;
      ASSERT_NEAR(plain[i], fast[i], tolerance * growth) << "element " << i;
    }
  }
}

template <class T> class Gemm : public testing::Test {};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, ElementTypes);

TYPED_TEST(Gemm, OfAPackedRightFactorHasTheSameBits) {
  for (const Index n : {1, 15, 16, 17, 63, 64, 65, 130, 1100}) {
    for (const Index k : {0, 1, 40, 400}) {
      Product<TypeParam> product({pick(1, 30), n, k});
      for (const KernelTable* table : supported_kernel_tables()) {
        const std::vector<TypeParam> in_place = product.run(gemm_of<TypeParam>(*table));
        std::vector<TypeParam> panels(static_cast<std::size_t>(packed_size(k, n)));
        Product<TypeParam> packed = product;
        if constexpr (std::is_same_v<TypeParam, float>)
          table->pack_float(k, n, product.b, panels.data());
        else
          table->pack_double(k, n, product.b, panels.data());
        packed.b = {.data = panels.data(), .row_stride = 0, .packed = true};
        packed.c.bias = product.c.bias;
        EXPECT_TRUE(same_bits(in_place, packed.run(gemm_of<TypeParam>(*table)))) << table->name << ' ' << n << ' ' << k;
      }
    }
  }
}

TYPED_TEST(Gemm, EqualsThePlainTwin) {
  for (int round = 0; round < 600; ++round) {
    expect_equals_plain(Product<TypeParam>({pick(1, 40), pick(1, 80), pick(0, 40), pick(1, 4)}));
  }
}

TYPED_TEST(Gemm, EqualsThePlainTwinOfFewAndShortRows) {
  for (int round = 0; round < 600; ++round) {
    expect_equals_plain(Product<TypeParam>({pick(1, 14), pick(1, 18), pick(0, 40), pick(1, 4)}));
  }
}

TYPED_TEST(Gemm, EqualsThePlainTwinAcrossBlocks) {
  for (int round = 0; round < 4; ++round) {
    expect_equals_plain(Product<TypeParam>({pick(1, 200), pick(200, 400), pick(300, 800)}));
    expect_equals_plain(Product<TypeParam>({pick(1, 15), pick(1000, 2100), pick(300, 800)}));
    expect_equals_plain(Product<TypeParam>({pick(200, 500), pick(1, 20), pick(300, 800)}));
  }
}

/// Enough rows for a wide right factor to be packed (fewer suffice if its rows are whole pages apart), and enough
/// columns for the left factor to be packed, in more than one block of rows.
TYPED_TEST(Gemm, EqualsThePlainTwinWhereFactorsBeginToBePacked) {
  expect_equals_plain(Product<TypeParam>({600, 70, 400}));
  expect_equals_plain(Product<TypeParam>({150, 1024, 40}));
  expect_equals_plain(Product<TypeParam>({100, 1030, 400}));
}

TYPED_TEST(Gemm, ARowEqualsThatRowAlone) {
  for (const KernelTable* table : supported_kernel_tables()) {
    for (int round = 0; round < 20; ++round) {
      Product<TypeParam> all({pick(2, 150), pick(1, 300), pick(1, 300)});
      const std::vector<TypeParam> expected = all.run(gemm_of<TypeParam>(*table));
      const Index row = pick(0, all.shape.m - 1);
      Product<TypeParam> alone = all;
      alone.shape.m = 1;
      alone.a.data += row * (alone.a.transposed ? 1 : alone.a.row_stride);
      alone.c_data.erase(alone.c_data.begin(), alone.c_data.begin() + row * alone.c.row_stride);
      const std::vector<TypeParam> got = alone.run(gemm_of<TypeParam>(*table));
      const TypeParam* expected_row = expected.data() + row * all.c.row_stride;
      EXPECT_EQ(std::memcmp(expected_row, got.data(), static_cast<std::size_t>(all.shape.n) * sizeof(TypeParam)), 0);
    }
  }
}

TYPED_TEST(Gemm, ThreadsDoNotChangeABit) {
  for (const GemmShape shape : {GemmShape{301, 203, 307}, GemmShape{17, 1999, 300}, GemmShape{33, 35, 64, 301}}) {
    const Product<TypeParam> product(shape);
    const ThreadsScope on_one(1);
    const std::vector<TypeParam> expected = product.run(gemm<TypeParam>);
    for (const int count : {2, 3, 5}) {
      const ThreadsScope scope(count);
      EXPECT_TRUE(same_bits(expected, product.run(gemm<TypeParam>))) << count << " threads";
    }
  }
}

TYPED_TEST(Gemm, EmptySizes) {
  for (const KernelTable* table : supported_kernel_tables()) {
    for (const GemmShape shape : {GemmShape{0, 5, 5}, GemmShape{5, 0, 5}, GemmShape{5, 5, 5, 0}, GemmShape{0, 0, 0}}) {
      const Product<TypeParam> product(shape);
      const auto nothing = [](GemmShape, GemmOperand<TypeParam>, GemmOperand<TypeParam>, GemmResult<TypeParam>) {};
      EXPECT_TRUE(same_bits(product.run(+nothing), product.run(gemm_of<TypeParam>(*table)))) << "nothing to write";
    }
  }
  for (int round = 0; round < 20; ++round) {
    Product<TypeParam> product({9, 341, 0, 2});
    product.a.data = product.b.data = nullptr;  // an empty tensor may have no memory
    expect_equals_plain(product);
  }
}

TYPED_TEST(Gemm, KeepsInfinitiesAndNansInTheirPlaces) {
  for (const KernelTable* table : supported_kernel_tables()) {
    Product<TypeParam> product({5, 7, 3});
    product.c.accumulate = false;
    product.a_data[0] = std::numeric_limits<TypeParam>::infinity();
    const std::vector<TypeParam> fast = product.run(gemm_of<TypeParam>(*table));
    for (Index j = 0; j < 7; ++j) {
      EXPECT_TRUE(std::isinf(fast[static_cast<std::size_t>(j)]));
      EXPECT_TRUE(std::isfinite(fast[static_cast<std::size_t>(product.c.row_stride + j)]));
    }
  }
}

TEST(GemmOfDuals, CarriesTheTangents) {
  const Dual a[] = {{2, 1}, {3, 0}};
  const Dual b[] = {{5, 0}, {7, 1}};
  Dual c;
  gemm<Dual>({1, 1, 2}, {a, 2}, {b, 1}, {&c, 1});
  EXPECT_EQ(c.value, 2 * 5 + 3 * 7);
  EXPECT_EQ(c.tangent, 5 + 3);
}

TEST(KernelTable, IsChosenByName) {
  for (const KernelTable* table : supported_kernel_tables()) EXPECT_EQ(&choose_kernel_table(table->name), table);
  EXPECT_EQ(&choose_kernel_table(""), supported_kernel_tables().back());
}

TEST(KernelTable, AnUnknownNameIsAnError) {
  try {
    choose_kernel_table("v9");
    FAIL() << "no error";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("v9"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(supported_kernel_tables().front()->name), std::string::npos);
  }
}

}  // namespace
}  // namespace retrace::kernels

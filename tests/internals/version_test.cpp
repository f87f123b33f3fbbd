// Every change to values is counted, so that backward can refuse saved values that were modified.
#include <gtest/gtest.h>

#include <retrace/ops/ops.h>
#include <retrace/tests/internals/version.h>

namespace retrace {
namespace {

TEST(Version, CountsTheTimesThatValuesWereHandedOutToBeChanged) {
  const Tensor x = zeros({2}), same = x, copy = x.clone();
  const std::uint64_t version = version_of(x), of_copy = version_of(copy);
  same.values<float>();
  EXPECT_EQ(version_of(x), version) << "reading changes nothing";
  same.mutable_values<float>()[0] = 3;
  EXPECT_EQ(version_of(x), version + 1);
  EXPECT_EQ(version_of(copy), of_copy);
  EXPECT_THROW(x.mutable_values<double>(), DtypeError);
  EXPECT_EQ(version_of(x), version + 1) << "nothing was handed out";
}

}  // namespace
}  // namespace retrace

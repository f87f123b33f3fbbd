// The accuracy of functions of f32 and of their slopes; in full, at each of the 2^32 floats.
#include <retrace/models/checks/selfcheck/figure.h>
#include <retrace/tests/trust/in_full.h>

#include <gtest/gtest.h>

#include <iostream>

namespace retrace {
namespace {

TEST(AllFloats, AreWithinAFewUnitsInTheLastPlace) {
  for (const Figure& figure : check_accuracy_of_floats(in_full() ? 1 : 65'537)) {
    EXPECT_TRUE(figure.passed()) << figure.what << ": " << figure.worst << ", limit " << figure.limit;
    if (in_full()) std::cout << figure.what << ": " << figure.worst << " of " << figure.count << " floats\n";
  }
}

}  // namespace
}  // namespace retrace

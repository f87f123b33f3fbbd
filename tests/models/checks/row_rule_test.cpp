// A row of a batch has the bits that it has alone, in every case of the table; and the comparison can fail.
#include <gtest/gtest.h>
#include <retrace/models/checks/module_cases.h>
#include <retrace/models/checks/row_rule.h>
#include <retrace/ops/checks/op_checks.h>
#include <retrace/ops/ops.h>

#include <string>

namespace retrace {
namespace {

void expect_rows(const std::vector<CheckedName>& table, std::int64_t at_least) {
  for (const Dtype dtype : {f64, f32}) {
    const RowRule rule = compare_rows(table, dtype);
    EXPECT_GE(rule.rows, at_least) << dtype;
    for (const std::string& failure : rule.failures) ADD_FAILURE() << failure;
  }
}

TEST(RowRule, HoldsForEveryOp) { expect_rows(op_cases(), 600); }

TEST(RowRule, HoldsForEveryModule) { expect_rows(module_cases(), 60); }

/// Over one channel both loops walk memory as one, but add in the order in which they do over several.
TEST(RowRule, HoldsForReductionsOfOneChannel) {
  const Tensor x = Random(4).normal({5, 3, 7}, f64);
  for (const auto reduce :
       {static_cast<Tensor (*)(const Tensor&, const Axes&, ReduceOptions)>(sum), mean, var, std, norm}) {
    const Tensor of_all = reduce(x, {0, 2}, {});
    for (std::int64_t c = 0; c < 3; ++c)
      EXPECT_EQ(reduce(slice(x, {all, range(c, c + 1)}), {0, 2}, {}).item(), of_all.at({c})) << c;
  }
}

CheckedName case_of(Tensor (*f)(const Tensor&)) {
  return {"planted", false, {{[f](const Tensors& in) { return Tensors{f(in[0])}; }, {Random(4).normal({2, 9}, f64)}}}};
}
RowRule compared(const CheckedName& checked) { return compare_rows(checked, checked.cases[0], f64); }

TEST(RowRule, FindsAnotherOrderOfAddingForOneRow) {
  const auto sum_of_rows = [](const Tensor& x) {
    const Tensor y = sum(x, 1, {.keepdims = true});
    return x.dim(0) == 1 ? sum(concat({x * 1e3, x * (1 - 1e3)}, 1), 1, {.keepdims = true}) : y;
  };
  EXPECT_EQ(compared(case_of(sum_of_rows)).failures.size(), 2u);
  const auto gradient_of_rows = [](const Tensor& x) {
    return on_gradient(x, [](const Tensor& dy) { return dy.dim(0) == 1 ? (dy / 3.0) * 3.0 * (1 + 1e-15) : dy; });
  };
  EXPECT_EQ(compared(case_of(gradient_of_rows)).failures.size(), 2u);
}

TEST(RowRule, TakesNoAxisForOneOfRowsThatIsSummed) {
  const auto centred = [](const Tensor& x) { return x - mean(x, 0); };
  EXPECT_EQ(compared(case_of(centred)).rows, 0);
  EXPECT_EQ(compared(case_of(tanh)).rows, 2);
}

}  // namespace
}  // namespace retrace

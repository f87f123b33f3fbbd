// The memory rule finds an op that keeps memory. (That every case gives it back is part of Checks.)
#include <gtest/gtest.h>
#include <retrace/models/checks/memory_rule.h>
#include <retrace/ops/ops.h>

#include <string>
#include <vector>

namespace retrace {
namespace {

CheckedName case_of(const Function& f) {
  return {"planted", false, {{f, {Random(4).normal({2, 9}, f64), Random(5).normal({2, 9}, f64)}}}};
}
std::vector<std::string> failures(const Function& f) {
  const CheckedName checked = case_of(f);
  return memory_failures(checked, checked.cases[0]);
}

TEST(MemoryRule, PassesWhatGivesMemoryBack) {
  EXPECT_TRUE(failures([](const Tensors& in) { return Tensors{tanh(in[0]) * in[1]}; }).empty());
}

TEST(MemoryRule, FindsAnOpThatKeepsATensorOfEachCall) {
  std::vector<Tensor> kept;
  const std::vector<std::string> found = failures([&](const Tensors& in) {
    kept.push_back(in[0].clone());
    return Tensors{in[0] * in[1]};
  });
  ASSERT_EQ(found.size(), 2u) << "one for each input that wants a gradient";
  EXPECT_NE(found[0].find("bytes of the pool"), std::string::npos) << found[0];
}

TEST(MemoryRule, FindsAGradientThatNobodyWants) {
  const std::vector<std::string> found = failures([](const Tensors& in) {
    in[1].watch();
    return Tensors{in[0] * in[1]};
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], "planted: input 1 gets a gradient that it does not want");
}

}  // namespace
}  // namespace retrace

// ops.h is the op reference and ops.def the list of its names. They must name the same ops.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include <retrace/tests/source_text.h>

namespace retrace {
namespace {

// Functions that return tensors or a struct of tensors; range() returns a SliceIndex and is not an op.
std::vector<std::string> declared_in(const std::string& header) {
  return names_in(header, "(?:inline )?(?!SliceIndex )[A-Z][A-Za-z]* ([a-z_0-9]+)\\(");
}
std::vector<std::string> listed_in(const std::string& list) {
  return names_in(list, "(?:OP|COMPOSITE)\\(([a-z_0-9]+)\\)\\s*(?://.*)?$");
}

TEST(OpReference, DeclarationsAreFound) {
  const NameSet found = set_of(declared_in(
      "/// Tensor comment(x)\nTensor sum(const Tensor& x,\n           int axis);\nTensor pow(const Tensor& x);\n"
      "Tensor pow(double x);\nTensors split(const Tensor& x);\nAttentionResult attention_with_weights(int q);\n"
      "inline Tensor operator+(const Tensor& a, double c) { return shift(a, c); }\n  Tensor member();\n"
      "Tensor value;\nSliceIndex range(int start);\n"));
  EXPECT_EQ(found, (NameSet{"sum", "pow", "split", "attention_with_weights"}));
}

TEST(OpReference, ListedNamesAreFound) {
  const NameSet found = set_of(listed_in("// OP(comment)\nOP(add)\nCOMPOSITE(stack)  // of concat\n  OP(indented)\n"));
  EXPECT_EQ(found, (NameSet{"add", "stack"}));
}

TEST(OpReference, MissingNamesAreSpeltOut) {
  EXPECT_EQ(missing({"add", "gelu", "silu"}, {"add"}), "gelu, silu");
  EXPECT_EQ(missing({"add"}, {"add", "gelu"}), "");
}

TEST(OpReference, EveryFunctionOfOpsHIsInOpsDef) {
  const NameSet declared = set_of(declared_in(source_text("ops/ops.h"))),
                listed = set_of(listed_in(source_text("ops/ops.def")));
  EXPECT_GT(declared.size(), 60u) << "the declarations of ops.h were not found";
  EXPECT_EQ(missing(declared, listed), "") << "declared in ops/ops.h: each needs a line OP(name) or COMPOSITE(name)";
}

TEST(OpReference, EveryNameOfOpsDefIsDeclared) {
  NameSet declared = set_of(declared_in(source_text("ops/ops.h")));
  EXPECT_FALSE(declared.contains("identity")) << "identity belongs to core";
  EXPECT_TRUE(set_of(declared_in(source_text("core/tape/identity.h"))).contains("identity"));
  declared.insert("identity");
  const NameSet listed = set_of(listed_in(source_text("ops/ops.def")));
  EXPECT_GT(listed.size(), 60u) << "the lines of ops.def were not found";
  EXPECT_EQ(missing(listed, declared), "") << "listed in ops/ops.def: each needs a declaration in ops/ops.h";
}

TEST(OpReference, OpsDefNamesNothingTwice) {
  NameSet seen;
  for (const std::string& name : listed_in(source_text("ops/ops.def")))
    EXPECT_TRUE(seen.insert(name).second) << name << " is listed twice";
}

// A line that is neither a comment nor OP(...) nor COMPOSITE(...) would escape the comparison above.
TEST(OpReference, OpsDefHasNoOtherLines) {
  std::istringstream lines(source_text("ops/ops.def"));
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.empty() || line.starts_with("//") || !listed_in(line).empty()) << line;
}

}  // namespace
}  // namespace retrace

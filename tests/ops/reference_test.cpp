// ops.h is the op reference and ops.def the list of its names. They must name the same ops.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

using Names = std::set<std::string>;

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(RETRACE_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file.is_open()) << path << " cannot be read";
  std::ostringstream result;
  result << file.rdbuf();
  return result.str();
}

// The first group of `pattern`, for every line that begins with a match.
std::vector<std::string> names_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> names;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, match, expression, std::regex_constants::match_continuous)) names.push_back(match[1]);
  return names;
}

// Functions that return tensors or a struct of tensors; range() returns an Index and is not an op.
std::vector<std::string> declared_in(const std::string& header) {
  return names_in(header, "(?:inline )?(?!Index )[A-Z][A-Za-z]* ([a-z_0-9]+)\\(");
}
std::vector<std::string> listed_in(const std::string& list) {
  return names_in(list, "(?:OP|COMPOSITE)\\(([a-z_0-9]+)\\)\\s*(?://.*)?$");
}

Names set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

// The elements of `names` that are not in `others`: "gelu, silu".
std::string missing(const Names& names, const Names& others) {
  std::string result;
  for (const std::string& name : names)
    if (!others.contains(name)) result += (result.empty() ? "" : ", ") + name;
  return result;
}

TEST(OpReference, DeclarationsAreFound) {
  const Names found = set_of(declared_in(
      "/// Tensor comment(x)\nTensor sum(const Tensor& x,\n           int axis);\nTensor pow(const Tensor& x);\n"
      "Tensor pow(double x);\nTensors split(const Tensor& x);\nAttentionResult attention_with_weights(int q);\n"
      "inline Tensor operator+(const Tensor& a, double c) { return shift(a, c); }\n  Tensor member();\n"
      "Tensor value;\nIndex range(int start);\n"));
  EXPECT_EQ(found, (Names{"sum", "pow", "split", "attention_with_weights"}));
}

TEST(OpReference, ListedNamesAreFound) {
  const Names found = set_of(listed_in("// OP(comment)\nOP(add)\nCOMPOSITE(stack)  // of concat\n  OP(indented)\n"));
  EXPECT_EQ(found, (Names{"add", "stack"}));
}

TEST(OpReference, MissingNamesAreSpeltOut) {
  EXPECT_EQ(missing({"add", "gelu", "silu"}, {"add"}), "gelu, silu");
  EXPECT_EQ(missing({"add"}, {"add", "gelu"}), "");
}

TEST(OpReference, EveryFunctionOfOpsHIsInOpsDef) {
  const Names declared = set_of(declared_in(text_of("ops/ops.h"))), listed = set_of(listed_in(text_of("ops/ops.def")));
  EXPECT_GT(declared.size(), 60u) << "the declarations of ops.h were not found";
  EXPECT_EQ(missing(declared, listed), "") << "declared in ops/ops.h: each needs a line OP(name) or COMPOSITE(name)";
}

TEST(OpReference, EveryNameOfOpsDefIsDeclared) {
  Names declared = set_of(declared_in(text_of("ops/ops.h")));
  EXPECT_FALSE(declared.contains("identity")) << "identity belongs to core";
  EXPECT_TRUE(set_of(declared_in(text_of("core/identity.h"))).contains("identity"));
  declared.insert("identity");
  const Names listed = set_of(listed_in(text_of("ops/ops.def")));
  EXPECT_GT(listed.size(), 60u) << "the lines of ops.def were not found";
  EXPECT_EQ(missing(listed, declared), "") << "listed in ops/ops.def: each needs a declaration in ops/ops.h";
}

TEST(OpReference, OpsDefNamesNothingTwice) {
  Names seen;
  for (const std::string& name : listed_in(text_of("ops/ops.def")))
    EXPECT_TRUE(seen.insert(name).second) << name << " is listed twice";
}

// A line that is neither a comment nor OP(...) nor COMPOSITE(...) would escape the comparison above.
TEST(OpReference, OpsDefHasNoOtherLines) {
  std::istringstream lines(text_of("ops/ops.def"));
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(line.empty() || line.starts_with("//") || !listed_in(line).empty()) << line;
}

}  // namespace
}  // namespace retrace

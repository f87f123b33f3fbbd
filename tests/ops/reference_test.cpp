// ops.h is the op reference and ops.def the list of its names and signatures. They must name the same ops.
#include <gtest/gtest.h>

#include <map>
#include <regex>
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
  return names_in(list, "(?:OP|COMPOSITE)\\(([a-z_0-9]+)(?:, \"[^\"]+\")?\\)$");
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
  const NameSet found = set_of(listed_in("// OP(comment)\nOP(add, \"a, b\")\nCOMPOSITE(stack)\n  OP(indented)\n"));
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

/// The first two groups of all matches of a pattern.
std::multimap<std::string, std::string> pairs_in(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::multimap<std::string, std::string> pairs;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match)
    pairs.emplace((*match)[1], (*match)[2]);
  return pairs;
}

/// The declarations of a header without comments and line breaks.
std::string code_of(const std::string& path) {
  const std::string bare = std::regex_replace(source_text(path), std::regex(" *//[^\n]*"), "");
  return std::regex_replace(bare, std::regex("\\s+"), " ");
}

/// "x, axis=-1, keepdims=false" of "const Tensor& x, int axis = -1, ReduceOptions options = {}", as ops.def writes it.
std::string written(const std::string& declared, const std::multimap<std::string, std::string>& options) {
  static const std::regex parameter("(?:const )?(?:std::)?(\\w+)[^,;=]*?(\\w+)(?: = ([^,;]+))?(?:, |; ?|$)");
  std::string result;
  for (std::sregex_iterator match(declared.begin(), declared.end(), parameter), end; match != end; ++match) {
    const std::string type = (*match)[1], name = type == "Axes" ? "axis" : (*match)[2].str();
    if (type == "Zeros") continue;  // an expression has ordinary ones
    std::string otherwise = std::regex_replace((*match)[3].str(), std::regex("\\w+::"), "");
    if (otherwise == "{}" || otherwise == "nullopt" || otherwise == "default_dtype()") otherwise = "none";
    const auto members = options.find(type);
    const std::string one = members != options.end() ? written(members->second, options)
                            : otherwise.empty()      ? name
                                                     : name + "=" + otherwise;
    result += (result.empty() ? "" : ", ") + one;
  }
  return result;
}

TEST(OpReference, SignaturesAreThoseOfADeclaration) {
  const NameSet own_way{"transpose",
                        "dropout",
                        "causal_mask",
                        "var",
                        "std",
                        "standard_deviation",
                        "norm",
                        "identity",
                        "packed_attention",
                        "packed_attention_with_weights"};
  const std::string code = code_of("ops/ops.h");
  const auto options = pairs_in(code, "struct (\\w+Options) \\{ (.*?) \\};");
  const auto declared = pairs_in(code, "[A-Z]\\w* ([a-z_0-9]+)\\(((?:[^()]|\\(\\))*)\\)(?:;| \\{)");
  const auto listed = pairs_in(source_text("ops/ops.def"), "\\(([a-z_0-9]+), \"([^\"]+)\"\\)");
  EXPECT_GT(listed.size(), 60u);
  for (const auto& [name, text] : listed) {
    const std::string signature = std::regex_replace(text, std::regex(": i64"), "");
    std::string known;
    bool found = own_way.contains(name);
    for (auto [one, end] = declared.equal_range(name); one != end; ++one) {
      known += "\n  " + written(one->second, options);
      found = found || signature == written(one->second, options);
    }
    EXPECT_TRUE(found) << name << "(" << signature << ") is none of" << known;
  }
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

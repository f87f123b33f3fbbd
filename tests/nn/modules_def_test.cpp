// modules.def lists the modules of nn. It must name every class of the headers that has a visit().
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <retrace/tests/source_text.h>

namespace retrace {
namespace {

std::vector<std::string> listed(const std::string& macros) {
  return names_in(source_text("nn/modules.def"), "(?:" + macros + ")\\(([A-Za-z]+)(?:, [A-Za-z]+)?\\)$");
}

TEST(ModulesDef, ClassesWithVisitAreFound) {
  EXPECT_EQ(classes_with_visit("// struct Comment {\nstruct Options {\n  int size = 1;\n};\nstruct Cell {\n"
                               "  void visit(auto&& see) const { see(\"w\", w); }\n};\n"
                               "template <class T> class Layer final : public Base {\n  struct Inner {};\n"
                               "  void visit(const Visit& see) const {\n    see(\"w\", w);\n  }\n};\n"),
            (NameSet{"Cell", "Layer"}));
}

TEST(ModulesDef, EveryClassOfNnWithVisitIsListed) {
  const NameSet declared = classes_with_visit_in("nn"), modules = set_of(listed("MODULE|PART"));
  EXPECT_GT(declared.size(), 10u) << "the modules of nn were not found";
  EXPECT_EQ(missing(declared, modules), "") << "each needs a line MODULE(name) or PART(name, module) in nn/modules.def";
  EXPECT_EQ(missing(modules, declared), "") << "listed in nn/modules.def, but no header of nn declares it";
}

TEST(ModulesDef, NamesNothingTwice) {
  NameSet seen;
  for (const std::string& name : listed("MODULE|PART|VARIANT"))
    EXPECT_TRUE(seen.insert(name).second) << name << " is listed twice";
}

// A line that is neither a comment nor one of the three macros would escape the comparison above.
TEST(ModulesDef, HasNoOtherLines) {
  const std::vector<std::string> lines = names_in(source_text("nn/modules.def"), "(?!//)(.+)");
  EXPECT_EQ(lines.size(), listed("MODULE|PART|VARIANT").size());
}

}  // namespace
}  // namespace retrace

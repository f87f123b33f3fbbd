// Modules as text.
#include <retrace/nn/module/print.h>

#include <gtest/gtest.h>

#include <sstream>

#include <retrace/nn/nn.h>

namespace retrace {
namespace {

struct Tagger {
  Embedding embed;
  Lstm lstm;
  std::vector<Linear> heads;
  Tensor operator()(const Tensor& x) const { return x; }
  void visit(auto&& see) const { see("embed", embed), see("lstm", lstm), see("heads", heads); }
};

template <class M> std::string printed(const M& module) {
  std::ostringstream out;
  out << module;
  return out.str();
}

TEST(ModulePrint, ShowsTypesShapesAndCountsOfEveryPart) {
  Random random(1);
  Tagger model{Embedding(100, 16, random), Lstm(16, 32, random), {}};
  model.heads.emplace_back(32, 10, random);
  freeze(model.embed);
  EXPECT_EQ(printed(model),
            "Tagger(                                                               8,202\n"
            "  (embed): Embedding(weight [100, 16] frozen)                         1,600\n"
            "  (lstm): Lstm(weight_ih [128, 16], weight_hh [128, 32], bias [128])  6,272\n"
            "  (heads.0): Linear(weight [10, 32], bias [10])                         330\n"
            ")\n");
}

TEST(ModulePrint, NamesTemplatesWithoutTheirArgumentsAndOtherDtypes) {
  Random random(1);
  const Sequential model(Linear(2, 3, random), gelu, Dropout(0.5), Linear(3, 1, random, {.bias = false}));
  to(model, f64);
  EXPECT_EQ(printed(model),
            "Sequential(                                     12\n"
            "  (0): Linear(weight [3, 2] f64, bias [3] f64)   9\n"
            "  (2): Dropout()                                 0\n"
            "  (3): Linear(weight [1, 3] f64)                 3\n"
            ")\n");
}

}  // namespace
}  // namespace retrace

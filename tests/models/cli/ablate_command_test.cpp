// The command retrace ablate.
#include <gtest/gtest.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {
namespace {

TEST(AblateCommand, PrintsOneJsonObjectAndLeavesAPage) {
  const TemporaryFolder folder;
  const Outcome outcome = run_command({"ablate",       "nth-farthest",
                                       "--vectors",    "3",
                                       "--dims",       "2",
                                       "--steps",      "2",
                                       "--factors",    "residual,gate",
                                       "--batch",      "4",
                                       "--seeds",      "2",
                                       "--heads",      "2",
                                       "--slot-size",  "8",
                                       "--json",       "--out",
                                       folder / "page"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const Json object = Json::parse(outcome.results);
  EXPECT_EQ(object.at("task"), "nth-farthest");
  EXPECT_EQ(object.at("model"), "rmc");
  EXPECT_EQ(object.at("seeds"), 2);
  EXPECT_EQ(object.at("steps"), 2);
  EXPECT_EQ(object.at("batch"), 4);
  ASSERT_EQ(object.at("variations").size(), 4U);
  EXPECT_EQ(object.at("variations")[0].at("factor"), "baseline");
  EXPECT_EQ(object.at("variations")[1].at("factor"), "residual");
  EXPECT_EQ(object.at("variations")[1].at("setting"), "off");
  for (const auto& variation : object.at("variations")) {
    EXPECT_EQ(variation.at("values").size(), 2U);
    for (const char* key : {"parameters", "flops_a_sample", "value", "deviation", "half_width", "difference",
                            "difference_half_width", "seconds"})
      EXPECT_TRUE(variation.at(key).is_number()) << key;
  }
  EXPECT_NE(outcome.messages.find("residual off, seed 1"), std::string::npos);
  const std::string html = file_bytes(folder / "page/ablate.html");
  for (const char* words : {"<svg", "nth-farthest, gate", "<td>residual</td><td>off</td>", "minus baseline", "2 seeds"})
    EXPECT_NE(html.find(words), std::string::npos) << words;
}

TEST(AblateCommand, AWrongNameIsAnsweredByOneLine) {
  const Outcome outcome = run_command({"ablate", "babi", "--factors", "head"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.messages,
            "retrace ablate: there is no factor of rmc named 'head'; did you mean heads (known: heads, slots, gate, "
            "residual, "
            "layer-norm, attention-mlp, key-size, mlp-layers, variant)\n");
}

}  // namespace
}  // namespace retrace

// retrace selfcheck: its parts, its table and its exit status. (Rows and bugs have tests of their own.)
#include <gtest/gtest.h>
#include <retrace/models/checks/selfcheck/selfcheck.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

#include <string>
#include <string_view>

namespace retrace {
namespace {

TEST(Selfcheck, PrintsTheFiguresOfTheNamedParts) {
  const Outcome outcome = run_command({"selfcheck", "files", "rows", "accuracy", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  const auto object = Json::parse(outcome.results);
  EXPECT_EQ(object["passed"], true) << outcome.messages;
  EXPECT_EQ(object["rows"].size(), 26u);
  EXPECT_EQ(object["rows"][0]["part"], "rows") << "in the order of the parts";
  EXPECT_GE(object["rows"][2]["count"], 2000) << "bits of a file";
  EXPECT_NE(outcome.messages.find("26 figures, 0 beyond their limits"), std::string::npos) << outcome.messages;
}

TEST(Selfcheck, RefusesAnUnknownPart) {
  const Outcome outcome = run_command({"selfcheck", "row"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("did you mean rows"), std::string::npos) << outcome.messages;
}

TEST(Selfcheck, AFigureBeyondItsLimitFails) {
  EXPECT_TRUE((Figure{"part", "what", 1, 1, 1}.passed()));
  EXPECT_FALSE((Figure{"part", "what", 1, 2, 1}.passed()));
  EXPECT_FALSE((Figure{"part", "what", 1, 0, 1, {"a failure"}}.passed()));
  EXPECT_FALSE((Figure{"part", "what", 1, std::numeric_limits<double>::quiet_NaN(), 1}.passed()));
}

}  // namespace
}  // namespace retrace

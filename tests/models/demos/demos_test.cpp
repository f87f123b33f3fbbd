// The demos hold what they say, give the same numbers every time, and are printed as they are.
#include <gtest/gtest.h>
#include <retrace/models/demos/demos.h>
#include <retrace/models/demos/measures.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/ops/gradient_support.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

double number(const DemoTable& table, std::size_t row, const std::string& column) {
  for (std::size_t index = 0; index < table.columns.size(); ++index)
    if (table.columns[index] == column) {
      const DemoCell& cell = table.rows.at(row).at(index);
      if (const auto* count = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*count);
      return std::get<double>(cell);
    }
  ADD_FAILURE() << table.title << " has no column " << column;
  return NAN;
}

TEST(Demos, EveryTableIsWholeAndHolds) {
  for (const std::string_view name : demo_names()) {
    const Demo demo = make_demo(name);
    EXPECT_EQ(demo.name, name);
    EXPECT_TRUE(demo.holds()) << name;
    EXPECT_GE(demo.tables.size(), 2U) << name;
    for (const DemoTable& table : demo.tables) {
      EXPECT_TRUE(table.holds) << table.title << ": " << table.finding;
      EXPECT_FALSE(table.see.empty() || table.finding.empty() || table.rows.empty()) << table.title;
      for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.title;
      for (const std::string& column : table.columns)
        EXPECT_EQ(std::count(table.columns.begin(), table.columns.end(), column), 1) << table.title << ": " << column;
    }
  }
}

/// The results do not depend on the caller's dtype, tape or generators.
TEST(Demos, GiveTheSameNumbersEveryTime) {
  for (const std::string_view name : demo_names()) {
    const Demo once = make_demo(name);
    const DtypeScope floats(f32);
    Tape tape;
    const Demo again = make_demo(name);
    EXPECT_TRUE(tape.records().empty()) << name;
    for (std::size_t table = 0; table < once.tables.size(); ++table) {
      EXPECT_EQ(once.tables[table].rows, again.tables[table].rows) << once.tables[table].title;
      EXPECT_EQ(once.tables[table].finding, again.tables[table].finding);
    }
  }
}

TEST(Demos, AttentionWeighsItsValues) {
  const DemoTable table = make_demo("attention").tables[0];
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    EXPECT_LT(number(table, row, "|row sum - 1|"), 1e-14);
    EXPECT_LT(number(table, row, "|output - weights V|"), 1e-14);
    EXPECT_GE(number(table, row, "smallest weight"), 0);
    const bool causal = std::get<std::string>(table.rows[row][0]).find("causal") != std::string::npos;
    EXPECT_EQ(number(table, row, "weight of later rows") == 0, causal);
  }
}

TEST(Demos, ReasoningCountsPairsAboveTheThreshold) {
  const Demo demo = make_demo("reasoning");
  const DemoTable &weights = demo.tables[0], &pairs = demo.tables[1], &means = demo.tables[2];
  for (const DemoTable* matrix : {&weights, &means})
    for (std::size_t slot = 0; slot < 4; ++slot) {
      double total = 0;
      for (int to = 0; to < 4; ++to) total += number(*matrix, slot, text("to slot ", to));
      EXPECT_NEAR(total, 1, 1e-12);
    }
  ASSERT_EQ(pairs.rows.size(), 6U);
  for (std::size_t row = 0; row < pairs.rows.size(); ++row) {
    const auto i = static_cast<std::size_t>(number(pairs, row, "slot i"));
    const auto j = static_cast<std::size_t>(number(pairs, row, "slot j"));
    const double mutual = number(weights, i, text("to slot ", j)) + number(weights, j, text("to slot ", i));
    EXPECT_EQ(number(pairs, row, "w_ij + w_ji"), mutual);
    EXPECT_EQ(std::get<std::string>(pairs.rows[row][5]), mutual > 0.3 ? "yes" : "no");
  }
}

TEST(Demos, SlotsDifferFromTheIdentityAndCollapseFromZeros) {
  const Demo demo = make_demo("evolution");
  const DemoTable &steps = demo.tables[0], &slots = demo.tables[2];
  ASSERT_EQ(steps.rows.size(), 15U);
  for (std::size_t step = 0; step < 15; ++step) {
    EXPECT_GT(number(steps, step, "distance"), 1e-6);
    EXPECT_EQ(number(steps, step, "distance, zeros"), 0);
  }
  EXPECT_GT(number(steps, 7, "norm of x"), 2 * number(steps, 6, "norm of x")) << "the second half is louder";
  EXPECT_EQ(number(slots, 0, "rank"), 4);
  EXPECT_EQ(number(slots, 1, "rank"), 2);
  for (const char* slot : {"slot 2", "slot 3"}) EXPECT_EQ(number(slots, 1, slot), number(slots, 1, "slot 1"));
}

/// Counts by hand: an LSTM of 4 (64 (32 + 64) + 64) and its output layer of 16 (64 + 1); attention, gate and update of
/// the memory 4 64^2, 64 128 + 64 and 64^2 + 64; 64^2 + 64 to read it and 64 128 + 64 to combine.
TEST(Demos, ParametersAreThoseOfTheFormulas) {
  const DemoTable table = make_demo("with-and-without-memory").tables[0];
  EXPECT_EQ(number(table, 5, "LSTM"), 24832 + 1040);
  EXPECT_EQ(number(table, 5, "RelationalRNN"), 24832 + 1040 + 28800 + 4160 + 8256);
  const DemoTable by_slots = make_demo("capacity").tables[0];
  for (std::size_t row = 0; row < 4; ++row) EXPECT_EQ(number(by_slots, row, "parameters"), 67088);
}

TEST(Demos, TheMemoryNeverReachesTheLstm) {
  const DemoTable table = make_demo("interaction").tables[1];
  ASSERT_EQ(table.rows.size(), 3U);
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_EQ(number(table, step, "difference of h"), 0);
    EXPECT_EQ(number(table, step, "difference of c"), 0);
    EXPECT_GT(number(table, step, "difference of y"), 1e-3);
  }
}

TEST(Demos, CapacityCountsTheSlotsThatDiffer) {
  const DemoTable table = make_demo("capacity").tables[1];
  const double slots[] = {1, 2, 4, 8};
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(number(table, row, "slots"), slots[row]);
    EXPECT_EQ(number(table, row, "rank"), slots[row]);
    EXPECT_EQ(number(table, row, "rank, zeros"), std::min(slots[row], 2.0));
    EXPECT_GE(number(table, row, "effective rank"), 1 - 1e-12);
    EXPECT_LE(number(table, row, "effective rank"), slots[row] + 1e-12);
  }
}

TEST(Demos, MeasuresOfKnownRows) {
  const DtypeScope doubles(f64);
  const Tensor rows = tensor({{3, 4, 0}, {6, 8, 0}, {0, 0, 2}});
  EXPECT_EQ(length_of(rows[0]), 5);
  EXPECT_NEAR(deviation_of(tensor({1, 3})), 1, 1e-15);
  EXPECT_EQ(largest_difference(rows[1], rows[0]), 4);
  EXPECT_EQ(smallest_distance(rows), 5);
  EXPECT_NEAR(smallest_distance(rows, 1), std::sqrt(104), 1e-12);
  EXPECT_TRUE(std::isinf(smallest_distance(rows, 2)));
  EXPECT_EQ(rank_of(rows), 2);
  EXPECT_EQ(rank_of(eye(3, 5)), 3);
  EXPECT_EQ(rank_of(zeros({2, 3})), 0);
  EXPECT_NEAR(effective_rank(eye(3, 5)), 3, 1e-12);
  EXPECT_NEAR(effective_rank(slice(rows, {range(0, 2)})), 1, 1e-12);
}

TEST(Demos, AnUnknownNameIsAnsweredByTheNearest) {
  const std::string known = "(known: attention, reasoning, evolution, with-and-without-memory, interaction, capacity";
  const std::string rest = ": there is no demo named 'atention'; did you mean attention " + known;
  expect_error<ValueError>([] { make_demo("atention"); }, "make_demo" + rest + ")");
  const Outcome outcome = run_command({"demo", "atention"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.messages, "retrace demo" + rest + ", all)\n");
  EXPECT_EQ(outcome.results, "");
}

TEST(Demos, TablesArePrintedWithWhatToSeeAndWhetherItHolds) {
  const Outcome outcome = run_command({"demo", "interaction"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(outcome.messages, "");
  EXPECT_TRUE(outcome.results.starts_with("interaction: ")) << outcome.results;
  EXPECT_NE(outcome.results.find("\nSee: The memory is a side chain"), std::string::npos);
  EXPECT_NE(outcome.results.find("\nHolds: h and c differ by 0, y by at least"), std::string::npos);
  const DemoTable table = make_demo("interaction").tables[0];
  std::istringstream lines(outcome.results);
  std::string line;
  std::size_t width = 0, rows = 0;
  while (std::getline(lines, line) && !line.starts_with("Holds")) {
    EXPECT_LE(line.size(), 80U);
    if (line.starts_with("  step"))
      width = line.size();
    else if (width > 0)
      rows += line.size() == width ? 1 : 0;
  }
  EXPECT_EQ(rows, table.rows.size()) << "rows are as wide as their heading:\n" << outcome.results;
  std::array<char, 32> norm_of_h;
  std::snprintf(norm_of_h.data(), norm_of_h.size(), " %.4f ", number(table, 2, "norm of h"));
  EXPECT_NE(outcome.results.find(norm_of_h.data()), std::string::npos);
}

void expect_same(const Json& json, const DemoTable& table) {
  EXPECT_EQ(json["title"], table.title);
  EXPECT_EQ(json["holds"], table.holds);
  ASSERT_EQ(json["rows"].size(), table.rows.size());
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      const Json& value = json["rows"][row].at(table.columns[column]);
      const DemoCell& cell = table.rows[row][column];
      if (const auto* real = std::get_if<double>(&cell); real != nullptr && !std::isfinite(*real))
        EXPECT_TRUE(value.is_null());
      else
        std::visit([&](const auto& part) { EXPECT_EQ(value.get<std::decay_t<decltype(part)>>(), part); }, cell);
    }
}

TEST(Demos, AsJsonAllOfThemAreOneObjectWithTheSameNumbers) {
  const Outcome outcome = run_command({"demo", "all", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(std::count(outcome.results.begin(), outcome.results.end(), '\n'), 1);
  const auto object = Json::parse(outcome.results);
  EXPECT_EQ(object["holds"], true);
  ASSERT_EQ(object["demos"].size(), demo_names().size());
  for (std::size_t n = 0; n < demo_names().size(); ++n) {
    const Demo demo = make_demo(demo_names()[n]);
    EXPECT_EQ(object["demos"][n]["name"], demo.name);
    ASSERT_EQ(object["demos"][n]["tables"].size(), demo.tables.size());
    for (std::size_t table = 0; table < demo.tables.size(); ++table)
      expect_same(object["demos"][n]["tables"][table], demo.tables[table]);
  }
  EXPECT_EQ(Json::parse(run_command({"demo", "capacity", "--json"}).results)["demos"][0], object["demos"].back());
}

}  // namespace
}  // namespace retrace

// Traces in a terminal: the text of all steps, arrays in characters, and the stepper.
#include <retrace/models/study/subjects.h>
#include <retrace/models/study/terminal/stepper.h>
#include <retrace/models/study/terminal/trace_summary.h>
#include <retrace/models/study/terminal/trace_text.h>
#include <retrace/ops/ops.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace retrace {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Trace small_trace() {
  const Tensor x = parameter(tensor({3}, f64), "x");
  Tape tape({.keep = true});
  return trace_backward(tape, sum(mul(x, x)), {.title = "a square"});
}

TEST(TraceText, CountsItsRecords) {
  EXPECT_EQ(heading_of(small_trace()), "a square: 2 records");
  Trace untitled, titled;
  untitled.records.emplace_back();
  EXPECT_EQ(heading_of(untitled), "a trace: 1 record");
  titled.title = "a\nb";
  EXPECT_EQ(heading_of(titled), "a\\x0ab: 0 records");
}

TEST(TraceText, ShowsEveryStepAndWhatItAdds) {
  EXPECT_EQ(to_text(small_trace()),
            "a square: 2 records\n"
            "\n"
            "0  %0[1] <- mul x[1], x[1]\n"
            "  y = a b\n"
            "  a = x[1]\n"
            "      3\n"
            "  b = x[1]\n"
            "      3\n"
            "  -> y = %0[1]\n"
            "      9\n"
            "\n"
            "1  %1[] <- sum %0[1]\n"
            "  y = sum x\n"
            "  axes [0], keepdims false\n"
            "  x = %0[1]\n"
            "      9\n"
            "  -> y = %1[]\n"
            "      9\n"
            "\n"
            "backward\n"
            "  from the seed, dL / d%1[]\n"
            "\n"
            "1  backward of sum\n"
            "  dx = dy\n"
            "  dy = d%1[] arrived\n"
            "      1\n"
            "  -> dx = d%0[1]\n"
            "      1\n"
            "\n"
            "0  backward of mul\n"
            "  da = dy b, db = dy a\n"
            "  a = x[1]\n"
            "      3\n"
            "  b = x[1]\n"
            "      3\n"
            "  dy = d%0[1] arrived\n"
            "      1\n"
            "  -> da = dx[1]\n"
            "      3\n"
            "  -> db = dx[1]\n"
            "      3\n"
            "     before, dx\n"
            "      3\n"
            "     before + this\n"
            "      6\n");
}

TEST(TraceSummary, HasALineForEachRecordAndOneForStepsThatRepeatIt) {
  EXPECT_EQ(summary_of(small_trace()),
            "a square: 2 records\n"
            "\n"
            "record  op   result  |value|  |gradient|\n"
            "     0  mul  %0[1]         9           1\n"
            "     1  sum  %1[]          9           1\n");
  const std::string steps = summary_of(study("lstm"));
  EXPECT_NE(steps.find("sigmoid x 4  f[1, 8]"), std::string::npos) << steps;
  EXPECT_LT(std::ranges::count(steps, '\n'), 60);
}

TEST(TraceText, EscapesWhateverAFileMayCallThings) {
  Trace trace = small_trace();
  for (TraceNode& node : trace.nodes) node.name += "\x1b[2J";
  for (TraceRecord& record : trace.records) {
    for (std::string* words : {&record.op, &record.path, &record.formulas.forward, &record.formulas.backward})
      *words += "\x1b[2J";
    for (std::string& name : record.input_names) name += "\x1b[2J";
    record.attributes.push_back({"\x1b[2J", std::string("\x1b[2J")});
  }
  EXPECT_EQ(to_text(trace).find('\x1b'), std::string::npos);
}

TEST(TraceText, ShowsElementsThatWereCheckedInLinesOf80Columns) {
  Trace trace = small_trace();
  trace.nodes[0].name = "x";
  trace.checks = {{0, 0, 6, nan, -1.23456789123e-100}};
  EXPECT_EQ(checks_text(trace),
            "one element by three ways\n"
            "                                         tape             dual       difference\n"
            "  dx[0]                                     6              nan -1.23456789e-100\n");
  EXPECT_EQ(checks_text(trace, 1), "");
  EXPECT_NE(to_text(trace).find("\n\none element by three ways\n"), std::string::npos);
  trace.nodes[0].name = "a.name.of.more.than.twenty.letters\x1b";
  EXPECT_NE(checks_text(trace, 0).find("letters\\x1b[0]\n                                            6 "),
            std::string::npos)
      << checks_text(trace, 0);
}

TEST(TraceText, ArraysFitInto80Columns) {
  for (const std::string_view subject : {"attention", "rmc", "lstm"}) {
    const Trace trace = study(subject, {.size = 32});
    for (const TraceNode& node : trace.nodes) {
      std::istringstream lines(numbers_text(node.value) + heat_map_text(node.value));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    }
  }
}

TEST(ArrayText, NumbersStandInColumnsAndCutArraysSaySo) {
  EXPECT_EQ(numbers_text({tensor({{1, -2.5}, {nan, infinity}}, f64)}), "     1  -2.5\n   NaN   inf\n");
  EXPECT_NE(numbers_text({zeros({100, 2})}).find("... 88 more rows"), std::string::npos);
  EXPECT_NE(numbers_text({zeros({1, 100})}).find("..."), std::string::npos);
  EXPECT_EQ(numbers_text({zeros({2, 0})}), "(empty [2, 0])\n");
  EXPECT_EQ(numbers_text({}), "(nothing held)\n");
  EXPECT_EQ(numbers_text({tensor({1}, f64), Statistics{1, 2, 1.5, 3, 0, 4}}),
            "not captured: min 1, max 2, mean 1.5, norm 3, 4 infinite; its first elements:\n  1\n");
}

TEST(ArrayText, AHeatMapHasSignsRampAndRange) {
  EXPECT_EQ(heat_map_text({tensor({{0, 2, -1, 1e-9}, {nan, infinity, -infinity, -2}}, f64)}),
            "     @-+ .\n"
            "   X I-I-@\n"
            "  \" .:-=+*#%@\" is |x| from 0 to 2; X is NaN, I and -I are infinite\n");
  EXPECT_TRUE(heat_map_text({tensor({1, 2}, f64)}).ends_with(" is |x| from 0 to 2\n"));
}

TEST(ArrayText, ColoursAreAskedFor) {
  const Capture x{tensor({1, -1}, f64)};
  EXPECT_EQ(heat_map_text(x).find('\x1b'), std::string::npos);
  EXPECT_NE(heat_map_text(x, {.colour = true}).find('\x1b'), std::string::npos);
}

/// What the stepper answers to each line, without its prompts.
std::string answers_to(const std::string& commands) {
  std::istringstream in(commands);
  std::ostringstream out;
  const Trace trace = small_trace();
  step_through(trace, in, out);
  return out.str();
}

TEST(Stepper, GoesForwardThenBackAndStopsAtBothEnds) {
  const std::string all = answers_to("\n\nn\nnext\nb\nback\nb\nb\nq\n");
  for (const char* prompt :
       {"mul, record 0 of 2 (h and Enter for help) > ", "sum, record 1 of 2 (h and Enter for help) > ",
        "backward of sum, record 1 of 2 (h and Enter for help) > ",
        "backward of mul, record 0 of 2 (h and Enter for help) > "})
    EXPECT_NE(all.find(prompt), std::string::npos) << prompt;
  EXPECT_NE(all.find("this is the last step"), std::string::npos);
  EXPECT_NE(all.find("this is the first step"), std::string::npos);
}

TEST(Stepper, JumpsTurnsAndSearches) {
  EXPECT_NE(answers_to("1\n").find("sum, record 1 of 2 (h"), std::string::npos);
  EXPECT_NE(answers_to("t\n").find("backward of mul, record 0 of 2"), std::string::npos);
  EXPECT_NE(answers_to("/backward of sum\n").find("backward of sum, record 1 of 2"), std::string::npos);
  EXPECT_NE(answers_to("/nowhere\n").find("has nowhere in its name"), std::string::npos);
  EXPECT_NE(answers_to("7\n").find("there is no record 7; the last one is 1"), std::string::npos);
  EXPECT_NE(answers_to("fly\n").find("there is no command fly; h lists them"), std::string::npos);
  EXPECT_NE(answers_to("h\n").find("q          quit"), std::string::npos);
  EXPECT_NE(answers_to("  1 \n").find("sum, record 1 of 2 (h"), std::string::npos) << "spaces around a command";
}

TEST(Stepper, ShowsTensorsAndGradients) {
  EXPECT_NE(answers_to("v x\n").find("x[1]\n  3\n"), std::string::npos);
  EXPECT_NE(answers_to("d x\n").find("dx[1]\n  6\n"), std::string::npos);
  Trace trace = small_trace();
  const auto x = std::ranges::find(trace.nodes, "x", &TraceNode::name);
  trace.checks = {{static_cast<int>(x - trace.nodes.begin()), 0, 6, 6, 6}};
  std::istringstream commands("d x\nv x\n");
  std::ostringstream out;
  step_through(trace, commands, out);
  const std::size_t shown = out.str().find("dx[1]\n  6\none element by three ways\n");
  EXPECT_NE(shown, std::string::npos);
  EXPECT_EQ(out.str().find("three ways", shown + 30), std::string::npos);
  EXPECT_NE(answers_to("m\n").find("%0[1]\n   @\n"), std::string::npos);
  EXPECT_NE(answers_to("v %7\n").find("there is no tensor %7; did you mean %"), std::string::npos);
  EXPECT_NE(answers_to("t\ng\n").find("d%0 arrived[1]\n  1\n-> dx[1]\n  3\n-> dx[1]\n  3\n"), std::string::npos);
}

/// A terminal of 80 columns and 24 lines, and what was typed into it: the longest screen between two prompts.
std::string longest_screen(const Trace& trace, const std::string& commands) {
  std::istringstream in(commands);
  std::ostringstream out;
  step_through(trace, in, out, {.columns = 80, .lines = 24});
  std::string longest;
  std::istringstream all(out.str());
  std::string screen;
  std::int64_t most = 0;
  for (std::string line; std::getline(all, line); screen += line + "\n") {
    constexpr std::string_view prompt = "(h and Enter for help) > ";
    if (const std::size_t end = line.find(prompt); end != line.npos) {  // what was typed ends this line
      line.erase(0, end + prompt.size());
      screen.clear();
    }
    EXPECT_LE(line.size(), 80u) << line;
    if (const std::int64_t lines = std::ranges::count(screen, '\n'); lines > most) most = lines, longest = screen;
  }
  return longest;
}

TEST(Stepper, AStepAndThePromptsAroundItFitIntoATerminal) {
  for (const std::string_view subject : {"softmax", "attention", "lstm", "rmc", "relational-rnn"})
    for (const bool expand_fused : {true, false}) {
      const Trace trace = study(subject, {.tokens = 9, .size = 32, .expand_fused = expand_fused});
      const std::string steps(2 * trace.records.size(), '\n');
      const std::string longest = longest_screen(trace, steps);
      EXPECT_LE(std::ranges::count(longest, '\n'), 22) << subject << "\n" << longest;
    }
}

TEST(Stepper, ACutStepSaysWhatIsLeftOutAndKeepsEveryTitle) {
  const Trace trace = study("softmax", {.tokens = 40, .size = 40});
  const std::string screen = to_text(card_of(trace, {0, true}), {.columns = 80, .lines = 12});
  for (const char* part : {"0  backward of softmax", "dx = y (dy", "  y[40, 40] (cut)", "  dy[40, 40] arrived (cut)",
                           "-> dx[40, 40] (cut)", "lines left out; v NAME shows a tensor"})
    EXPECT_NE(screen.find(part), std::string::npos) << part << "\n" << screen;
  EXPECT_EQ(std::ranges::count(screen, '\n'), 12);
}

TEST(Stepper, TheNotesOnATraceStandBelowItsTitle) {
  Trace trace = small_trace();
  trace.notes = {"first", std::string(70, 'a') + " " + std::string(30, 'b'), "a\nb\nc\nd\ne\nf\ng\nh"};
  EXPECT_TRUE(introduction_of(trace).starts_with("a square: 2 records\n  first\n  aaa"));
  EXPECT_NE(longest_screen(trace, "").find("... (a shows all)\n"), std::string::npos);
  std::istringstream commands("a\n");
  std::ostringstream out;
  step_through(trace, commands, out, {.lines = 24});
  EXPECT_NE(out.str().find("  g\n  h\n"), std::string::npos);
}

TEST(StepCard, NamesTheResultsOfAFormula) {
  EXPECT_EQ(result_names("y = softmax(x)", 1), std::vector<std::string>{"y"});
  EXPECT_EQ(result_names("i = sigmoid z_i, c' = f c + i g, h' = o tanh c'", 2), (std::vector<std::string>{"c'", "h'"}));
  EXPECT_EQ(result_names("y[i, j, k] = x[j, i, k]", 1), std::vector<std::string>{"y"});
  EXPECT_EQ(result_names("", 2), (std::vector<std::string>{"", ""}));
}

TEST(StepCard, ShowsTheValuesThatTheFormulaOfABackwardNames) {
  const std::string card = to_text(card_of(study("softmax"), {0, true}));
  EXPECT_NE(card.find("dx = y (dy"), std::string::npos) << card;
  EXPECT_NE(card.find("\n  y[4, 8]\n"), std::string::npos) << card;
}

TEST(ArrayText, NamesOfRowsStandBeforeThem) {
  EXPECT_EQ(numbers_text({tensor({{1, 2}, {3, 4}}, f64)}, {}, {"1: a", "2: bcd"}), "1: a    1  2\n2: bcd  3  4\n");
  EXPECT_EQ(numbers_text({tensor({{1, 2}, {3, 4}}, f64)}, {}, {"one"}), "  1  2\n  3  4\n") << "names of other rows";
  std::istringstream lines(numbers_text({zeros({1, 50})}, {}, {std::string(60, 'a')}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(ArrayText, AZeroHasNoSign) { EXPECT_EQ(numbers_text({tensor({-0.0, 0.0}, f64)}), "  0  0\n"); }

TEST(Stepper, EndsWithItsInputAndWithNothingRecorded) {
  EXPECT_TRUE(answers_to("").ends_with("> \n"));
  std::istringstream none;
  std::ostringstream out;
  step_through(Trace(), none, out);
  EXPECT_EQ(out.str(), "nothing was recorded\n");
}

}  // namespace
}  // namespace retrace

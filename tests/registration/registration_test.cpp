// Models and tasks that a program adds. What is registered stays until the program ends, so these tests have one of
// their own.
#include <gtest/gtest.h>
#include <retrace/models/checks/checks.h>
#include <retrace/models/study/subjects.h>
#include <retrace/models/training/run.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

namespace retrace {
namespace {

/// W mean(x over time) + b, and what may be wrong with it.
enum class Wrong { nothing, visit, whole_visit, shape, gradient, duals };
template <Wrong wrong> struct MeanModel {
  Linear out;
  MeanModel(const ModelSizes& sizes, Random& random) : out(sizes.input, sizes.output, random) {}
  Tensor operator()(const Tensor& x) const {
    if constexpr (wrong == Wrong::shape) return out(x);
    Tensor rows = mean(x, 1);
    if constexpr (wrong == Wrong::gradient)
      rows = custom_op(
          "bad", {rows}, [](const Tensors& in) { return in[0] * in[0]; },
          [](const Tensor& dy, const Tensors& in, const Tensor&) { return Tensors{dy * in[0]}; });
    if constexpr (wrong == Wrong::duals)
      rows = custom_op(
          "negative", {rows},
          [](const Tensors& in) {
            const Tensor y = empty_like(in[0]);
            std::ranges::transform(in[0].values<double>(), y.mutable_values<double>().begin(), std::negate());
            return y;
          },
          [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{-dy}; }, {.differences_only = true});
    return out(rows);
  }
  void visit(auto&& see) const {
    if constexpr (wrong == Wrong::visit)
      see("weight", out.weight);
    else if constexpr (wrong != Wrong::whole_visit)
      see("out", out);
  }
};

/// Answers after each row with what it makes of all of them.
struct SeesTheFuture {
  MeanModel<Wrong::nothing> mean;
  SeesTheFuture(const ModelSizes& sizes, Random& random) : mean(sizes, random) {}
  Tensor operator()(const Tensor& x) const { return mean(x); }
  Tensor answers(const Tensor& x, std::int64_t count) const {
    const Tensor answer = mean(x);
    return stack(Tensors(static_cast<std::size_t>(count), answer), 1);
  }
  void visit(auto&& see) const { see("mean", mean); }
};

/// Registers the names that the tests of this program use, once.
class Registration : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_model<MeanModel<Wrong::nothing>>("mean-model");
    register_model<MeanModel<Wrong::visit>>("forgets-its-bias");
    register_model<MeanModel<Wrong::whole_visit>>("forgets-everything");
    register_model<MeanModel<Wrong::shape>>("answers-every-row");
    register_model<MeanModel<Wrong::gradient>>("forgets-a-factor");
    register_model<SeesTheFuture>("sees-the-future");
    register_model<MeanModel<Wrong::duals>>("reads-doubles");
    register_task("short-pairs", [] { return make_task("pair-matching", {.length = 4, .vocabulary = 4}); },
                  {.sizes = {.hidden = 8}, .batch = 5, .steps = 7});
    register_task("plain-pairs", [] { return make_task("pair-matching"); });
  }
};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

TEST_F(Registration, NamesAreListedAfterTheLibrarys) {
  EXPECT_EQ(model_names()[0], "lstm");
  EXPECT_TRUE(contains(registered_model_names(), "mean-model"));
  EXPECT_TRUE(std::ranges::equal(model_names().last(registered_model_names().size()), registered_model_names()));
  EXPECT_TRUE(contains(model_names(), "mean-model"));
  EXPECT_TRUE(contains(task_names(), "short-pairs"));
  EXPECT_NE(run_command({"train", "--help"}).results.find("short-pairs"), std::string::npos);
  EXPECT_NE(run_command({"info", "--help"}).results.find("forgets-its-bias"), std::string::npos);
}

TEST_F(Registration, ANameTakenTwiceIsRefused) {
  const auto model = [](std::string_view name) {
    return message_of<ValueError>([&] { register_model<MeanModel<Wrong::nothing>>(name); });
  };
  const std::size_t before = model_names().size(), tasks_before = task_names().size();
  EXPECT_EQ(model("lstm"), "register_model: there is a model named 'lstm' already; take another name");
  EXPECT_EQ(model("mean-model"), "register_model: there is a model named 'mean-model' already; take another name");
  const auto task = [](std::string_view name) {
    return message_of<ValueError>([&] { register_task(name, [] { return make_task("pair-matching"); }, {}); });
  };
  EXPECT_EQ(task("babi"), "register_task: there is a task named 'babi' already; take another name");
  EXPECT_EQ(task("short-pairs"), "register_task: there is a task named 'short-pairs' already; take another name");
  EXPECT_EQ(model_names().size(), before);
  EXPECT_EQ(task_names().size(), tasks_before);
  EXPECT_EQ(recipe_for("short-pairs").sizes.hidden, 8) << "the recipe of the refused one is not taken";
}

TEST_F(Registration, NamesThatNoCommandLineCanHoldAreRefused) {
  const std::string too_long(65, 'a');
  for (const std::string_view name : {"", "-model", "a b", "a,b", "a:b", "a\n", ".", too_long.c_str()})
    EXPECT_NE(
        message_of<ValueError>([&] { register_model<MeanModel<Wrong::nothing>>(name); }).find("cannot name a model"),
        std::string::npos)
        << name;
}

TEST_F(Registration, EmptyFactoriesAndWhatTheyMakeOfNothingAreRefused) {
  EXPECT_NE(message_of<ValueError>([] { register_model("none", ModelFactory{}); }).find("factory of 'none' is empty"),
            std::string::npos);
  EXPECT_NE(message_of<ValueError>([] { register_task("none", TaskFactory{}); }).find("factory of 'none' is empty"),
            std::string::npos);
  EXPECT_FALSE(contains(model_names(), "none"));
  EXPECT_NE(message_of<ValueError>([] {
              register_task("free", [] { return std::unique_ptr<Task>(); }, {.batch = 0});
            }).find("batch of 'free' is 0"),
            std::string::npos);
  EXPECT_FALSE(contains(task_names(), "free"));
  register_task("no-task", [] { return std::unique_ptr<Task>(); });
  EXPECT_NE(message_of<ValueError>([] { make_task("no-task"); }).find("made no task"), std::string::npos);
}

TEST_F(Registration, AModelIsTrainedOnATaskByItsRecipe) {
  const auto of = prepare({.task = "short-pairs", .model = {.name = "mean-model"}});
  EXPECT_EQ(of.options.model.sizes.hidden, 8);
  EXPECT_EQ(of.options.fit.batch, 5);
  EXPECT_EQ(of.options.fit.steps, 7);
  EXPECT_EQ(of.options.model.sizes.slot_size, 32);
  EXPECT_EQ(prepare({.task = "plain-pairs", .model = {.name = "mean-model"}}).options.fit.steps, Recipe{}.steps);
  const Outcome outcome = run_command({"train", "short-pairs", "--model", "mean-model", "--json", "--quiet"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(Json::parse(outcome.results)["steps"], 7);
  const Outcome compared =
      run_command({"compare", "short-pairs", "--models", "mean-model,gru", "--seeds", "1", "--json", "--quiet"});
  ASSERT_EQ(compared.status, 0) << compared.messages;
  EXPECT_EQ(Json::parse(compared.results)["models"][0]["model"], "mean-model");
  EXPECT_EQ(run_command({"train", "short-pairs", "--model", "mean-model", "--length", "4"}).messages,
            "retrace train: the task 'short-pairs' has no option 'length' (it has: none); leave it out\n");
}

/// A mean of the embedded characters so far has no order, but the last one's frequencies are learned from it.
TEST_F(Registration, AModelLearnsTextAndWritesIt) {
  const TemporaryFolder folder;
  std::ofstream text_file(folder / "text");
  for (int line = 0; line < 40; ++line) text_file << "abababab\n";
  text_file.close();
  const auto train = [&](const std::string& model) {
    return run_command({"train", "text", "--text", folder / "text", "--model", model, "--steps", "3", "--batch", "4",
                        "--length", "6", "--hidden", "8", "--json", "--quiet", "--force", "--out", folder / "run"});
  };
  const Outcome outcome = train("mean-model");
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(Json::parse(outcome.results)["model"], "mean-model");
  EXPECT_EQ(Json::parse(outcome.results)["parameters"], 3 * 8 + (8 * 8 + 8) + (8 * 3 + 3));
  const auto written = [&] { return run_command({"generate", folder / "run", "--length", "40", "--prompt", "ab"}); };
  ASSERT_EQ(written().status, 0) << written().messages;
  EXPECT_EQ(written().results.size(), 2U + 40 + 1);
  EXPECT_EQ(written().results, written().results);
  const Outcome cheat = train("sees-the-future");
  EXPECT_EQ(cheat.status, 2);
  EXPECT_NE(cheat.messages.find("the model 'sees-the-future' answers after row 1 otherwise once it has later rows"),
            std::string::npos)
      << cheat.messages;
  EXPECT_NE(train("maen-model").messages.find("did you mean mean-model"), std::string::npos);
}

TEST_F(Registration, GradcheckTakesTheirNamesInAnyCase) {
  for (const char* name : {"Mean-Model", "mean_model", "MEANMODEL"}) {
    ASSERT_EQ(run_checks({name}).size(), 1u);
    EXPECT_EQ(run_checks({name})[0].name, "mean-model");
  }
}

TEST_F(Registration, TensorsAreATask) {
  Random random(1);
  const Tensor x = random.normal({50, 6, 3}), flat = random.normal({50, 6}), labels = random.integers({50}, 4);
  register_task("own-data", x, labels, {.batch = 100, .steps = 2}, {.test_part = 0.5});
  const Outcome outcome = run_command({"train", "own-data", "--json", "--quiet", "--dtype", "f64"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  const auto result = Json::parse(outcome.results);
  EXPECT_EQ(result["batch"], 100);
  EXPECT_EQ(result["chance"], 0.25);
  const double hits = 25 * result["value"].get<double>();
  EXPECT_NEAR(hits, std::round(hits), 1e-9) << "25 test samples";
  EXPECT_THROW(register_task("worse-data", flat, labels), ShapeError);
  EXPECT_FALSE(contains(task_names(), "worse-data"));
  EXPECT_EQ(run_command({"info", "gru", "--task", "own-data"}).status, 0);
}

TEST_F(Registration, GradcheckChecksEveryWeightAndTheInput) {
  const std::vector<CheckRow> rows = run_checks({"mean-model"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].elements, 3 * 2 + 2 + 2 * 5 * 3) << "weight, bias, x";
  EXPECT_TRUE(rows[0].failures.empty());
  const Outcome outcome = run_command({"gradcheck", "mean-model"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_NE(outcome.results.find("1 checked in 38 elements, 0 failed"), std::string::npos) << outcome.results;
}

TEST_F(Registration, GradcheckFindsWhatIsWrongWithAModel) {
  const auto failure = [](const std::string& name) {
    const std::vector<CheckRow> rows = run_checks({name});
    EXPECT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].failures.size(), 1u) << name;
    return rows[0].failures.empty() ? std::string() : rows[0].failures[0];
  };
  EXPECT_EQ(
      failure("forgets-its-bias"),
      "gradcheck: forgets-its-bias computes linear with a weight [2] that its visit() does not name; name it there, or "
      "detach() or freeze() what is no weight of this model");
  EXPECT_NE(failure("forgets-everything").find("a weight [2, 3] that its visit() does not name"), std::string::npos);
  const Outcome trained = run_command({"train", "plain-pairs", "--model", "forgets-everything", "--quiet"});
  EXPECT_EQ(trained.messages, "retrace train: the model has no parameters; name them in its visit()\n");
  EXPECT_EQ(trained.status, 2);
  EXPECT_NE(failure("answers-every-row").find("must be [2, 2], one answer a sequence"), std::string::npos);
  EXPECT_NE(failure("forgets-a-factor").find("0.5"), std::string::npos) << failure("forgets-a-factor");
  EXPECT_EQ(run_command({"gradcheck", "forgets-a-factor"}).status, 1);
  const auto counts = Json::parse(run_command({"gradcheck", "forgets-a-factor", "--json"}).results);
  EXPECT_EQ(counts["elements"], 38);
  EXPECT_EQ(counts["failed_elements"], 30) << "those of x; the gradients of weight and bias are right";
  EXPECT_EQ(counts["skipped"], 0);
  EXPECT_EQ(counts["failed"], 1);
  EXPECT_EQ(counts["worst_name"], "forgets-a-factor");
}

TEST_F(Registration, GradcheckSaysWhereDualNumbersAreLeftOut) {
  const Outcome outcome = run_command({"gradcheck", "reads-doubles"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_NE(outcome.results.find("none  ok\n    no dual numbers in case 1: negative: runs on no dual numbers, as its "
                                 "option differences_only says\n"),
            std::string::npos)
      << outcome.results;
  const auto counts = Json::parse(run_command({"gradcheck", "reads-doubles", "--json"}).results);
  EXPECT_EQ(counts["cases"], 1);
  EXPECT_EQ(counts["without_duals"], 1);
  EXPECT_EQ(counts["failed"], 0);
}

TEST_F(Registration, AModelThatAnswersOnceAnswersEveryPrefix) {
  Random random(3);
  const auto model = make_model("mean-model", {.input = 3, .output = 2}, random);
  const Tensor x = random.normal({2, 4, 3}), answers = model->answers(x, 3);
  ASSERT_EQ(answers.shape(), (Shape{2, 3, 2}));
  for (std::int64_t k = 0; k < 3; ++k) {
    const Tensor prefix = (*model)(slice(x, {all, range(0, k + 2)}));
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t o = 0; o < 2; ++o) EXPECT_EQ(answers.at({b, k, o}), prefix.at({b, o}));
  }
  EXPECT_THROW(model->answers(x, 0), ShapeError);
  EXPECT_THROW(model->answers(x, 5), ShapeError);
}

TEST_F(Registration, AModelOfTheReadersOwnCanBeStudied) {
  struct Nodes {
    static bool have(const Trace& trace, std::string_view name) {
      return std::ranges::find(trace.nodes, name, &TraceNode::name) != trace.nodes.end();
    }
  };
  register_model<MeanModel<Wrong::nothing>>("mean-to-study");
  const std::vector<std::string_view> names = subject_names();
  EXPECT_NE(std::ranges::find(names, "mean-to-study"), names.end());
  EXPECT_TRUE(Nodes::have(study("mean-to-study", {.size = 4}), "out.weight"));
  const Outcome outcome = run_command({"study", "mean-to-study", "--size", "4"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_NE(outcome.results.find("out.weight[4, 4]"), std::string::npos);
}

}  // namespace
}  // namespace retrace

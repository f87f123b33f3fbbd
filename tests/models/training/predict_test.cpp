// A trained model answers samples of a file.
#include <gtest/gtest.h>
#include <retrace/models/data/csv.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/data/npz.h>
#include <retrace/models/training/predict.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace retrace {
namespace {

using Words = std::vector<std::string>;

/// Trains for a moment on a file of 30 recordings of 2 steps: a is around 100 for "low, one" and around 200 for "high".
class Predict : public testing::Test {
 protected:
  Predict() {
    std::ofstream data(folder / "data.csv");
    data << "a,name,b,kind,level\n";
    for (int i = 0; i < 30; ++i)
      for (int t = 0; t < 2; ++t)
        data << (i % 2 == 0 ? 100 : 200) + i % 7 << ",r" << i << "," << i % 3 + t << ","
             << (i % 2 == 0 ? "\"low, one\"" : "high") << "," << 1000 + 100 * (i % 2) << "\n";
    data.close();
    std::ofstream(folder / "new.csv")
        << "b,name,comment,a\n1,x,any,201\n2,x,,203\n0,\"y,z\",thing,\"101\"\n1,\"y,z\",,99\n";
  }

  void train(Words words) {
    for (const char* word : {"--sequence", "name", "--steps", "60", "--hidden", "8", "--quiet"})
      words.emplace_back(word);
    words.insert(words.begin(), {"train", "data", "--data", folder / "data.csv", "--out", folder / "run"});
    const Outcome outcome = run_command(words);
    ASSERT_EQ(outcome.status, 0) << outcome.messages;
    std::filesystem::remove(folder / "data.csv");  // the answers do not need it
  }
  void train_classes() { train({"--label", "kind", "--ignore", "level", "--model", "gru"}); }

  const TemporaryFolder folder;
};

TEST_F(Predict, AnswersInWordsWithoutTheFileOfTheTraining) {
  train_classes();
  const Outcome outcome = run_command({"predict", folder / "run", "--input", folder / "new.csv"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  std::istringstream lines(outcome.results);
  std::string header, first, second, end;
  std::getline(lines, header), std::getline(lines, first), std::getline(lines, second);
  EXPECT_EQ(header, "sample,label,probability");
  EXPECT_TRUE(first.starts_with("x,high,0.")) << first;
  EXPECT_TRUE(second.starts_with("\"y,z\",\"low, one\",0.")) << second;
  EXPECT_FALSE(std::getline(lines, end));
}

TEST_F(Predict, GivesWhatTheModelGivesForTheScaledNumbers) {
  train_classes();
  const StoredRun run = load_run(folder / "run", TaskSamples::none);
  const Answers answers = predict(run, folder / "new.csv");
  const SampleFormat& format = *run.task->format();
  ASSERT_EQ(format.columns, (Words{"a", "b"}));
  const Tensor x = tensor({{{201, 1}, {203, 2}}, {{101, 0}, {99, 1}}}, f64);
  const NoTape unrecorded;
  const Tensor expected = softmax((*run.model)((*format.x)(x).to(f32)).to(f64));
  for (std::int64_t k = 0; k < 4; ++k)
    EXPECT_DOUBLE_EQ(answers.values[static_cast<std::size_t>(k)], expected.at({k / 2, k % 2}));
  EXPECT_EQ(answers.labels, (std::vector<std::int64_t>{0, 1}));
}

TEST_F(Predict, ReadsArraysAsItReadsLines) {
  train_classes();
  const StoredRun run = load_run(folder / "run", TaskSamples::none);
  const std::vector<double> expected = predict(run, folder / "new.csv").values;
  const Tensor x = tensor({{{201, 1}, {203, 2}}, {{101, 0}, {99, 1}}}, f64);
  write_npy(folder / "x.npy", x);
  EXPECT_EQ(predict(run, folder / "x.npy").values, expected);
  write_npy(folder / "x.npy", reshape(x, {2, 4}).to(f32));
  EXPECT_EQ(predict(run, folder / "x.npy").values, expected);
  write_npz(folder / "x.npz", {{"x", x}});
  const Answers answers = predict(run, folder / "x.npz");
  EXPECT_EQ(answers.values, expected);
  EXPECT_EQ(answers.samples, (Words{"1", "2"}));
}

TEST_F(Predict, SequencesOfDifferentLengthsAreAnsweredAsEachAlone) {
  std::ofstream data(folder / "data.csv");
  data << "a,name,kind\n";
  for (int i = 0; i < 30; ++i)
    for (int t = 0; t <= i % 3; ++t)
      data << 10 * (i % 2) + t << ",r" << i << "," << (i % 2 == 0 ? "low" : "high") << "\n";
  data.close();
  train({"--label", "kind", "--model", "gru"});
  const StoredRun run = load_run(folder / "run", TaskSamples::none);
  const auto values = [&](const std::string& lines) {
    std::ofstream(folder / "new.csv") << "name,a\n" << lines;
    return predict(run, folder / "new.csv").values;
  };
  const std::vector<double> one = values("x,11\n"), three = values("y,1\ny,2\ny,3\n");
  std::vector<double> both = one;
  both.insert(both.end(), three.begin(), three.end());
  EXPECT_EQ(values("x,11\ny,1\ny,2\ny,3\n"), both) << "every bit";
  EXPECT_NE(message_of<ShapeError>([&] { values("x,1\nx,2\nx,3\nx,4\n"); }).find("must be [samples, 1 to 3, 1]"),
            std::string::npos);
}

TEST_F(Predict, WritesOneObjectOrAFile) {
  train_classes();
  const Outcome outcome = run_command({"predict", folder / "run", "--input", folder / "new.csv", "--json"});
  const auto object = Json::parse(outcome.results);
  EXPECT_EQ(object["classes"], (Words{"high", "low, one"}));
  EXPECT_EQ(object["answers"].size(), 2u);
  EXPECT_EQ(object["answers"][1]["sample"], "y,z");
  EXPECT_EQ(object["answers"][1]["label"], "low, one");
  const double sum =
      object["answers"][1]["probabilities"][0].get<double>() + object["answers"][1]["probabilities"][1].get<double>();
  EXPECT_NEAR(sum, 1, 1e-12);
  const Outcome silent = run_command(
      {"predict", folder / "run", "--input", folder / "new.csv", "--probabilities", "--out", folder / "answers.csv"});
  EXPECT_EQ(silent.results, "");
  std::string header;
  std::ifstream answers(folder / "answers.csv");
  std::getline(answers, header);
  EXPECT_EQ(header, "sample,label,probability,probability of high,\"probability of low, one\"");
}

TEST_F(Predict, TheInputIsNotOverwritten) {
  train_classes();
  const std::string before = file_bytes(folder / "new.csv");
  const Outcome outcome =
      run_command({"predict", folder / "run", "--input", folder / "new.csv", "--out", folder / "./new.csv"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("is the file of --input; choose another file"), std::string::npos);
  EXPECT_EQ(file_bytes(folder / "new.csv"), before);
}

TEST_F(Predict, NumbersAreInTheUnitsOfTheData) {
  train({"--target", "level", "--ignore", "kind", "--model", "lstm", "--learning-rate", "0.02"});
  const Answers answers = predict(load_run(folder / "run", TaskSamples::none), folder / "new.csv");
  EXPECT_EQ(answers.outputs, (Words{"level"}));
  ASSERT_EQ(answers.values.size(), 2u);
  EXPECT_NEAR(answers.values[0], 1100, 30);
  EXPECT_NEAR(answers.values[1], 1000, 30);
  EXPECT_TRUE(to_csv(answers, false).starts_with("sample,level\nx,1")) << to_csv(answers, false);
}

/// Times in seconds, which differ only from the eighth digit on: f32 has seven.
TEST_F(Predict, LinesAndJsonHaveTheSameNumbersWithEveryDigit) {
  std::ofstream data(folder / "data.csv");
  data << "x,seconds,\"a,\"\"b\"\"\"\n";
  for (int i = 0; i < 40; ++i) data << i << ",17000000" << 10 + i << ".25," << 0.001 * i << "\n";
  data.close();
  const auto numbers_of = [&](const Words& words) {
    Words train{"train",    "data", "--data",  folder / "data.csv", "--steps", "20",
                "--hidden", "4",    "--quiet", "--force",           "--out",   folder / "run"};
    train.insert(train.end(), words.begin(), words.end());
    const Outcome trained = run_command(train);
    EXPECT_EQ(trained.status, 0) << trained.messages;
    const Words predict{"predict", folder / "run", "--input", folder / "data.csv"};
    Words predict_json = predict;
    predict_json.emplace_back("--json");
    const auto object = Json::parse(run_command(predict_json).results);
    std::istringstream lines(run_command(predict).results);
    std::string line;
    std::getline(lines, line);
    std::set<double> numbers;
    for (const auto& answer : object["answers"]) {
      std::getline(lines, line);
      const double number = std::stod(line.substr(line.rfind(',') + 1));
      EXPECT_EQ(number, words[0] == "--label" ? answer["probability"] : answer["numbers"].back());
      numbers.insert(number);
    }
    return numbers;
  };
  EXPECT_GT(numbers_of({"--target", "seconds"}).size(), 20u) << "f32 has two or three of them";
  EXPECT_GT(numbers_of({"--target", "seconds,\"a,\"\"b\"\"\""}).size(), 20u);
  EXPECT_GT(numbers_of({"--label", "seconds"}).size(), 20u) << "probabilities";
}

TEST_F(Predict, NamesOfColumnsStayWhatTheyAre) {
  std::ofstream data(folder / "data.csv");
  data << "x,\"a,\"\"b\"\"\",\" two\nlines\"\n";
  for (int i = 0; i < 20; ++i) data << i << "," << 2 * i << "," << 3 * i << "\n";
  data.close();
  ASSERT_EQ(run_command({"train", "data", "--data", folder / "data.csv", "--target", "\"a,\"\"b\"\"\",\" two\nlines\"",
                         "--steps", "1", "--quiet", "--out", folder / "run"})
                .status,
            0);
  const Outcome outcome = run_command({"predict", folder / "run", "--input", folder / "data.csv"});
  EXPECT_TRUE(outcome.results.starts_with("sample,\"a,\"\"b\"\"\",\" two\nlines\"\n1,")) << outcome.results;
  std::ofstream(folder / "again.csv") << outcome.results;
  EXPECT_EQ(read_csv_header(folder / "again.csv"), (Words{"sample", "a,\"b\"", " two\nlines"}));
}

/// What a shell makes of <(...), and standard input, has no ending and can be read only once.
TEST_F(Predict, ReadsAPipe) {
  train_classes();
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto answers_to = [&](const std::string& content) {
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << content; });
    const Outcome outcome = run_command({"predict", folder / "run", "--input", pipe});
    writer.join();
    return outcome.status == 0 ? outcome.results : outcome.messages;
  };
  const std::string expected = run_command({"predict", folder / "run", "--input", folder / "new.csv"}).results;
  EXPECT_EQ(answers_to(file_bytes(folder / "new.csv")), expected);
  write_npy(folder / "x.npy", tensor({{{201, 1}, {203, 2}}, {{101, 0}, {99, 1}}}, f64));
  EXPECT_EQ(answers_to(file_bytes(folder / "x.npy")),
            run_command({"predict", folder / "run", "--input", folder / "x.npy"}).results);
  EXPECT_NE(answers_to("").find("is empty, and a header was expected"), std::string::npos);
  EXPECT_NE(answers_to("PK\x03\x04").find("a .npz file is read by its name only"), std::string::npos);
}

TEST_F(Predict, AnotherSeparatorIsGivenOrFollowsFromTheEnding) {
  train_classes();
  const std::string expected = run_command({"predict", folder / "run", "--input", folder / "new.csv"}).results;
  std::string lines = "b;name;comment;a\n1;x;any;201\n2;x;;203\n0;\"y,z\";thing;\"101\"\n1;\"y,z\";;99\n";
  std::ofstream(folder / "semicolons.csv") << lines;
  EXPECT_EQ(run_command({"predict", folder / "run", "--input", folder / "semicolons.csv", "--separator", ";"}).results,
            expected);
  EXPECT_NE(run_command({"predict", folder / "run", "--input", folder / "semicolons.csv"})
                .messages.find("give --separator ';'"),
            std::string::npos);
  std::ranges::replace(lines, ';', '\t');
  std::ofstream(folder / "tabs.tsv") << lines;
  EXPECT_EQ(run_command({"predict", folder / "run", "--input", folder / "tabs.tsv"}).results, expected);
}

TEST_F(Predict, AnyTaskAnswersArrays) {
  const std::string run = folder / "copy";
  ASSERT_EQ(run_command({"train", "copy", "--length", "2", "--steps", "2", "--batch", "2", "--test-samples", "10",
                         "--quiet", "--out", run})
                .status,
            0);
  const auto task = make_task("copy", {.length = 2});
  Random random(1);
  write_npy(folder / "x.npy", task->sample(random, 3).x);
  const Outcome outcome = run_command({"predict", run, "--input", folder / "x.npy"});
  ASSERT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_TRUE(outcome.results.starts_with("sample,answer,label,probability\n1,1,")) << outcome.results;
  EXPECT_EQ(std::count(outcome.results.begin(), outcome.results.end(), '\n'), 1 + 3 * task->answer_length());
}

TEST_F(Predict, SaysWhatDoesNotFit) {
  train_classes();
  const auto message = [&](const std::string& content) {
    std::ofstream(folder / "bad.csv") << content;
    const Outcome outcome = run_command({"predict", folder / "run", "--input", folder / "bad.csv"});
    EXPECT_NE(outcome.status, 0);
    EXPECT_EQ(outcome.results, "");
    return outcome.messages;
  };
  EXPECT_NE(message("a,name\n1,x\n").find("no column named 'b'"), std::string::npos);
  EXPECT_NE(message("a,b,name\n1,2,x\n").find("must be [samples, 2, 2]"), std::string::npos) << "one step";
  EXPECT_NE(message("a,b,name\n1,2,x\n1,2,x\n1,2,y\n").find("of different lengths, must be [samples, 2, 2]"),
            std::string::npos);
  EXPECT_NE(message("a,b,name\n1,2,x\n1,nan,x\n").find("line 3: the number in the column 'b' is nan"),
            std::string::npos);
  const Outcome none = run_command({"predict", folder / "run", "--input", folder / "none.npy"});
  EXPECT_EQ(none.status, 1);
}

}  // namespace
}  // namespace retrace

// The task "data": samples from a user's file.
#include <gtest/gtest.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/data/npz.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/tasks/data_file.h>
#include <retrace/models/tasks/recipes.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace retrace {
namespace {

std::string file(const std::string& name, const std::string& content) {
  static const TemporaryFolder folder;
  const std::string path = folder / name;
  std::ofstream(path) << content;
  return path;
}

/// 40 flowers, every fourth a rose; the length of number i is 3 i, the width 1000 - i.
std::string flowers() {
  std::string lines = "id,length,width,kind,price\n";
  for (int i = 0; i < 40; ++i)
    lines += text("f", i, ",", 3 * i, ",", 1000 - i, ",", i % 4 == 0 ? "rose" : "daisy", ",", 10 * i, "\n");
  return file("flowers.csv", lines);
}

/// 12 recordings of 3 steps; step t of number i has a = i and b = 10 i + t.
std::string recordings() {
  std::string lines = "b,name,a,loud\n";
  for (int i = 0; i < 12; ++i)
    for (int t = 0; t < 3; ++t) lines += text(10 * i + t, ",r", i, ",", i, ",", i % 2 == 0 ? "yes" : "no", "\n");
  return file("recordings.csv", lines);
}

const Dataset& dataset(const Task& task) { return dynamic_cast<const Dataset&>(task); }

/// All parts of the samples, in the units of the file.
std::vector<Tensor> rows_in_units(const Task& task) {
  const Dataset& data = dataset(task);
  const HeldOut held_out = *data.held_out();
  std::vector<Tensor> rows;
  for (const Tensor& x : {data.train().x, held_out.validation.x, held_out.test.x}) {
    const Tensor units = task.format()->x->inverse(x);
    for (std::int64_t k = 0; k < units.dim(0); ++k) rows.push_back(units[k]);
  }
  return rows;
}

TEST(DataFile, ALineOfACsvFileIsASample) {
  const auto task = make_task("data", {.data = flowers(), .label = "kind", .ignore = "id,price"});
  EXPECT_EQ(task->name(), "data");
  EXPECT_EQ(task->kind(), TaskKind::classification);
  EXPECT_EQ(task->sequence_length(), 1);
  EXPECT_EQ(task->input_size(), 2);
  EXPECT_EQ(task->output_size(), 2);
  EXPECT_EQ(task->describe_label(0), "daisy");
  EXPECT_EQ(task->describe_label(1), "rose");
  const SampleFormat& format = *task->format();
  EXPECT_EQ(format.columns, (std::vector<std::string>{"length", "width"}));
  const std::vector<Tensor> rows = rows_in_units(*task);
  EXPECT_EQ(rows.size(), 40u);
  for (const Tensor& row : rows)
    EXPECT_NEAR(row.at({0, 0}) / 3 + row.at({0, 1}), 1000, 1e-9) << "columns of two flowers were mixed";
}

/// A quarter of the flowers are roses: 8 of 40 in the test, 4 in the validation.
TEST(DataFile, EachClassHasItsShareOfTheParts) {
  const auto task = make_task("data", {.data = flowers(), .label = "kind", .ignore = "id,price"});
  const HeldOut held_out = *task->held_out();
  EXPECT_EQ(held_out.test.y.numel(), 8);
  EXPECT_EQ(sum(held_out.test.y.to(f64)).item(), 2);
  EXPECT_EQ(held_out.validation.y.numel(), 4);
  EXPECT_EQ(sum(held_out.validation.y.to(f64)).item(), 1);
}

TEST(DataFile, NumbersAreScaledByTheSamplesToTrainOn) {
  const auto task = make_task("data", {.data = flowers(), .target = "price", .ignore = "id,kind"});
  const Batch& train = dataset(*task).train();
  for (std::int64_t feature = 0; feature < 2; ++feature) {
    const Tensor x = slice(train.x, {all, all, feature});
    EXPECT_NEAR(mean(x).item(), 0, 1e-12);
    EXPECT_NEAR(mean(square(x)).item(), 1, 1e-12);
  }
  EXPECT_NEAR(mean(train.y).item(), 0, 1e-12);
  EXPECT_NEAR(mean(square(train.y)).item(), 1, 1e-12);
  const HeldOut held_out = *task->held_out();
  EXPECT_GT(std::abs(mean(held_out.test.x).item()) + std::abs(mean(held_out.test.y).item()), 1e-6);
  EXPECT_EQ(task->kind(), TaskKind::regression);
  EXPECT_EQ(task->format()->targets, (std::vector<std::string>{"price"}));
  const double one = train.y.at({0, 0});
  const Tensor units = task->format()->y->inverse(tensor({{one}}, f64));
  EXPECT_EQ(std::fmod(std::round(units.item()), 10), 0) << "prices are multiples of 10";
  EXPECT_EQ(task->describe_numbers(std::vector<double>{one}), written(std::vector<double>{units.item()}));
}

TEST(DataFile, LinesOfOneNameAreTheStepsOfASequence) {
  const auto task = make_task("data", {.data = recordings(), .label = "loud", .sequence = "name"});
  EXPECT_EQ(task->sequence_length(), 3);
  EXPECT_EQ(task->input_size(), 2);
  for (const Tensor& row : rows_in_units(*task))
    for (std::int64_t t = 0; t < 3; ++t)
      EXPECT_NEAR(row.at({t, 0}), 10 * row.at({0, 1}) + double(t), 1e-9);  // the columns are b, a
}

/// Step t of recording i has a = i and b = 10 i + t, and there are i % 4 + 1 steps.
TEST(DataFile, SequencesMayHaveDifferentLengths) {
  std::string lines = "b,name,a,loud,level\n";
  for (int i = 0; i < 12; ++i)
    for (int t = 0; t <= i % 4; ++t) lines += text(10 * i + t, ",r", i, ",", i, ",", i % 2, ",", 100 * i, "\n");
  const std::string path = file("uneven.csv", lines);
  const auto task = make_task("data", {.data = path, .target = "level", .sequence = "name", .ignore = "loud"});
  EXPECT_TRUE(task->has_lengths());
  EXPECT_EQ(task->sequence_length(), 4);
  const SampleFormat& format = *task->format();
  EXPECT_TRUE(format.different_lengths);
  EXPECT_EQ(format.steps, 4);
  const HeldOut held_out = *task->held_out();
  std::int64_t samples = 0;
  for (const Batch& part : {dataset(*task).train(), held_out.validation, held_out.test})
    for (std::int64_t k = 0; k < part.size(); ++k, ++samples) {
      const Tensor x = format.x->inverse(part.x), level = format.y->inverse(part.y);
      const double i = level.at({k, 0}) / 100;
      ASSERT_EQ(part.lengths.at({k}), std::fmod(std::round(i), 4) + 1) << "of recording " << i;
      for (std::int64_t t = 0; double(t) < part.lengths.at({k}); ++t) {
        EXPECT_NEAR(x.at({k, t, 0}), 10 * i + double(t), 1e-9);
        EXPECT_NEAR(x.at({k, t, 1}), i, 1e-9);
      }
    }
  EXPECT_EQ(samples, 12);
  const auto classes = make_task("data", {.data = path, .label = "loud", .sequence = "name", .ignore = "level"});
  const std::string json = JsonObject{{"format", to_json(*classes->format())}}.text();
  EXPECT_TRUE(sample_format_in(JsonFields("a test", json))->different_lengths);
  EXPECT_TRUE(task_without_samples("data", *classes->format())->has_lengths());
}

TEST(DataFile, ALineCanBeAWholeSequence) {
  std::string lines = "t1,t2,t3,t4,class\n";
  for (int i = 0; i < 20; ++i) lines += text(i, ",", i + 1, ",", i + 2, ",", i + 3, ",", i % 2 == 0 ? 7 : 10, "\n");
  const std::string path = file("lines.csv", lines);
  const auto one = make_task("data", {.data = path, .label = "class", .features = 1});
  EXPECT_EQ(one->sequence_length(), 4);
  EXPECT_EQ(one->input_size(), 1);
  EXPECT_EQ(one->describe_label(0), "7");
  EXPECT_EQ(one->describe_label(1), "10") << "numbers as words are sorted by their values";
  for (const Tensor& row : rows_in_units(*one))
    for (std::int64_t t = 1; t < 4; ++t) EXPECT_NEAR(row.at({t, 0}), row.at({0, 0}) + double(t), 1e-9);
  EXPECT_EQ(make_task("data", {.data = path, .label = "class", .features = 2})->sequence_length(), 2);
}

TEST(DataFile, ArraysHaveTheirShapes) {
  Random random(1);
  const std::string path = file("arrays.npz", "");
  write_npz(path, {{"x", random.normal({10, 4, 3}, f32)}, {"y", random.integers({10}, 3)}});
  const auto task = make_task("data", {.data = path});
  EXPECT_EQ(task->sequence_length(), 4);
  EXPECT_EQ(task->input_size(), 3);
  EXPECT_EQ(task->kind(), TaskKind::classification);
  write_npz(path, {{"x", random.normal({10, 12}, f32)}, {"y", random.normal({10, 2}, f64)}});
  const auto flat = make_task("data", {.data = path, .features = 4});
  EXPECT_EQ(flat->sequence_length(), 3);
  EXPECT_EQ(flat->kind(), TaskKind::regression);
  EXPECT_EQ(flat->format()->targets, (std::vector<std::string>{"y1", "y2"}));
}

const std::vector<std::string>& columns_of(const Task& task) { return task.format()->columns; }

/// The flowers as other programs write them.
TEST(DataFile, AFileMeansTheSameHoweverItIsWritten) {
  const std::string flowers_file = file_bytes(flowers());
  const auto with = [&](const std::string& from, const std::string& to) {
    return std::regex_replace(flowers_file, std::regex(from), to);
  };
  const TaskOptions options{.label = "kind", .ignore = "id,price"};
  const auto made = [&](const std::string& name, const std::string& content,
                        std::optional<std::string> separator = {}) {
    TaskOptions own = options;
    own.data = file(name, content), own.separator = separator;
    return make_task("data", own)->fingerprint();
  };
  const std::string plain = made("a.csv", flowers_file);
  EXPECT_EQ(made("b.CSV", flowers_file), plain);
  EXPECT_EQ(made("c.csv", "\xef\xbb\xbf" + flowers_file), plain) << "a byte-order mark";
  EXPECT_EQ(made("d.csv", with("\n", "\r\n")), plain);
  EXPECT_EQ(made("e.csv", with("\n", "\r")), plain);
  EXPECT_EQ(made("f.csv", with("\n", "\n\n")), plain) << "empty lines";
  EXPECT_EQ(made("g.tsv", with(",", "\t")), plain);
  EXPECT_EQ(made("h.csv", with(",", "\t"), "tab"), plain);
  EXPECT_EQ(made("i.csv", with(",", ";"), ";"), plain);
  EXPECT_EQ(made("j.TSV", flowers_file, ","), plain) << "what is said comes before the ending";
}

TEST(DataFile, AColumnWithoutANameIsLeftOutAndThatIsSaid) {
  for (const std::string name : {"", "Unnamed: 0", "\"\""}) {
    std::string lines = name + ",a,kind\n";
    for (int i = 0; i < 12; ++i) lines += text(i, ",", 7 * i % 5, ",", i % 2, "\n");
    const auto task = make_task("data", {.data = file("indexed.csv", lines), .label = "kind"});
    EXPECT_EQ(columns_of(*task), (std::vector<std::string>{"a"}));
    ASSERT_EQ(task->remarks().size(), 1u);
    EXPECT_NE(task->remarks()[0].find("left out: the column without a name"), std::string::npos);
  }
  const auto chosen =
      make_task("data", {.data = file("indexed.csv", "Unnamed: 0,a\n1,2\n3,4\n5,7\n6,1\n"), .target = "Unnamed: 0"});
  EXPECT_EQ(chosen->remarks().size(), 0u) << "it is asked for";
}

TEST(DataFile, AColumnThatCountsTheLinesIsPointedOut) {
  for (const int first : {0, 1, 2}) {
    std::string lines = "id,a,kind\n";
    for (int i = 0; i < 12; ++i) lines += text(first + i, ",", 7 * i % 5, ",", i % 2, "\n");
    const auto task = make_task("data", {.data = file("counted.csv", lines), .label = "kind"});
    EXPECT_EQ(columns_of(*task), (std::vector<std::string>{"id", "a"})) << "it may be the time";
    ASSERT_EQ(task->remarks().size(), first < 2 ? 1u : 0u) << first;
    for (const std::string& remark : task->remarks())
      EXPECT_NE(remark.find("--ignore id"), std::string::npos) << remark;
  }
}

TEST(DataFile, AColumnOfManyClassesIsPointedOut) {
  std::string lines = "a,price\n";
  for (int i = 0; i < 60; ++i) lines += text(7 * i % 5, ",", i * 0.5, "\n");
  const auto task = make_task("data", {.data = file("prices.csv", lines), .label = "price"});
  ASSERT_EQ(task->remarks().size(), 1u);
  EXPECT_NE(task->remarks()[0].find("60 classes in 60 samples"), std::string::npos) << task->remarks()[0];
  EXPECT_EQ(make_task("data", {.data = file("prices.csv", lines), .target = "price"})->remarks().size(), 0u);
}

TEST(DataFile, AHeaderThatIsASampleIsPointedOut) {
  std::string lines = "5.1,3.5,rose\n";
  for (int i = 0; i < 12; ++i) lines += text(7 * i % 5, ",", i * i, ",", i % 2 == 0 ? "rose" : "daisy", "\n");
  const auto task = make_task("data", {.data = file("headless.csv", lines), .label = "rose"});
  ASSERT_EQ(task->remarks().size(), 1u);
  EXPECT_NE(task->remarks()[0].find("a column is named '5.1'; if that is a number of a sample"), std::string::npos);
}

TEST(DataFile, NamesOfColumnsMayHaveAnyCharacter) {
  std::string lines = "\"a,1\",\"say \"\"b\"\"\",\"two\nlines\",\" c \",gr\u00f6\u00dfe\n";
  for (int i = 0; i < 20; ++i) lines += text(i, ",", 3 * i, ",", 5 * i, ",", 7 * i, ",", 9 * i, "\n");
  const std::string path = file("names.csv", lines);
  const auto task = make_task("data", {.data = path, .target = "\"a,1\",gr\u00f6\u00dfe", .ignore = "\"two\nlines\""});
  EXPECT_EQ(task->format()->targets, (std::vector<std::string>{"a,1", "gr\u00f6\u00dfe"}));
  EXPECT_EQ(columns_of(*task), (std::vector<std::string>{"say \"b\"", " c "}));
  EXPECT_NE(message_of<ValueError>([&] {
              make_task("data", {.data = path, .target = "\"a,1"});
            }).find("is no list of columns; put names with commas"),
            std::string::npos);
}

TEST(DataFile, ANpyFileHasItsAnswersInAnother) {
  Random random(1);
  const std::string x = file("x.npy", ""), labels = file("labels.npy", ""), numbers = file("numbers.NPY", "");
  write_npy(x, random.normal({10, 12}, f32));
  write_npy(labels, random.integers({10}, 3));
  write_npy(numbers, random.normal({10, 2}, f64));
  const auto classes = make_task("data", {.data = x, .label = labels, .features = 4});
  EXPECT_EQ(classes->kind(), TaskKind::classification);
  EXPECT_EQ(classes->sequence_length(), 3);
  EXPECT_EQ(make_task("data", {.data = x, .target = numbers})->output_size(), 2);
  EXPECT_EQ(make_task("data", {.data = x, .target = labels})->kind(), TaskKind::regression) << "integers as numbers";
  EXPECT_NE(message_of<ValueError>([&] { make_task("data", {.data = x, .label = numbers}); }).find("astype(int)"),
            std::string::npos);
}

TEST(DataFile, ArraysMayHaveAnAnswerPerStep) {
  Random random(1);
  const std::string path = file("steps.npz", "");
  write_npz(path, {{"x", random.normal({10, 4, 3}, f32)}, {"y", random.integers({10, 4}, 3)}});
  const auto task = make_task("data", {.data = path});
  EXPECT_EQ(task->answer_length(), 4);
  const std::string json = JsonObject{{"format", to_json(*task->format())}}.text();
  const SampleFormat stored = *sample_format_in(JsonFields("a test", json));
  EXPECT_EQ(task_without_samples("data", stored)->answer_length(), 4) << "predict answers each step";
}

TEST(DataFile, ReportsShowSamplesAsTheFileHasThem) {
  const auto task = make_task("data", {.data = flowers(), .label = "kind", .ignore = "id,price"});
  const HeldOut held_out = *task->held_out();
  ASSERT_EQ(held_out.test_places.size(), 8u);
  for (std::int64_t k = 0; k < 8; ++k) {
    const Example sample(held_out.test.part(k, 1), 0);
    const int line = std::stoi(held_out.test_places[static_cast<std::size_t>(k)].substr(std::string("line ").size()));
    const int flower = line - 2;
    EXPECT_EQ(task->describe(sample), text("length ", 3 * flower, ", width ", 1000 - flower));
    EXPECT_EQ(task->describe_label(sample.label()), flower % 4 == 0 ? "rose" : "daisy");
  }
}

TEST(DataFile, LargeOffsetsTakeNoDigitFromWhatIsShown) {
  std::string lines = "a,seconds\n";
  for (int i = 0; i < 40; ++i) lines += text(in_full(1e6 + 0.25 * i), ",", 17000000, 10 + i, ".5\n");
  const auto task = make_task("data", {.data = file("seconds.csv", lines), .target = "seconds"});
  const HeldOut held_out = *task->held_out();
  for (std::int64_t k = 0; k < held_out.test.size(); ++k) {
    Batch as_f32 = held_out.test.part(k, 1);  // as a test of the model sees it
    as_f32.x = as_f32.x.to(f32), as_f32.y = as_f32.y.to(f32);
    const Example sample(as_f32, 0);
    const int i = std::stoi(held_out.test_places[static_cast<std::size_t>(k)].substr(5)) - 2;
    EXPECT_EQ(task->describe_numbers(sample.numbers()), text(17000000, 10 + i, ".5"));
    EXPECT_EQ(task->describe(sample), "a " + in_full(1e6 + 0.25 * i));
  }
}

TEST(DataFile, PlacesOfSequencesAreTheirNamesAndLines) {
  const auto task = make_task("data", {.data = recordings(), .label = "loud", .sequence = "name"});
  const HeldOut held_out = *task->held_out();
  for (const std::string& place : held_out.test_places) {
    const int i = std::stoi(place.substr(std::string("sequence r").size()));
    EXPECT_EQ(place, text("sequence r", i, ", lines ", 2 + 3 * i, " to ", 4 + 3 * i));
  }
}

TEST(DataFile, AnotherFileIsTestedAsAWhole) {
  const TaskOptions options{.data = flowers(), .label = "kind", .ignore = "id,price"};
  const auto task = make_task("data", options);
  const SampleFormat& format = *task->format();
  const std::string path = file("others.csv", "kind,width,more,length\nrose,900,x,3\ndaisy,910,,6\n");
  const auto other = task_on_file("data", format, options, path);
  const HeldOut held_out = *other->held_out();
  ASSERT_EQ(held_out.test.size(), 2);
  EXPECT_EQ(list(held_out.test.y), (std::vector<double>{1, 0}));
  EXPECT_NEAR(held_out.test.x.at({0, 0, 0}), (3 - format.x->shift[0]) / format.x->scale[0], 1e-12);
  EXPECT_EQ(held_out.test_places, (std::vector<std::string>{"line 2", "line 3"}));
  EXPECT_EQ(other->baselines().trivial, 0.5);
  Random random;
  EXPECT_THROW(other->sample(random, 1), ValueError);
  const auto message = [&](const std::string& lines) {
    return message_of<Error>([&] { task_on_file("data", format, options, file("others.csv", lines)); });
  };
  EXPECT_NE(message("kind,width,length\ntulip,1,2\n").find("no class of the training named 'tulip'; did you mean"),
            std::string::npos);
  EXPECT_NE(message("kind,width\nrose,1\n").find("no column named 'length'"), std::string::npos);
  EXPECT_NE(message("kind,width,length\n").find("there is no sample to test on"), std::string::npos);
  const std::string arrays = file("others.npz", "");
  write_npz(arrays, {{"x", tensor({{3, 900}}, f64)}, {"y", indices({1})}});
  EXPECT_EQ(task_on_file("data", format, options, arrays)->held_out()->test_places.front(), "x[0]");
}

TEST(DataFile, ErrorsNameTheRemedy) {
  const auto expect = [](const TaskOptions& options, const std::string& part) {
    const std::string message = message_of<Error>([&] { make_task("data", options); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect({}, "give --data FILE");
  expect({.data = flowers()}, "give --label COLUMN for classes, or --target COLUMNS for numbers, of the columns id, ");
  expect({.data = flowers(), .label = "kind", .target = "price"}, "give --label COLUMN");
  expect({.data = flowers(), .label = "kindd", .ignore = "id,kind"}, "no column named 'kindd'; did you mean kind");
  expect({.data = flowers(), .label = "kind"}, "'f0' (id) is not a number");
  expect({.data = flowers(), .label = "kind", .ignore = "id,prise"},
         "--ignore: there is no column named 'prise'; did you mean price");
  expect({.data = flowers(), .label = "kind", .ignore = "id,kind"}, "the column 'kind' is ignored and used");
  expect({.data = flowers(), .label = "kind", .features = 2, .ignore = "id"}, "with a multiple of 2 numbers");
  for (const char* other : {"x.txt", "x.xlsx", "x.csv.zip", "x", "csv"})
    expect({.data = other, .label = "y"}, "a file of samples ends in .csv, .tsv, .npy or .npz");
  expect({.data = "x.npy"}, "--label y.npy for classes (integers from 0), or --target y.npy for numbers");
  expect({.data = "\xf6.csv", .label = "y"}, "is not UTF-8, and a stored model would not find it again; rename it");
  expect({.data = "-", .label = "y"},
         "data: - can be read only once, and eval reads the data again; save it to a file");
  expect({.data = "x.npz", .label = "y"}, "name columns of a .csv file");
  const std::string head = "name,x,y\n";
  const auto with = [&](const std::string& lines) {
    return TaskOptions{.data = file("bad.csv", head + lines), .label = "y", .sequence = "name"};
  };
  TaskOptions regrouped = with("a,1,p\na,2,p\nb,1,q\n");
  regrouped.features = 2;
  expect(regrouped, "sequences of different lengths have a line of 1 numbers per step, not 2; leave --features out");
  expect(with("a,1,p\nb,1,q\na,2,p\n"), "the lines of the sequence 'a' do not follow each other; sort them");
  expect(with("a,1,p\na,2,q\n"), "the lines of the sequence 'a' have different answers");
  expect(with("a,1,p\n\"b\nb\",nan,q\nc,2,p\n"), "bad.csv: line 3: the number in the column 'x' is nan; remove");
  expect({.data = file("bad.csv", "y\n1\n"), .label = "y"}, "no column is left for the numbers");
}

TEST(SampleFormat, ComesBackFromAFileAsItWas) {
  const auto task = make_task("data", {.data = recordings(), .target = "a", .sequence = "name", .ignore = "loud"});
  const SampleFormat& written = *task->format();
  const std::string json = JsonObject{{"format", to_json(written)}}.text();
  const SampleFormat read = *sample_format_in(JsonFields("a test", json));
  EXPECT_EQ(JsonText(to_json(read)).text(), JsonText(to_json(written)).text());
  EXPECT_EQ(read.x->shift, written.x->shift) << "every bit";
  EXPECT_EQ(read.y->scale, written.y->scale);
  EXPECT_EQ(read.sequence, "name");
  EXPECT_EQ(json.find("different_lengths"), std::string::npos) << "runs of before, which are resumed, do not have it";
  EXPECT_FALSE(sample_format_in(JsonFields("a test", "{\"task\":\"babi\"}")));
}

TEST(TaskOptions, AreStoredOnlyWhereTheyAreGiven) {
  EXPECT_EQ(to_json(TaskOptions{}).text(), "{}");
  const TaskOptions given{.data = "x.csv", .label = "y", .features = 3};
  const std::string json = JsonObject{{"task_options", to_json(given)}}.text();
  EXPECT_EQ(task_options_in(JsonFields("a test", json)), given);
}

}  // namespace
}  // namespace retrace

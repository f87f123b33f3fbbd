// The model and its task are restored from a run's folder, weights or checkpoint.
#include <gtest/gtest.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

class StoredRuns : public testing::Test {
 protected:
  /// Trains briefly into the folder "run" and returns the messages.
  Json train(std::vector<std::string> words) const {
    words.insert(words.begin(), "train");
    for (const char* word :
         {"--steps", "3", "--batch", "4", "--test-samples", "100", "--json", "--quiet", "--force", "--out"})
      words.emplace_back(word);
    words.push_back(run_);
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return Json::parse(outcome.results);
  }

  /// The description of the run's weights, changed by `change`, with the weights themselves in a file of its own.
  std::string changed(const auto& change) const {
    const SafetensorsFile file = read_safetensors(run_ + "/weights.safetensors");
    Json description = Json::parse(file.metadata.at("trained"));
    change(description);
    write_safetensors(folder_ / "changed.safetensors", file.tensors, {{"trained", description.dump()}});
    return folder_ / "changed.safetensors";
  }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run";
};

std::string file_error(const std::string& path) {
  return message_of<FileError>([&] { load_run(path); });
}

TEST_F(StoredRuns, AnIndexStandsForItsFiles) {
  const auto result = train({"pair-matching", "--model", "lstm"});
  std::ofstream index(run_ + "/x.index.json");
  index << R"({"weight_map":{)";
  const char* between = "";
  for (const auto& [name, tensor] : read_safetensors(run_ + "/weights.safetensors").tensors)
    index << std::exchange(between, ",") << '"' << name << R"(":"weights.safetensors")";
  index << "}}" << std::flush;
  EXPECT_EQ(weights_hash(*load_run(run_ + "/x.index.json").model), result.at("weights_hash").get<std::string>());
}

TEST_F(StoredRuns, AFolderItsWeightsAndItsCheckpointHoldTheSameModel) {
  const auto result = train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "rmc", "--seed", "9"});
  for (const char* path : {"", "/weights.safetensors", "/checkpoint.safetensors"}) {
    const StoredRun run = load_run(run_ + path);
    EXPECT_EQ(weights_hash(*run.model), result.at("weights_hash").get<std::string>()) << path;
    EXPECT_EQ(run.task_name, "nth-farthest");
    EXPECT_EQ(run.task_options, (TaskOptions{.vectors = 3, .dims = 2}));
    EXPECT_EQ(run.task->sequence_length(), 3);
    EXPECT_EQ(run.spec.name, "rmc");
    EXPECT_EQ(run.seed, 9U);
    EXPECT_EQ(run.test_samples, 100);
    EXPECT_EQ(run.step, std::string_view(path) == "/checkpoint.safetensors" ? 3 : 0);
  }
}

TEST_F(StoredRuns, EveryOptionOfTaskAndModelComesBack) {
  train({"execute", "--program", "control", "--length", "2", "--nesting", "1", "--dtype", "f64"});
  EXPECT_EQ(load_run(run_).task_options, (TaskOptions{.length = 2, .program = "control", .nesting = 1}));
  EXPECT_EQ(parameters(*load_run(run_).model).front().tensor.dtype(), f64);
  train({"babi", "--held-only", "--model", "relational-rnn", "--memory", "notebook", "--hidden", "24"});
  const StoredRun run = load_run(run_);
  EXPECT_TRUE(run.task_options.held_only);
  EXPECT_EQ(run.spec.memory, "notebook");
  EXPECT_EQ(run.spec.sizes.hidden, 24);
  train({"babi", "--model", "rmc", "--heads", "4", "--slots", "3", "--gate", "memory", "--no-residual"});
  const ModelSpec spec = load_run(run_).spec;
  EXPECT_EQ(spec.sizes.heads, 4);
  EXPECT_EQ(spec.sizes.slots, 3);
  EXPECT_EQ(spec.parts, (MemoryParts{.gate = MemoryGate::memory, .residual = false}));
}

TEST_F(StoredRuns, ACheckpointGivesItsBestParametersNotItsLatest) {
  train({"babi", "--model", "gru"});
  const SafetensorsFile file = read_safetensors(run_ + "/checkpoint.safetensors");
  std::map<std::string, Tensor> tensors = file.tensors;
  for (auto& [name, tensor] : tensors)
    if (name.starts_with("model.")) tensor = tensor + 1;
  write_safetensors(run_ + "/checkpoint.safetensors", tensors, file.metadata);
  EXPECT_EQ(weights_hash(*load_run(run_ + "/checkpoint.safetensors").model), weights_hash(*load_run(run_).model));
}

TEST_F(StoredRuns, AFolderWithoutWeightsIsReadFromItsCheckpoint) {
  const auto result = train({"babi"});
  std::filesystem::remove(run_ + "/weights.safetensors");
  EXPECT_EQ(weights_hash(*load_run(run_).model), result.at("weights_hash").get<std::string>());
}

TEST_F(StoredRuns, NamesThatAnotherProgramRegisteredAreSaidToBeOfAnotherProgram) {
  train({"babi"});
  for (const char* name : {"task", "model"}) {
    const std::string path = changed([&](Json& description) { description[name] = "majority"; });
    EXPECT_EQ(
        message_of<ValueError>([&] { load_run(path); }),
        text("retrace: ", path, ": it is of the ", name, " 'majority', which this program does not have; use the ",
             "program that registered it, and trained this model"));
  }
}

TEST_F(StoredRuns, WhatIsNotARunIsRefusedInASentence) {
  EXPECT_NE(file_error(folder_.path()).find("neither weights.safetensors nor checkpoint.safetensors"),
            std::string::npos);
  EXPECT_NE(file_error(folder_ / "none").find("none"), std::string::npos);
  write_safetensors(folder_ / "plain.safetensors", {{"weight", ones({2})}});
  EXPECT_NE(file_error(folder_ / "plain.safetensors")
                .find("does not say which task and model; in a program, load_pytorch reads"),
            std::string::npos);
  write_safetensors(folder_ / "broken.safetensors", {{"weight", ones({2})}}, {{"trained", "{\"task\":"}});
  EXPECT_NE(file_error(folder_ / "broken.safetensors").find("retrace train TASK --out DIR"), std::string::npos);
}

TEST_F(StoredRuns, AHalfFileIsRefused) {
  train({"babi"});
  const std::string weights = run_ + "/weights.safetensors";
  std::filesystem::resize_file(weights, std::filesystem::file_size(weights) / 2);
  EXPECT_THROW(load_run(run_), FileError);
}

TEST_F(StoredRuns, SizesThatDoNotFitTheWeightsAreRefused) {
  train({"babi", "--model", "rmc"});
  for (const char* size : {"slot_size", "slots", "heads"})
    for (const std::int64_t wrong : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40})
      EXPECT_NE(file_error(changed([&](Json& run) { run["sizes"][size] = wrong; })).find(size), std::string::npos);
  EXPECT_NE(file_error(changed([](Json& run) { run["sizes"]["slot_size"] = 16; })).find("not of a model"),
            std::string::npos);
  EXPECT_NE(file_error(changed([](Json& run) { run["sizes"].erase("slots"); })).find("slots"), std::string::npos);
  EXPECT_NE(file_error(changed([](Json& run) { run["sizes"]["gate"] = "open"; })).find("'open'"), std::string::npos);
}

/// A small file may say anything: nothing of these sizes is drawn or allocated.
TEST_F(StoredRuns, AModelThatIsLargerThanTheFileIsRefusedBeforeItIsMade) {
  for (const std::string_view model : model_names()) {
    train({"babi", "--model", std::string(model)});
    const std::string larger = changed([](Json& run) {
      run["sizes"]["hidden"] = 1 << 13;
      run["sizes"]["slot_size"] = 1 << 13;
    });
    const std::string message = message_of<Error>([&] { load_run(larger); });
    EXPECT_NE(message.find("the sizes are not those of the weights"), std::string::npos) << model << ": " << message;
    EXPECT_TRUE(message.starts_with("retrace: " + (folder_ / "changed.safetensors"))) << message;
  }
}

TEST_F(StoredRuns, EveryNumberIsCheckedAsItsFlagIs) {
  train({"nth-farthest", "--vectors", "3", "--dims", "2", "--model", "attention", "--dropout", "0.5", "--layers", "2",
         "--feed-forward", "8"});
  const auto refusal = [&](const char* object, const char* name, const Json& number) {
    return file_error(changed([&](Json& run) { (object == nullptr ? run : run[object])[name] = number; }));
  };
  for (const std::int64_t count :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1'000'000'001}, std::int64_t{4'000'000'000'000'000'000}}) {
    for (const char* name : {"length", "vectors", "dims", "nesting"})
      EXPECT_NE(refusal("task_options", name, count).find(text(name, " has to be a whole number from 1 to 1000000000")),
                std::string::npos)
          << name;
    for (const char* name : {"hidden", "heads", "feed_forward"})
      EXPECT_NE(refusal("sizes", name, count).find(text(name, " has to be a whole number from 1 to 1000000000")),
                std::string::npos)
          << name;
    EXPECT_NE(refusal("sizes", "layers", count).find("layers has to be a whole number from 1 to 1000"),
              std::string::npos);
    EXPECT_NE(
        refusal(nullptr, "test_samples", count).find("test_samples has to be a whole number from 1 to 1000000000"),
        std::string::npos);
  }
  EXPECT_NE(refusal("sizes", "dropout", 1.5).find("dropout has to be a number from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal(nullptr, "seed", -1).find("seed"), std::string::npos);
}

TEST_F(StoredRuns, ATaskOrModelOfAnotherProgramIsNamed) {
  train({"babi"});
  const auto message = [](const std::string& path) { return message_of([&] { load_run(path); }); };
  EXPECT_NE(message(changed([](Json& run) { run["task"] = "my-task"; })).find("'my-task'"), std::string::npos);
  EXPECT_NE(message(changed([](Json& run) { run["model"] = "my-model"; })).find("'my-model'"), std::string::npos);
}

}  // namespace
}  // namespace retrace

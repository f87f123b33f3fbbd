// Wrong metadata is refused with an error that names the file, the member, the expected value and the value found.
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/training/text_runs.h>
#include <retrace/tests/temporary_folder.h>

#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

using Read = std::function<void(const std::string&)>;

class StoredMetadata : public testing::Test {
 protected:
  /// The error of reading a file with these tensors and this metadata.
  std::string refusal(const std::map<std::string, std::string>& metadata, const Read& read) const {
    write_safetensors(path_, file_.tensors, metadata);
    try {
      read(path_);
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(path_), std::string::npos) << message;
      EXPECT_EQ(message.find("read_json"), std::string::npos) << message;
      return message;
    }
    return "it was read";
  }

  std::string refusal_of(const char* entry, const Json& object, const Read& read) const {
    std::map<std::string, std::string> metadata = file_.metadata;
    metadata[entry] = object.dump();
    return refusal(metadata, read);
  }

  /// Replaces each value of the entry by one of every other type, or removes it.
  void expect_every_wrong_value_named(const char* entry, const Read& read) {
    file_ = read_safetensors(path_);
    const Json whole = Json::parse(file_.metadata.at(entry));
    std::vector<std::string> names;
    list_names(whole, "", names);
    ASSERT_GT(names.size(), 4U);
    for (const std::string& name : names) {
      for (const Json& other : std::vector<Json>{Json(), true, 3, 1.5, "text", Json::List(), Json::Object()}) {
        Json wrong = whole;
        Json& value = named(wrong, name);
        if (is_allowed(value, other)) continue;
        value = other;
        const std::string message = refusal_of(entry, wrong, read);
        EXPECT_NE(message.find(std::string("the entry ") + entry + " of its metadata: " + name + " has to be "),
                  std::string::npos)
            << name << " as " << other << ": " << message;
      }
      const std::size_t dot = name.rfind('.') + 1;  // 0 without one
      Json wrong = whole;
      Json& outer = dot == 0 ? wrong : named(wrong, name.substr(0, dot - 1));
      if (outer.is<Json::List>()) continue;
      outer.erase(name.substr(dot));
      const std::string message = refusal_of(entry, wrong, read);
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_NE(message.find("is missing; it has to be "), std::string::npos) << message;
    }
    for (const char* text : {"", "{", "[]", "3", "null", "\xef\xbb\xbf{}"}) {
      std::map<std::string, std::string> metadata = file_.metadata;
      metadata[entry] = text;
      EXPECT_NE(refusal(metadata, read), "it was read") << text;
    }
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "file.safetensors";
  SafetensorsFile file_;

 private:
  /// The names of all values in the object, including those inside nested objects and lists: "sizes.hidden",
  /// "vocabulary.0".
  static void list_names(const Json& value, const std::string& outer, std::vector<std::string>& names) {
    const auto list = [&](const std::string& name, const Json& inner) {
      names.push_back(outer + name);
      list_names(inner, outer + name + ".", names);
    };
    if (value.is<Json::Object>())
      for (const auto& [name, member] : value.items()) list(name, member);
    if (value.is<Json::List>())
      for (std::size_t k = 0; k < value.size(); ++k) list(std::to_string(k), value[k]);
  }
  static Json& named(Json& object, const std::string& name) {
    Json* value = &object;
    std::istringstream parts(name);
    for (std::string part; std::getline(parts, part, '.');)
      value = &(value->is<Json::List>() ? (*value)[std::stoul(part)] : (*value)[part]);
    return *value;
  }

  /// A number may be an integer, and null stands for a number that is not finite.
  static bool is_allowed(const Json& value, const Json& other) {
    if (value.is<double>() || value.is_null()) return other.is_number() || other.is_null();
    return value.has_type_of(other);
  }
};

Run small_run() {
  RunOptions options{.task = "babi", .model = {.name = "rmc", .sizes = {.hidden = 8}}};
  return prepare(options);
}

TEST_F(StoredMetadata, OfWeightsIsNamed) {
  small_run().save_weights(path_);
  expect_every_wrong_value_named("trained", [](const std::string& path) { load_run(path); });
}

TEST_F(StoredMetadata, OfACheckpointIsNamed) {
  // No number is an integer, so that real numbers can be told from integers; those that may be null are omitted.
  const TrainingState standing{
      .curriculum = {0, 0.5}, .best = {0.5, 0.5}, .window_loss = 0.5, .seconds = 0.5, .reference_loss = 0.5};
  save_checkpoint(path_, {{"w", ones({2})}}, standing, "a run");
  file_ = read_safetensors(path_);
  const Json whole = Json::parse(file_.metadata.at("standing"));
  for (const auto& [name, value] : whole.items())
    for (const Json& other : std::vector<Json>{Json(), true, 1.5, "text", Json::List(), Json::Object()}) {
      const bool may_be_null = name == "best_loss" || name == "best_metric" || name == "reference_loss";
      if ((value.is<double>() && other.is_number()) || (may_be_null && other.is_null())) continue;
      Json wrong = whole;
      wrong[name] = other;
      const std::string message =
          refusal_of("standing", wrong, [](const std::string& path) { step_of_checkpoint(path); });
      EXPECT_NE(message.find("the entry standing of its metadata: " + name + " has to be "), std::string::npos)
          << name << " as " << other << ": " << message;
    }
  for (const char* text : {"", "{", "[]", "{}"})
    EXPECT_NE(
        refusal({{"run", "a run"}, {"standing", text}}, [](const std::string& path) { step_of_checkpoint(path); }),
        "it was read");
}

TEST_F(StoredMetadata, OfAModelOfTextIsNamed) {
  const StoredRun run = untrained({Vocabulary(TokenKind::characters, {"a", "b", "c"}), {}}, "lstm", 3, 4);
  save_run(path_, {.task = "text", .model = run.spec}, *run.task, *run.model);
  expect_every_wrong_value_named("trained", [](const std::string& path) { load_run(path, TaskSamples::none); });
}

TEST_F(StoredMetadata, ARefusedResumeNamesTheFile) {
  const std::vector<NamedTensor> tensors{{"w", ones({2})}};
  const ModelDescription model{"trained", R"({"task":"babi","model":"lstm","test_samples":8})"};
  save_checkpoint(path_, tensors, {}, "a run", model);
  file_ = read_safetensors(path_);
  const auto refusal_of_resume = [&](const char* entry, const std::string& text) {
    std::map<std::string, std::string> metadata = file_.metadata;
    metadata[entry] = text;
    return refusal(metadata, [&](const std::string& path) { load_checkpoint(path, tensors, "a run", model); });
  };
  EXPECT_EQ(refusal_of_resume("trained", R"({"test_samples":9,"model":"lstm","task":"babi"})"), "it was read");
  EXPECT_NE(refusal_of_resume("trained", R"({"task":"babi","model":"gru"})").find("another task or model"),
            std::string::npos);
  for (const char* text : {"", "no JSON", "{\"task\":\"babi\",", "[]", "null"})
    EXPECT_NE(refusal_of_resume("trained", text).find("the entry trained of its metadata: "), std::string::npos)
        << text;
  EXPECT_NE(refusal_of_resume("run", "another \x1b[2J").find("another \\x1b[2J"), std::string::npos);
  for (const std::vector<NamedTensor>& others : {std::vector<NamedTensor>{{"w", ones({3})}}, {{"v", ones({2})}}}) {
    const std::string message =
        refusal(file_.metadata, [&](const std::string& path) { load_checkpoint(path, others, "a run", model); });
    EXPECT_NE(message.find("the values do not fit"), std::string::npos) << message;
  }
}

TEST_F(StoredMetadata, ATaskOrModelThatIsNotKnownNamesTheFile) {
  small_run().save_weights(path_);
  file_ = read_safetensors(path_);
  for (const char* name : {"task", "model"}) {
    Json description = Json::parse(file_.metadata.at("trained"));
    description[name] = "\x1b[2J";
    const std::string message = refusal_of("trained", description, [](const std::string& path) { load_run(path); });
    EXPECT_NE(message.find("'\\x1b[2J'"), std::string::npos) << message;
  }
}

TEST_F(StoredMetadata, WeightsThatAreNotFiniteAreNamed) {
  const retrace::Run run = small_run();
  const NamedTensor weight = parameters(*run.model).front();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    weight.tensor.mutable_values<float>()[0] = static_cast<float>(bad);
    run.save_weights(path_);
    file_ = read_safetensors(path_);
    const std::string message = refusal(file_.metadata, [](const std::string& path) { load_run(path); });
    EXPECT_NE(message.find("weights that are not finite numbers: " + weight.name + ";"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace retrace

// Traces: what they hold, that it adds up, and their files.
#include <retrace/core/core.h>
#include <retrace/core/files/json_tree.h>
#include <retrace/core/trace/trace_json.h>
#include <retrace/nn/layers/layers.h>
#include <retrace/nn/module/names.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

namespace retrace {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> numbers(const Capture& capture) { return list(capture.values); }

struct TracedAttention {
  Linear query;
  explicit TracedAttention(Random& random) : query(3, 2, random) {}
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "inner");
    return tanh(query(x));
  }
  void visit(auto&& see) const { see("query", query); }
};
struct Encoder {
  TracedAttention attention;
  std::vector<Linear> layers;
  explicit Encoder(Random& random) : attention(random) { layers.emplace_back(2, 2, random); }
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "encoder");
    const Tensor rows = attention(x);
    return sum(square(layers[0](rows) * rows));
  }
  void visit(auto&& see) const { see("attention", attention), see("layers", layers); }
};

struct TracedModel {
  DtypeScope scope{f64};
  Random random;
  Encoder encoder{random};
  Tensor x = random.normal({4, 3});
  Trace trace(TapeOptions options = {.keep = true}) const {
    Tape tape(options);
    const Tensor loss = encoder(x);
    return trace_backward(tape, loss, {.title = "an encoder", .names = names_of(encoder)});
  }
};

const TraceRecord& record_of(const Trace& trace, std::string_view op) {
  for (const TraceRecord& record : trace.records)
    if (record.op == op) return record;
  throw ValueError(text("no record of ", op));
}

TEST(Trace, CallsThingsWhatTheirAuthorCallsThem) {
  const Trace trace = TracedModel().trace();
  const TraceRecord& query = trace.records.at(0);
  EXPECT_EQ(query.op, "linear");
  EXPECT_EQ(query.path, "encoder/attention/query");
  EXPECT_EQ(trace.nodes.at(static_cast<std::size_t>(query.inputs.at(1))).name, "attention.query.weight");
  EXPECT_EQ(query.input_names, (std::vector<std::string>{"x", "W", "b"}));
  EXPECT_EQ(trace.nodes.at(static_cast<std::size_t>(query.inputs.at(0))).name, "x0");
  EXPECT_EQ(trace.records.at(2).path, "encoder/layers.0");
  EXPECT_EQ(record_of(trace, "mul").path, "encoder");
  EXPECT_EQ(trace.title, "an encoder");
}

TEST(Trace, GradientsAreThoseOfBackward) {
  const TracedModel example;
  const Trace trace = example.trace();
  const std::vector<NamedTensor> weights = parameters(example.encoder);
  std::map<std::string, std::vector<double>> left;
  for (const NamedTensor& weight : weights) left[weight.name] = list(weight.tensor.grad());
  zero_grad(example.encoder);
  Tape tape;
  tape.backward(example.encoder(example.x));
  for (const NamedTensor& weight : weights) {
    const std::vector<double> wanted = list(weight.tensor.grad());
    for (std::size_t k = 0; k < wanted.size(); ++k)
      EXPECT_NEAR(left.at(weight.name)[k], wanted[k], 1e-14) << weight.name;
    for (const TraceNode& node : trace.nodes) {
      if (node.name != weight.name) continue;
      EXPECT_TRUE(node.parameter && node.leaf);
      EXPECT_EQ(numbers(node.gradient), left.at(weight.name)) << weight.name;
    }
  }
}

// Every "before" is what the later records left, and before + contribution = after.
void expect_it_adds_up(const Trace& trace) {
  std::map<int, std::vector<double>> gradients;
  for (const TraceSeed& seed : trace.seeds) gradients[seed.node] = numbers(seed.cotangent);
  for (auto record = trace.records.rbegin(); record != trace.records.rend(); ++record) {
    for (std::size_t j = 0; j < record->outputs.size(); ++j) {
      const auto found = gradients.find(record->outputs[j]);
      ASSERT_EQ(record->output_gradients[j].exists(), found != gradients.end());
      if (found != gradients.end()) {
        EXPECT_EQ(numbers(record->output_gradients[j]), found->second);
      }
    }
    for (std::size_t i = 0; i < record->inputs.size(); ++i) {
      if (!record->contributions[i]) continue;
      const Contribution& part = *record->contributions[i];
      const std::vector<double> sent = numbers(part.contribution), after = numbers(part.after);
      auto [known, is_first] = gradients.emplace(record->inputs[i], std::vector<double>());
      ASSERT_EQ(part.before.exists(), !is_first);
      if (!is_first) {
        EXPECT_EQ(numbers(part.before), known->second);
      }
      for (std::size_t k = 0; k < sent.size(); ++k)
        EXPECT_EQ(after[k], is_first ? sent[k] : numbers(part.before)[k] + sent[k]);
      known->second = after;
    }
  }
  for (const auto& [node, gradient] : gradients)
    EXPECT_EQ(numbers(trace.nodes[static_cast<std::size_t>(node)].gradient), gradient);
}

TEST(Trace, BeforeAndContributionAreAfter) { expect_it_adds_up(TracedModel().trace()); }

TEST(Trace, ContributionsOfOneNodeAsTwoInputsStandApart) {
  const Tensor x = parameter(tensor({3}, f64), "x");
  Tape tape({.keep = true});
  const Trace trace = trace_backward(tape, sum(mul(x, x) + x));
  expect_it_adds_up(trace);
  const TraceRecord& product = record_of(trace, "mul");
  EXPECT_EQ(numbers(product.contributions.at(0)->before), std::vector<double>{1});
  EXPECT_EQ(numbers(product.contributions.at(0)->contribution), std::vector<double>{3});
  EXPECT_EQ(numbers(product.contributions.at(1)->before), std::vector<double>{4});
  EXPECT_EQ(numbers(product.contributions.at(1)->after), std::vector<double>{7});
  EXPECT_EQ(x.grad().item(), 7);
}

TEST(Trace, AnEarlierGradientOfALeafIsASeed) {
  const Tensor x = parameter(tensor({3, 5}, f64), "x");
  for (int pass = 0; pass < 2; ++pass) {
    Tape tape;
    const Trace trace = trace_backward(tape, {square(x)}, {tensor({1, 2}, f64)});
    expect_it_adds_up(trace);
    EXPECT_EQ(trace.seeds.size(), pass == 0 ? 1u : 2u);
  }
  EXPECT_EQ(list(x.grad()), (std::vector<double>{12, 40}));
}

TEST(Trace, ATapeThatKeepsNothingShowsWhatIsHeld) {
  const TracedModel example;
  const Trace trace = example.trace(TapeOptions{});
  const TraceRecord& tanh_record = record_of(trace, "tanh");
  EXPECT_TRUE(trace.nodes.at(static_cast<std::size_t>(tanh_record.outputs.at(0))).value.exists());  // saved
  EXPECT_FALSE(trace.nodes.at(static_cast<std::size_t>(record_of(trace, "square").outputs.at(0))).value.exists());
  expect_it_adds_up(trace);
}

TEST(Trace, LaterChangesDoNotReachIt) {
  const Tensor x = parameter(tensor({3}, f64), "x");
  Tape tape({.keep = true});
  const Trace trace = trace_backward(tape, square(x));
  x.mutable_values<double>()[0] = 100;
  x.mutable_grad_values<double>()[0] = 100;
  EXPECT_EQ(numbers(trace.nodes.at(0).value), std::vector<double>{3});
  EXPECT_EQ(numbers(trace.nodes.at(0).gradient), std::vector<double>{6});
}

TEST(Trace, OfATapeBeforeItsBackwardHasValuesAlone) {
  const TracedModel example;
  Tape tape({.keep = true});
  example.encoder(example.x);
  const Trace trace = trace_of(tape, {.names = names_of(example.encoder)});
  EXPECT_FALSE(trace.records.at(0).reached);
  EXPECT_TRUE(trace.nodes.at(0).value.exists());
  EXPECT_FALSE(trace.nodes.at(1).gradient.exists());
}

TEST(Trace, RecordsThatNothingFlowsBackToAreNotReached) {
  const Tensor x = parameter(tensor({3}, f64), "x");
  Tape tape({.keep = true});
  const Tensor unused = exp(x);
  const Trace trace = trace_backward(tape, square(x));
  EXPECT_FALSE(record_of(trace, "exp").reached);
  EXPECT_FALSE(record_of(trace, "exp").contributions.at(0).has_value());
  EXPECT_TRUE(record_of(trace, "square").reached);
}

TEST(Trace, LargeTensorsAreStatisticsAndASlice) {
  const Tensor x = parameter(tensor({3, nan, -4, infinity, 0}, f64), "x");
  Tape tape({.keep = true});
  const Trace trace = trace_backward(tape, {scale(x, 2)}, {ones({5}, f64)}, {.max_elements = 4, .slice = 3});
  const Capture& value = trace.nodes.at(0).value;
  EXPECT_TRUE(value.exists());
  EXPECT_FALSE(value.is_complete());
  ASSERT_EQ(value.values.shape(), Shape({3}));
  ASSERT_TRUE(value.statistics);
  EXPECT_EQ(value.statistics->min, -4);
  EXPECT_EQ(value.statistics->max, 3);
  EXPECT_DOUBLE_EQ(value.statistics->mean, -1.0 / 3);
  EXPECT_DOUBLE_EQ(value.statistics->norm, 5);
  EXPECT_EQ(value.statistics->nans, 1);
  EXPECT_EQ(value.statistics->infinities, 1);
  EXPECT_EQ(short_text(value), "(3, nan, -4, ...; norm 5, 1 NaN, 1 infinite)");
}

TEST(Trace, StatisticsOfHugeNumbersDoNotOverflow) {
  EXPECT_DOUBLE_EQ(statistics_of(tensor({3e300, -4e300}, f64)).norm, 5e300);
  EXPECT_TRUE(std::isnan(statistics_of(tensor({nan}, f64)).mean));
}

// ---- files

void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void expect_same(const Trace& a, const Trace& b) {
  const TraceDocument first = document_of(a), second = document_of(b);
  EXPECT_EQ(first.json, second.json);
  ASSERT_EQ(first.tensors.size(), second.tensors.size());
  for (const auto& entry : first.tensors) {
    const Tensor &x = entry.second, &y = second.tensors.at(entry.first);
    ASSERT_EQ(x.shape(), y.shape());
    dispatch_any(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      EXPECT_EQ(std::memcmp(x.values<T>().data(), y.values<T>().data(), x.values<T>().size_bytes()), 0) << entry.first;
    });
  }
}

TEST(TraceFile, GivesBackTheSameTrace) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.trace.safetensors";
  Trace trace = TracedModel().trace();
  trace.checks.push_back({1, 0, 0.5, nan, -infinity});
  trace.flows.push_back({"h", 2, {{"slot 0", {1, infinity}}}, {{1, 0}, {0.5, 1}}});
  trace.notes = {"a note", "two\nlines"};
  const auto matrix = std::ranges::find_if(trace.nodes, [](const TraceNode& node) { return node.shape.rank() == 2; });
  matrix->row_names.assign(static_cast<std::size_t>(matrix->shape[0]), "a row");
  save(trace, path);
  const Trace read = load_trace(path);
  expect_same(read, trace);
  EXPECT_EQ(read.notes, trace.notes);
  EXPECT_EQ(read.nodes[static_cast<std::size_t>(matrix - trace.nodes.begin())].row_names, matrix->row_names);
}

TEST(TraceFile, RefusesAChangedByte) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.trace.safetensors";
  save(TracedModel().trace(), path);
  const std::string good = file_bytes(path);
  Random random;
  for (int trial = 0; trial < 200; ++trial) {
    std::string bad = good;
    const std::size_t place = static_cast<std::size_t>(random.integer(static_cast<std::int64_t>(good.size())));
    bad[place] = static_cast<char>(bad[place] ^ (1 << (trial % 8)));
    write_bytes(path, bad);
    EXPECT_THROW(load_trace(path), FileError) << "byte " << place;
  }
}

TEST(TraceFile, NoNameAndNoNumberDoesHarm) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.trace.safetensors";
  const Tensor x = parameter(tensor({nan, infinity, -infinity}, f64),
                             "</script><!-- \"q\" \\ \x01 'Gr\xC3\xB6\xC3\x9F"
                             "e'");
  Tape tape({.keep = true});
  const Trace trace = trace_backward(tape, {scale(x, 2)}, {tensor({nan, infinity, 1}, f64)});
  save(trace, path);
  expect_same(load_trace(path), trace);
  EXPECT_EQ(page_data(trace).find('<'), std::string::npos);
  const JsonValue page = read_json_tree(page_data(trace)), whole = read_json_tree(to_json(trace));
  const auto name_in = [](const JsonValue& root) {
    const auto& document = root.get<JsonValue::Object>()->at("trace");
    const auto& nodes = document.get<JsonValue::Object>()->at("nodes");
    return *nodes.get<JsonValue::List>()->at(0).get<JsonValue::Object>()->at("name").get<std::string>();
  };
  EXPECT_EQ(name_in(page), x.name());
  EXPECT_EQ(name_in(whole), x.name());
  EXPECT_NE(to_json(trace).find(R"("values":["NaN","Infinity","-Infinity"])"), std::string::npos);
}

/// A file may call its nodes anything.
TEST(TraceFile, NamesDoNoHarmWhereTheyArePrinted) {
  Trace trace = TracedModel().trace();
  const std::string foreign = "\x1b[2J\xe2\x80\xae\xc2\x9b";
  trace.title = foreign;
  for (TraceNode& node : trace.nodes) node.name = foreign;
  for (TraceScope& scope : trace.scopes) scope.name = foreign;
  for (TraceRecord& record : trace.records) record.op = foreign;
  for (const std::string& text : {to_dot(trace), to_json(trace), page_data(trace)})
    for (const char* code : {"\x1b", "\xe2\x80\xae", "\xc2\x9b"}) EXPECT_EQ(text.find(code), std::string::npos);
  EXPECT_NE(to_dot(trace).find("\\\\x1b[2J\\\\u202e"), std::string::npos) << "a backslash in DOT is two";
}

TEST(TraceFile, SaysWhatIsNotATrace) {
  const TemporaryFolder folder;
  const std::string path = folder / "weights.safetensors";
  write_safetensors(path, {{"w", ones({2})}});
  EXPECT_NE(message_of<FileError>([&] { load_trace(path); }).find("holds tensors but no trace"), std::string::npos);
  Trace trace = TracedModel().trace();
  trace.checks.push_back({0, 11, 0, 0, 0});
  trace.flows.push_back({"h", 2, {{"h", {3, 4}}}, {{1, 0}, {0.5, 1}}});
  trace.notes = {"a note"};
  trace.nodes[0].row_names.assign(static_cast<std::size_t>(trace.nodes[0].shape[-2]), "a row");
  const TraceDocument good = document_of(trace);
  const auto refused = [&](const std::string& from, const std::string& to) {
    TraceDocument bad = good;
    const std::size_t place = bad.json.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    bad.json.replace(place, from.size(), to);
    return message_of<ValueError>([&] { trace_of(bad); });
  };
  EXPECT_EQ(refused("\"version\":1", "\"version\":7"),
            "trace_of: not a trace that this version reads: version is not 1: it was written by a later version");
  EXPECT_EQ(refused("\"inputs\":[0,", "\"inputs\":[999,"),
            "trace_of: not a trace that this version reads: records.0.inputs.0 is 999, which is not there");
  EXPECT_NE(refused("\"nodes.0.value\"", "\"nodes.99.value\"").find("names a tensor that is not there"),
            std::string::npos);
  EXPECT_NE(refused("\"nodes\"", "\"modes\"").find("has no \"nodes\""), std::string::npos);
  EXPECT_NE(refused("{\"format\"", "[\"format\"").find("is not JSON"), std::string::npos);
  EXPECT_NE(refused("\"dtype\":\"f64\"", "\"dtype\":\"f16\"").find("is not f32, f64, i64 or dual"), std::string::npos);
  EXPECT_NE(refused("\"shape\":[4,3]", "\"shape\":[4,2]").find("has the shape"), std::string::npos);
  EXPECT_NE(refused("\"position\":11", "\"position\":12").find("an element that node 0 does not have"),
            std::string::npos);
  EXPECT_NE(refused("\"values\":[3.0,4.0]", "\"values\":[3.0]").find("has 1 entries for 2 time steps"),
            std::string::npos);
  EXPECT_NE(refused("[0.5,1.0]", "[0.5]").find("flows.0.matrix.1 has 1 entries"), std::string::npos);
  EXPECT_NE(refused("[[1.0,0.0],[0.5,1.0]]", "[[1.0,0.0]]").find("flows.0.matrix has 1 entries"), std::string::npos);
  EXPECT_NE(refused("[\"a row\",", "[").find("names 3 rows of a tensor [4, 3]"), std::string::npos);
  EXPECT_NE(refused("[\"a note\"]", "[1]").find("notes.0 is not a string"), std::string::npos);
  EXPECT_NE(refused("\"leaf\":true", "\"leaf\":3").find("is not true or false"), std::string::npos);
}

TEST(TraceFile, RefusesRecordsWithoutOutputsAndTensorsThatDoNotFit) {
  const auto message = [](const Trace& bad) { return message_of<ValueError>([&] { trace_of(document_of(bad)); }); };
  const Trace good = TracedModel().trace();
  const Tensor other = ones({7, 7}, f64);
  const auto expect_refused = [&](const char* place, const std::function<void(Trace&)>& spoil) {
    Trace bad = good;
    spoil(bad);
    EXPECT_NE(message(bad).find(place), std::string::npos) << message(bad);
  };
  expect_refused("records.0.outputs is empty", [](Trace& bad) {
    bad.records[0].outputs.clear();
    bad.records[0].output_gradients.clear();
  });
  expect_refused("records.0.output_gradients.0 has the shape [7, 7]",
                 [&](Trace& bad) { bad.records[0].output_gradients[0] = {other}; });
  expect_refused("records.0.contributions.1.contribution has the shape [7, 7]",
                 [&](Trace& bad) { bad.records[0].contributions[1]->contribution = {other}; });
  expect_refused("seeds.0.cotangent has the shape [7, 7]", [&](Trace& bad) { bad.seeds[0].cotangent = {other}; });
  expect_refused("nodes.0.value has the shape [7, 7], not that of the first elements of its node", [&](Trace& bad) {
    bad.nodes[0].value = {other, statistics_of(other)};
  });
}

TEST(TraceDot, ClustersByScopeAndShowsNumbers) {
  const Tensor w = parameter(tensor({1, 2}, f64), "w");
  struct Layer {
    Tensor operator()(const Tensor& x) const {
      const Scope scope(this, "layer");
      return square(x);
    }
  };
  Tape tape({.keep = true});
  const Trace trace = trace_backward(tape, sum(Layer()(w)));
  const std::string drawing = to_dot(trace);
  EXPECT_NE(drawing.find("subgraph cluster0 {\n    label=\"layer\";\n    op0 [shape=box, label=\"square\\n%0 = (1, 4)"
                         "\\nd%0 = (1, 1)\""),
            std::string::npos)
      << drawing;
  EXPECT_NE(drawing.find("leaf0 [shape=ellipse, label=\"w = (1, 2)\\ndw = (2, 4)\"]"), std::string::npos) << drawing;
}

std::int64_t count_of(const std::string& part, const std::string& whole) {
  std::int64_t count = 0;
  for (std::size_t at = whole.find(part); at != std::string::npos; at = whole.find(part, at + 1)) ++count;
  return count;
}

/// h_t = tanh(w h_{t-1} + x_t), step by step; and the same sum twice that is no step.
TEST(TraceDot, DrawsRepeatedStepsOnce) {
  const Tensor w = parameter(tensor(0.5, f64), "w"), x = parameter(tensor({1, 2, 3}, f64), "x");
  Tape tape({.keep = true});
  Tensor h = tensor(0.0, f64);
  for (std::int64_t t = 0; t < 3; ++t) h = intermediate("h", tanh(w * h + x[t]));
  const std::string drawing = to_dot(trace_backward(tape, square(h) + square(h)));
  EXPECT_EQ(count_of("shape=box", drawing), 7) << drawing;  // select, mul, add, tanh of a step; two squares, their sum
  EXPECT_NE(drawing.find("\"tanh x 3\\nh ... h_2\\n|d| = "), std::string::npos) << drawing;
  EXPECT_EQ(count_of("label=\"square", drawing), 2) << drawing;
  EXPECT_EQ(count_of("x 3\\n", drawing), 4) << drawing;
}

}  // namespace
}  // namespace retrace

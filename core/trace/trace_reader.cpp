// The way back from a document to a trace; core/trace/trace_json.cpp writes it.
#include <retrace/core/base/printable.h>
#include <retrace/core/files/json.h>
#include <retrace/core/files/json_tree.h>
#include <retrace/core/trace/trace_json.h>

#include <limits>
#include <set>

namespace retrace {
namespace {

/// A value of the document, which knows where it stands.
class Field {
 public:
  Field(const JsonValue& value, std::string place) : value_(value), place_(std::move(place)) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw ValueError(text("trace_of: not a trace that this version reads: ", place_, " ", what));
  }
  const JsonValue& value() const { return value_; }
  const std::string& place() const { return place_; }

  Field operator[](const std::string& name) const {
    const auto& object = get<JsonValue::Object>("an object");
    const auto found = object.find(name);
    if (found == object.end()) refuse(text("has no \"", name, "\""));
    return {found->second, text(place_, place_.empty() ? "" : ".", name)};
  }
  template <class Read> auto list(const Read& read) const {
    const auto& items = get<JsonValue::List>("a list");
    std::vector<decltype(read(*this))> result;
    for (std::size_t k = 0; k < items.size(); ++k) result.push_back(read(Field(items[k], text(place_, ".", k))));
    return result;
  }
  /// Nothing where the object does not have that list, as none of earlier versions has.
  std::vector<std::string> words_of(const std::string& name) const {
    if (!object().contains(name)) return {};
    return (*this)[name].list([](const Field& word) { return word.words(); });
  }
  const JsonValue::Object& object() const { return get<JsonValue::Object>("an object"); }
  std::string words() const { return get<std::string>("a string"); }
  bool truth() const { return get<bool>("true or false"); }
  double number() const {
    if (const std::int64_t* integer = value_.get<std::int64_t>()) return static_cast<double>(*integer);
    const std::string* word = value_.get<std::string>();
    if (word == nullptr) return get<double>("a number");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (*word == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (*word == "Infinity") return infinity;
    if (*word == "-Infinity") return -infinity;
    refuse("is not a number");
  }
  std::int64_t integer() const { return get<std::int64_t>("an integer"); }
  /// An integer from `first` to `end` - 1.
  int number_below(std::size_t end, int first = 0) const {
    const std::int64_t read = integer();
    if (read < first || read >= static_cast<std::int64_t>(end)) refuse(text("is ", read, ", which is not there"));
    return static_cast<int>(read);
  }

 private:
  template <class T> const T& get(const char* expected) const {
    const T* held = value_.get<T>();
    if (held == nullptr) refuse(text("is not ", expected));
    return *held;
  }

  const JsonValue& value_;
  std::string place_;
};

std::int64_t integer_of(const Field& field) { return field.integer(); }
std::string words_in(const Field& field) { return field.words(); }
double number_of(const Field& field) { return field.number(); }

class TraceReader {
 public:
  explicit TraceReader(const TraceDocument& document) : document_(document) {}

  Trace read(const Field& root) {
    if (root["format"].words() != "retrace.trace") root["format"].refuse("is not \"retrace.trace\"");
    if (root["version"].integer() != 1) root["version"].refuse("is not 1: it was written by a later version");
    trace_.title = root["title"].words();
    trace_.notes = root.words_of("notes");
    trace_.expanded = root["expanded"].truth();
    trace_.nodes = root["nodes"].list([&](const Field& field) { return node(field); });
    std::size_t outer_ones = 0;
    trace_.scopes = root["scopes"].list([&](const Field& field) { return scope(field, outer_ones++); });
    trace_.records = root["records"].list([&](const Field& field) { return record(field); });
    trace_.seeds = root["seeds"].list([&](const Field& field) { return seed(field); });
    trace_.checks = root["checks"].list([&](const Field& field) { return check(field); });
    trace_.flows = root["flows"].list([&](const Field& field) { return flow(field); });
    check_makers(root["records"]);
    return std::move(trace_);
  }

 private:
  Tensor tensor(const Field& field) const {
    const auto found = document_.tensors.find(field.words());
    if (found == document_.tensors.end())
      field.refuse(text("names a tensor that is not there: ", printable(field.words())));
    return found->second;
  }
  Capture capture(const Field& field) const {
    if (field.value().is_null()) return {};
    if (field.object().contains("tensor")) return {tensor(field["tensor"])};
    return {tensor(field["slice"]),
            Statistics{field["min"].number(), field["max"].number(), field["mean"].number(), field["norm"].number(),
                       field["nans"].integer(), field["infinities"].integer()}};
  }
  static Dtype dtype(const Field& field) {
    for (const Dtype known : {f32, f64, i64, dual})
      if (field.words() == name_of(known)) return known;
    field.refuse("is not f32, f64, i64 or dual");
  }
  static Shape shape(const Field& field) {
    const std::vector<std::int64_t> extents = field.list(integer_of);
    if (extents.size() > max_rank) field.refuse(text("has more than ", max_rank, " axes"));
    for (const std::int64_t extent : extents)
      if (extent < 0) field.refuse("has a negative extent");
    return Shape(std::span<const std::int64_t>(extents));
  }
  TraceNode node(const Field& field) const {
    TraceNode node;
    node.name = field["name"].words();
    node.dtype = dtype(field["dtype"]);
    node.shape = shape(field["shape"]);
    node.leaf = field["leaf"].truth();
    node.parameter = field["parameter"].truth();
    node.wants_gradient = field["wants_gradient"].truth();
    node.value = fitting(field["value"], node.shape);
    node.gradient = fitting(field["gradient"], node.shape);
    node.row_names = field.words_of("row_names");
    if (!node.row_names.empty() && (node.shape.rank() < 2 || std::ssize(node.row_names) != node.shape[-2]))
      field.refuse(text("names ", node.row_names.size(), " rows of a tensor ", node.shape));
    return node;
  }
  Capture fitting(const Field& field, const Shape& shape) const {
    Capture read = capture(field);
    if (read.is_complete() && read.values.shape() != shape)
      field.refuse(text("has the shape ", read.values.shape(), ", not that of its node, ", shape));
    if (read.statistics && (read.values.shape().rank() != 1 || read.values.numel() > shape.numel()))
      field.refuse(
          text("has the shape ", read.values.shape(), ", not that of the first elements of its node, ", shape));
    return read;
  }
  int node_number(const Field& field) const { return field.number_below(trace_.nodes.size()); }
  const Shape& shape_of(int node) const { return trace_.nodes[static_cast<std::size_t>(node)].shape; }
  static TraceScope scope(const Field& field, std::size_t outer_ones) {
    return {field["name"].words(), field["path"].words(), field["type"].words(),
            field["outer"].number_below(outer_ones, -1)};
  }
  TraceRecord record(const Field& field) const {
    TraceRecord record;
    const auto number = [this](const Field& item) { return node_number(item); };
    record.op = field["op"].words();
    record.scope = field["scope"].number_below(trace_.scopes.size(), -1);
    record.path = field["path"].words();
    record.formulas = {field["forward"].words(), field["backward"].words()};
    for (const auto& entry : field["attributes"].object())
      record.attributes.push_back({entry.first, attribute(field["attributes"][entry.first])});
    record.inputs = field["inputs"].list(number);
    record.input_names = field["input_names"].list(words_in);
    record.outputs = field["outputs"].list(number);
    record.reached = field["reached"].truth();
    if (record.outputs.empty()) field["outputs"].refuse("is empty");
    const auto shape_in = [this](const std::vector<int>& nodes, std::size_t k) {
      return k < nodes.size() ? shape_of(nodes[k]) : Shape();
    };
    std::size_t j = 0, i = 0;
    record.output_gradients =
        field["output_gradients"].list([&](const Field& item) { return fitting(item, shape_in(record.outputs, j++)); });
    record.contributions = field["contributions"].list(
        [&](const Field& item) { return contribution(item, shape_in(record.inputs, i++)); });
    if (record.output_gradients.size() != record.outputs.size()) field.refuse("has not one gradient per output");
    if (record.contributions.size() != record.inputs.size() || record.input_names.size() != record.inputs.size())
      field.refuse("has not one name and one contribution per input");
    if (field.object().contains("check")) record.check = direction(field["check"]);
    return record;
  }
  static DirectionCheck direction(const Field& field) {
    return {field["backward"].number(), field["dual"].number(), field["difference"].number()};
  }
  std::optional<Contribution> contribution(const Field& field, const Shape& shape) const {
    if (field.value().is_null()) return std::nullopt;
    return Contribution{fitting(field["before"], shape), fitting(field["contribution"], shape),
                        fitting(field["after"], shape)};
  }
  TraceSeed seed(const Field& field) const {
    const int node = node_number(field["node"]);
    return {node, fitting(field["cotangent"], shape_of(node))};
  }
  ElementCheck check(const Field& field) const {
    const int node = node_number(field["node"]);
    const std::int64_t position = field["position"].integer();
    if (position < 0 || position >= shape_of(node).numel())
      field["position"].refuse(text("is ", position, ", an element that node ", node, " does not have"));
    return {node, position, field["tape"].number(), field["dual"].number(), field["difference"].number()};
  }
  AttributeValue attribute(const Field& field) const {
    const JsonValue& value = field.value();
    if (value.is_null()) return Tensor();
    if (const bool* truth = value.get<bool>()) return *truth;
    if (const std::string* words = value.get<std::string>()) {
      if (*words == "NaN" || *words == "Infinity" || *words == "-Infinity") return field.number();
      return *words;
    }
    if (value.get<JsonValue::List>() != nullptr) return field.list(integer_of);
    if (value.get<JsonValue::Object>() != nullptr) return capture(field).values;
    if (const std::int64_t* integer = value.get<std::int64_t>()) return *integer;
    const double number = field.number();
    return number;
  }
  GradientFlow flow(const Field& field) const {
    GradientFlow flow;
    flow.title = field["title"].words();
    flow.times = field["times"].integer();
    const auto by_time = [&](const Field& numbers) {
      std::vector<double> result = numbers.list(number_of);
      check_times(numbers, std::ssize(result), flow.times);
      return result;
    };
    flow.norms = field["norms"].list([&](const Field& norms) {
      return GradientFlow::Norms{norms["name"].words(), by_time(norms["values"])};
    });
    if (field["matrix"].value().is_null()) return flow;
    flow.matrix = field["matrix"].list(by_time);
    check_times(field["matrix"], std::ssize(flow.matrix), flow.times);
    return flow;
  }
  static void check_times(const Field& field, std::int64_t count, std::int64_t times) {
    if (count != times) field.refuse(text("has ", count, " entries for ", times, " time steps"));
  }
  /// No node is read before it is made, and none is made twice.
  void check_makers(const Field& records) const {
    std::set<int> made;
    for (std::size_t r = 0; r < trace_.records.size(); ++r) {
      for (const int input : trace_.records[r].inputs)
        if (!trace_.nodes[static_cast<std::size_t>(input)].leaf && !made.contains(input))
          records.refuse(text("read node ", input, " in number ", r, " before it was made"));
      for (const int output : trace_.records[r].outputs)
        if (trace_.nodes[static_cast<std::size_t>(output)].leaf || !made.insert(output).second)
          records.refuse(text("make node ", output, " in number ", r, ", which is a leaf or was made before"));
    }
  }

  const TraceDocument& document_;
  Trace trace_;
};

}  // namespace

Trace trace_of(const TraceDocument& document) {
  JsonValue root;
  try {
    root = read_json_tree(document.json);
  } catch (const JsonError& error) {
    throw ValueError(text("trace_of: not a trace: byte ", error.position() + 1, " of the document is not JSON"));
  }
  return TraceReader(document).read(Field(root, ""));
}

}  // namespace retrace

#include <retrace/core/files/json.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/core/trace/inspect.h>
#include <retrace/core/trace/node_names.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <type_traits>
#include <vector>

namespace retrace {
namespace {

const Node& node_in(const Record& record, int i) { return OpAccess::node(record.in(i)); }
const Node& node_out(const Record& record, int j) { return OpAccess::node(record.out(j)); }

// The records up to and with this one, first to last.
std::vector<const Record*> records_until(const Record* last) {
  std::vector<const Record*> result;
  for (const Record* record = last; record != nullptr; record = record->previous()) result.push_back(record);
  std::reverse(result.begin(), result.end());
  return result;
}

// "dw = (1, 2)"; nothing where no gradient is held.
std::string gradient_of(const Node& node, const NodeNames& names) {
  if (node.gradient == nullptr) return "";
  detail::retain(node.gradient);
  const Tensor gradient = OpAccess::over(node.gradient, node.gradient->data(), node.shape, node.dtype);
  return text("d", names[node], " = ", short_text({gradient}));
}

void append_item(std::string& list, const std::string& item) {
  if (!item.empty()) list += text(list.empty() ? "" : ", ", item);
}

// Index, path, outputs <- op inputs, formulas, gradients.
using Row = std::array<std::string, 7>;

Row row_of(const Record& record, const NodeNames& nodes, const Names& names) {
  const Formulas formulas = record.formulas();
  std::string outputs, inputs, gradients;
  for (int j = 0; j < record.outputs(); ++j) {
    append_item(outputs, text(nodes[node_out(record, j)], record.out(j).shape));
    append_item(gradients, gradient_of(node_out(record, j), nodes));
  }
  for (int i = 0; i < record.inputs(); ++i) append_item(inputs, text(nodes[node_in(record, i)], record.in(i).shape));
  return {std::to_string(record.index()),
          path_of(record, names),
          outputs,
          text("<- ", record.op().name, " ", inputs),
          formulas.forward,
          formulas.backward,
          gradients};
}

std::string as_table(const std::vector<Row>& rows) {
  std::array<std::size_t, 7> widths{};
  for (const Row& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  std::string result;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k)
      if (widths[k] > 0) line += row[k] + std::string(widths[k] - row[k].size() + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

void write_numbers(JsonWriter& json, const Node& node, const void* values) {
  json.begin_array();
  dispatch_any(node.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Number = std::conditional_t<std::is_same_v<T, std::int64_t>, std::int64_t, double>;
    const auto* first = static_cast<const T*>(values);
    for (std::int64_t k = 0; k < node.numel(); ++k) json.value(static_cast<Number>(first[k]));
  });
  json.end_array();
}

void write_node(JsonWriter& json, const Node& node, const NodeNames& names) {
  json.begin_object()
      .key("name")
      .value(names[node])
      .key("dtype")
      .value(name_of(node.dtype))
      .key("shape")
      .list(node.shape);
  if (node.elements != nullptr) {
    json.key("values");
    write_numbers(json, node, node.elements);
  }
  if (node.gradient != nullptr) {
    json.key("gradient");
    write_numbers(json, node, node.gradient->data());
  }
  json.end_object();
}

}  // namespace

std::string path_of(const Record& record, const Names& names) { return path_of(record.scope(), names); }

std::string to_text(const Record& record, const Names& names) {
  const NodeNames nodes(records_until(&record), names);
  Row row = row_of(record, nodes, names);
  std::string to_inputs;
  for (int i = 0; i < record.inputs(); ++i) {
    bool met = false;  // mul(x, x) has one gradient
    for (int k = 0; k < i; ++k) met = met || &record.in(k) == &record.in(i);
    if (!met) append_item(to_inputs, gradient_of(node_in(record, i), nodes));
  }
  std::string& gradients = row.back();
  if (!to_inputs.empty()) gradients += text(gradients.empty() ? "-> " : " -> ", to_inputs);
  std::string line;
  for (const std::string& cell : row)
    if (!cell.empty()) line += text(line.empty() ? "" : "  ", cell);
  return line;
}

std::string to_text(const Tape& tape, const Names& names) {
  const std::vector<const Record*> records = tape.records();
  const NodeNames nodes(records, names);
  std::vector<Row> rows;
  for (const Record* record : records) rows.push_back(row_of(*record, nodes, names));
  std::string result = text("tape of ", tape.size(), tape.size() == 1 ? " record\n" : " records\n", as_table(rows));
  for (const Node* leaf : nodes.leaves())
    if (leaf->gradient != nullptr)
      result += text("leaf ", nodes[*leaf], leaf->shape, "  ", gradient_of(*leaf, nodes), "\n");
  return result;
}

std::string to_json(const Tape& tape, const Names& names) {
  const std::vector<const Record*> records = tape.records();
  const NodeNames nodes(records, names);
  JsonWriter json(true);
  json.begin_array();
  for (const Record* record : records) {
    const Formulas formulas = record->formulas();
    json.begin_object().key("index").value(record->index()).key("path").value(path_of(*record, names));
    json.key("op").value(record->op().name);
    json.key("forward").value(formulas.forward).key("backward").value(formulas.backward);
    json.key("inputs").begin_array();
    for (int i = 0; i < record->inputs(); ++i) write_node(json, node_in(*record, i), nodes);
    json.end_array().key("outputs").begin_array();
    for (int j = 0; j < record->outputs(); ++j) write_node(json, node_out(*record, j), nodes);
    json.end_array().end_object();
  }
  return json.end_array().text();
}

const Record* Tape::find(std::string_view path) const {
  for (const Record* record : records()) {
    const std::string scopes = path_of(*record);
    const std::string whole = text(scopes, scopes.empty() ? "" : "/", record->op().name);
    if (whole == path || whole.ends_with(text("/", path))) return record;
  }
  return nullptr;
}

std::ostream& operator<<(std::ostream& out, const Record& record) {
  const std::string line = to_text(record);
  return out.write(line.data(), static_cast<std::streamsize>(line.size()));
}

std::ostream& operator<<(std::ostream& out, const Tape& tape) {
  const std::string table = to_text(tape);
  return out.write(table.data(), static_cast<std::streamsize>(table.size()));
}

}  // namespace retrace

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include <retrace/core/files/base64.h>
#include <retrace/core/files/json.h>
#include <retrace/core/trace/trace_json.h>

namespace retrace {
namespace {

void write_number(JsonWriter& json, double number) {
  if (std::isnan(number))
    json.value("NaN");
  else if (std::isinf(number))
    json.value(number > 0 ? "Infinity" : "-Infinity");
  else
    json.value(number);
}

class DocumentWriter {
 public:
  TraceDocument document_of(const Trace& trace) {
    json_.begin_object().key("format").value("retrace.trace").key("version").value(1);
    json_.key("title").value(trace.title).key("expanded").value(trace.expanded);
    write_words("notes", trace.notes);
    write_list("nodes", trace.nodes);
    write_list("scopes", trace.scopes);
    write_list("records", trace.records);
    write_list("seeds", trace.seeds);
    write_list("checks", trace.checks);
    write_list("flows", trace.flows);
    json_.end_object();
    return {json_.text(), std::move(tensors_)};
  }

 private:
  template <class Item> void write_list(const std::string& name, const std::vector<Item>& list) {
    json_.key(name).begin_array();
    for (std::size_t k = 0; k < list.size(); ++k) write(list[k], text(name, ".", k));
    json_.end_array();
  }
  /// Nothing for an empty list: earlier versions of the format do not have it.
  void write_words(const char* name, const std::vector<std::string>& words) {
    if (!words.empty()) json_.key(name).list(words);
  }
  void write_number_of(const char* name, double number) {
    json_.key(name);
    write_number(json_, number);
  }

  /// The name of a tensor; `place` if it is met for the first time.
  std::string name_of_tensor(const Tensor& tensor, const std::string& place) {
    const void* elements = dispatch_any(
        tensor.dtype(), [&](auto zero) { return static_cast<const void*>(tensor.values<decltype(zero)>().data()); });
    const auto key = std::pair(elements, to_text(tensor.shape()));
    const auto [found, is_new] = names_.emplace(key, place);
    if (is_new) tensors_.emplace(place, tensor);
    return found->second;
  }
  void write(const Capture& capture, const std::string& place) {
    if (!capture.exists()) {
      json_.null();
      return;
    }
    json_.begin_object().key(capture.is_complete() ? "tensor" : "slice").value(name_of_tensor(capture.values, place));
    if (capture.statistics) write(*capture.statistics);
    json_.end_object();
  }
  void write(const Statistics& statistics) {
    write_number_of("min", statistics.min);
    write_number_of("max", statistics.max);
    write_number_of("mean", statistics.mean);
    write_number_of("norm", statistics.norm);
    json_.key("nans").value(statistics.nans).key("infinities").value(statistics.infinities);
  }

  void write(const TraceNode& node, const std::string& place) {
    json_.begin_object().key("name").value(node.name).key("dtype").value(name_of(node.dtype));
    json_.key("shape").list(node.shape).key("leaf").value(node.leaf);
    json_.key("parameter").value(node.parameter);
    json_.key("wants_gradient").value(node.wants_gradient);
    write_words("row_names", node.row_names);
    json_.key("value");
    write(node.value, place + ".value");
    json_.key("gradient");
    write(node.gradient, place + ".gradient");
    json_.end_object();
  }
  void write(const TraceScope& scope, const std::string&) {
    json_.begin_object().key("name").value(scope.name).key("path").value(scope.path).key("type").value(scope.type);
    json_.key("outer").value(scope.outer).end_object();
  }
  void write(const TraceRecord& record, const std::string& place) {
    json_.begin_object().key("op").value(record.op).key("scope").value(record.scope);
    json_.key("path").value(record.path).key("forward").value(record.formulas.forward);
    json_.key("backward").value(record.formulas.backward).key("attributes").begin_object();
    for (const Attribute& attribute : record.attributes) {
      json_.key(attribute.name);
      write(attribute.value, text(place, ".attributes.", attribute.name));
    }
    json_.end_object().key("inputs").list(record.inputs).key("input_names").list(record.input_names);
    json_.key("outputs").list(record.outputs).key("reached").value(record.reached);
    write_places("output_gradients", record.output_gradients, place);
    write_places("contributions", record.contributions, place);
    if (record.check) {
      json_.key("check").begin_object();
      write_number_of("backward", record.check->backward);
      write_number_of("dual", record.check->dual);
      write_number_of("difference", record.check->difference);
      json_.end_object();
    }
    json_.end_object();
  }
  template <class Item> void write_places(const char* name, const std::vector<Item>& list, const std::string& place) {
    json_.key(name).begin_array();
    for (std::size_t k = 0; k < list.size(); ++k) write(list[k], text(place, ".", name, ".", k));
    json_.end_array();
  }
  void write(const std::optional<Contribution>& contribution, const std::string& place) {
    if (!contribution) {
      json_.null();
      return;
    }
    json_.begin_object().key("before");
    write(contribution->before, place + ".before");
    json_.key("contribution");
    write(contribution->contribution, place + ".contribution");
    json_.key("after");
    write(contribution->after, place + ".after");
    json_.end_object();
  }
  void write(const AttributeValue& value, const std::string& place) {
    if (const bool* truth = std::get_if<bool>(&value))
      json_.value(*truth);
    else if (const std::int64_t* integer = std::get_if<std::int64_t>(&value))
      json_.value(*integer);
    else if (const double* number = std::get_if<double>(&value))
      write_number(json_, *number);
    else if (const std::string* words = std::get_if<std::string>(&value))
      json_.value(*words);
    else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
      json_.list(*integers);
    else
      write(Capture{std::get<Tensor>(value)}, place);
  }
  void write(const TraceSeed& seed, const std::string& place) {
    json_.begin_object().key("node").value(seed.node).key("cotangent");
    write(seed.cotangent, place + ".cotangent");
    json_.end_object();
  }
  void write(const ElementCheck& check, const std::string&) {
    json_.begin_object().key("node").value(check.node).key("position").value(check.position);
    write_number_of("tape", check.tape);
    write_number_of("dual", check.dual);
    write_number_of("difference", check.difference);
    json_.end_object();
  }
  void write(const GradientFlow& flow, const std::string&) {
    json_.begin_object().key("title").value(flow.title).key("times").value(flow.times).key("norms").begin_array();
    for (const GradientFlow::Norms& norms : flow.norms) {
      json_.begin_object().key("name").value(norms.name).key("values");
      write_numbers(norms.values);
      json_.end_object();
    }
    json_.end_array().key("matrix");
    if (flow.matrix.empty()) {
      json_.null();
    } else {
      json_.begin_array();
      for (const std::vector<double>& row : flow.matrix) write_numbers(row);
      json_.end_array();
    }
    json_.end_object();
  }
  void write_numbers(const std::vector<double>& numbers) {
    json_.begin_array();
    for (const double number : numbers) write_number(json_, number);
    json_.end_array();
  }

  JsonWriter json_;
  std::map<std::pair<const void*, std::string>, std::string> names_;
  std::map<std::string, Tensor> tensors_;
};

template <class WriteElements> std::string with_tensors(const Trace& trace, const WriteElements& write_elements) {
  const TraceDocument document = document_of(trace);
  JsonWriter json;
  json.begin_object();
  for (const auto& entry : document.tensors) {
    const Tensor& tensor = entry.second;
    json.key(entry.first).begin_object().key("dtype").value(name_of(tensor.dtype()));
    json.key("shape").list(tensor.shape());
    dispatch_any(tensor.dtype(), [&](auto zero) { write_elements(json, tensor.values<decltype(zero)>()); });
    json.end_object();
  }
  json.end_object();
  return text("{\"trace\":", document.json, ",\"tensors\":", json.text(), "}");
}

}  // namespace

TraceDocument document_of(const Trace& trace) { return DocumentWriter().document_of(trace); }

std::string to_json(const Trace& trace) {
  return with_tensors(trace, [](JsonWriter& json, const auto& values) {
    json.key("values").begin_array();
    for (const auto element : values) {
      if constexpr (std::is_same_v<std::remove_cv_t<decltype(element)>, std::int64_t>)
        json.value(element);
      else
        write_number(json, static_cast<double>(element));
    }
    json.end_array();
  });
}

std::string page_data(const Trace& trace) {
  const std::string json = with_tensors(
      trace, [](JsonWriter& writer, const auto& values) { writer.key("data").value(base64(std::as_bytes(values))); });
  std::string result;
  result.reserve(json.size());
  for (const char c : json) result += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return result;
}

}  // namespace retrace

#include <retrace/core/files/base64.h>
#include <retrace/core/files/json.h>
#include <retrace/core/trace/trace_json.h>
#include <retrace/models/data/deflate.h>
#include <retrace/models/study/page_data.h>

#include <span>

namespace retrace {
namespace {

constexpr std::size_t word = 8;

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return dispatch_any(tensor.dtype(), [&](auto zero) { return std::as_bytes(tensor.values<decltype(zero)>()); });
}

/// The bytes of all tensors in the order of words.
std::string words_of(const TraceDocument& document) {
  std::string words;
  for (const auto& entry : document.tensors) {
    const std::span<const std::byte> bytes = bytes_of(entry.second);
    words.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    words.resize((words.size() + word - 1) / word * word, '\0');
  }
  return words;
}

}  // namespace

std::string data_to_pack(const Trace& trace) {
  const TraceDocument document = document_of(trace);
  JsonWriter tensors;
  tensors.begin_object();
  for (const auto& entry : document.tensors) {
    tensors.key(entry.first).begin_object().key("dtype").value(name_of(entry.second.dtype()));
    tensors.key("shape").list(entry.second.shape()).end_object();
  }
  tensors.end_object();
  std::string data = text("{\"trace\":", document.json, ",\"tensors\":", tensors.text(), "}\n");
  const std::string words = words_of(document);
  data.reserve(data.size() + words.size());
  for (std::size_t first = 0; first < word; ++first)
    for (std::size_t k = first; k < words.size(); k += word) data += words[k];
  return data;
}

std::string data_element(const Trace& trace) {
  const auto element = [](const char* type, const std::string& data) {
    return text("<script type=\"application/", type, "\" id=\"trace-data\">", data, "</script>");
  };
  const std::optional<std::string> packed = gzip(data_to_pack(trace));
  return packed ? element("gzip", base64(std::as_bytes(std::span(*packed)))) : element("json", page_data(trace));
}

}  // namespace retrace

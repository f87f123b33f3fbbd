#include <retrace/core/trace/trace_file.h>
#include <retrace/core/trace/trace_json.h>

#include <utility>

namespace retrace {
namespace {

constexpr const char* document_key = "retrace.trace";

}  // namespace

void save(const Trace& trace, const std::string& path) {
  const TraceDocument document = document_of(trace);
  write_safetensors(path, document.tensors, {{document_key, document.json}});
}

Trace load_trace(const std::string& path) { return trace_in(read_safetensors(path), path); }

bool holds_trace(const SafetensorsFile& file) { return file.metadata.contains(document_key); }

Trace trace_in(SafetensorsFile file, const std::string& path) {
  const auto found = file.metadata.find(document_key);
  if (found == file.metadata.end())
    throw FileError(text("load_trace: ", path,
                         " holds tensors but no trace; save(trace, path) or retrace study --trace "
                         "writes one"));
  try {
    return trace_of(TraceDocument{found->second, std::move(file.tensors)});
  } catch (const ValueError& error) {
    throw FileError(text("load_trace: ", path, ": ", error.what(), "; write it anew with this version"));
  }
}

}  // namespace retrace

// Traces in files: safetensors whose metadata entry "retrace.trace" is the document of core/trace/trace_json.h.
#pragma once

#include <string>

#include <retrace/core/files/safetensors.h>
#include <retrace/core/trace/trace.h>

namespace retrace {

/// Writes a trace, completely or not at all, with a checksum of all that it says. Throws FileError if the system
/// refuses.
void save(const Trace& trace, const std::string& path);
/// Reads what save() wrote. Throws FileError with the path and what is wrong: a file that is damaged, that is no trace,
/// or that a later version wrote.
Trace load_trace(const std::string& path);

/// Whether a file that was read holds a trace.
bool holds_trace(const SafetensorsFile& file);
/// The trace of a file that was read from this path. Throws as load_trace does.
Trace trace_in(SafetensorsFile file, const std::string& path);

}  // namespace retrace

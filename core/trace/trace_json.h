// A trace as JSON: the document of a trace's file, and the document together with the numbers for programs and pages.
//
// The document is {"format": "retrace.trace", "version": 1, "title", "expanded", "nodes", "scopes", "records", "seeds",
// "checks", "flows"}, with the fields of core/trace/trace.h under their names; nodes, scopes and inputs are numbers of
// their lists. A captured tensor is null (nothing), {"tensor": NAME} (all elements) or {"slice": NAME, "min", "max",
// "mean", "norm", "nans", "infinities"} (the first elements and statistics). Numbers that JSON lacks are the strings
// "NaN", "Infinity" and "-Infinity". "notes", "row_names" of nodes and the "check" of a record are there only if there
// are any.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <retrace/core/trace/trace.h>

namespace retrace {

/// A document and the tensors that it names.
struct TraceDocument {
  std::string json;
  std::map<std::string, Tensor> tensors;
};

/// A tensor that several places of a trace share has one name, that of the first: "nodes.3.value",
/// "records.5.contributions.0.before".
TraceDocument document_of(const Trace& trace);
/// The trace of a document. Throws ValueError that says what is wrong and where.
Trace trace_of(const TraceDocument& document);

/// {"trace": document, "tensors": {NAME: {"dtype", "shape", "values": [numbers]}}} on one line.
std::string to_json(const Trace& trace);
/// As to_json, for a `<script>` of a page: the elements of a tensor are "data", their little-endian bytes in base64,
/// and every "<" is written as an escape, so that no name can end the script.
std::string page_data(const Trace& trace);

}  // namespace retrace

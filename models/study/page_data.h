// A trace as the data of a page.
//
// They are {"trace": document, "tensors": {NAME: {"dtype", "shape"}}} as JSON (core/trace/trace_json.h), a line feed,
// and the elements of all tensors in that order: little-endian, each tensor filled with zeros to whole words of eight
// bytes, and first the first bytes of all words, then the second ones, and so on, because those are alike. All of that
// is packed by gzip. A build without zlib writes the JSON of page_data(trace) instead, as it is: larger, but complete.
#pragma once

#include <retrace/core/trace/trace.h>

#include <string>

namespace retrace {

/// The element `<script id="trace-data">` of a page, whose type says which of the two it holds.
std::string data_element(const Trace& trace);

/// The bytes that data_element packs, as described above.
std::string data_to_pack(const Trace& trace);

}  // namespace retrace

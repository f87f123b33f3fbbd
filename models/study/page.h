// A trace as a page to study.
#pragma once

#include <retrace/core/trace/trace.h>

#include <string>

namespace retrace {

/// One HTML file that shows a trace: every record with its formulas, values, gradients and contributions. It computes
/// every value and vector-Jacobian product again and says where it differs. It needs no network and no other file. What
/// made it stands above its title: a command, for example.
std::string page_of(const Trace& trace, const std::string& made_by = "Retrace");
/// Writes page_of(trace, made_by), completely or not at all. Throws FileError if the system refuses.
void write_page(const Trace& trace, const std::string& path, const std::string& made_by = "Retrace");

}  // namespace retrace

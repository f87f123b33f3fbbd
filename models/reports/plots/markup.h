// Plain text and tables in a page.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/formats/text_table.h>

namespace retrace {

/// Escapes &, < and > for HTML and SVG, and control codes as they are printed (printable_lines).
std::string escaped(const std::string& plain);

/// A table of plain text, whose first row holds the headings.
std::string html_table(const std::vector<Row>& rows);
/// A self-contained page with a plain title, above a body of HTML. The first column of its tables is left-aligned.
std::string html_document(const std::string& title, const std::string& body);

}  // namespace retrace

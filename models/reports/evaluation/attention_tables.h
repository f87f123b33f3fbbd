// Heads of attention on a page: weights and gradients side by side, as tables whose cells are coloured.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/reports/evaluation/attention_heads.h>

namespace retrace {

/// The style of a page with such tables: light and dark, by variables.
std::string attention_style();

/// A section for each layer. More than `max_numbers` weights in all are not drawn: matrices are then cut to the same
/// number of rows and columns, at least 8, and later steps left out; the page says so.
std::string attention_tables(const std::vector<AttentionHead>& heads, std::int64_t max_numbers = 50'000);

}  // namespace retrace

// The parts of evaluations that are printed in several places.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/reports/document/document.h>
#include <retrace/models/reports/evaluation/evaluation_report.h>

namespace retrace {

/// The 95 % interval: "0.91 to 0.9208".
std::string interval_text(const Estimate& estimate);
/// " (a checkpoint after step 300)"; nothing for step 0, the weights of a training that has ended.
std::string checkpoint_note(std::int64_t step);

/// The value, below the name of the metric, and its interval.
FactRow fact_row(const Estimate& estimate, std::string_view metric, const char* digits);
/// The metric of each category.
std::vector<FactRow> fact_rows(const CategoryTable& table, Metric metric);
/// The accuracy of each class and what was answered. In print that is every class where there are few (the confusion
/// matrix), otherwise those that it was mistaken for most often.
std::vector<FactRow> fact_rows(const ClassTable& table);
/// The use of each slot; in print with its gates.
std::vector<FactRow> fact_rows(const MemoryUse& use);

/// "rmc on nth-farthest (vectors 4, dims 2)".
std::string title_of(const Report& report);
/// The slots of a model's memory and its heads of attention: the end of the text, and the page of attention_page().
Document attention_document(const Report& report);

}  // namespace retrace

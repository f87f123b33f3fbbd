#include <retrace/core/base/printable.h>
#include <retrace/core/trace/repeated_steps.h>
#include <retrace/models/formats/digits.h>
#include <retrace/models/formats/text_table.h>
#include <retrace/models/study/terminal/trace_summary.h>
#include <retrace/models/study/terminal/trace_text.h>

namespace retrace {
namespace {

/// The norm of a whole tensor, even if only some of its elements are held.
std::string norm_text(const Capture& capture) {
  if (!capture.exists()) return "-";
  const Statistics found = capture.statistics ? *capture.statistics : statistics_of(capture.values);
  if (found.nans > 0) return "nan";
  if (found.infinities > 0) return "inf";
  return in_digits(capture.values.numel() == 0 ? 0 : found.norm);
}

std::string from_to(const std::string& first, const std::string& last) {
  return first == last ? first : text(first, " ... ", last);
}

/// A record and the last of the steps that repeat it.
struct Repeated {
  std::size_t first, last, steps;
};

std::vector<Repeated> repeated_records(const Trace& trace) {
  const std::vector<std::size_t> first = first_of_repeated(trace);
  std::vector<Repeated> by_first(first.size(), {0, 0, 0}), result;
  for (std::size_t r = 0; r < first.size(); ++r) by_first[first[r]] = {first[r], r, by_first[first[r]].steps + 1};
  for (const Repeated& one : by_first)
    if (one.steps > 0) result.push_back(one);
  return result;
}

Row row_of(const Trace& trace, const Repeated& same) {
  const TraceRecord& record = trace.records[same.first];
  const auto result = [&](std::size_t r) -> const TraceNode& {
    return trace.nodes[static_cast<std::size_t>(trace.records[r].outputs.front())];
  };
  const TraceNode &first = result(same.first), &last = result(same.last);
  return {to_text(same.first), printable(record.op) + (same.steps > 1 ? text(" x ", same.steps) : ""),
          text(printable(first.name), first.shape), from_to(norm_text(first.value), norm_text(last.value)),
          from_to(norm_text(first.gradient), norm_text(last.gradient))};
}

}  // namespace

std::string summary_of(const Trace& trace) {
  std::vector<Row> rows{{"record", "op", "result", "|value|", "|gradient|"}};
  for (const Repeated& same : repeated_records(trace)) rows.push_back(row_of(trace, same));
  const std::string checks = checks_text(trace);
  return text(introduction_of(trace), "\n", text_table(rows, "rllrr"), checks.empty() ? "" : "\n", checks);
}

}  // namespace retrace

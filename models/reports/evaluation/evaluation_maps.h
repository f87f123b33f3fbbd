// The heat maps of a report, for the terminal and for the page.
#pragma once

#include <string>
#include <vector>

#include <retrace/models/reports/evaluation/evaluation_report.h>
#include <retrace/models/reports/plots/heat_map.h>

namespace retrace {

/// The attention of an example: a matrix per step with a row per slot, the column of the input set apart; the step to
/// remember is marked.
std::vector<HeatMap> attention_steps(const AttentionExample& example);
/// The attention that each slot and the input received at each step of an example.
HeatMap attention_over_time(const AttentionExample& example);
/// The attention received, averaged over many samples, and how often each slot is the one that changes most.
HeatMap attention_over_time(const MemoryUse& use);
HeatMap changes_over_time(const MemoryUse& use);

/// "rmc on nth-farthest (vectors 4, dims 2)".
std::string title_of(const Report& report);
/// "was right: vector 3", "was wrong: said 2, right is 3"; for numbers "said 2, right is 3".
std::string verdict(bool right, const std::string& given, const std::string& expected, TaskKind kind);
/// The memory's numbers, explained in sentences.
std::vector<std::string> findings(const MemoryUse& use);

}  // namespace retrace

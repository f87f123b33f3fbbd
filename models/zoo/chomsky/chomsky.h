// The tasks of Deletang et al., "Neural Networks and the Chomsky Hierarchy" (ICLR 2023).
#pragma once

#include <retrace/models/tasks/symbols/string_task.h>

namespace retrace {

/// All fifteen, by their class in the hierarchy: regular, deterministic context-free, and context-sensitive.
std::span<const StringRules> regular_tasks();
std::span<const StringRules> context_free_tasks();
std::span<const StringRules> context_sensitive_tasks();

}  // namespace retrace

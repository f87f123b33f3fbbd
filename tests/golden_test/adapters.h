// Runs each op of the reference data with the library: one function per op, one file per group.
#pragma once

#include <retrace/ops/ops.h>
#include <retrace/tests/golden_test/golden_case.h>

namespace retrace::golden {

/// Computes the outputs of a case, by name. A tape records if the case has cotangents.
using Adapter = NamedTensors (*)(const Arguments&);
using Adapters = std::map<std::string, Adapter>;

Adapters elementwise_adapters();
Adapters comparison_adapters();
Adapters reduction_adapters();
Adapters linalg_adapters();
Adapters shape_adapters();
Adapters sorting_adapters();
Adapters softmax_loss_adapters();
Adapters norm_adapters();
Adapters attention_adapters();
Adapters recurrent_adapters();
Adapters relational_adapters();
Adapters memory_core_adapters();
Adapters graph_adapters();
Adapters optim_adapters();
Adapters training_adapters();
Adapters losses_and_einsum_adapters();

/// The reduction of a loss; mean if the case has none. Throws Unsupported for any but mean, sum and none.
Reduction reduction_of(const Arguments& c);

}  // namespace retrace::golden

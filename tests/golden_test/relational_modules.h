// The relational models of a case.
#pragma once

#include <retrace/models/networks/relational_rnn.h>
#include <retrace/tests/golden_test/modules.h>

namespace retrace::golden {

/// The cell's memory of W_q ... b_update, all with a prefix, for inputs of this size. Its initial memory is zero.
CellMemory make_cell_memory(const Arguments& c, const std::string& prefix, std::int64_t slots, std::int64_t input_size);
/// The recurrent cell of lstm_*, mem_*, W_read, W_comb and their biases.
RelationalRNNCell make_relational_cell(const Arguments& c, std::int64_t slots);
/// The network of that cell, W_out and b_out; the number of slots is an attribute.
RelationalRNN make_relational_rnn(const Arguments& c);

/// The core of W_in, blk<k>_*, W_mlp<k>, W_gate_* and their biases; all matrices multiply from the right.
RelationalMemoryCore make_memory_core(const Arguments& c, std::int64_t slots, std::int64_t input_rows);

}  // namespace retrace::golden

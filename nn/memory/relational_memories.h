// Three relational memories, and how they differ. In each, slots M [B, N, S] attend to each other in every step.
//
//   class                  source                                     input             norms, MLP   gates
//   RelationalMemoryCore   Santoro et al., "Relational recurrent      R rows beside     norms, MLP   i, f of tanh(M)
//                          neural networks", 2018, as in Sonnet v1    the slots                      and the input
//   RelationalMemory       an educational implementation, its module  beside each slot  norms        g, 1 - g of [M; m]
//   CellMemory             an educational implementation, its cell    added to slot 0   tanh layer   g, 1 - g of [A; x]
//
// The core is a recurrent network by itself; RmcModel (in models) adds an MLP that reads its slots. The other two are
// placed beside an LSTM by RelationalRNN (in models), and read its output; the LSTM does not read the memory.
//
// For reproductions, there are also NotebookMemory, of the same educational implementation (the input is a row beside
// the slots; the gates i, f and o are those of an MLP's output), and RelationalMemoryCoreVariant, the core as others
// published it.
#pragma once

#include <retrace/nn/memory/cell_memory.h>
#include <retrace/nn/memory/notebook_memory.h>
#include <retrace/nn/memory/relational_memory.h>
#include <retrace/nn/memory/relational_memory_core.h>
#include <retrace/nn/memory/relational_memory_core_variants.h>

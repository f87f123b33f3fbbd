// The relational memories, and how they differ. In each, slots M [B, N, S] attend to each other in every step.
//
//   class                  source                                     input             norms, MLP   gates
//   CellMemory             an educational implementation, its cell    added to slot 0   tanh layer   g, 1 - g of [A; x]
//   RelationalMemory       an educational implementation, its module  beside each slot  norms        g, 1 - g of [M; m]
//   NotebookMemory         an educational implementation, its         a row beside      MLP          i, f, o of the
//                          notebook                                   the slots                      MLP's output
//   RelationalMemoryCore   Santoro et al., "Relational recurrent      R rows beside     norms, MLP   i, f of tanh(M)
//                          neural networks", 2018, as in Sonnet v1    the slots                      and the input
//
// RelationalMemoryCoreVariant describes other published implementations of the core. In models, SlotMemory is one of
// the three educational memories and RelationalRNN places it beside an LSTM, whose output it reads; the LSTM does not
// read the memory. The core is a recurrent network by itself; RmcModel (in models) adds an MLP that reads its slots.
#pragma once

#include <retrace/nn/memory/cell_memory.h>
#include <retrace/nn/memory/notebook_memory.h>
#include <retrace/nn/memory/relational_memory.h>
#include <retrace/nn/memory/relational_memory_core.h>
#include <retrace/nn/memory/relational_memory_core_variants.h>

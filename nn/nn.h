// Includes all of nn, ops and core.
#pragma once

#include <retrace/core/core.h>
#include <retrace/nn/cell_memory.h>
#include <retrace/nn/clip.h>
#include <retrace/nn/gru.h>
#include <retrace/nn/initialise.h>
#include <retrace/nn/layers.h>
#include <retrace/nn/lstm.h>
#include <retrace/nn/mlp.h>
#include <retrace/nn/module.h>
#include <retrace/nn/multi_head_attention.h>
#include <retrace/nn/names.h>
#include <retrace/nn/notebook_memory.h>
#include <retrace/nn/optimizers.h>
#include <retrace/nn/positions.h>
#include <retrace/nn/pytorch.h>
#include <retrace/nn/recurrent_layers.h>
#include <retrace/nn/relational_memories.h>
#include <retrace/nn/relational_memory.h>
#include <retrace/nn/relational_memory_core.h>
#include <retrace/nn/relational_memory_core_variants.h>
#include <retrace/nn/rnn.h>
#include <retrace/nn/schedules.h>
#include <retrace/nn/sequential.h>
#include <retrace/nn/transformer.h>
#include <retrace/ops/ops.h>

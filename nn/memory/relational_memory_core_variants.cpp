#include <retrace/nn/memory/relational_memory_core_variants.h>

namespace retrace {

RelationalMemoryCoreVariant l0sg_variant() {
  return {.norm = MemoryNorm::joint_of_rows,
          .relu = MemoryRelu::every,
          .mlp = MemoryMlp::one_layer,
          .gate_bias = MemoryGateBias::learned,
          .init = MemoryInit::uniform,
          .one_block = true};
}

RelationalMemoryCoreVariant blog_variant() {
  return {.norm = MemoryNorm::joint,
          .relu = MemoryRelu::none,
          .mlp = MemoryMlp::of_block,
          .gate_bias = MemoryGateBias::none,
          .init = MemoryInit::glorot_uniform};
}

RelationalMemoryCoreVariant relgan_variant() {
  return {.norm = MemoryNorm::joint, .packed_scale = true, .biases_of_linears = false};
}

}  // namespace retrace

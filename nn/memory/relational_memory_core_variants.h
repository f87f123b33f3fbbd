// Published implementations of the relational memory core by others than its authors, each described by its differences
// from the default RelationalMemoryCore:
//
//   RelationalMemoryCore core(40, random, {.slots = 8, .head_size = 32, .heads = 8, .variant = l0sg_variant()});
//
// Plain mistakes (a training loop that applies softmax twice, shapes that match only by luck) are not reproduced.
#pragma once

namespace retrace {

/// The axes over which the layer norms of a block take mean and variance, for rows A [B, L, F], L = N + R. row: each
/// row by itself; joint: all rows of a sample, with one weight per feature, [F]; joint_of_rows: all rows of a sample,
/// with one weight per row and feature, [L, F].
enum class MemoryNorm { row, joint, joint_of_rows };
/// The ReLUs of the MLP. between: one between two layers, f_L(relu(... relu(f_1(x)))); every: one after each layer,
/// relu(f_L(... relu(f_1(x)))); none: no ReLU, f_L(... f_1(x)).
enum class MemoryRelu { between, every, none };
/// How the weights of the MLP are shared. of_core: one MLP for all blocks; one_layer: one matrix for every layer of
/// every block; of_block: a separate MLP per block.
enum class MemoryMlp { of_core, one_layer, of_block };
/// The biases of the gates before the sigmoid. constant: input_bias and forget_bias of the options; learned: scalars
/// that are initially these; none: no bias.
enum class MemoryGateBias { constant, learned, none };
/// The initial weights of the Linears. truncated_normal: with standard deviation 1 / sqrt(fan_in), biases 0; uniform:
/// weights and biases in +-1 / sqrt(fan_in); glorot_uniform: biases 0.
enum class MemoryInit { truncated_normal, uniform, glorot_uniform };

/// How an implementation differs from that of the authors, which is the default.
struct RelationalMemoryCoreVariant {
  MemoryNorm norm = MemoryNorm::row;
  MemoryRelu relu = MemoryRelu::between;
  MemoryMlp mlp = MemoryMlp::of_core;
  MemoryGateBias gate_bias = MemoryGateBias::constant;
  MemoryInit init = MemoryInit::truncated_normal;
  bool one_block = false;         // all blocks share the weights of the first
  bool packed_scale = false;      // scores are q k^T / sqrt(2 key_size + head_size), not q k^T / sqrt(key_size)
  bool biases_of_linears = true;  // false: W_qkv, W_u and W_m have no biases (W and the MLP keep theirs)
};

/// github.com/L0SG/relational-rnn-pytorch:
///   mean and variance over all N + 1 rows and their features; gamma, beta [N + 1, F],
///   MLP(A) = relu(V relu(V A + b) + b): one V, b for all layers of all blocks,
///   all blocks have one W_qkv and the same norms,
///   i = sigmoid(. + b_i), f = sigmoid(. + b_f) with learned scalars, initially input_bias and forget_bias,
///   initial weights and biases uniform in +-1 / sqrt(fan_in).
RelationalMemoryCoreVariant l0sg_variant();
/// The core of a widely read TensorFlow tutorial:
///   mean and variance over all N + R rows and their features; gamma, beta [F] (its eps is 1e-12),
///   MLP(A) = V_2 (V_1 A + b_1) + b_2: no ReLU, and a separate MLP per block,
///   i = sigmoid(.), f = sigmoid(.): input_bias and forget_bias are not added,
///   initial weights Glorot-uniform.
RelationalMemoryCoreVariant blog_variant();
/// RelGAN (Nie, Narodytska and Patel, "RelGAN: relational generative adversarial networks for text generation", ICLR
/// 2019; github.com/weilinie/RelGAN):
///   mean and variance over all N + 1 rows and their features; gamma, beta [F] (its eps is 1e-12),
///   z = LN(A W_qkv) and gates tanh(M) W_m + u W_u, without biases,
///   scores q k^T / sqrt(2 key_size + head_size), as in the authors' core until November 2018.
RelationalMemoryCoreVariant relgan_variant();

}  // namespace retrace

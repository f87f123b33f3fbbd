// The relational memory core as others than its authors published it, each by what it computes otherwise than
// RelationalMemoryCore does by default:
//
//   RelationalMemoryCore core(40, random, {.slots = 8, .head_size = 32, .heads = 8, .variant = l0sg_variant()});
//
// Outright mistakes of theirs (a training that applies softmax twice, shapes that fit only by luck) are left out.
#pragma once

namespace retrace {

/// Over what the layer norms of a block take mean and variance, for rows A [B, L, F] of L = N + R rows: each row by
/// itself; all rows of a sample, with a weight for each feature, [F]; all rows, with one for each row and feature,
/// [L, F].
enum class MemoryNorm { row, joint, joint_of_rows };
/// Where ReLUs are in the MLP of L layers: f_L(relu(... relu(f_1(x)))); relu(f_L(... relu(f_1(x)))); f_L(... f_1(x)).
enum class MemoryRelu { between, every, none };
/// Whose the weights of the MLP are: its layers differ, and all blocks use them; one matrix is every layer of all
/// blocks; every block has layers of its own.
enum class MemoryMlp { of_core, one_layer, of_block };
/// What is added to the gates before the sigmoid: the options' constants; scalars that begin there and are learned;
/// nothing.
enum class MemoryGateBias { constant, learned, none };
/// Linears begin truncated normal with deviation 1 / sqrt(fan_in) and biases 0; uniform in +-1 / sqrt(fan_in), biases,
/// too; Glorot-uniform with biases 0.
enum class MemoryInit { truncated_normal, uniform, glorot_uniform };

/// By default, the core of its authors.
struct RelationalMemoryCoreVariant {
  MemoryNorm norm = MemoryNorm::row;
  MemoryRelu relu = MemoryRelu::between;
  MemoryMlp mlp = MemoryMlp::of_core;
  MemoryGateBias gate_bias = MemoryGateBias::constant;
  MemoryInit init = MemoryInit::truncated_normal;
  bool one_block = false;  // all blocks have the weights of the first
  bool packed_scale =
      false;  // scores q k^T / sqrt(2 key_size + head_size), the columns of a head, for / sqrt(key_size)
  bool biases_of_linears = true;  // of W_qkv, W_u and W_m; those of W and of the MLP stay
};

/// github.com/L0SG/relational-rnn-pytorch:
///   mean and variance over all N + 1 rows and their features; gamma, beta [N + 1, F],
///   MLP(A) = relu(V relu(V A + b) + b): one V, b for all layers of all blocks,
///   all blocks have one W_qkv and the same norms,
///   i = sigmoid(. + b_i), f = sigmoid(. + b_f) with learned scalars, which begin with input_bias and forget_bias,
///   weights and biases uniform in +-1 / sqrt(fan_in) at first.
RelationalMemoryCoreVariant l0sg_variant();
/// The same with layers of the MLP that differ: MLP(A) = relu(V_2 relu(V_1 A + b_1) + b_2).
RelationalMemoryCoreVariant l0sg_variant_with_mlp_layers();
/// The widespread walk-through of the core in TensorFlow:
///   mean and variance over all N + R rows and their features; gamma, beta [F] (there with an eps of 1e-12),
///   MLP(A) = V_2 (V_1 A + b_1) + b_2: no ReLU, and for every block an MLP of its own,
///   i = sigmoid(.), f = sigmoid(.): input_bias and forget_bias are not added,
///   weights Glorot-uniform at first.
RelationalMemoryCoreVariant blog_variant();
/// RelGAN (Nie, Narodytska and Patel, "RelGAN: relational generative adversarial networks for text generation", ICLR
/// 2019; github.com/weilinie/RelGAN):
///   mean and variance over all N + 1 rows and their features; gamma, beta [F] (there with an eps of 1e-12),
///   z = LN(A W_qkv) and gates tanh(M) W_m + u W_u, without biases,
///   scores q k^T / sqrt(2 key_size + head_size), as the authors' own core until November 2018.
RelationalMemoryCoreVariant relgan_variant();

}  // namespace retrace

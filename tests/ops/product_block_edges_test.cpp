// Products, attention and recurrent ops beyond a block; see block_edges.h.
#include <retrace/tests/ops/block_edges.h>

namespace retrace {
namespace {

class ProductBlockEdges : public BlockEdges {
 protected:
  /// a [..., m, k] by b [..., k, n], each as it is and stored transposed.
  void check_products(const Shape& batch_a, const Shape& batch_b, std::int64_t m, std::int64_t k, std::int64_t n) {
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        const Shape a = batch_a.joined(transpose_a ? Shape{k, m} : Shape{m, k});
        const Shape b = batch_b.joined(transpose_b ? Shape{n, k} : Shape{k, n});
        check_binary(text(a, transpose_a ? "^T " : " ", b, transpose_b ? "^T" : ""), a, b,
                     [&](const Tensor& x, const Tensor& y) {
                       return matmul(x, y, {.transpose_a = transpose_a, .transpose_b = transpose_b});
                     });
      }
  }
};

// Edges of a register tile, of the 384 steps that stay in registers, of a packed block, and of a thread's share.
TEST_F(ProductBlockEdges, MatricesBeyondATileADepthBlockAndAThread) {
  check_products({}, {}, 7, 13, 33);
  check_products({}, {}, 385, 5, 6);
  check_products({}, {}, 5, 385, 6);
  check_products({}, {}, 5, 6, 385);
  check_products({}, {}, 1030, 4, 7);
  check_products({}, {}, 7, 4, 1030);
  check_products({}, {}, 61, 62, 63);
  check_products({}, {}, 580, 20, 70);
}

// A shared right factor turns the batch into one tall product; other batches are looped over.
TEST_F(ProductBlockEdges, BatchesOfMatrices) {
  check_products({3}, {}, 130, 7, 9);
  check_products({2, 3}, {}, 5, 7, 9);
  check_products({}, {3}, 5, 7, 9);
  check_products({3, 1}, {4}, 5, 6, 7);
  check_products({4}, {3, 1}, 5, 6, 7);
  check_products({2, 3}, {2, 3}, 5, 6, 7);
  check_products({1000}, {1000}, 5, 6, 7);
}

TEST_F(ProductBlockEdges, LinearLayersOfManyRowsAndOutputs) {
  const auto check_layer = [&](std::int64_t rows, std::int64_t in, std::int64_t out, Activation activation) {
    check(text("linear ", rows, " x ", in, " x ", out), {{rows, in}, {out, in}, {out}},
          [=](const Tensors& x) { return linear(x[0], x[1], x[2], activation); });
  };
  for (const Activation activation : {Activation::none, Activation::tanh, Activation::gelu}) {
    check_layer(400, 33, 65, activation);
    check_layer(5, 385, 9, activation);
  }
  check_layer(300, 2, 1010, Activation::none);
}

struct ProductSizes {
  const char* name;
  std::int64_t batch, queries, keys, features, values;
  int heads;
};
// Heads in registers have as many keys as a vector has lanes, at most 64 queries and 128 features. Others are computed
// in groups of at most 32,768 weights.
constexpr ProductSizes attention_sizes[] = {{"small heads over threads", 330, 3, 4, 3, 2, 2},
                                            {"two keys", 30, 5, 2, 3, 5, 2},
                                            {"eight keys", 30, 9, 8, 17, 9, 2},
                                            {"nine keys", 30, 9, 9, 5, 17, 2},
                                            {"seventeen keys", 30, 3, 17, 5, 4, 2},
                                            {"many queries", 2, 66, 3, 4, 5, 2},
                                            {"many features", 2, 3, 4, 130, 131, 2},
                                            {"rows that are whole pages apart", 2, 3, 4, 128, 128, 8},
                                            {"groups of several samples", 45, 20, 20, 3, 2, 2},
                                            {"groups of a head", 2, 100, 110, 2, 3, 3}};

// A gradient flows back to y, to the weights, and to both (a rule of every case).
TEST_F(ProductBlockEdges, AttentionAndItsWeights) {
  for (const ProductSizes& n : attention_sizes)
    for (const bool causal : {false, true})
      check(n.name,
            {{n.batch, n.queries, n.heads * n.features},
             {n.batch, n.keys, n.heads * n.features},
             {n.batch, n.keys, n.heads * n.values}},
            [&](const Tensors& in) {
              const auto [y, weights] =
                  attention_with_weights(in[0], in[1], in[2], {.heads = n.heads, .causal = causal});
              return Tensors{y, weights};
            });
}

TEST_F(ProductBlockEdges, PackedAttentionAndItsWeights) {
  for (const ProductSizes& n : attention_sizes)
    for (const PackedLayout layout : {PackedLayout::by_kind, PackedLayout::by_head}) {
      const PackedAttentionOptions options{
          .heads = n.heads, .key_size = n.features, .layout = layout, .queries = n.queries < n.keys ? n.queries : 0};
      check(n.name, {{n.batch, n.keys, n.heads * (2 * n.features + n.values)}}, [=](const Tensors& in) {
        const auto [y, weights] = packed_attention_with_weights(in[0], options);
        return Tensors{y, weights};
      });
    }
}

TEST_F(ProductBlockEdges, AttentionThatKeepsNoWeights) {
  for (const bool causal : {false, true}) {
    const AttentionOptions options{.heads = 2, .causal = causal};
    check("long attention", {{200, 4}, {210, 4}, {210, 6}},
          [&](const Tensors& in) { return attention(in[0], in[1], in[2], options); });
    check("long packed attention", {{200, 10}},
          [&](const Tensors& in) { return packed_attention(in[0], {.heads = 2, .key_size = 2, .causal = causal}); });
  }
}

}  // namespace
}  // namespace retrace

// Recurrent ops and gated memories beyond a block; see block_edges.h.
#include <retrace/tests/ops/block_edges.h>

#include <array>

namespace retrace {
namespace {

struct Sizes {
  std::int64_t batch, time, hidden;
};
// Samples on several threads, vectors of several lengths, and sums over more steps than a product keeps in registers.
constexpr Sizes recurrent_sizes[] = {{1400, 2, 5}, {3, 4, 8}, {3, 4, 9}, {2, 3, 17}, {100, 4, 3}};

class RecurrentBlockEdges : public BlockEdges {
 protected:
  /// Without lengths, and with lengths from 0 to all steps.
  template <class Op>
  void check_sequences(const std::string& name, std::int64_t gates, int states, bool has_bias, Op&& op) {
    for (const Sizes& n : recurrent_sizes) {
      std::vector<Shape> shapes{{n.batch, n.time, gates * n.hidden}};
      shapes.insert(shapes.end(), static_cast<std::size_t>(states), Shape{n.batch, n.hidden});
      shapes.push_back({gates * n.hidden, n.hidden});
      if (has_bias) shapes.push_back({gates * n.hidden});
      for (const Tensor& lengths : {Tensor(), random.integers({n.batch}, n.time + 1)})
        check(text(name, " of ", n.batch, " x ", n.time, " x ", n.hidden), shapes,
              [&](const Tensors& in) { return op(in, lengths); });
    }
  }
};

TEST_F(RecurrentBlockEdges, Lstm) {
  check_sequences("lstm", 4, 2, false, [](const Tensors& in, const Tensor& lengths) {
    const auto [y, h, c] = lstm_sequence(in[0], in[1], in[2], in[3], lengths);
    return Tensors{y, h, c};
  });
}

TEST_F(RecurrentBlockEdges, Gru) {
  check_sequences("gru", 3, 1, true, [](const Tensors& in, const Tensor& lengths) {
    const auto [y, h] = gru_sequence(in[0], in[1], in[2], in[3], lengths);
    return Tensors{y, h};
  });
}

TEST_F(RecurrentBlockEdges, Rnn) {
  check_sequences("rnn", 1, 1, false, [](const Tensors& in, const Tensor& lengths) {
    const auto [y, h] = rnn_sequence(in[0], in[1], in[2], Activation::tanh, lengths);
    return Tensors{y, h};
  });
}

TEST_F(RecurrentBlockEdges, GatedMemory) {
  for (const auto& [samples, slots, units] :
       {std::array<std::int64_t, 3>{140, 3, 5}, {2, 10, 8}, {2, 9, 9}, {3, 2, 17}})
    for (const std::int64_t more : {0, 2})
      for (const bool coupled : {false, true}) {
        const std::int64_t gates = (coupled ? 1 : 2) * units;
        std::vector<Shape> shapes{
            {samples, slots, units}, {samples, slots + more, units}, {samples, slots, gates}, {samples, gates}, {}};
        if (!coupled) shapes.push_back({});
        check(text("gated_memory of ", samples, " x ", slots, " x ", units), shapes, [coupled](const Tensors& in) {
          const GatedMemoryOptions options{
              .input_bias = in[4], .forget_bias = coupled ? Tensor() : in[5], .coupled = coupled};
          const auto [memory, i, f] = gated_memory(in[0], in[1], in[2], in[3], options);
          return coupled ? Tensors{memory, i} : Tensors{memory, i, f};
        });
      }
}

}  // namespace
}  // namespace retrace

// Lesson 7: a model of your own in the program: `own_model gradcheck minimal-gated`, `own_model train babi --model
// minimal-gated`.
#include <retrace/models/cli/cli.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/nn/nn.h>
using namespace retrace;

struct MinimalGated {  // your own cell: h <- h + z (tanh(W x + b) - h), z = sigmoid(V [x h] + c)
  Linear candidate, gate, out;
  MinimalGated(const ModelSizes& sizes, Random& random)
      : candidate(sizes.input, sizes.hidden, random),
        gate(sizes.input + sizes.hidden, sizes.hidden, random),
        out(sizes.hidden, sizes.output, random) {}
  Tensor operator()(const Tensor& x) const {  // [B, T, I] -> [B, O], the answer after the last row
    Tensor h = zeros({x.dim(0), out.weight.dim(1)}, x.dtype());
    for (std::int64_t t = 0; t < x.dim(1); ++t) {
      Tensor row = slice(x, {all, t});
      Tensor z = gate(concat({row, h}, -1), Activation::sigmoid);  // one op with its activation
      h = h + z * (candidate(row, Activation::tanh) - h);
    }
    return out(h);
  }
  void visit(auto&& see) const { see("candidate", candidate), see("gate", gate), see("out", out); }
};

int main(int argc, char** argv) {
  register_model<MinimalGated>("minimal-gated");
  return run_cli(argc, argv);  // study, train, compare, gradcheck and info know it now
}

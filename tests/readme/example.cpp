#include <iostream>

#include <retrace/nn/nn.h>
using namespace retrace;

struct Tagger {  // your own model: a plain struct
  Embedding embed;
  Lstm lstm;
  Linear head;
  explicit Tagger(Random& random) : embed(100, 16, random), lstm(16, 32, random), head(32, 10, random) {}
  Tensor operator()(const Tensor& ids) const { return head(lstm(embed(ids)).y); }
  void visit(auto&& see) const { see("embed", embed), see("lstm", lstm), see("head", head); }
};

Tensor swish(const Tensor& x, double b) {  // your own op: y = x sigmoid(bx), dx = dy (s + b y (1 - s))
  return custom_op(
      "swish", {x}, [b](const Tensors& in) { return in[0] * sigmoid(b * in[0]); },
      [b](const Tensor& dy, const Tensors& in, const Tensor& y) {
        Tensor s = sigmoid(b * in[0]);
        return Tensors{dy * (s + b * y * (1 - s))};
      });
}

int main() {
  Random random(7);  // a value; there is no global generator
  Tensor x = tensor({{1, 2}, {3, 4}}), w = parameter(tensor({{0.5}, {-1}}), "w");
  {
    Tape tape;  // ops of this thread are recorded until the brace
    Tensor y = tanh(matmul(x, w));
    tape.backward(sum(y * y));
    std::cout << w.grad() << y.grad() << tape;  // y is held, so its gradient was kept
  }

  Tensor q = parameter(random.normal({1, 4, 8}), "q");
  {
    Tape tape({.keep = true, .expand_fused = true});  // study: every number, inside fused ops too
    auto [y, weights] = attention_with_weights(q, q, q, {.heads = 2, .causal = true});
    for (BackwardWalk walk(tape, sum(y * y)); walk.next();) std::cout << walk.record() << '\n';
    std::cout << weights.grad();
  }

  std::cout << gradcheck([](const Tensor& v) { return swish(v, 1.5); }, random.normal({3, 4}, f64));
  Tagger model(random);
  Tensor ids = indices({{1, 5, 2}, {7, 3, 0}}), labels = indices({{0, 1, 2}, {3, 4, 5}});
  std::cout << gradcheck(model, [&](const Tagger& m) { return m(ids); });  // every weight, on f64 copies of them

  Adam adam(model, {.lr = 3e-3});
  for (int step = 0; step < 200; ++step) {
    Tape tape;
    Tensor loss = cross_entropy(model(ids), labels);
    tape.backward(loss);
    clip_norm(model, 1.0);
    adam.step();  // uses the gradients up: no zero_grad to forget
    if (step % 50 == 0) std::cout << step << "  " << loss.item() << '\n';
  }
  save("tagger.safetensors", model);
  load("tagger.safetensors", model);
}

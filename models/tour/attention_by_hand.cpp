// Lesson 3: attention from its formula, and the gradient of every intermediate, recomputed by hand.
#include <cmath>
#include <iostream>

#include <retrace/nn/nn.h>
using namespace retrace;

bool agree(const char* name, const Tensor& tape, const Tensor& by_hand) {
  double difference = max(abs(tape - by_hand)).item();
  std::cout << name << '\n' << tape << "by hand: differs by at most " << difference << "\n\n";
  return difference < 1e-12;
}

int main() {
  constexpr std::int64_t tokens = 4, features = 2;
  Random random(1);
  auto input = [&](const char* name) { return parameter(random.normal({tokens, features}, f64), name); };
  Tensor q = input("q"), k = input("k"), v = input("v"), target = random.normal({tokens, features}, f64);

  Tape tape;
  Tensor scores = matmul(q, transpose(k)) / std::sqrt(double(features)) + causal_mask(tokens, f64);
  Tensor weights = softmax(scores);
  Tensor y = matmul(weights, v);
  Tensor loss = sum(square(y - target)) / 2;
  tape.backward(loss);

  // The same gradients, from the loss back to the queries.
  Tensor dy = y.detach() - target, w = weights.detach();
  Tensor dweights = matmul(dy, transpose(v.detach()));
  Tensor dscores = w * (dweights - sum(w * dweights, -1, {.keepdims = true}));  // of the softmax, row by row
  Tensor dq = matmul(dscores, k.detach()) / std::sqrt(double(features));
  Tensor dk = matmul(transpose(dscores), q.detach()) / std::sqrt(double(features));
  bool right = agree("dy = y - target", y.grad(), dy);
  right &= agree("dv = w^T dy", v.grad(), matmul(transpose(w), dy));
  right &= agree("dw = dy v^T", weights.grad(), dweights);
  right &= agree("dscores = w (dw - sum_j w_j dw_j)", scores.grad(), dscores);
  right &= agree("dq = dscores k / sqrt(d)", q.grad(), dq);
  right &= agree("dk = dscores^T q / sqrt(d)", k.grad(), dk);

  // The op does all of it at once; what it hides shows with Tape({.keep = true, .expand_fused = true}).
  right &= max(abs(attention(q, k, v, {.causal = true}) - y)).item() < 1e-12;
  return right ? 0 : 1;
}

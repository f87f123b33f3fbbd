#include <retrace/models/study/page.h>
#include <retrace/nn/nn.h>
using namespace retrace;

struct TinyAttention {  // your own module: a plain struct
  Linear query, key, value;
  TinyAttention(std::int64_t size, Random& random)
      : query(size, size, random), key(size, size, random), value(size, size, random) {}
  Tensor operator()(const Tensor& x) const {
    Tensor q = query(x), k = key(x), v = value(x);
    return matmul(softmax(matmul(q, transpose(k)) / 2), v);  // 2 = sqrt(4)
  }
  void visit(auto&& see) const { see("query", query), see("key", key), see("value", value); }
};

int main() {
  Random random(1);
  TinyAttention model(4, random);
  to(model, f64);
  Tape tape({.keep = true, .expand_fused = true});  // every number, inside fused ops too
  Tensor loss = mean(square(model(random.normal({3, 4}, f64))));
  Trace trace = trace_backward(tape, loss, {.title = "a tiny attention", .names = names_of(model)});
  write_page(trace, "tiny-attention.html");
}

// Lesson 9: one model, many threads. Weights are shared; everything else belongs to the thread that made it.
#include <iostream>
#include <thread>
#include <vector>

#include <retrace/nn/nn.h>
using namespace retrace;

struct Tagger {
  Embedding embed;
  Lstm lstm;
  Linear head;
  explicit Tagger(Random& random) : embed(50, 16, random), lstm(16, 32, random), head(32, 5, random) {}
  Tensor operator()(const Tensor& ids) const { return head(lstm(embed(ids)).y); }
  void visit(auto&& see) const { see("embed", embed), see("lstm", lstm), see("head", head); }
};

int main() {
  Random random(1);
  const Tagger model(random);

  constexpr int threads = 4, requests = 200;
  std::vector<std::vector<double>> answers(threads);
  {
    std::vector<std::jthread> pool;
    for (int worker = 0; worker < threads; ++worker)
      pool.emplace_back([&, worker] {
        set_threads(1);  // this thread's ops use this thread alone
        for (int request = 0; request < requests; ++request) {
          Random words = Random(7).stream(static_cast<std::uint64_t>(request));  // the same request for each worker
          answers[worker].push_back(sum(model(words.integers({1, 12}, 50))).item());
        }
      });
  }
  for (const auto& answer : answers)
    if (answer != answers[0]) return 1;  // equal bits: a result does not depend on the thread
  std::cout << threads << " threads answered " << requests << " requests each, with the same bits\n";
}

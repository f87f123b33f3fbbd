// Lesson 5: a relational memory that learns to recall, and where its slots look.
#include <iostream>

#include <retrace/models/tasks/task.h>
#include <retrace/nn/nn.h>
using namespace retrace;

struct Reader {  // a memory that reads pairs of a key and a value, and answers when a key is shown alone
  RelationalMemoryCore core;
  Linear answer;

  Reader(std::int64_t input, std::int64_t output, Random& random)
      : core(input, random, {.slots = 4, .head_size = 16, .heads = 2}), answer(4 * 32, output, random) {}
  RelationalMemoryCoreResult after(const Tensor& x) const {  // all rows of x [B, T, I]
    RelationalMemoryCoreResult step = core(core.initial_memory(x.dim(0)), slice(x, {all, 0}));
    for (std::int64_t t = 1; t < x.dim(1); ++t) step = core(step.memory, slice(x, {all, t}));
    return step;
  }
  Tensor operator()(const Tensor& x) const { return answer(reshape(after(x).memory, {x.dim(0), 4 * 32})); }
  void visit(auto&& see) const { see("core", core), see("answer", answer); }
};

double accuracy(const Tensor& logits, const Tensor& labels) {
  std::int64_t right = 0;
  for (std::int64_t b = 0; b < labels.numel(); ++b) right += argmax(logits[b]).item() == labels[b].item();
  return double(right) / double(labels.numel());
}

int main() {
  const auto task = make_task("recall", {.length = 3, .keys = 4, .values = 4});
  Random random(1), samples = random.stream("samples");
  Reader model(task->input_size(), task->output_size(), random);
  Adam adam(model, {.lr = 2e-3});
  for (int step = 0; step <= 800; ++step) {
    Batch batch = task->sample(samples, 64);
    Tape tape;
    Tensor logits = model(batch.x), loss = cross_entropy(logits, batch.y);
    tape.backward(loss);
    clip_norm(model, 1.0);
    adam.step();
    if (step % 200 == 0)
      std::cout << step << "  loss " << loss.item() << "  accuracy " << accuracy(logits, batch.y) << '\n';
  }
  Batch one = task->sample(samples, 1);
  std::cout << "a sample\n"
            << one.x << "attention of the slots to [slots; input] after its last row\n"
            << model.after(one.x).weights;
  Batch held_out = task->sample(samples, 1000);
  double result = accuracy(model(held_out.x), held_out.y);
  std::cout << "accuracy on 1000 other samples: " << result << '\n';
  return result > 0.9 ? 0 : 1;
}

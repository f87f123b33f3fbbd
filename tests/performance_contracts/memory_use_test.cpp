// Where memory comes from: blocks go back to a pool and are used again, gradients take each other's place, and a
// steady training step takes nothing from the heap.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <retrace/core/tensor/memory.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/tasks/task.h>
#include <retrace/models/training/trainer.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/heap_count.h>

namespace retrace {
namespace {

// ---- the pool

TEST(MemoryPool, BlocksGoBackAndComeFromThere) {
  zeros({1});  // the first tensor of a thread also makes room for the handles of the next ones
  const MemoryStats before = memory_stats();
  const void* place = nullptr;
  {
    const Tensor x = zeros({1000}), also = x, row = x[7];
    place = x.values<float>().data();
    EXPECT_GE(memory_stats().live_bytes, before.live_bytes + 4000);
    EXPECT_LE(memory_stats().live_bytes, before.live_bytes + 5000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % 64, 0u);
  }
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  const Tensor again = ones({1000});
  EXPECT_EQ(again.values<float>().data(), place);
  EXPECT_EQ(memory_stats().fresh_blocks, after.fresh_blocks);
  EXPECT_LE(memory_stats().pooled_bytes, after.pooled_bytes - 4000);
}

TEST(MemoryPool, OfAThreadThatEndedIsUsedAgain) {
  constexpr std::int64_t size = 1'234'567;  // in a size class that no other test uses
  const auto use = [] { std::thread([] { zeros({size}); }).join(); };
  use();
  const MemoryStats once = memory_stats();
  for (int thread = 0; thread < 10; ++thread) use();
  EXPECT_EQ(memory_stats().fresh_blocks, once.fresh_blocks);
  EXPECT_EQ(memory_stats().live_bytes, once.live_bytes) << "the handles of a thread were lost with it";
}

TEST(MemoryPool, OfAStepIsUsedAgain) {
  const Tensor w = parameter(ones({100}));
  std::int64_t fresh = 0;
  for (int step = 0; step < 5; ++step) {
    if (step == 2) fresh = memory_stats().fresh_blocks;
    w.zero_grad();
    Tape tape;
    tape.backward(sum(exp(w * 0.5)));
  }
  EXPECT_EQ(memory_stats().fresh_blocks, fresh);
}

void run_a_chain_of_a_million() {
  const Tensor x = parameter(tensor({1.0}, f64));
  Tape tape;
  Tensor y = x;
  for (int k = 0; k < 1'000'000; ++k) y = y + x;
  tape.backward(y);
  EXPECT_EQ(x.grad().at({0}), 1'000'001);
}

// ctest runs this test with a stack of 256 KB.
TEST(DeepTape, AMillionSmallOpsRunBackwardAndAreFreed) {
  run_a_chain_of_a_million();
  const MemoryStats before = memory_stats();
  run_a_chain_of_a_million();  // fits into what the first gave back
  EXPECT_EQ(memory_stats().live_bytes, before.live_bytes);
  EXPECT_EQ(memory_stats().fresh_blocks, before.fresh_blocks);
}

// ---- gradients in each other's place

TEST(GradientRoom, IsThatOfTheGradientItWasMadeFrom) {
  const auto blocks_of_a_step = [](const Tensor& w) {
    const std::int64_t before = memory_stats().fresh_blocks;
    Tape tape;
    const Tensor loss = sum(exp(exp(exp(w))));  // here the temporaries end, which would hold their gradients
    tape.backward(loss);
    return memory_stats().fresh_blocks - before;
  };
  std::int64_t blocks = 0;
  std::thread with_an_empty_pool([&] {
    blocks_of_a_step(parameter(ones({10})));  // what every tape needs
    blocks = blocks_of_a_step(parameter(ones({54321})));
  });
  with_an_empty_pool.join();
  EXPECT_EQ(blocks, 3 + 1) << "blocks for three values and one gradient";
}

using TensorsOp = std::function<Tensor(const Tensors&)>;

/// The growth of the memory pool in a step of x -> op -> op -> sum, as a multiple of the bytes of x.
double growth_of_a_step(const TensorsOp& op, std::int64_t rows) {
  const auto held = [] { return memory_stats().live_bytes + memory_stats().pooled_bytes; };
  const Tensor x = ones({rows, 321}).watch();
  const std::int64_t before = held();
  Tape tape;
  const Tensor loss = sum(op({op({x})}));
  tape.backward(loss);
  return static_cast<double>(held() - before) / (4 * 321 * static_cast<double>(rows));
}

TEST(GradientRoom, OfTwoOpsIsThatOfOneGradient) {
  std::int64_t rows = 1000;
  for (const auto& [name, op] : std::vector<std::pair<std::string, TensorsOp>>{
           {"tanh", [](const Tensors& in) { return tanh(in[0]); }},
           {"softmax", [](const Tensors& in) { return softmax(in[0]); }},
           {"log_softmax", [](const Tensors& in) { return log_softmax(in[0]); }},
           {"layer_norm", [](const Tensors& in) { return layer_norm(in[0]); }}}) {
    rows *= 2;  // no earlier block has this size
    EXPECT_LT(growth_of_a_step(op, rows), 3.9) << name << ": two values and one gradient in blocks of the pool";
  }
}

/// In a thread whose pool is empty.
double growth_in_an_empty_pool(std::int64_t bytes, const std::function<void()>& step) {
  double growth = 0;
  std::thread([&] {
    const auto held = [] { return memory_stats().live_bytes + memory_stats().pooled_bytes; };
    const std::int64_t before = held();
    step();
    growth = static_cast<double>(held() - before) / static_cast<double>(bytes);
  }).join();
  return growth;
}

TEST(GradientRoom, OfARecurrentLayerIsThatOfItsGates) {
  constexpr std::int64_t batch = 48, time = 70, hidden = 73, input = 3;  // sizes of no other test
  const std::int64_t bytes_of_gates = batch * time * 4 * hidden * 4;
  Random random(2);
  const Lstm lstm(input, hidden, random);
  const Tensor x = random.normal({batch, time, input});
  const double growth = growth_in_an_empty_pool(bytes_of_gates, [&] {
    Tape tape;
    tape.backward(sum(lstm(x).y));
  });
  EXPECT_LT(growth, 2.6) << "gates, and a quarter of them each for c, y and dy, in blocks of the pool";
}

TEST(MemoryPool, ALargeBlockServesForASmallerOneThatWouldBeNew) {
  std::thread([] {
    constexpr std::int64_t size = 3'456'789;
    zeros({size});
    const std::int64_t blocks = memory_stats().fresh_blocks;
    zeros({size * 2 / 3});
    EXPECT_EQ(memory_stats().fresh_blocks, blocks);
    const std::int64_t live = memory_stats().live_bytes;
    {
      const Tensor half_used = zeros({size * 2 / 3}), large = zeros({size});
      EXPECT_EQ(memory_stats().fresh_blocks, blocks + 1) << "the block was in use";
    }
    EXPECT_EQ(memory_stats().live_bytes, live);
    zeros({size / 4});
    EXPECT_EQ(memory_stats().fresh_blocks, blocks + 2) << "too large a block was taken";
  }).join();
}

// ---- the heap

TEST(Heap, OpsThatMoveElementsTakeNothing) {
  const Tensor x = parameter(reshape(arange(0, 480, 1, f64), {8, 6, 10})), mask = indices({1, 1, 0, 1, 1, 1});
  const Tensor rows = indices({1, 0, 5}), picks = ones({1, 6, 10}, i64), threes = full({2}, 3, i64);
  const auto step = [&] {
    Tape tape;
    const Tensors parts = split(flip(transpose(x, {2, 0, 1}), 0), {4, 4}, 1);
    const Tensor joined = concat({parts[0], pad(parts[1], {{0, 0}, {1, 2}, {0, 0}}), unsqueeze(transpose(x[0]), 1)}, 1);
    const Tensor seen = attention(x, x, x, {.heads = 2, .causal = true, .mask = mask});
    const Tensor taken = scatter_add(take(seen, rows, 1), threes, slice(seen, {range(0, 2), range(0, 6, 2)}));
    tape.backward(sum(broadcast_to(sum(joined), {2, 3})) + sum(taken) + sum(gather(stack({x[0], x[1]}), picks, 0)));
    x.zero_grad();
  };
  for (int warm_up = 0; warm_up < 3; ++warm_up) step();
  const std::int64_t before = heap_allocations();
  step();
  EXPECT_EQ(heap_allocations(), before);
}

std::unique_ptr<SequenceModel> small_model(std::string_view name, const Task& task, const ModelForm& form = {}) {
  Random random(1);
  return make_model(name,
                    {.input = task.input_size(),
                     .hidden = 16,
                     .output = task.output_size(),
                     .time = task.sequence_length(),
                     .form = form},
                    random);
}

/// Counts what ten steps of a training take once it is steady. A thread that was not there for the first steps, on a
/// busy machine, takes its buffers later; what every step takes shows each time.
struct Taken {
  std::int64_t blocks, allocations;
};
Taken taken_when_steady(Trainer& trainer) {
  const auto taken_by = [&](int steps) {
    const Taken before{memory_stats().fresh_blocks, heap_allocations()};
    for (int step = 0; step < steps; ++step) trainer.step();
    return Taken{memory_stats().fresh_blocks - before.blocks, heap_allocations() - before.allocations};
  };
  taken_by(5);
  Taken taken = taken_by(10);
  for (int again = 0; again < 3 && taken.blocks + taken.allocations > 0; ++again) taken = taken_by(10);
  return taken;
}

/// The task; if its lengths differ from step to step, at one of them.
std::unique_ptr<Task> at_one_length(std::string_view name) {
  std::unique_ptr<Task> task = make_task(name);
  return task->has_lengths() ? task->of_length(7) : std::move(task);
}

void expect_nothing_taken(std::string_view model_name, std::string_view task_name) {
  const auto task = at_one_length(task_name);
  const auto model = small_model(model_name, *task);
  Trainer trainer(*model, *task, {.steps = 50, .batch = 16});
  const Taken taken = taken_when_steady(trainer);
  EXPECT_EQ(taken.allocations, 0) << model_name << " on " << task_name;
  EXPECT_EQ(taken.blocks, 0) << model_name << " on " << task_name;
}

/// A batch is drawn by its task alone, and a model sees no more of the task than sizes and kinds of answers.
TEST(Heap, ASteadyTrainingStepTakesNothing) {
  for (const std::string_view task_name : task_names()) expect_nothing_taken("lstm", task_name);
  for (const std::string_view name : model_names())
    for (const char* task_name : {"babi", "copy", "object-tracking", "graph-reachability", "nth-farthest"})
      expect_nothing_taken(name, task_name);
}

TEST(Heap, AStepThroughLayersWithDropoutAndPositionsTakesNothing) {
  const auto task = make_task("babi");
  for (const std::string_view name : model_names())
    for (const RowPositions positions : {RowPositions::sinusoidal, RowPositions::rotary, RowPositions::alibi}) {
      const ModelForm all_options{
          .layers = 2, .dropout = 0.1, .bidirectional = true, .positions = positions, .feed_forward = 8};
      const auto model =
          small_model(name, *task, without_missing_options({.name = std::string(name), .form = all_options}).form);
      Trainer trainer(*model, *task, {.steps = 50, .batch = 16});
      EXPECT_EQ(taken_when_steady(trainer).allocations, 0) << name << " with " << name_of(positions);
    }
}

TEST(Heap, AStepWithGroupsAndAnAverageTakesNothing) {
  const auto task = make_task("babi");
  const auto model = small_model("lstm", *task);
  Trainer trainer(*model, *task, {.steps = 50, .batch = 16, .groups = {{.names = "bias", .rate = 2}}, .average = 0.9});
  const Taken taken = taken_when_steady(trainer);
  EXPECT_EQ(taken.allocations, 0);
  EXPECT_EQ(taken.blocks, 0);
}

}  // namespace
}  // namespace retrace

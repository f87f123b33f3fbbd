// Handles cross threads in every direction: nothing is lost, freed twice or read after it was freed, and no call has to
// announce it.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <retrace/core/tensor/memory.h>
#include <retrace/nn/nn.h>

namespace retrace {
namespace {

/// Runs body(worker) on so many threads at once.
template <class Body> void on_threads(int count, Body&& body) {
  std::atomic<int> waiting{count};
  std::vector<std::jthread> threads;
  for (int worker = 0; worker < count; ++worker)
    threads.emplace_back([&, worker] {
      set_threads(1);
      --waiting;
      while (waiting > 0) std::this_thread::yield();  // all begin together
      body(worker);
    });
}

/// Runs `body` often, until the bytes in use have stopped growing, which a handle lost in each round would prevent.
/// (They grow at first: memory for handles is kept, by the dozen, for the most that were ever alive at once, and that
/// depends on how the threads happen to overlap.)
void expect_nothing_lost(const std::function<void()>& body) {
  constexpr int rounds = 30, attempts = 20;
  constexpr std::int64_t smallest_tensor = 100;  // bytes of a handle
  std::int64_t grown = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::int64_t before = memory_stats().live_bytes;
    for (int round = 0; round < rounds; ++round) body();
    grown = memory_stats().live_bytes - before;
    if (grown < rounds * smallest_tensor) return;
  }
  ADD_FAILURE() << "still growing by " << grown << " bytes in " << rounds << " rounds";
}

double total(const Tensor& x) {
  double sum = 0;
  for (const float value : x.values<float>()) sum += value;
  return sum;
}

TEST(ReferenceCount, ThreadsReadCopyAndDropTheSameTensors) {
  expect_nothing_lost([] {
    const Tensor w = parameter(ones({50, 40}), "w"), k = full({50, 40}, 2);
    on_threads(4, [&](int) {
      for (int call = 0; call < 500; ++call) {
        const Tensor also_w = w, part = w[call % 50], cut = k.detach();
        ASSERT_EQ(total(also_w), 2000);
        ASSERT_EQ(total(part), 40);
        ASSERT_EQ(total(cut), 4000);
      }
    });
    EXPECT_EQ(total(w), 2000);
  });
}

TEST(ReferenceCount, ATensorOutlivesTheThreadThatMadeIt) {
  expect_nothing_lost([] {
    std::vector<Tensor> made(8);
    on_threads(8, [&](int worker) { made[static_cast<std::size_t>(worker)] = full({100}, worker); });
    for (int worker = 0; worker < 8; ++worker) EXPECT_EQ(total(made[static_cast<std::size_t>(worker)]), 100 * worker);
  });
}

TEST(ReferenceCount, ATensorIsDroppedByAThreadThatDidNotMakeIt) {
  expect_nothing_lost([] {
    std::vector<Tensor> made;
    for (int k = 0; k < 8; ++k) made.push_back(full({100}, k));
    on_threads(8, [&](int worker) {
      const Tensor mine = std::move(made[static_cast<std::size_t>(worker)]);
      EXPECT_EQ(total(mine), 100 * worker);
    });
  });
}

TEST(ReferenceCount, AThreadThatNeverMadeATensorDropsOneAndThenMakesOthers) {
  expect_nothing_lost([] {
    Tensor x = full({100}, 1);
    std::jthread([x = std::move(x)]() mutable {
      x = Tensor();
      const Tensor y = full({100}, 3), z = y[7];
      EXPECT_EQ(total(y), 300);
      EXPECT_EQ(total(z), 3);
    });
  });
}

TEST(ReferenceCount, BatchesMadeByOneThreadAndUsedByAnotherTakeTheSameMemoryAgain) {
  constexpr std::int64_t size = 7'654'321;  // in a size class that no other test uses
  std::int64_t blocks = 0;
  for (int batch = 0; batch < 30; ++batch) {
    Tensor x = full({size}, batch);
    std::jthread([x = std::move(x)] { ASSERT_EQ(x.values<float>()[5], x.values<float>()[7]); });
    if (batch == 5) blocks = memory_stats().fresh_blocks;
  }
  EXPECT_LE(memory_stats().fresh_blocks, blocks + 2);
}

TEST(ReferenceCount, ThreadsExchangeHandlesInEveryDirection) {
  constexpr int threads = 6, places = 12, moves = 1000;
  expect_nothing_lost([] {
    std::vector<Tensor> table(places);
    std::vector<std::mutex> locks(places);
    on_threads(threads, [&](int worker) {
      Random random = Random(3).stream(static_cast<std::uint64_t>(worker));
      std::vector<Tensor> own;
      for (int move = 0; move < moves; ++move) {
        const auto place = static_cast<std::size_t>(random.integer(places));
        const auto kind = random.integer(5);
        const std::lock_guard lock(locks[place]);
        Tensor& x = table[place];
        if (kind == 0 || !x.defined()) {
          x = full({2, 3}, static_cast<double>(random.integer(100)));
        } else if (kind == 1) {
          own.push_back(x);
        } else if (kind == 2) {
          own.push_back(std::move(x));
        } else if (kind == 3) {
          x = x[1].detach();
          x = full({2, 3}, x.values<float>()[0]);
        } else if (!own.empty()) {
          std::swap(x, own[static_cast<std::size_t>(random.integer(static_cast<std::int64_t>(own.size())))]);
        }
        if (x.defined()) {
          ASSERT_EQ(total(x), 6 * x.values<float>()[0]);
        }
        if (own.size() > 20) own.clear();
      }
    });
  });
}

TEST(ReferenceCount, TapesOfManyThreadsReadTheSameConstantsAndParameters) {
  expect_nothing_lost([] {
    const Tensor k = full({3, 4}, 0.5), frozen = parameter(full({3, 4}, 2), "frozen").freeze();
    std::vector<Tensor> gradients(6);
    on_threads(6, [&](int worker) {
      for (int step = 0; step < 100; ++step) {
        const Tensor w = parameter(full({3, 4}, worker), "w");
        Tape tape({.keep = step % 2 == 0});
        tape.backward(sum(tanh(w * k) * frozen * k));
        gradients[static_cast<std::size_t>(worker)] = w.grad();
      }
    });
    for (int worker = 0; worker < 6; ++worker) {
      const double t = std::tanh(0.5 * worker);
      for (const float g : gradients[static_cast<std::size_t>(worker)].values<float>())
        EXPECT_NEAR(g, 0.5 * (1 - t * t), 1e-6);
    }
  });
}

TEST(ReferenceCount, AModelIsBuiltTrainedAndUsedByDifferentThreads) {
  expect_nothing_lost([] {
    Random random(5);
    const Linear model(4, 3, random);
    std::jthread([&] {
      Sgd sgd(model, {.lr = 0.1});
      for (int step = 0; step < 5; ++step) {
        Tape tape;
        tape.backward(sum(square(model(ones({2, 4})))));
        sgd.step();
      }
    }).join();
    Tensor gradient;
    {
      Tape tape;
      tape.backward(sum(model(ones({2, 4}))));
      gradient = model.weight.grad();
    }
    std::jthread([&, held = gradient] {
      for (const float g : held.values<float>()) EXPECT_EQ(g, 2);
      zero_grad(model);
    }).join();
  });
}

TEST(ReferenceCount, ATapeMayEndOnAnotherThread) {
  expect_nothing_lost([] {
    const Tensor w = parameter(full({5}, 3), "w");
    std::unique_ptr<Tape> tape;
    Tensor y;
    std::jthread([&] {
      tape = std::make_unique<Tape>();
      y = square(w * 2);
      const NoTape suspended;
    }).join();
    const Tensor also = tape->records().back()->output(0);
    EXPECT_EQ(total(also), 180);
    tape.reset();
    EXPECT_EQ(total(y), 180);
  });
}

thread_local Tensor left_to_the_end;

TEST(ReferenceCount, WhatAThreadLeavesToItsEndIsFreed) {
  expect_nothing_lost([] {
    const Tensor x = full({100}, 1);
    on_threads(3, [&](int worker) {
      left_to_the_end = worker == 0 ? x : full({100}, worker);
      const Tensor y = left_to_the_end[worker];
      EXPECT_EQ(total(y), worker == 0 ? 1 : worker);
    });
    EXPECT_EQ(total(x), 100);
  });
}

TEST(ReferenceCount, AModelAnswersManyThreadsWithTheSameBits) {
  Random random(1);
  const TransformerEncoderLayer encoder(8, random, {.heads = 2});
  const Lstm lstm(8, 6, random);
  const Tensor x = random.normal({3, 5, 8});
  const auto answer = [&] {
    const Tensor y = lstm(encoder(x)).y;
    return std::vector<float>(y.values<float>().begin(), y.values<float>().end());
  };
  const std::vector<float> expected = answer();
  on_threads(8, [&](int) {
    for (int call = 0; call < 50; ++call) ASSERT_EQ(answer(), expected);
  });
}

}  // namespace
}  // namespace retrace

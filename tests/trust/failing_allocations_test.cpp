// What is left when a tensor cannot be allocated: every reference to a storage is given back. This program defines the
// call by which the pool takes memory from the system.
#include <gtest/gtest.h>
#include <retrace/nn/nn.h>

#include <cstdlib>
#include <limits>
#include <new>

namespace {

std::int64_t calls_until_failure = std::numeric_limits<std::int64_t>::max();  // from there on, all fail

}  // namespace

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (calls_until_failure == 0) return nullptr;
  --calls_until_failure;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

namespace retrace {
namespace {

/// Lets all allocations after the first ones fail while it lives.
struct Failing {
  explicit Failing(std::int64_t calls = 0) { calls_until_failure = calls; }
  ~Failing() { calls_until_failure = std::numeric_limits<std::int64_t>::max(); }
};

/// Nodes for the tensors of a test, so that none of their blocks, which are kept, is made in it.
void warm_up() {
  Tensors nodes;
  for (int k = 0; k < 4096; ++k) nodes.push_back(zeros({1}));
}

/// Calls make until no node is left for its tensors.
template <class Make> void expect_all_given_back(const char* name, Make&& make) {
  const std::int64_t before = memory_stats().live_bytes;
  {
    const Tensor w = parameter(full({100}, 2));
    {
      Tape tape;
      tape.backward(sum(w * w));
    }
    Tensors held;
    held.reserve(1 << 20);
    const Failing failing;
    EXPECT_THROW(
        {
          while (true) held.push_back(make(w));
        },
        MemoryError)
        << name;
  }
  EXPECT_EQ(memory_stats().live_bytes, before) << name;
}

TEST(FailingAllocations, LeaveNoReferenceOfATensorThatWasNotMade) {
  warm_up();
  expect_all_given_back("view", [](const Tensor& w) { return view(w, {10}); });
  expect_all_given_back("grad", [](const Tensor& w) { return w.grad(); });
  expect_all_given_back("detach", [](const Tensor& w) { return w.detach(); });
  expect_all_given_back("empty", [](const Tensor&) { return empty({0}); });
}

/// One after the other, the allocations of a step fail. Each has sizes of its own, which no free block has.
TEST(FailingAllocations, InAStepLeaveNothingBehind) {
  warm_up();
  int failures = 0;
  for (std::int64_t calls = 0; calls < 20; ++calls) {
    const std::int64_t before = memory_stats().live_bytes;
    {
      Random random(1);
      const Lstm lstm(3, 40 + 8 * calls, random);
      const Tensor x = random.normal({5, 4, 3});
      const Failing failing(calls);
      try {
        Tape tape;
        tape.backward(mean(square(lstm(x).y)));
      } catch (const MemoryError&) {
        ++failures;
      } catch (const std::bad_alloc&) {  // of the standard library's aligned operator new
        ++failures;
      }
    }
    EXPECT_EQ(memory_stats().live_bytes, before) << calls;
  }
  EXPECT_GE(failures, 5);
}

}  // namespace
}  // namespace retrace

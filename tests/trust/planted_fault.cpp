// planted_fault FAULT: makes a mistake that a sanitizer must report. A build whose sanitizer sees none of these would
// pass every other test as well.
#include <cstdint>
#include <iostream>
#include <limits>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include <retrace/core/core.h>

namespace {

using namespace retrace;

// The elements of a tensor that is gone: its block waits in the pool, which has not returned it to the system.
double element_of_a_tensor_that_is_gone() {
  std::span<const float> elements;
  {
    const Tensor x = full({3}, 1, f32);
    elements = x.values<float>();
  }
  return elements[0];
}

// A block of the pool is longer than the tensor.
double element_past_the_last() {
  const Tensor x = full({3}, 1, f32);
  return x.values<float>().data()[3];
}

double element_of_a_vector_past_the_last() {
  const std::vector<double> numbers(3);
  volatile std::size_t place = 3;
  return numbers[place];
}

double sum_that_overflows() {
  volatile int largest = std::numeric_limits<int>::max();
  return largest + 1;
}

double memory_that_nobody_returns() {
  int* volatile numbers = new int[100];
  numbers[0] = 1;
  numbers = nullptr;
  return 0;
}

// Two threads write to the same element.
double race_for_an_element() {
  Tensor x = full({1}, 0, f32);
  const std::span<float> elements = x.mutable_values<float>();
  const auto add = [&] {
    for (int k = 0; k < 1000; ++k) elements[0] += 1;
  };
  std::thread first(add), second(add);
  first.join();
  second.join();
  return elements[0];
}

// A loop over threads whose parts write to the same element.
double race_in_a_loop() {
  Tensor x = full({1}, 0, f32);
  const std::span<float> elements = x.mutable_values<float>();
  set_threads(2);
  for (int k = 0; k < 100; ++k)
    parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t) { elements[0] += float(begin); });
  return elements[0];
}

struct Fault {
  std::string_view name;
  double (*make)();
};
constexpr Fault faults[] = {
    {"gone", element_of_a_tensor_that_is_gone},
    {"past", element_past_the_last},
    {"vector", element_of_a_vector_past_the_last},
    {"overflow", sum_that_overflows},
    {"leak", memory_that_nobody_returns},
    {"race", race_for_an_element},
    {"loop", race_in_a_loop},
};

}  // namespace

int main(int count, char** arguments) {
  for (const Fault& fault : faults)
    if (count == 2 && fault.name == arguments[1]) {
      std::cout << fault.make() << '\n';
      return 0;
    }
  std::cerr << "usage: planted_fault gone | past | vector | overflow | leak | race | loop\n";
  return 2;
}

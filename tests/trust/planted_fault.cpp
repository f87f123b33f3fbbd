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
float element_of_a_tensor_that_is_gone() {
  std::span<const float> elements;
  {
    const Tensor x = full({3}, 1, f32);
    elements = x.values<float>();
  }
  return elements[0];
}

// A block of the pool is longer than the tensor.
float element_past_the_last() {
  const Tensor x = full({3}, 1, f32);
  return x.values<float>().data()[3];
}

std::int64_t element_of_a_vector_past_the_last() {
  const std::vector<std::int64_t> numbers(3);
  volatile std::size_t place = 3;
  return numbers[place];
}

int sum_that_overflows() {
  volatile int largest = std::numeric_limits<int>::max();
  return largest + 1;
}

void memory_that_nobody_returns() {
  int* volatile numbers = new int[100];
  numbers[0] = 1;
  numbers = nullptr;
}

// Two threads write to the same element.
float race_for_an_element() {
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
float race_in_a_loop() {
  Tensor x = full({1}, 0, f32);
  const std::span<float> elements = x.mutable_values<float>();
  set_threads(2);
  for (int k = 0; k < 100; ++k)
    parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t) { elements[0] += float(begin); });
  return elements[0];
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view fault = count == 2 ? arguments[1] : "";
  if (fault == "gone")
    std::cout << element_of_a_tensor_that_is_gone() << '\n';
  else if (fault == "past")
    std::cout << element_past_the_last() << '\n';
  else if (fault == "vector")
    std::cout << element_of_a_vector_past_the_last() << '\n';
  else if (fault == "overflow")
    std::cout << sum_that_overflows() << '\n';
  else if (fault == "leak")
    memory_that_nobody_returns();
  else if (fault == "race")
    std::cout << race_for_an_element() << '\n';
  else if (fault == "loop")
    std::cout << race_in_a_loop() << '\n';
  else
    std::cerr << "usage: planted_fault gone | past | vector | overflow | leak | race | loop\n";
}

// Runs every case of every *.safetensors file of a folder (RETRACE_GOLDEN_DIR, by default tests/golden) as a test of
// its own: forward and backward in f64, and in f32 where the inputs are exact in it. An op that no adapter knows counts
// as skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <utility>

#include <retrace/tests/golden_test/adapters.h>
#include <retrace/tests/golden_test/comparison.h>

namespace retrace::golden {
namespace {

const Adapters& all_adapters() {
  static const Adapters adapters = [] {
    Adapters result;
    for (const auto group : {elementwise_adapters, comparison_adapters, reduction_adapters, linalg_adapters,
                             shape_adapters, sorting_adapters, softmax_loss_adapters, norm_adapters, attention_adapters,
                             recurrent_adapters, relational_adapters, memory_core_adapters, graph_adapters,
                             optim_adapters, training_adapters, losses_and_einsum_adapters})
      result.merge(group());
    return result;
  }();
  return adapters;
}

void compare(const std::string& what, const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  const std::string message = difference(got, want, tolerance);
  if (!message.empty()) ADD_FAILURE() << what << " in " << to_text(got.dtype()) << " " << message;
}

/// The adapter's outputs; leaves the gradients in the arguments if the case has cotangents.
NamedTensors run(const GoldenCase& golden, const Arguments& arguments, Adapter adapter) {
  if (golden.cotangents.empty()) return adapter(arguments);
  Tape tape;
  NamedTensors outputs = adapter(arguments);
  Tensors from, cotangents;
  for (const auto& [name, cotangent] : golden.cotangents) {
    from.push_back(outputs.at(name));
    cotangents.push_back(cotangent.to(arguments.dtype()));
  }
  tape.backward(from, cotangents);
  return outputs;
}

double largest_input(const GoldenCase& golden) {
  double largest = 0;
  for (const auto& [name, x] : golden.inputs) largest = std::max(largest, largest_finite(x));
  return largest;
}

/// The extra tolerance for gradients that are exactly 0 (softmax is invariant to an offset of the keys). In f32 they
/// are roundings of the others, from which an optimiser that divides by sqrt(v) + eps makes a step of lr rounding /
/// eps. 0 for a case without such an optimiser.
double drift_in_training(const GoldenCase& golden) {
  const auto number = [&](const char* key, double otherwise) {
    const auto found = golden.attributes.find(key);
    return found == golden.attributes.end() ? otherwise : to_number(found->second);
  };
  const auto optimiser = golden.attributes.find("optimiser");
  if (optimiser == golden.attributes.end() || !optimiser->second.starts_with("adam")) return 0;
  constexpr double rounding = 0x1p-24;
  return number("steps", 1) * number("lr", 0) * std::min(1.0, rounding / number("eps", 1));
}

Tolerance f32_tolerance(const GoldenCase& golden) {
  Tolerance result = tolerance_f32(largest_input(golden));
  result.atol += drift_in_training(golden);
  return result;
}

void check(const GoldenCase& golden, Adapter adapter, Dtype dtype, const Tolerance& tolerance) {
  const DtypeScope scope(dtype);
  const Arguments arguments(golden, dtype);
  const NamedTensors outputs = run(golden, arguments, adapter);
  for (const auto& [name, want] : golden.outputs) {
    const auto got = outputs.find(name);
    if (got == outputs.end())
      ADD_FAILURE() << "output " << name << " is missing";
    else
      compare("output " + name, got->second, want, tolerance);
  }
  for (const auto& [name, want] : golden.gradients) {
    const Tensor& x = arguments[name];
    compare("gradient of " + name, x.has_grad() ? x.grad() : zeros_like(x), want, tolerance);  // none is zero
  }
}

class GoldenTest : public testing::Test {
 public:
  explicit GoldenTest(const GoldenCase& golden) : golden_(golden) {}

 private:
  void TestBody() override {
    const auto adapter = all_adapters().find(golden_.op);
    if (adapter == all_adapters().end()) GTEST_SKIP() << "no adapter for " << golden_.op;
    try {
      check(golden_, adapter->second, f64, {.rtol = golden_.rtol, .atol = golden_.atol});
      if (golden_.exact_in_f32) check(golden_, adapter->second, f32, f32_tolerance(golden_));
    } catch (const Unsupported& reason) {
      GTEST_SKIP() << golden_.op << ": " << reason.what();
    }
  }

  const GoldenCase& golden_;
};

std::vector<GoldenCase> read_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<GoldenCase> cases;
  for (const std::filesystem::path& path : paths)
    for (GoldenCase& golden : read_cases(path.string())) cases.push_back(std::move(golden));
  return cases;
}

void register_tests(const std::vector<GoldenCase>& cases) {
  for (const GoldenCase& golden : cases)
    testing::RegisterTest(golden.file.c_str(), golden.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&golden] { return new GoldenTest(golden); });
}

/// The last line: the numbers of tests that ran.
void print_summary() {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::cout << "golden: " << all.test_to_run_count() << " cases, " << all.successful_test_count() << " passed, "
            << all.failed_test_count() << " failed, " << all.skipped_test_count() << " skipped" << std::endl;
}

}  // namespace
}  // namespace retrace::golden

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* folder = std::getenv("RETRACE_GOLDEN_DIR");
  std::vector<retrace::golden::GoldenCase> cases;
  try {
    cases = retrace::golden::read_folder(folder != nullptr ? folder : RETRACE_GOLDEN_DIR);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  if (cases.empty()) {
    std::cerr << "no *.safetensors file with cases; set RETRACE_GOLDEN_DIR to a folder that has some\n";
    return EXIT_FAILURE;
  }
  retrace::golden::register_tests(cases);
  const int status = RUN_ALL_TESTS();
  retrace::golden::print_summary();
  return status;
}

#pragma once
/// Inputs for the functions of benchmarks/gradbench, and their answers.
#include <gtest/gtest.h>
#include <retrace/benchmarks/gradbench/retrace_tool.h>
#include <retrace/tests/gradbench/plain.h>
#include <retrace/tests/json.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace retrace::gradbench {

using plain::Matrix;
using plain::Numbers;

class GradBench : public testing::Test {
 protected:
  Json evaluate(const std::string& module, const std::string& function, const Json& input) {
    Json message;
    message["id"] = 7, message["kind"] = "evaluate";
    message["module"] = module, message["function"] = function, message["input"] = input;
    return Json::parse(respond(retrace_tool, message.dump()));
  }
  Json output(const std::string& module, const std::string& function, const Json& input) {
    const Json response = evaluate(module, function, input);
    EXPECT_EQ(response["id"], 7);
    if (!response["success"].get<bool>()) throw std::runtime_error(response["error"].get<std::string>());
    return response["output"];
  }
  /// All numbers of an answer, those of an object in the order of the names.
  static Numbers numbers_in(const Json& json, const std::vector<std::string>& names = {}) {
    Numbers result;
    const auto add = [&](const Json& part) {
      const Numbers numbers = numbers_in(part);
      result.insert(result.end(), numbers.begin(), numbers.end());
    };
    if (json.is_number()) return {json.get<double>()};
    if (names.empty())
      for (const Json& element : json) add(element);
    for (const std::string& name : names) add(json[name]);
    return result;
  }
  static void expect_near(const Numbers& actual, const Numbers& expected, double tolerance = 1e-7) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t k = 0; k < actual.size(); ++k)
      EXPECT_NEAR(actual[k], expected[k], tolerance * std::max(1.0, std::abs(expected[k]))) << k;
  }
  Numbers some(std::size_t count, double low = -1, double high = 1) {
    Numbers result(count);
    for (double& each : result) each = std::uniform_real_distribution(low, high)(generator_);
    return result;
  }
  Matrix some_rows(std::size_t rows, std::size_t columns) { return plain::rows_of(some(rows * columns), columns); }

  DtypeScope scope_{f64};
  std::mt19937 generator_{7};
};

}  // namespace retrace::gradbench

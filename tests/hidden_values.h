// Runs of a function on inputs of which a part is hidden, by a mask or by lengths: what stands there must not change a
// bit of its results and gradients.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>

namespace retrace {

/// The numbers that hidden elements hold: NaN, infinities, and numbers whose products overflow.
inline std::vector<double> hidden_values(Dtype dtype) {
  const double infinite = std::numeric_limits<double>::infinity();
  return {std::numeric_limits<double>::quiet_NaN(), infinite, -infinite, dtype == f32 ? 2e38 : 1e308};
}

/// An input, and an i64 mask that broadcasts to it, 1 where it is hidden; undefined: nowhere.
struct InputWithHidden {
  Tensor values;
  Tensor hidden = {};

  Tensor filled(double value) const {
    return hidden.defined() ? where(hidden, full_like(values, value), values) : values;
  }
};

struct HidingCase {
  std::string name;
  std::function<Tensors(const Tensors& inputs)> function;
  std::vector<InputWithHidden> inputs;
  Tensors weights = {};  // further leaves whose gradients are compared
  Tensors unseen = {};   // of each output: 1 (i64) where it depends on hidden elements, and gets no cotangent
  Dtype dtype = f64;
};

/// The outputs, with 0 where they are not compared, and all gradients.
inline Tensors run_hiding(const HidingCase& one, double value, bool expand_fused) {
  for (const Tensor& weight : one.weights) weight.zero_grad();
  Tensors inputs;
  for (const InputWithHidden& input : one.inputs) inputs.push_back(parameter(input.filled(value)));
  Tape tape({.expand_fused = expand_fused});
  const Tensors outputs = one.function(inputs);
  Tensors results, cotangents;
  Random random(77);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const bool has_unseen = k < one.unseen.size() && one.unseen[k].defined();
    const auto seen = [&](const Tensor& x) { return has_unseen ? where(one.unseen[k], zeros_like(x), x) : x; };
    cotangents.push_back(seen(random.normal(outputs[k].shape(), outputs[k].dtype())).detach());
    results.push_back(seen(outputs[k].detach()));
  }
  tape.backward(outputs, cotangents);
  for (const Tensor& x : inputs) results.push_back(x.grad());
  for (const Tensor& weight : one.weights) results.push_back(weight.has_grad() ? weight.grad() : zeros({}));
  return results;
}

/// Expects the bits of zeros in the hidden places for everything else that may be there.
inline void expect_hidden(const HidingCase& one) {
  for (const bool expand_fused : {false, true}) {
    const Tensors expected = run_hiding(one, 0, expand_fused);
    for (const double value : hidden_values(one.dtype)) {
      const Tensors results = run_hiding(one, value, expand_fused);
      for (std::size_t k = 0; k < results.size(); ++k)
        EXPECT_TRUE(same_bits(results[k], expected[k])) << one.name << (expand_fused ? ", composed" : "") << ", "
                                                        << one.dtype << ", " << value << " where hidden: result " << k;
    }
  }
}

}  // namespace retrace

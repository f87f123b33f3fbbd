// A short causal convolution in time, with which layers of matrix memories see neighbouring rows.
#pragma once

#include <retrace/nn/layers/layers.h>

namespace retrace {

/// y_t = the sum of w_j x_(t-j) over j = 0 to taps - 1, plus b, feature by feature, for x [B, T, F] and rows of zeros
/// before the first. weight [taps, F] is initially uniform in +-1 / sqrt(taps), as PyTorch's Conv1d with one group per
/// feature, and bias [F] is 0. The constructor throws ValueError without taps; operator() throws ShapeError unless x is
/// [B, T, F].
struct ShortConvolution {
  Parameter weight, bias;

  ShortConvolution(std::int64_t features, Random& random, std::int64_t taps = 4);
  Tensor operator()(const Tensor& x) const;
  std::int64_t taps() const { return weight.dim(0); }
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};

}  // namespace retrace

// The formulas of a call of layer_norm or residual_layer_norm.
#pragma once

#include <retrace/ops/op.h>

namespace retrace {

/// Where the residual, gamma and beta are among the inputs; -1: not given.
struct LayerNormAttributes {
  int residual = -1;
  int gamma = -1;
  int beta = -1;
  int axes = 1;
  double eps = 0;
  bool from_y = false;  // whether the gradient finds n from y; else from x + residual
};

inline Formulas layer_norm_formulas(const Record& r) {
  const auto& attributes = r.attributes<LayerNormAttributes>();
  const int rank = r.in(0).shape.rank();
  std::array<bool, max_rank> normalised{};
  std::fill(normalised.begin() + (rank - attributes.axes), normalised.begin() + rank, true);
  const std::string last = along_axes(normalised, rank);
  const std::string s = attributes.residual > 0 ? "s" : "x",
                    deviation = text("v = mean (", s, " - mean ", s, ")^2", last);
  const std::string root = text("sqrt(v + ", attributes.eps, ")");
  std::string backward =
      text(attributes.gamma > 0 ? "g = dy gamma" : "g = dy", ", d", s, " = (g - mean g - n mean g n) / ", root, last);
  if (attributes.residual > 0) backward += ", dx = ds, dresidual = ds";
  if (attributes.gamma > 0) backward += ", dgamma = " + sum_over_rows("dy n", rank, attributes.axes);
  if (attributes.beta > 0) backward += ", dbeta = " + sum_over_rows("dy", rank, attributes.axes);
  return {text(attributes.residual > 0 ? "s = x + residual, " : "", deviation, ", n = (", s, " - mean ", s, ") / ",
               root, last, ", y = n", attributes.gamma > 0 ? " gamma" : "", attributes.beta > 0 ? " + beta" : ""),
          backward};
}
inline AttributeList layer_norm_attributes(const Record& r) {
  const auto& attributes = r.attributes<LayerNormAttributes>();
  AttributeList list{{"axes", attributes.axes}, {"eps", attributes.eps}};
  if (attributes.gamma < 0 && attributes.beta > 0)
    list.push_back({"inputs", std::string(attributes.residual > 0 ? "x, residual, beta" : "x, beta")});
  return list;
}
inline constexpr OpInfo layer_norm_info{
    "layer_norm",
    "v = mean (x - mean x)^2, n = (x - mean x) / sqrt(v + eps), y = n gamma + beta",
    "g = dy gamma, dx = (g - mean g - n mean g n) / sqrt(v + eps), dgamma = sum dy n, dbeta = sum dy",
    "x, gamma, beta",
    layer_norm_formulas,
    layer_norm_attributes};
inline constexpr OpInfo residual_layer_norm_info{
    "residual_layer_norm",
    "s = x + residual, v = mean (s - mean s)^2, n = (s - mean s) / sqrt(v + eps), y = n gamma + beta",
    "g = dy gamma, ds = (g - mean g - n mean g n) / sqrt(v + eps), dx = ds, dresidual = ds, dgamma = sum dy n, "
    "dbeta = sum dy",
    "x, residual, gamma, beta",
    layer_norm_formulas,
    layer_norm_attributes};

}  // namespace retrace

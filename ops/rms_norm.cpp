#include <retrace/ops/loops/hidden_row.h>
#include <retrace/ops/loops/rescaled.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

Formulas rms_norm_formulas(const Record& r) {
  const int rank = r.in(0).shape.rank();
  const bool has_gamma = r.inputs() > 1;
  const std::string last = along_axis(rank - 1), root = text("sqrt(mean x^2 + ", r.attributes<double>(), ")");
  std::string rms_norm_backward = text(has_gamma ? "g = dy gamma" : "g = dy", ", dx = (g - n mean g n) / ", root, last);
  if (has_gamma) rms_norm_backward += ", dgamma = " + sum_over_rows("dy n", rank, 1);
  return {text("n = x / ", root, last, has_gamma ? ", y = n gamma" : ", y = n"), rms_norm_backward};
}
AttributeList rms_norm_attributes(const Record& r) { return {{"eps", r.attributes<double>()}}; }
constexpr OpInfo rms_norm_info{"rms_norm",
                               "n = x / sqrt(mean x^2 + eps), y = n gamma",
                               "g = dy gamma, dx = (g - n mean g n) / sqrt(mean x^2 + eps), dgamma = sum dy n",
                               "x, gamma",
                               rms_norm_formulas,
                               rms_norm_attributes};

template <class T>
void gradient_of_x(const T* dy, const T* gamma, const T* normal, const T* inverse, std::int64_t rows,
                   std::int64_t width, const GradientSlot<T>& dx) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* n = normal + row * width;
    if (is_hidden_row(dy + row * width, inverse[row], width)) {
      dx.from(row * width).put(width, [](std::int64_t) { return T(0); });
      continue;
    }
    const auto g = [=](std::int64_t k) {
      return gamma == nullptr ? dy[row * width + k] : dy[row * width + k] * gamma[k];
    };
    const T mean_gn =
        ordered_sum<T>(width, [=](std::int64_t k) { return g(k) * n[k]; }) / static_cast<T>(static_cast<double>(width));
    dx.from(row * width).put(width, [=](std::int64_t k) { return (g(k) - n[k] * mean_gn) * inverse[row]; });
  }
}

void rms_norm_backward(Record& r) {
  const std::int64_t width = r.in(0).shape[-1], rows = r.saved(1).numel();
  dispatch_real(r.out(0).dtype, rms_norm_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const T* normal = r.saved(0).values<T>();
    const T* inverse = r.saved(1).values<T>();
    const T* gamma = r.saved(2) ? r.saved(2).values<T>() : nullptr;
    if (r.inputs() > 1 && r.wants(1)) {
      T* dgamma = r.grad_in<T>(1, Begin::zeroed).values;
      for (std::int64_t row = 0; row < rows; ++row) {
        const T *from = dy + row * width, *n = normal + row * width;
        if (is_hidden_row(from, inverse[row], width)) continue;
        for (std::int64_t k = 0; k < width; ++k) dgamma[k] += from[k] * n[k];
      }
    }
    if (r.wants(0)) gradient_of_x(dy, gamma, normal, inverse, rows, width, r.flow<T>(0).dx);
  });
}

/// n and y of a row whose squares overflow or underflow; returns 1 / sqrt(mean x^2 + eps).
template <class T> T put_rescaled(const T* x, const T* gamma, double eps, std::int64_t width, T* normal, T* y) {
  const RescaledRow<T> rescaled(x, width, eps, false);
  for (std::int64_t k = 0; k < width; ++k) {
    normal[k] = rescaled.normal(x[k]);
    y[k] = gamma == nullptr ? normal[k] : normal[k] * gamma[k];
  }
  return rescaled.inverse();
}

template <class T>
void rms_norm_forward(const T* x, const T* gamma, double eps, std::int64_t rows, std::int64_t width, T* normal,
                      T* inverse, T* y) {
  parallel_for(rows, 4096 / (width + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* from = x + row * width;
      const T squares = ordered_sum<T>(width, [=](std::int64_t k) { return from[k] * from[k]; });
      inverse[row] = T(1) / sqrt(squares / static_cast<T>(static_cast<double>(width)) + static_cast<T>(eps));
      if (!comes_from_digits(inverse[row])) {
        inverse[row] = put_rescaled(from, gamma, eps, width, normal + row * width, y + row * width);
        continue;
      }
      for (std::int64_t k = 0; k < width; ++k) {
        const T n = from[k] * inverse[row];
        normal[row * width + k] = n;
        y[row * width + k] = gamma == nullptr ? n : n * gamma[k];
      }
    }
  });
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& gamma, double eps) {
  check_defined(rms_norm_info.name, x, "x");
  if (x.rank() == 0)
    throw ShapeError(text("rms_norm: ", describe_operand("x", x), " has no last axis to normalise; reshape it"));
  if (!(eps >= 0))
    throw ValueError(text("rms_norm: ", describe_operand("x", x), " with eps ", eps, "; eps must be 0 or more"));
  if (gamma.defined() && gamma.shape() != Shape{x.dim(-1)})
    throw ShapeError(text("rms_norm: ", describe_operand("gamma", gamma), " must be [", x.dim(-1),
                          "], one number per element of the last axis of ", describe_operand("x", x), "; reshape it"));
  if (gamma.defined() && gamma.dtype() != x.dtype()) {
    const auto [like_gamma, like_x] = with_tangents(rms_norm_info.name, x, gamma, "x", "gamma");
    return rms_norm(like_gamma, like_x, eps);
  }
  Tensor normal, inverse, y;
  dispatch_real(x, "x", rms_norm_info.name, [&]<class T>(T) {
    normal = empty_like(x);
    inverse = empty(x.shape().first(x.rank() - 1), x.dtype());
    y = empty_like(x);
    rms_norm_forward(x.values<T>().data(), gamma.defined() ? gamma.values<T>().data() : nullptr, eps, inverse.numel(),
                     x.dim(-1), OpAccess::values<T>(normal), OpAccess::values<T>(inverse), OpAccess::values<T>(y));
  });
  const Tensor* saved_gamma = x.wants_gradient() ? &gamma : nullptr;
  if (gamma.defined())
    record(rms_norm_info, rms_norm_backward, {&x, &gamma}, {&y}, {&normal, &inverse, saved_gamma}, eps);
  else
    record(rms_norm_info, rms_norm_backward, {&x}, {&y}, {&normal, &inverse, nullptr}, eps);
  return y;
}

}  // namespace retrace

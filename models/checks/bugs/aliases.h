// Buffers that two values share, and values that change before the backward reads them.
#pragma once

#include <algorithm>
#include <cmath>

#include <retrace/core/tape/recording.h>
#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

/// Writes into x where no tape notices it, as a kernel does that is given a buffer too early.
inline void overwrite(const Tensor& x, const Tensor& by) {
  dispatch_real(x.dtype(), "overwrite",
                [&]<class T>(T) { std::ranges::copy(by.values<T>(), const_cast<T*>(x.values<T>().data())); });
}

// ---- saved values

inline CheckCase donated_input(bool bug) {
  return of({normal({2, 3}), normal({2, 3})}, [=](const Tensors& in) {
    const Tensor carried = 1.5 * in[0], next = square(carried);
    if (bug) overwrite(carried, next);
    return Tensors{next * in[1]};
  });
}

inline CheckCase saved_view(bool bug) {
  return of({normal({2, 3})}, [=](const Tensors& in) {
    const Tensor a = 1.5 * in[0], y = square(a);
    if (bug) overwrite(a[0], zeros({3}, a.dtype()));
    return Tensors{y};
  });
}

inline CheckCase gradient_in_logits(bool bug) {
  return of({normal({2, 3})}, [=](const Tensors& in) {
    const Tensor logits = 1.5 * in[0], penalty = square(logits), y = log_softmax(logits);
    if (bug) overwrite(logits, exp(y));
    return Tensors{penalty, y};
  });
}

// ---- gradients that take the place of others

inline constexpr std::int64_t features = 4;
template <class T> T root_of_squares(const T* x, T subtracted) {
  using std::sqrt;
  T sum = 0;
  for (std::int64_t k = 0; k < features; ++k) sum += (x[k] - subtracted) * (x[k] - subtracted);
  return sqrt(sum / T(features) + T(1e-5));
}
template <class T> T mean_of(const T* x) {
  T sum = 0;
  for (std::int64_t k = 0; k < features; ++k) sum += x[k];
  return sum / T(features);
}
template <class T> T mean_product(const T* x, const T* y) {
  T sum = 0;
  for (std::int64_t k = 0; k < features; ++k) sum += x[k] * y[k];
  return sum / T(features);
}

template <class T> void put_bias_gradient(Record& r, const T* dy) {
  const GradientSlot<T> db = r.grad_in<T>(1);
  for (std::int64_t k = 0; k < features; ++k) {
    T sum = 0;
    for (std::int64_t at = k; at < r.in(0).numel(); at += features) sum += dy[at];
    db.put_at(k, sum);
  }
}

/// saved: x. With the bug, dx takes the place of dy before db has read it.
inline void layer_norm_backward(Record& r) {
  dispatch_real(r.in(0).dtype, "replay", [&]<class T>(T) {
    const bool bug = r.attributes<bool>();
    if (!bug && r.wants(1)) put_bias_gradient(r, r.grad_out<T>());
    const T* x = r.saved(0).values<T>();
    const T* kept = r.grad_out<T>();
    if (r.wants(0)) {
      const auto [dy, dx] = r.flow<T>(0);
      kept = dy;
      for (std::int64_t first = 0; first < r.in(0).numel(); first += features) {
        const T* row = dy + first;
        const T mean = mean_of(x + first), root = root_of_squares(x + first, mean), mean_dy = mean_of(row);
        T y[features];
        for (std::int64_t k = 0; k < features; ++k) y[k] = (x[first + k] - mean) / root;
        const T along = mean_product(row, y);
        dx.from(first).put(features, [&](std::int64_t k) { return (row[k] - mean_dy - y[k] * along) / root; });
      }
    }
    if (bug && r.wants(1)) put_bias_gradient(r, kept);
  });
}
inline constexpr OpInfo biased_norm{"replay", "y = layer_norm(x) + b", "db = sum dy", "x, b"};
inline CheckCase layer_norm_in_place(bool bug) {
  return of({normal({3, features}), normal({features})}, [=](const Tensors& in) {
    const Tensor y = layer_norm(in[0].detach()) + in[1].detach();
    record(biased_norm, layer_norm_backward, in, {&y}, {&in[0]}, bug);
    return Tensors{y};
  });
}

/// saved: x. With the bug, the second pass over dx reads dy where the first has written.
inline void rms_norm_backward(Record& r) {
  dispatch_real(r.in(0).dtype, "replay", [&]<class T>(T) {
    const auto [dy, dx] = r.flow<T>(0);
    for (std::int64_t first = 0; first < r.in(0).numel(); first += features) {
      const T *x = r.saved(0).values<T>() + first, *row = dy + first;
      const T root = root_of_squares(x, T(0)), along = mean_product(row, x) / (root * root);
      const GradientSlot<T> to = dx.from(first);
      if (!r.attributes<bool>() || to.add) {
        to.put(features, [&](std::int64_t k) { return (row[k] - x[k] * along) / root; });
        continue;
      }
      for (std::int64_t k = 0; k < features; ++k) to.values[k] = -x[k] * along;
      for (std::int64_t k = 0; k < features; ++k) to.values[k] = (to.values[k] + row[k]) / root;
    }
  });
}
inline constexpr OpInfo root_mean_square{"replay", "y = rms_norm(x)", "dx = (dy - y mean(dy y)) / root", "x"};
inline CheckCase rms_norm_in_place(bool bug) {
  return of({normal({3, features})}, [=](const Tensors& in) {
    const Tensor y = rms_norm(in[0].detach(), {}, 1e-5);
    record(root_mean_square, rms_norm_backward, in, {&y}, {&in[0]}, bug);
    return Tensors{y};
  });
}

inline CheckCase softmax_over_y(bool bug) {
  return of(
      {normal({3, 4})}, [](auto& in) { return softmax(in[0]); },
      [=](auto& dy, auto&, auto& y) {
        const Tensor product = y * dy;
        return Tensors{product - y * sum_last(bug ? product * dy : product)};
      });
}

/// Both gradients are in one buffer: the second is in it last.
inline CheckCase static_buffers(bool bug) {
  return of(
      {normal({2, 3}), normal({2, 3})}, [](auto& in) { return in[0] * in[1]; },
      [=](auto& dy, auto& in, auto&) {
        const Tensor last = dy * in[0];
        return Tensors{bug ? last : dy * in[1], last};
      });
}

/// The gradient of b shares a buffer with that of 3 a, which is scaled in place.
inline CheckCase one_tensor_twice(bool bug) {
  return of(
      {normal({2, 3}), normal({2, 3})}, [](auto& in) { return 3.0 * in[0] + in[1]; },
      [=](auto& dy, auto&, auto&) {
        return Tensors{3.0 * dy, bug ? 3.0 * dy : dy};
      });
}

/// Equal constants are merged into one node, which gets the gradients of both.
inline CheckCase equal_constants(bool bug) {
  const Tensor c = full({3}, 0.7, f64);
  return of(
      {c, c.clone(), normal({3})}, [](auto& in) { return in[0] * in[2] + sin(in[1]); },
      [=](auto& dy, auto& in, auto&) {
        const Tensor da = dy * in[2], db = dy * cos(in[1]);
        const Tensor same = equal(in[0], in[1]).to(dy.dtype()) * (bug ? 1.0 : 0.0);
        return Tensors{da + same * db, db + same * da, dy * in[0]};
      });
}

inline constexpr BugCard aliases[] = {
    {"pytorch#153679", "chained scans: a donated buffer overwrites an input that was saved", BugClass::alias,
     donated_input},
    {"pytorch#197887", "a saved tensor changes through a view, and no check notices", BugClass::alias, saved_view},
    {"Liger-Kernel PR#1251, #272", "cross entropy: stores its gradient in logits that others saved", BugClass::alias,
     gradient_in_logits},
    {"tillahoffmann/jax-mps#168, mlx PR#941", "layer norm: dx replaces a donated dy before db has read it",
     BugClass::alias, layer_norm_in_place},
    {"ggml#1491, llama.cpp PR#24305", "rms norm: dx in the place of dy, in two passes", BugClass::alias,
     rms_norm_in_place},
    {"llama.cpp PR#27096", "softmax: dx in the place of y, which its sum reads", BugClass::alias, softmax_over_y},
    {"pytorch#181723", "graphed callables: gradients come in one static buffer", BugClass::alias, static_buffers},
    {"InfiniTrain PR#214 (Add)", "a + b: hands out one tensor twice, which is then scaled in place", BugClass::alias,
     one_tensor_twice},
    {"tinygrad#9597", "two equal constants are one node, with the gradients of both", BugClass::alias, equal_constants},
};

}  // namespace retrace::bugs

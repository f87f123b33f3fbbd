// The loops of all broadcasting ops of two tensors. An op is a struct:
//
//   struct Mul {
//     static constexpr OpInfo info{"mul", "y = a b", "da = dy b, db = dy a", "a, b"};
//     static constexpr Reads da_reads{.b = true}, db_reads{.a = true};  // the values that da and db need
//     template <class T> static T value(T a, T b);                      // y
//     template <class T> static T da(T dy, T a, T b, T y);              // what da does not read arrives as 0
//     template <class T> static T db(T dy, T a, T b, T y);
//   };
//   Tensor mul(const Tensor& a, const Tensor& b) { return binary<Mul>(a, b); }
//
// Where da or db is dy itself, the op says .dy_itself and needs no such function.
#pragma once

#include <retrace/ops/loops/broadcast.h>
#include <retrace/ops/loops/sum_of_rows.h>
#include <retrace/ops/loops/unary.h>

namespace retrace {

struct Reads {
  bool a = false;
  bool b = false;
  bool y = false;
  bool dy_itself = false;
};

inline constexpr std::int64_t binary_grain = 16384;  // elements that are worth a thread

/// The gradient of one operand (0: a, 1: b), an element at a time.
template <class Op, int operand, class T> struct BinaryGradient {
  static constexpr Reads reads = operand == 0 ? Op::da_reads : Op::db_reads;
  const T* dy;
  const T* a = nullptr;
  const T* b = nullptr;
  const T* y = nullptr;

  explicit BinaryGradient(const Record& r) : BinaryGradient(r, r.grad_out<T>()) {}
  BinaryGradient(const Record& r, const T* gradient_of_y) : dy(gradient_of_y) {
    if constexpr (reads.a) a = r.saved(0).values<T>();
    if constexpr (reads.b) b = r.saved(1).values<T>();
    if constexpr (reads.y) y = r.saved(2).values<T>();
  }
  /// The contribution of element k of y, which was made of a[i] and b[j].
  T operator()(std::int64_t k, std::int64_t i, std::int64_t j) const {
    T of_a{}, of_b{}, of_y{};
    if constexpr (reads.a) of_a = a[i];
    if constexpr (reads.b) of_b = b[j];
    if constexpr (reads.y) of_y = y[k];
    if constexpr (reads.dy_itself)
      return dy[k];
    else if constexpr (operand == 0)
      return Op::da(dy[k], of_a, of_b, of_y);
    else
      return Op::db(dy[k], of_a, of_b, of_y);
  }
};

/// a and b have as many elements as y.
template <class T, class Gradient>
void gradient_of_whole_operands(const GradientSlot<T>& slot, std::int64_t count, const Gradient& gradient) {
  parallel_for(count, binary_grain, [=](std::int64_t begin, std::int64_t end) {
    slot.from(begin).put(end - begin, [=](std::int64_t k) { return gradient(begin + k, begin + k, begin + k); });
  });
}

/// The operand has as many elements as y; the other one is broadcast.
template <class T, class Gradient>
void gradient_of_whole_operand(const GradientSlot<T>& slot, std::int64_t count, const Broadcast& broadcast,
                               const Gradient& gradient) {
  with_inner_strides<T>(broadcast, [&](auto stride_a, auto stride_b) {
    parallel_for(count, binary_grain, [&](std::int64_t begin, std::int64_t end) {
      for_each_row(broadcast, begin, end, [&](const BroadcastRow& row) {
        slot.from(row.first).put(row.count, [=](std::int64_t k) {
          return gradient(row.first + k, row.offsets[0] + k * stride_a(), row.offsets[1] + k * stride_b());
        });
      });
    });
  });
}

/// The operand is broadcast: each of its elements sums over those of y that it went into, in y's order.
template <int operand, class T, class Gradient>
void gradient_of_broadcast_operand(T* sums, std::int64_t count, const Broadcast& broadcast, const Gradient& gradient) {
  with_inner_strides<T>(broadcast, [&](auto stride_a, auto stride_b) {
    for_each_row(broadcast, 0, count, [&](const BroadcastRow& row) {
      const auto term = [=](std::int64_t k) {
        return gradient(row.first + k, row.offsets[0] + k * stride_a(), row.offsets[1] + k * stride_b());
      };
      T* to = sums + row.offsets[operand];
      if (broadcast.stands_still(operand))
        *to += ordered_sum<T>(row.count, term);
      else
        GradientSlot<T>{to, true}.put(row.count, term);
    });
  });
}

/// Whether y is a matrix and the operand one row, which went into all of y's.
template <int operand> bool is_row_of_all(const Broadcast& broadcast) {
  return broadcast.loops == 2 && broadcast.strides[0][operand] == 1 && broadcast.strides[1][operand] == 0;
}

template <class Op, int operand, class T> void gradient_with_broadcast(Record& r) {
  const Shape& shape = r.out(0).shape;
  const std::int64_t count = shape.numel();
  const BinaryGradient<Op, operand, T> gradient(r);
  const Broadcast broadcast(shape, {&r.in(0).shape, &r.in(1).shape});
  if constexpr (gradient.reads.dy_itself) {
    if (is_row_of_all<operand>(broadcast))
      return put_sum_of_rows(gradient.dy, broadcast.extents[1], broadcast.extents[0], r.grad_in<T>(operand));
  } else if (r.in(operand).numel() == count) {
    return gradient_of_whole_operand(r.grad_in<T>(operand), count, broadcast, gradient);
  }
  gradient_of_broadcast_operand<operand>(r.grad_in<T>(operand, Begin::zeroed).values, count, broadcast, gradient);
}

template <class Op, int operand, class T> void binary_gradient(Record& r) {
  using Gradient = BinaryGradient<Op, operand, T>;
  if (!r.wants(operand)) return;
  const std::int64_t count = r.out(0).numel();
  if constexpr (Gradient::reads.dy_itself) {
    if (r.in(operand).numel() == count) return r.pass(0, operand);
  } else if (r.in(0).numel() == count && r.in(1).numel() == count) {
    const bool is_last = operand == 1 || !r.wants(1);  // to read dy
    const Flow<T> flow = is_last ? r.flow<T>(operand) : Flow<T>{r.grad_out<T>(), r.grad_in<T>(operand)};
    return gradient_of_whole_operands(flow.dx, count, Gradient(r, flow.dy));
  }
  gradient_with_broadcast<Op, operand, T>(r);
}

template <class Op> void binary_backward(Record& r) {
  dispatch_real(r.out(0).dtype, Op::info.name, [&]<class T>(T) {
    binary_gradient<Op, 0, T>(r);
    binary_gradient<Op, 1, T>(r);
  });
}

template <class Op, class T> static T value_of_elements(T a, T b) {
  using Element = ElementFor<Op, T>;
  return static_cast<T>(Op::value(static_cast<Element>(a), static_cast<Element>(b)));
}

template <class Op, class T> Tensor values_of_equal_shapes(const Tensor& a, const Tensor& b) {
  Tensor y = empty_like(a);
  const T* of_a = OpAccess::values<T>(a);
  const T* of_b = OpAccess::values<T>(b);
  T* to = OpAccess::values<T>(y);
  parallel_for(y.numel(), binary_grain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) to[k] = value_of_elements<Op>(of_a[k], of_b[k]);
  });
  return y;
}

template <class Op, class T> Tensor broadcast_values(const Tensor& a, const Tensor& b) {
  Tensor y = empty(broadcast_operands(Op::info.name, a, b), a.dtype(), Op::info.name);
  const T* of_a = OpAccess::values<T>(a);
  const T* of_b = OpAccess::values<T>(b);
  T* to = OpAccess::values<T>(y);
  const Broadcast broadcast(y.shape(), {&a.shape(), &b.shape()});
  with_inner_strides<T>(broadcast, [&](auto stride_a, auto stride_b) {
    parallel_for(y.numel(), binary_grain, [&](std::int64_t begin, std::int64_t end) {
      for_each_row(broadcast, begin, end, [=](const BroadcastRow& row) {
        const T* row_a = of_a + row.offsets[0];
        const T* row_b = of_b + row.offsets[1];
        T* row_y = to + row.first;
        for (std::int64_t k = 0, count = row.count; k < count; ++k)
          row_y[k] = value_of_elements<Op>(row_a[k * stride_a()], row_b[k * stride_b()]);
      });
    });
  });
  return y;
}

/// Saves what the gradients that are wanted read.
template <class Op> void record_binary(const Tensor& a, const Tensor& b, const Tensor& y) {
  constexpr Reads da = Op::da_reads;
  constexpr Reads db = Op::db_reads;
  if constexpr (!(da.a || da.b || da.y || db.a || db.b || db.y)) {
    record(Op::info, binary_backward<Op>, {&a, &b}, {&y});
  } else {
    const bool wants_a = a.wants_gradient();
    const bool wants_b = b.wants_gradient();
    const auto needed = [](bool is_needed, const Tensor& x) { return is_needed ? &x : nullptr; };
    const Tensor* of_a = needed((wants_a && da.a) || (wants_b && db.a), a);
    const Tensor* of_b = needed((wants_a && da.b) || (wants_b && db.b), b);
    if constexpr (da.y || db.y)
      record(Op::info, binary_backward<Op>, {&a, &b}, {&y},
             {of_a, of_b, needed((wants_a && da.y) || (wants_b && db.y), y)});
    else
      record(Op::info, binary_backward<Op>, {&a, &b}, {&y}, {of_a, of_b});
  }
}

/// binary for operands of one dtype.
template <class Op> Tensor binary_of_one_dtype(const Tensor& a, const Tensor& b) {
  Tensor y = dispatch_for<Op>(a, "a", [&]<class T>(T) {
    return a.shape() == b.shape() ? values_of_equal_shapes<Op, T>(a, b) : broadcast_values<Op, T>(a, b);
  });
  record_binary<Op>(a, b, y);
  return y;
}

/// binary where real numbers meet dual ones. Throws DtypeError for any other mixture.
template <class Op> [[gnu::noinline]] Tensor binary_of_two_dtypes(const Tensor& a, const Tensor& b) {
  check_dtypes(Op::info.name, a, b);
  broadcast_operands(Op::info.name, a, b);
  const auto [like_b, like_a] = with_tangents(Op::info.name, a, b);
  return binary_of_one_dtype<Op>(like_b, like_a);
}

/// y = Op::value(a, b), broadcast and recorded.
template <class Op> Tensor binary(const Tensor& a, const Tensor& b) {
  check_defined(Op::info.name, a, "a");
  check_defined(Op::info.name, b, "b");
  if (a.dtype() != b.dtype()) [[unlikely]]
    return binary_of_two_dtypes<Op>(a, b);
  return binary_of_one_dtype<Op>(a, b);
}

}  // namespace retrace

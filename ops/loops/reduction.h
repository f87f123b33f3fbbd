// The loops of reductions, and everything else of those whose gradient depends on x. Such an op is a struct:
//
//   struct Norm {
//     static constexpr OpInfo info{"norm", "y = sqrt(sum x^2)", "dx = dy x / y", "x"};
//     static constexpr bool needs_elements = false;                             // an empty set is an error
//     template <class T> static T value(const Terms<T>& x);                     // y of one set of elements
//     template <class T> static Context context(const Terms<T>& x, T y);       // what the slopes of a set share
//     template <class T> static T slope(T x, T y, const Context&);              // dy/dx, or gradient(dy, x, y, ...)
//   };
//   Tensor norm(const Tensor& x, const Axes& axes, ReduceOptions options) { return reduce<Norm>(x, axes, options); }
//
// An op that makes sense for i64 says `static constexpr bool integers = true`. One with a constant, such as the order
// of a norm, gets it as the last argument of value and context.
#pragma once

#include <retrace/ops/op.h>

namespace retrace {

/// The loops of a reduction: over the elements of y, and over those of x that go into one of them.
struct ReductionLoops {
  struct Loop {
    std::int64_t extent;
    std::int64_t stride;
  };
  std::array<Loop, max_rank> kept{};
  std::array<Loop, max_rank> reduced{};
  int kept_count = 0;
  int reduced_count = 0;
  std::int64_t outputs = 1;
  std::int64_t terms = 1;

  ReductionLoops(const Shape& x, const std::array<bool, max_rank>& flags);
  /// Where the elements that go into y[output] begin in x.
  std::int64_t base(std::int64_t output) const;
};

/// The shape of the result.
Shape reduced_shape(const Shape& x, const std::array<bool, max_rank>& flags, ReduceOptions options);

/// The elements of x that go into one element of y.
template <class T> struct Terms {
  const T* x;
  const ReductionLoops* loops;
  std::int64_t base;

  std::int64_t count() const { return loops->terms; }
  /// body(start, extent, stride) for each run of the innermost loop, in order.
  template <class Body> void for_each_run(Body&& body) const {
    if (count() == 0) return;
    const int depth = loops->reduced_count;
    if (depth == 0) {
      body(base, std::int64_t{1}, std::int64_t{1});
      return;
    }
    const auto& inner = loops->reduced[static_cast<std::size_t>(depth - 1)];
    std::array<std::int64_t, max_rank> index{};
    for (std::int64_t start = base;;) {
      body(start, inner.extent, inner.stride);
      int level = depth - 2;
      for (; level >= 0; --level) {
        const auto& loop = loops->reduced[static_cast<std::size_t>(level)];
        std::int64_t& position = index[static_cast<std::size_t>(level)];
        start += loop.stride;
        if (++position < loop.extent) break;
        start -= position * loop.stride;
        position = 0;
      }
      if (level < 0) return;
    }
  }
  /// body(offset in x) for each element, in order.
  template <class Body> void for_each(Body&& body) const {
    for_each_run([&](std::int64_t start, std::int64_t extent, std::int64_t stride) {
      for (std::int64_t k = 0; k < extent; ++k) body(start + k * stride);
    });
  }
  /// The sum of term(x) over the elements; floats are summed as doubles.
  template <class Term> Wide<T> sum(Term&& term) const {
    Wide<T> total{};
    for_each_run([&](std::int64_t start, std::int64_t extent, std::int64_t stride) {
      const T* run = x + start;
      total +=
          ordered_sum<Wide<T>>(extent, [=](std::int64_t k) { return term(static_cast<Wide<T>>(run[k * stride])); });
    });
    return total;
  }
};

/// The largest |x| of the elements, without NaN; 0 if there are none.
template <class T> double largest_of(const Terms<T>& x) {
  double largest = 0;
  x.for_each([&](std::int64_t k) {
    const double size = std::abs(static_cast<double>(x.x[k]));
    largest = size > largest ? size : largest;
  });
  return largest;
}

/// Throws ShapeError if there is an element of y, but none of x that goes into it.
inline void check_elements(const char* function, const Tensor& x, const ReductionLoops& loops) {
  if (loops.terms == 0 && loops.outputs > 0)
    throw ShapeError(text(function, ": ", describe_operand("x", x),
                          " has no elements along the reduced axes; reduce another axis or skip it"));
}

struct NoContext {};

inline constexpr std::int64_t reduction_grain = 16384;  // elements that are worth a thread

inline std::int64_t outputs_a_thread(const ReductionLoops& loops) { return reduction_grain / (loops.terms + 1) + 1; }

struct ReductionAttributes {
  std::array<bool, max_rank> flags;
  double constant = 0;  // of an op that has one
};

/// The ending of a reduction's formulas: " along axis 1".
inline std::string along_reduced(const Record& r) {
  return along_axes(r.attributes<ReductionAttributes>().flags, r.in(0).shape.rank());
}
/// The axes of x that a reduction takes, and whether y keeps them with length 1.
AttributeList reduction_attributes(const Record& r);
/// The number of elements of x per element of y, for formulas.
inline std::string terms_of(const Record& r) {
  return text(ReductionLoops(r.in(0).shape, r.attributes<ReductionAttributes>().flags).terms);
}

/// dy Op::slope(x, y), or Op::gradient(dy, x, y) of an op that has one.
template <class Op, class T, class Context> T gradient_of_term(T dy, T x, T y, const Context& context) {
  if constexpr (requires { Op::gradient(dy, x, y, context); })
    return Op::gradient(dy, x, y, context);
  else
    return dy * Op::template slope<T>(x, y, context);
}

/// Op::value(terms), or Op::value(terms, constant) of an op that has one.
template <class Op, class T> T value_of_set(const Terms<T>& terms, [[maybe_unused]] double constant) {
  if constexpr (requires { Op::template value<T>(terms, constant); })
    return Op::template value<T>(terms, constant);
  else
    return Op::template value<T>(terms);
}
template <class Op, class T> auto context_of_set(const Terms<T>& terms, T y, [[maybe_unused]] double constant) {
  if constexpr (requires { Op::template context<T>(terms, y, constant); })
    return Op::template context<T>(terms, y, constant);
  else
    return Op::template context<T>(terms, y);
}

template <class Op> void reduction_backward(Record& r) {
  const ReductionAttributes& of_call = r.attributes<ReductionAttributes>();
  const ReductionLoops loops(r.in(0).shape, of_call.flags);
  dispatch_real(r.in(0).dtype, Op::info.name, [&]<class T>(T) {
    const T* x = r.saved(0).values<T>();
    const T* y = r.saved(1).values<T>();
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    parallel_for(loops.outputs, outputs_a_thread(loops), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t output = begin; output < end; ++output) {
        const Terms<T> terms{x, &loops, loops.base(output)};
        const T y_here = y[output], dy_here = dy[output];
        const auto context = context_of_set<Op>(terms, y_here, of_call.constant);
        terms.for_each([&](std::int64_t k) {
          const T contribution = gradient_of_term<Op>(dy_here, x[k], y_here, context);
          dx.put_at(k, contribution);
        });
      }
    });
  });
}

/// The values of a reduction, not recorded: fill(x's elements, y's elements, begin, end) writes y[begin .. end).
template <class Op, class Fill>
Tensor reduced_values(const Tensor& x, const ReductionLoops& loops, const Shape& shape, Fill&& fill) {
  Tensor y;
  dispatch_for<Op>(x, "x", [&]<class T>(T) {
    y = empty(shape, x.dtype());
    const T* from = x.values<T>().data();
    T* to = OpAccess::values<T>(y);
    parallel_for(loops.outputs, outputs_a_thread(loops),
                 [&](std::int64_t begin, std::int64_t end) { fill(from, to, begin, end); });
  });
  return y;
}

/// As above, where value(terms) gives each element of y.
template <class Op, class Value>
Tensor values_of_terms(const Tensor& x, const ReductionLoops& loops, const Shape& shape, Value&& value) {
  const auto fill = [&]<class T>(const T* from, T* to, std::int64_t begin, std::int64_t end) {
    for (std::int64_t output = begin; output < end; ++output)
      to[output] = value(Terms<T>{from, &loops, loops.base(output)});
  };
  return reduced_values<Op>(x, loops, shape, fill);
}

template <class Op> Tensor reduce(const Tensor& x, const Axes& axes, ReduceOptions options, double constant = 0) {
  check_defined(Op::info.name, x, "x");
  const auto flags = axes.flags(x, Op::info.name);
  const ReductionLoops loops(x.shape(), flags);
  if (Op::needs_elements) check_elements(Op::info.name, x, loops);
  const Tensor y =
      values_of_terms<Op>(x, loops, reduced_shape(x.shape(), flags, options),
                          [=]<class T>(const Terms<T>& terms) { return value_of_set<Op>(terms, constant); });
  record(Op::info, reduction_backward<Op>, {&x}, {&y}, {&x, &y}, ReductionAttributes{flags, constant});
  return y;
}

}  // namespace retrace

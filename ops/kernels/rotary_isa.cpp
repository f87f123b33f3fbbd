// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {
namespace {

/// x1 x0 x3 x2 ...
template <class V, int... Lane>
[[gnu::always_inline]] inline V with_neighbours_swapped(V x, std::integer_sequence<int, Lane...>) {
  return __builtin_shufflevector(x, x, (Lane ^ 1)...);
}

/// y = or += x cos m + partner sin m for `count` features; partner(part, k, x) are the others of their pairs.
template <class T, class Partner>
[[gnu::always_inline]] inline void turn_features(Index count, const T* x, const T* cosine, const T* sine, T sense, T* y,
                                                 bool add, Partner&& partner) {
  for_each_vector<T>(count, [&](Index k, auto part) {
    const Vector<T> own = part.load_from(x + k);
    const Vector<T> other = partner(part, k, own), sine_of_other = sense * part.load_from(sine + k);
    const Vector<T> before = add ? part.load_from(y + k) : every_lane(T(-0.0));
    part.store_to(y + k, before + (own * part.load_from(cosine + k) + other * sine_of_other));
  });
}

}  // namespace

template <class T> void run(const TurnedRows<T>& shared) {
  const TurnedRows<T> args = shared;  // a copy whose fields no store can change
  const Index pairs = args.pairs, size = 2 * pairs;
  const T sense = args.backwards ? T(-1) : T(1);
  const T* x = args.x;
  T* y = args.y;
  Index step = args.first;
  for (Index row = 0; row < args.rows; ++row) {
    const T *cosine = args.turns + step * size, *sine = cosine + args.time * size;
    for (Index head = 0; head < args.heads; ++head, x += size, y += size) {
      if (args.halves) {
        const auto half = [&](Index own, Index other) {
          turn_features<T>(pairs, x + own, cosine + own, sine + own, sense, y + own, args.add,
                           [&](auto part, Index k, Vector<T>) { return part.load_from(x + other + k); });
        };
        half(0, pairs), half(pairs, 0);
      } else {
        turn_features<T>(size, x, cosine, sine, sense, y, args.add, [](auto, Index, Vector<T> own) {
          return with_neighbours_swapped(own, std::make_integer_sequence<int, lanes<T>>());
        });
      }
    }
    step = step + 1 == args.time ? 0 : step + 1;
  }
}

RETRACE_INSTANTIATE_KERNEL(TurnedRows);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE

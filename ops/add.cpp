#include <retrace/ops/loops/binary.h>
#include <retrace/ops/loops/masked.h>

namespace retrace {
namespace {

struct Add {
  static constexpr OpInfo info{"add", "y = a + b", "da = dy, db = dy", "a, b"};
  static constexpr Reads da_reads{.dy_itself = true}, db_reads{.dy_itself = true};
  static constexpr bool integers = true;

  template <class T> static T value(T a, T b) { return a + b; }
};

/// -inf in an additive mask hides the element. No special gradient is needed: softmax gives hidden elements 0.
struct AddMask : Add {
  template <class T> static T value(T x, T mask) {
    if constexpr (std::is_integral_v<T>)
      return Add::value(x, mask);
    else
      return masked_sum(x, mask);
  }
};

}  // namespace

Tensor add_mask(const Tensor& x, const Tensor& mask) { return binary<AddMask>(x, mask); }

Tensor add(const Tensor& a, const Tensor& b) { return binary<Add>(a, b); }

}  // namespace retrace

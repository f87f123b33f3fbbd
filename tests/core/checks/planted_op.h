// Ops whose forward is right and whose backward may be wrong.
#pragma once

#include <retrace/core/checks/gradcheck.h>
#include <retrace/ops/ops.h>

namespace retrace {

// The arguments of a backward formula; b is undefined for an op of one input. With `bug`, the formula is wrong.
struct Seen {
  Tensor dy, a, b, y;
  bool bug;
};

// The backward function of a formula that gives one gradient per input; an undefined tensor stands for none.
template <class Formula> BackwardFunction by(Formula) {
  return [](Record& r) {
    const NoTape no_tape;
    const Tensor b = r.inputs() > 1 ? r.saved(1).tensor() : Tensor();
    const Seen seen{r.output(0).grad(), r.saved(0).tensor(), b, r.saved(r.inputs()).tensor(), r.attributes<bool>()};
    const Tensors gradients{Formula{}(seen)};
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (const int input = static_cast<int>(i); gradients[i].defined() && r.wants(input)) r.add(input, gradients[i]);
  };
}

using Forward = Tensor (*)(const Tensor& a, const Tensor& b);

inline constexpr OpInfo planted_info{"planted", "y = f(a, b)", "da, db = by formula", "a, b"};

// The result of the forward, computed without recording.
inline Tensor unrecorded(Forward forward, const Tensors& in) {
  const NoTape no_tape;
  return forward(in[0], in.size() > 1 ? in[1] : Tensor()).detach();
}

inline Tensor recorded(Forward forward, BackwardFunction backward, const Tensors& in, bool bug) {
  Tensors saved = in;
  saved.push_back(unrecorded(forward, in));
  record(planted_info, backward, in, {&saved.back()}, saved, bug);
  return saved.back();
}

}  // namespace retrace

// Gradients that do not go back through time as they should.
#pragma once

#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

/// h <- tanh(W h + x_t).
inline CheckCase recurrent_weight(bool bug) {
  return of({normal({2, 4, 3}), normal({3, 3})}, [=](const Tensors& in) {
    Tensor h = zeros({2, 3}, in[0].dtype());
    for (int t = 0; t < 4; ++t) h = tanh(linear(without_gradient(h, bug), in[1]) + at(in[0], t));
    return Tensors{h};
  });
}

/// h <- a_t h + b_t.
inline Tensor scanned(const Tensors& in) {
  Tensors h{at(in[1], 0)};
  for (int t = 1; t < 5; ++t) h.push_back(at(in[0], t) * h.back() + at(in[1], t));
  return stack(h, 1);
}
inline CheckCase linear_scan(bool bug) {
  return of({normal({2, 5}), normal({2, 5})}, scanned, [=](auto& dy, auto& in, auto& y) {
    Tensors da(5), db(5);
    for (int t = 4; t >= 0; --t) {
      const std::size_t k = static_cast<std::size_t>(t);
      db[k] = t == 4 ? at(dy, t) : at(dy, t) + at(in[0], t + 1) * db[k + 1];
      da[k] = t == 0 ? zeros_like(db[k]) : (bug ? at(dy, t) : db[k]) * at(y, t - 1);
    }
    return Tensors{stack(da, 1), stack(db, 1)};
  });
}

inline CheckCase lstm_steps(bool bug) {
  return of({normal({2, 4, 8}), normal({8, 2})}, [=](const Tensors& in) {
    LstmStep state{zeros({2, 2}, in[0].dtype()), zeros({2, 2}, in[0].dtype())};
    for (int t = 0; t < 4; ++t) state = lstm_step(at(in[0], t), without_gradient(state.h, bug), state.c, in[1]);
    return Tensors{state.h, state.c};
  });
}

inline CheckCase last_cell(bool bug) {
  return of({normal({2, 4, 8}), normal({2, 2}), normal({2, 2}), normal({8, 2})}, [=](const Tensors& in) {
    const LstmSequence r = lstm_sequence(in[0], in[1], in[2], in[3]);
    return Tensors{r.y, weighted_gradient(r.c, full({}, bug ? 0 : 1, f64))};
  });
}

/// c = sigmoid(i) z + sigmoid(f) m.
inline CheckCase gates(bool bug) {
  return of(
      {normal({2, 3}), normal({2, 3}), normal({2, 3}), normal({2, 3})},
      [](auto& in) { return sigmoid(in[0]) * in[2] + sigmoid(in[1]) * in[3]; },
      [=](auto& dy, auto& in, auto&) {
        const Tensor i = sigmoid(in[0]), f = sigmoid(in[1]), di = dy * in[2], df = dy * in[3];
        return Tensors{di * i * (1 - i), (bug ? di : df) * f * (1 - f), dy * i, dy * f};
      });
}

/// v <- tanh(x_t roll(v)), a vector that a loop carries.
inline CheckCase carried_vector(bool bug) {
  const Tensor kept = bug ? tensor({1.0, 0.0, 0.0}, f64) : ones({3}, f64);
  return of({normal({3}), normal({3, 4})}, [=](const Tensors& in) {
    Tensor v = in[0];
    for (int t = 0; t < 4; ++t) v = tanh(at(in[1], t) * roll(weighted_gradient(v, kept), 1, 0));
    return Tensors{v};
  });
}

inline constexpr BugCard carry[] = {
    {"pytorch#184528, PR#184529", "scan: a carry that wants no gradient gets none, and W misses its indirect paths",
     BugClass::carry, recurrent_weight},
    {"pytorch#172568", "associative_scan, two leaves: the gradient of the discarded one is not carried",
     BugClass::carry, linear_scan},
    {"ooples/AiDotNet PR#722", "LSTM: dh is set to 0 at each step", BugClass::carry, lstm_steps},
    {"deeplearning4j#8838", "LSTM: the gradient of the last cell state is ignored", BugClass::carry, last_cell},
    {"lhnguyen102/cuTAGI#77", "LSTM: a gate uses another gate's delta", BugClass::carry, gates},
    {"Genesis quadrants#797", "a vector that a loop carries: only its first component goes back", BugClass::carry,
     carried_vector},
};

}  // namespace retrace::bugs

// What `retrace train TASK --model MODEL` reaches with seed 7, and what it may not fall below.
#pragma once

#include <array>
#include <string_view>

namespace retrace {

/// A training by its recipe.
struct ExpectedResult {
  std::string_view task, model;
  double limit;     // the least accuracy, or the largest squared error
  double measured;  // when the recipe was last changed
};

inline constexpr std::array expected_results{
    ExpectedResult{"pair-matching", "lstm", 0.999, 1.0},
    ExpectedResult{"pair-matching", "gru", 0.999, 1.0},
    ExpectedResult{"pair-matching", "relational-rnn", 0.999, 1.0},
    ExpectedResult{"pair-matching", "rmc", 0.999, 1.0},
    ExpectedResult{"pair-matching", "attention", 0.999, 1.0},
    ExpectedResult{"recall", "lstm", 0.999, 0.9999},
    ExpectedResult{"recall", "gru", 0.999, 1.0},
    ExpectedResult{"recall", "relational-rnn", 0.999, 0.9998},
    ExpectedResult{"recall", "rmc", 0.999, 0.9998},
    ExpectedResult{"recall", "attention", 0.999, 1.0},
    ExpectedResult{"recall", "ntm", 0.999, 0.9995},
    ExpectedResult{"recall", "dnc", 0.999, 1.0},
    ExpectedResult{"copy", "lstm", 0.999, 0.99937},
    ExpectedResult{"copy", "gru", 0.999, 0.99956},
    ExpectedResult{"copy", "relational-rnn", 0.999, 0.99995},
    ExpectedResult{"copy", "rmc", 0.999, 0.99931},
    ExpectedResult{"copy", "attention", 0.999, 1.0},
    ExpectedResult{"copy", "ntm", 0.999, 0.99963},
    ExpectedResult{"reverse", "lstm", 0.999, 1.0},
    ExpectedResult{"reverse", "gru", 0.999, 1.0},
    ExpectedResult{"reverse", "relational-rnn", 0.999, 1.0},
    ExpectedResult{"reverse", "rmc", 0.999, 0.99995},
    ExpectedResult{"reverse", "attention", 0.999, 1.0},
    ExpectedResult{"reverse", "ntm", 0.999, 1.0},
    ExpectedResult{"reverse", "dnc", 0.999, 1.0},
    ExpectedResult{"double", "lstm", 0.999, 0.9995},
    ExpectedResult{"double", "gru", 0.999, 1.0},
    ExpectedResult{"double", "relational-rnn", 0.999, 0.99992},
    ExpectedResult{"double", "rmc", 0.999, 0.99971},
    ExpectedResult{"double", "attention", 0.999, 1.0},
    ExpectedResult{"babi", "lstm", 0.85, 0.854},
    ExpectedResult{"babi", "gru", 0.85, 0.8555},
    ExpectedResult{"babi", "relational-rnn", 0.85, 0.8524},
    ExpectedResult{"babi", "rmc", 0.85, 0.8509},
    ExpectedResult{"babi", "attention", 0.85, 0.8532},
    ExpectedResult{"object-tracking", "lstm", 0.0016, 0.00155},
    ExpectedResult{"object-tracking", "gru", 0.0016, 0.00144},
    ExpectedResult{"object-tracking", "relational-rnn", 0.0016, 0.00152},
    ExpectedResult{"object-tracking", "rmc", 0.0016, 0.00145},
    ExpectedResult{"object-tracking", "attention", 0.0016, 0.0014},
    ExpectedResult{"graph-reachability", "lstm", 0.99, 0.9971},
    ExpectedResult{"graph-reachability", "gru", 0.99, 0.9994},
    ExpectedResult{"graph-reachability", "relational-rnn", 0.99, 0.996},
    ExpectedResult{"graph-reachability", "rmc", 0.99, 0.9997},
    ExpectedResult{"graph-reachability", "attention", 0.99, 0.9995},
    ExpectedResult{"adding", "lstm", 0.001, 0.00078},
    ExpectedResult{"adding", "gru", 0.001, 0.0001},
    ExpectedResult{"adding", "relational-rnn", 0.001, 0.00037},
    ExpectedResult{"adding", "rmc", 0.001, 4e-05},
    ExpectedResult{"adding", "attention", 0.001, 1e-05},
    ExpectedResult{"parity", "lstm", 0.999, 1.0},
    ExpectedResult{"parity", "gru", 0.999, 1.0},
    ExpectedResult{"parity", "relational-rnn", 0.999, 1.0},
    ExpectedResult{"parity", "rmc", 0.999, 1.0},
    ExpectedResult{"parity", "attention", 0.999, 0.9998},
    ExpectedResult{"parity", "transformer", 0.999, 0.9996},
    ExpectedResult{"execute", "gru", 0.999, 0.9997},
};

}  // namespace retrace

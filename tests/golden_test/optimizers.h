// Creates an optimiser from the attributes of a case.
#pragma once

#include <utility>
#include <vector>

#include <retrace/nn/nn.h>
#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {

inline AdamOptions adam_options(const Arguments& c) {
  return {.lr = c.number("lr"),
          .b1 = c.number("b1"),
          .b2 = c.number("b2"),
          .eps = c.number("eps"),
          .weight_decay = c.number("wd", 0),
          .amsgrad = c.flag("amsgrad")};
}

/// Calls body(optimizer) with the one that `name` ("sgd", "adam", ...) means, over the parameters.
template <class Body>
void with_optimizer(const std::string& name, const Arguments& c, std::vector<NamedTensor> parameters, Body&& body) {
  const auto run = [&](auto&& optimizer) { body(optimizer); };
  if (name == "sgd" || name == "momentum" || name == "momentum_lr_inside")
    run(Sgd(std::move(parameters), {.lr = c.number("lr"),
                                    .momentum = c.number("mu", 0),
                                    .weight_decay = c.number("wd", 0),
                                    .nesterov = c.flag("nesterov"),
                                    .lr_inside = name == "momentum_lr_inside"}));
  else if (name == "rmsprop")
    run(RmsProp(std::move(parameters), {.lr = c.number("lr"),
                                        .alpha = c.number("alpha"),
                                        .eps = c.number("eps"),
                                        .momentum = c.number("mu", 0),
                                        .centered = c.flag("centered")}));
  else if (name == "adagrad")
    run(Adagrad(std::move(parameters), {.lr = c.number("lr"), .eps = c.number("eps")}));
  else if (name == "adam")
    run(Adam(std::move(parameters), adam_options(c)));
  else if (name == "adamw")
    run(AdamW(std::move(parameters), adam_options(c)));
  else
    throw Unsupported("no optimiser " + name);
}

}  // namespace retrace::golden

#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

NamedTensors run_softmax(const Arguments& c) { return {{"y", softmax(c["x"], c.axis(), c.optional("mask"))}}; }
NamedTensors run_log_softmax(const Arguments& c) { return {{"y", log_softmax(c["x"], c.axis(), c.optional("mask"))}}; }

CrossEntropyOptions options_of(const Arguments& c) {
  CrossEntropyOptions options{.reduction = reduction_of(c), .label_smoothing = c.number("label_smoothing", 0)};
  if (c.has("w")) options.class_weights = c["w"];
  if (c.attribute("ignore_index", "none") != "none") options.ignore_index = c.integer("ignore_index");
  return options;
}

NamedTensors run_cross_entropy(const Arguments& c) { return {{"y", cross_entropy(c["x"], c["t"], options_of(c))}}; }
NamedTensors run_nll(const Arguments& c) { return {{"y", nll(c["x"], c["t"], options_of(c))}}; }
NamedTensors run_mse(const Arguments& c) { return {{"y", mse(c["x"], c.first({"t", "x"}), reduction_of(c))}}; }
NamedTensors run_bce(const Arguments& c) { return {{"y", bce_with_logits(c["x"], c["t"], reduction_of(c))}}; }

}  // namespace

Reduction reduction_of(const Arguments& c) {
  const std::string name = c.attribute("reduction", "mean");
  if (name == "mean") return Reduction::mean;
  if (name == "sum") return Reduction::sum;
  if (name == "none") return Reduction::none;
  throw Unsupported("no reduction " + name);
}

Adapters softmax_loss_adapters() {
  return {{"softmax", run_softmax},
          {"log_softmax", run_log_softmax},
          {"cross_entropy", run_cross_entropy},
          {"cross_entropy_soft", run_cross_entropy},
          {"nll", run_nll},
          {"mse", run_mse},
          {"bce_logits", run_bce}};
}

}  // namespace retrace::golden

// The backward of a tape, with every contribution set apart.
#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/core/trace/trace_builder.h>

namespace retrace {
namespace {

/// a + b of the same shape and dtype, each element rounded once.
Tensor sum_of(const Tensor& a, const Tensor& b) {
  const Tensor sum = empty(a.shape(), a.dtype(), "trace_backward");
  dispatch_real(a.dtype(), "trace_backward", [&](auto zero) {
    using T = decltype(zero);
    const auto x = a.values<T>(), y = b.values<T>();
    const auto to = sum.mutable_values<T>();
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = x[k] + y[k];
  });
  return sum;
}

Tensor held_gradient(const Node& node) {
  if (node.gradient == nullptr || node.gradient_used) return {};
  detail::retain(node.gradient);
  return OpAccess::over(node.gradient, node.gradient->data(), node.shape, node.dtype);
}

void replace_gradient(Node& node, const Tensor& gradient) {
  detail::release_gradient(&node);
  Storage* storage = OpAccess::node(gradient).storage;
  detail::retain(storage);
  node.gradient = storage;
  node.gradient_used = false;
}

}  // namespace

/// Runs each backward with a node of its own for every input, so that what it sends there is seen before it is added.
class TracedWalk {
 public:
  TracedWalk(BackwardWalk& walk, TraceBuilder& builder) : walk_(walk), builder_(builder) {}

  void run() {
    builder_.add_seeds();
    walk_.undoing_errors([&] {
      while (walk_.advance()) run_backward(*walk_.now_);
    });
  }

 private:
  void run_backward(Record& record) {
    TraceRecord& traced = builder_.record(record);
    traced.reached = true;
    for (int j = 0; j < record.outputs(); ++j) {
      const Node& output = OpAccess::node(record.out(j));
      const Capture& arrived = traced.output_gradients[static_cast<std::size_t>(j)] = builder_.gradient_of(output);
      builder_.set_gradient(output, arrived);
    }
    const std::vector<TensorInfo*> inputs(record.nodes_, record.nodes_ + record.inputs_);
    Tensors apart;
    for (int i = 0; i < record.inputs_; ++i) {
      const TensorInfo& input = *inputs[static_cast<std::size_t>(i)];
      Tensor& own = apart.emplace_back(empty(input.shape, input.dtype, "trace_backward"));
      OpAccess::node(own).wants_gradient = input.wants_gradient;
      OpAccess::node(own).in_walk = true;  // is no leaf
      record.nodes_[i] = &OpAccess::node(own);
    }
    const PutBack put_back{record, inputs};
    const bool is_checked = record.op().check_of_call != nullptr;
    const Tensor dy = is_checked ? held_gradient(OpAccess::node(record.out(0))) : Tensor();
    walk_.run_backward(record, false);
    Tensors sent(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]->wants_gradient) sent[i] = held_gradient(OpAccess::node(apart[i]));
    if (is_checked) traced.check = record.op().check_of_call(record, dy, sent);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]->wants_gradient) traced.contributions[i] = add(*node_of(inputs[i]), sent[i]);
  }

  /// Gives a record its inputs back, also where its backward throws.
  struct PutBack {
    Record& record;
    const std::vector<TensorInfo*>& inputs;
    ~PutBack() { std::copy(inputs.begin(), inputs.end(), record.nodes_); }
  };

  std::optional<Contribution> add(Node& node, const Tensor& contribution) const {
    if (!contribution.defined()) return std::nullopt;
    const Tensor before = held_gradient(node);
    const Tensor after = before.defined() ? sum_of(before, contribution) : contribution;
    Contribution result{builder_.gradient_of(node), builder_.capture(contribution), {}};
    if (node.tape == 0) walk_.leaf_gradients_.remember(&node);
    replace_gradient(node, after);
    result.after = builder_.gradient_of(node);
    return result;
  }

  BackwardWalk& walk_;
  TraceBuilder& builder_;
};

namespace {

Trace finish(BackwardWalk& walk, const Tape& tape, const TraceOptions& options) {
  TraceBuilder builder(tape, options);
  TracedWalk(walk, builder).run();
  return builder.finish();
}

}  // namespace

Trace trace_backward(Tape& tape, const Tensor& loss, const TraceOptions& options) {
  BackwardWalk walk(tape, loss);
  return finish(walk, tape, options);
}

Trace trace_backward(Tape& tape, const Tensors& outputs, const Tensors& cotangents, const TraceOptions& options) {
  BackwardWalk walk(tape, outputs, cotangents);
  return finish(walk, tape, options);
}

}  // namespace retrace

#include <retrace/models/onnx/export_sequence_model.h>

#include <retrace/models/onnx/export_onnx.h>
#include <retrace/models/onnx/function_graph.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using namespace onnx;

const std::vector<std::string> free_batch_and_time{"batch", "time"};

/// x[:, t] as a sequence of one row.
Tensor row(const Tensor& x, std::int64_t t) { return slice(x, {all, range(t, t + 1)}); }

/// y = the last of the answers to all rows, in one run over all of them.
void export_answers(const std::string& path, const SequenceModel& model, const Tensor& example) {
  const auto run = [&](const Tensors& in) {
    const Tensor answers = model.answers(in[0], in[0].dim(1));
    return Tensors{slice(answers, {all, -1}), answers};
  };
  export_onnx(path, run,
              {.inputs = {{"x", example, free_batch_and_time}}, .outputs = {"y", "answers"}, .names = model.names()});
}

void export_last_answer(const std::string& path, const SequenceModel& model, const Tensor& example,
                        const std::vector<std::string>& axes) {
  export_onnx(path, [&](const Tensors& in) { return Tensors{model(in[0])}; },
              {.inputs = {{"x", example, axes}}, .outputs = {"y"}, .names = model.names()});
}

/// The answer after a row and the state after it, from the row and the state before it.
Tensors run_step(const SequenceModel& model, const Tensors& in) {
  auto [answers, state] = model.continued(in[0], {Tensors(in.begin() + 1, in.end())});
  Tensors results{answers};
  results.insert(results.end(), state.parts.begin(), state.parts.end());
  return results;
}

/// A first row without a state and a later one, each in all runs. Their free axis is the batch of x.
class StepByStep {
 public:
  StepByStep(const SequenceModel& model, const Tensor& example)
      : whole_(make_examples({example}, {free_batch_and_time})), first_(rows_of(whole_)), later_(first_) {
    const auto step = [&](const Tensors& in) { return run_step(model, in); };
    input_names_.push_back("row");
    for (Tensors& inputs : later_.runs) {
      const Tensors results = step(inputs);
      inputs.insert(inputs.end(), results.begin() + 1, results.end());
    }
    for (std::size_t k = 1; k < later_.runs.front().size(); ++k) input_names_.push_back("state");
    const Names names = model.names();
    at_first_ = trace_runs(step, first_, names, {"first_row"});
    at_later_ = trace_runs(step, later_, names, input_names_);
    check_states();
  }

  Graph graph() {
    Builder b(whole_.axes, {"x"});
    b.graph().inputs.push_back(input_info(b, whole_, 0, "x"));
    const std::string zero = b.integers({0}), one = b.integers({1});
    at_first_.input_names = {b.node("Slice", {"x", zero, one, one})};
    std::vector<std::string> inputs = build_calls(b, at_first_);
    const std::string first_answer = inputs.front();
    const std::string time = b.node("Shape", {"x"}, {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    const std::string later = b.node("Reshape", {b.node("Sub", {time, one}), b.integers({})});
    const std::string always = b.node("Less", {zero, one});
    inputs[0] = later;
    inputs.insert(inputs.begin() + 1, b.node("Reshape", {always, b.integers({})}));
    const std::size_t states = inputs.size() - 2;
    const auto results = b.nodes("Loop", inputs, states + 1, {{"body", std::shared_ptr<const Graph>(body(b))}});
    // The answers of the loop are [time - 1, batch, 1, O].
    const std::string rows = b.node("Squeeze", {results.back(), b.integers({2})});
    const std::string of_later = b.node("Transpose", {rows}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
    finish(b, b.node("Concat", {first_answer, of_later}, {{"axis", std::int64_t{1}}}));
    return std::move(b.graph());
  }

 private:
  static Examples rows_of(const Examples& whole) {
    Examples rows{{whole.axes[0]}, {}};
    for (const Tensors& inputs : whole.runs) rows.runs.push_back({row(inputs[0], 0)});
    return rows;
  }
  /// A state that grows, such as the rows themselves, is none of a loop.
  void check_states() const {
    for (std::size_t k = 1; k < at_later_.runs.front().outputs.size(); ++k)
      for (std::size_t run = 0; run < later_.runs.size(); ++run) {
        const TracedFunction& traced = at_later_.runs[run];
        const Shape& after = traced.values[static_cast<std::size_t>(traced.outputs[k])].shape;
        if (after != later_.runs[run][k].shape())
          throw ValueError(text("export_onnx: the state of the model grows from ", later_.runs[run][k].shape(), " to ",
                                after, " in a step"));
      }
  }
  std::shared_ptr<Graph> body(Builder& b) {
    b.begin_body("step");
    Graph& graph = b.current();
    const std::string step = b.new_name("step"), goes_on = b.new_name("goes_on");
    graph.inputs = {{step, ElementType::i64, {}}, {goes_on, ElementType::boolean, {}}};
    for (std::size_t k = 1; k < input_names_.size(); ++k) {
      at_later_.input_names[k] = b.new_name(input_names_[k]);
      graph.inputs.push_back(input_info(b, later_, k, at_later_.input_names[k]));
    }
    const std::string begin = b.node("Reshape", {b.node("Add", {step, b.integers({1})}), b.integers({1})});
    const std::string end = b.node("Add", {begin, b.integers({1})});
    at_later_.input_names[0] = b.node("Slice", {"x", begin, end, b.integers({1})});
    const std::vector<std::string> results = build_calls(b, at_later_);
    graph.outputs.push_back({b.node("Identity", {goes_on}), ElementType::boolean, {}});
    for (std::size_t k = 1; k < results.size(); ++k)
      graph.outputs.push_back(output_info(b, at_later_, k, b.node("Identity", {results[k]})));
    graph.outputs.push_back(output_info(b, at_later_, 0, b.node("Identity", {results[0]})));
    return b.end_body();
  }
  void finish(Builder& b, const std::string& answers) const {
    ValueInfo all_rows = output_info(b, at_first_, 0, b.new_name("answers"));
    all_rows.axes[1] = "time";
    ValueInfo last{b.new_name("y"), all_rows.type, {all_rows.axes[0], all_rows.axes[2]}};
    Graph& graph = b.graph();
    graph.nodes.push_back({"Identity", {answers}, {all_rows.name}, {}});
    const std::string last_row = b.constant(full({}, -1, i64));
    graph.nodes.push_back({"Gather", {answers, last_row}, {last.name}, {{"axis", std::int64_t{1}}}});
    graph.outputs = {last, all_rows};
  }

  Examples whole_, first_, later_;
  std::vector<std::string> input_names_;
  TracedRuns at_first_, at_later_;
};

}  // namespace

ExportedModel export_onnx(const std::string& path, const SequenceModel& model, const Tensor& example) {
  constexpr std::int64_t growth = 2;  // by which the runs at other lengths are longer
  const std::int64_t time = example.dim(1);
  const Tensor shorter = time > growth + 1 ? slice(example, {all, range(0, time - growth)}) : example;
  std::string why;
  try {
    return export_answers(path, model, shorter), ExportedModel{true, ""};
  } catch (const FileError&) {
    throw;
  } catch (const Error& error) {
    why = error.what();
  }
  try {
    return write_model(path, StepByStep(model, shorter).graph()), ExportedModel{true, ""};
  } catch (const FileError&) {
    throw;
  } catch (const Error&) {  // it has no state of its own, or none that keeps its size
  }
  try {
    return export_last_answer(path, model, shorter, free_batch_and_time), ExportedModel{false, ""};
  } catch (const FileError&) {
    throw;
  } catch (const Error&) {  // at one length, then
  }
  export_last_answer(path, model, example, {"batch"});
  return {false, why};
}

}  // namespace retrace

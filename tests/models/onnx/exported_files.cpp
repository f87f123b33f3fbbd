// exported_files FOLDER: exports every model by name, and functions of the library's ops and layers, in both dtypes;
// writes beside each file runs of it, inputs with the answers of the model, as JSON. runtime_test.mjs compares.
#include <retrace/models/cli/cli.h>
#include <retrace/models/onnx/export_onnx.h>
#include <retrace/models/onnx/export_sequence_model.h>
#include <retrace/models/onnx/operators.h>
#include <retrace/tests/models/onnx/exported_functions.h>

#include <fstream>
#include <iomanip>
#include <iostream>
#include <set>

using namespace retrace;

namespace {

struct Run {
  std::vector<NamedTensor> inputs, outputs;
};

void write(std::ostream& out, const std::vector<NamedTensor>& tensors) {
  out << "{";
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const auto& [name, x] = tensors[k];
    out << (k > 0 ? "," : "") << '"' << name << R"(":{"dtype":")" << x.dtype() << R"(","shape":[)";
    for (int axis = 0; axis < x.rank(); ++axis) out << (axis > 0 ? "," : "") << x.dim(axis);
    out << R"(],"values":[)";
    const Tensor numbers = x.to(f64);
    const auto values = numbers.values<double>();
    for (std::size_t i = 0; i < values.size(); ++i) out << (i > 0 ? "," : "") << values[i];
    out << "]}";
  }
  out << "}";
}

/// The folder, and the names of the files in it.
class Cases {
 public:
  explicit Cases(std::string folder) : folder_(std::move(folder)) {}

  std::string file(const std::string& name) const { return folder_ + "/" + name + ".onnx"; }
  void add(const std::string& name, const std::vector<Run>& runs) const {
    std::ofstream out(folder_ + "/" + name + ".json");
    out << std::setprecision(17) << "[";
    for (std::size_t k = 0; k < runs.size(); ++k) {
      out << (k > 0 ? ",\n" : "") << R"({"inputs":)";
      write(out, runs[k].inputs);
      out << R"(,"outputs":)";
      write(out, runs[k].outputs);
      out << "}";
    }
    out << "]\n";
  }

 private:
  std::string folder_;
};

constexpr std::int64_t features = 3, example_time = 5;

/// Batch and time of the runs.
using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The longest sequence for a file whose example has 5 rows: positions that are computed from the length are a table in
/// the file, up to the rows of the example.
std::int64_t longest_for(const ModelForm& form) {
  const bool is_table = form.positions == RowPositions::sinusoidal || form.positions == RowPositions::alibi;
  return is_table ? example_time : 7;
}

void add_model(const Cases& cases, const std::string& name, const SequenceModel& model, std::int64_t longest,
               Random& random) {
  const Tensor example = random.normal({2, example_time, features});
  const ExportedModel exported = export_onnx(cases.file(name), model, example);
  std::vector<Run> runs;
  const Sizes sizes = exported.fixed_time.empty() ? Sizes{{2, 5}, {1, 1}, {3, longest}} : Sizes{{2, 5}, {1, 5}, {4, 5}};
  for (const auto& [batch, time] : sizes) {
    const Tensor x = random.normal({batch, time, features});
    Run run{{{"x", x}}, {{"y", model(x)}}};
    if (exported.answers_all_rows) run.outputs.push_back({"answers", model.answers(x, time)});
    runs.push_back(std::move(run));
  }
  cases.add(name, runs);
  std::cout << name << (exported.answers_all_rows ? ", answers after each row" : "")
            << (exported.fixed_time.empty() ? "" : ", fixed time: " + exported.fixed_time) << '\n';
}

struct Variant {
  std::string name, model;
  ModelForm form = {};
  std::string memory = "cell";
};

void add_models(const Cases& cases, const std::string& dtype) {
  std::vector<Variant> variants;
  for (const std::string_view name : model_names()) variants.push_back({std::string(name), std::string(name)});
  for (const char* name : {"lstm", "gru", "rnn"}) {
    variants.push_back({std::string(name) + "-layers", name, {.layers = 2}});
    variants.push_back({std::string(name) + "-bidirectional", name, {.layers = 2, .bidirectional = true}});
  }
  for (const RowPositions positions :
       {RowPositions::none, RowPositions::learned, RowPositions::sinusoidal, RowPositions::rotary, RowPositions::alibi})
    for (const bool causal : {false, true})
      variants.push_back({"transformer-" + std::string(name_of(positions)) + (causal ? "-causal" : ""),
                          "transformer",
                          {.layers = 2, .positions = positions, .causal = causal}});
  for (const char* memory : {"gated", "notebook"})
    variants.push_back({std::string("relational-rnn-") + memory, "relational-rnn", {}, memory});
  for (const Variant& variant : variants) {
    Random random(7);
    const auto model = make_model(variant.model,
                                  {.input = features,
                                   .hidden = 8,
                                   .output = 2,
                                   .slot_size = 8,
                                   .slots = 3,
                                   .heads = 2,
                                   .time = 12,
                                   .memory = variant.memory,
                                   .form = variant.form},
                                  random);
    try {
      add_model(cases, variant.name + "." + dtype, *model, longest_for(variant.form), random);
    } catch (const Error& error) {
      std::cout << variant.name << "." << dtype << " NOT: " << error.what() << '\n';
    }
  }
}

Tensor lengths_of(std::int64_t batch, std::int64_t time) {
  Tensor lengths = empty({batch}, i64);
  lengths.update<std::int64_t>([&](std::span<std::int64_t> values) {
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = std::max<std::int64_t>(1, time - static_cast<std::int64_t>(k));
  });
  return lengths;
}

/// The answers of f, whose ops are added to those that were met.
Tensors answers_of(const onnx::FunctionOfTensors& f, const Tensors& inputs, std::set<std::string>& met) {
  inputs[0].watch();
  Tape tape;
  Tensors outputs = f(inputs);
  for (const Record* record : tape.records()) met.insert(record->op().name);
  return outputs;
}

void add_functions(const Cases& cases, const std::string& dtype, std::set<std::string>& met) {
  Random random(3);
  for (const ExportedFunction& function : exported_functions(random)) {
    const auto inputs_of = [&](std::int64_t batch, std::int64_t time) {
      Tensors inputs{random.normal({batch, time, 4})};
      if (function.has_lengths) inputs.push_back(lengths_of(batch, time));
      return inputs;
    };
    if (!function.in_f64 && dtype == "f64") continue;
    const std::string name = std::string(function.name) + "." + dtype;
    const Tensors example = inputs_of(2, 4);
    OnnxOptions options{.inputs = {{"x", example[0], {"batch", "time"}}}, .outputs = {}};
    if (function.has_lengths) options.inputs.push_back({"lengths", example[1], {"batch"}});
    for (std::size_t k = 0; k < function.f(example).size(); ++k) options.outputs.push_back("y" + std::to_string(k));
    export_onnx(cases.file(name), function.f, options);
    std::vector<Run> runs;
    for (const auto& [batch, time] : Sizes{{2, 4}, {1, 2}, {3, 6}}) {
      const Tensors inputs = inputs_of(batch, time), outputs = answers_of(function.f, inputs, met);
      Run run;
      for (std::size_t k = 0; k < inputs.size(); ++k) run.inputs.push_back({options.inputs[k].name, inputs[k]});
      for (std::size_t k = 0; k < outputs.size(); ++k) run.outputs.push_back({options.outputs[k], outputs[k]});
      runs.push_back(std::move(run));
    }
    cases.add(name, runs);
  }
}

/// Whether the functions met every op of the table.
bool are_all_met(const std::set<std::string>& met) {
  bool all_met = true;
  for (const onnx::Operator& row : onnx::operators())
    if (!met.contains(std::string(row.op))) {
      std::cerr << "no function has the op " << row.op << '\n';
      all_met = false;
    }
  return all_met;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) return 2;
  const Cases cases(arguments[1]);
  std::set<std::string> met{"gated_memory", "to"};  // the models have the first; the second is in one dtype
  for (const Dtype dtype : {f32, f64}) {
    const DtypeScope scope(dtype);
    add_models(cases, dtype == f32 ? "f32" : "f64");
    add_functions(cases, dtype == f32 ? "f32" : "f64", met);
  }
  return are_all_met(met) ? 0 : 1;
} catch (const Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

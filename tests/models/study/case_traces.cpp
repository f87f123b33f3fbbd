// case_traces FOLDER: the trace of every case of the gradient-check tables, as the data of a page, for traces_test.mjs.
#include <retrace/core/trace/trace_json.h>
#include <retrace/models/checks/module_cases.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/ops/checks/op_checks.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include "edge_cases.h"
#include "fused_cases.h"

namespace retrace {
namespace {

struct Setting {
  std::string name;
  Dtype dtype = f64;
  bool expand_fused = false;
  bool not_finite = false;  // the first cotangents are infinite and NaN
};

/// The leaf of a case in the dtype of the setting. A case that holds its inputs has no others.
Tensor leaf_of(const Tensor& input, const CheckCase& one, const Setting& setting) {
  if (input.dtype() == i64) return input;
  const Tensor leaf = one.holds_inputs ? input : input.clone().to(setting.dtype).detach();
  return leaf.watch();
}

Tensor cotangent_of(const Tensor& output, Random& random, const Setting& setting) {
  const Tensor cotangent = random.normal(output.shape(), f64).to(output.dtype());
  if (!setting.not_finite) return cotangent;
  const std::int64_t count = std::min<std::int64_t>(2, output.numel());
  const double numbers[] = {INFINITY, NAN};
  dispatch_real(output.dtype(), "case_traces", [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t k = 0; k < count; ++k)
      cotangent.mutable_values<T>()[static_cast<std::size_t>(k)] = static_cast<T>(numbers[k]);
  });
  return cotangent;
}

Trace trace_of(const CheckCase& one, const Setting& setting, const std::string& title) {
  const DtypeScope scope(setting.dtype);
  Tensors leaves;
  for (const Tensor& input : one.inputs) leaves.push_back(leaf_of(input, one, setting));
  Tape tape({.keep = true, .expand_fused = setting.expand_fused});
  Random random(3);
  Tensors outputs, cotangents;
  for (const Tensor& output : one.function(leaves)) {
    if (!output.wants_gradient()) continue;
    outputs.push_back(output);
    cotangents.push_back(cotangent_of(output, random, setting));
  }
  return trace_backward(tape, outputs, cotangents, {.title = title});
}

void write_traces(const CheckedName& checked, const Setting& setting, const std::string& folder) {
  for (std::size_t k = 0; k < checked.cases.size(); ++k) {
    const std::string title = text(checked.name, " ", k, " ", setting.name);
    std::ofstream(text(folder, "/", checked.name, ".", k, ".", setting.name, ".json"))
        << page_data(trace_of(checked.cases[k], setting, title));
  }
}

void write_all(const std::string& folder) {
  for (const Setting& setting : {Setting{"f64"}, Setting{"f32", f32}})
    for (const CheckedName& checked :
         {edges(), edges_of_products(), edges_of_rows(), edges_of_losses_and_ids(), limits(), hidden_values()})
      write_traces(checked, setting, folder);
  for (const CheckedName& checked : op_cases())
    for (const Setting& setting :
         {Setting{"f64"}, Setting{"f32", f32}, Setting{"expanded", f64, true}, Setting{"not_finite", f64, false, true}})
      write_traces(checked, setting, folder);
  write_traces(saturated_attention(), {"f32", f32}, folder);
  for (const CheckedName& checked : fused_cases())
    for (const Setting& setting : {Setting{"f64"}, Setting{"f32", f32}, Setting{"not_finite", f64, false, true}})
      write_traces(checked, setting, folder);
  std::vector<CheckedName> models = module_cases();
  for (const std::string_view model : model_names()) models.push_back(registered_case(model));
  for (const CheckedName& checked : models)
    for (const Setting& setting : {Setting{"f64"}, Setting{"expanded", f64, true}})
      write_traces(checked, setting, folder);
}

}  // namespace
}  // namespace retrace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw retrace::ValueError("case_traces: give the folder to write to");
    retrace::write_all(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

#include <retrace/models/training/model_info.h>

#include <retrace/models/formats/json_text.h>
#include <retrace/models/training/run.h>

namespace retrace {

ModelInfo model_info(const RunOptions& options) {
  const Run run = prepare(options);
  ModelInfo info{.model = options.model.name,
                 .task = options.task,
                 .flops_a_sample = run.flops_a_sample(),
                 .batch = *run.options.fit.batch,
                 .weights = {}};
  for (const NamedTensor& parameter : parameters(*run.model))
    info.weights.push_back({parameter.name, parameter.tensor.shape(), parameter.tensor.numel()});
  for (const auto& weight : info.weights) info.parameters += weight.count;
  info.bytes = info.parameters * static_cast<std::int64_t>(size_of(options.dtype));
  return info;
}

std::string to_json(const ModelInfo& info) {
  std::vector<JsonObject> weights;
  for (const ModelInfo::Weight& weight : info.weights)
    weights.push_back({{"name", weight.name},
                       {"shape", std::vector<std::int64_t>(weight.shape.begin(), weight.shape.end())},
                       {"count", weight.count}});
  return JsonObject{{"model", info.model},
                    {"task", info.task},
                    {"parameters", info.parameters},
                    {"bytes", info.bytes},
                    {"flops_a_sample", info.flops_a_sample},
                    {"batch", info.batch},
                    {"weights", weights}}
      .text();
}

}  // namespace retrace

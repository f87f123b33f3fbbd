#include <retrace/models/checks/module_cases.h>
#include <retrace/models/networks/sequence_model.h>

#include <memory>

namespace retrace {
namespace {

const ModelSizes small{.input = 3, .hidden = 4, .output = 2, .slot_size = 4, .time = 5};
constexpr std::int64_t samples = 2;

void check_answer(std::string_view name, const Tensor& answer) {
  if (answer.shape() != Shape{samples, small.output})
    throw ShapeError(text("gradcheck: ", name, " answers ", answer, " to x[", samples, ", ", small.time, ", ",
                          small.input, "]; it must be [", samples, ", ", small.output, "], one answer a sequence"));
}

}  // namespace

CheckedName registered_case(std::string_view name) {
  const DtypeScope scope(f64);
  Random random(81);
  const std::shared_ptr<const SequenceModel> model = make_model(name, small, random);
  const Tensor x = random.normal({samples, small.time, small.input});
  check_answer(name, (*model)(x));
  const std::vector<NamedTensor> weights = parameters(*model);
  CheckCase one{.function = [model](const Tensors& in) { return Tensors{(*model)(in.back())}; },
                .inputs = {},
                .holds_inputs = true};
  for (const NamedTensor& weight : weights) {
    one.inputs.push_back(weight.tensor);
    one.names.push_back(weight.name);
  }
  one.inputs.push_back(x);
  one.names.push_back("x");
  return {std::string(name), false, {std::move(one)}};
}

}  // namespace retrace

#include <retrace/core/tape.h>
#include <retrace/models/checks/check_case.h>
#include <retrace/models/sequence_model.h>

#include <algorithm>
#include <memory>

namespace retrace {
namespace {

constexpr ModelSizes small{.input = 3, .hidden = 4, .output = 2, .slot_size = 4, .time = 5};
constexpr std::int64_t samples = 2;

/// Throws ValueError for a weight that took part and that visit does not name: no training would move it.
void check_all_named(std::string_view name, const std::vector<NamedTensor>& weights, const Tape& tape) {
  for (const Record* record : tape.records())
    for (int k = 0; k < record->inputs(); ++k) {
      const Node& node = record->in(k);
      const bool is_named =
          std::ranges::any_of(weights, [&](const NamedTensor& weight) { return &weight.tensor.node() == &node; });
      if (node.wants_gradient && node.tape == 0 && !is_named)
        throw ValueError(text("gradcheck: ", name, " computes ", record->op().name, " with a weight ", node.shape,
                              " that its visit() does not name; name it there"));
    }
}

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
  const std::vector<NamedTensor> weights = parameters(*model);
  {
    const Tape tape;
    check_answer(name, (*model)(x));
    check_all_named(name, weights, tape);
  }
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

#include <retrace/models/checks/module_cases.h>
#include <retrace/models/checks/network_rows.h>

#include <algorithm>
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

/// With two layers, dropout and a feed-forward part, as far as the model says that it has them.
CheckCases cases_of_form(std::string_view name, const ModelChoices& choices) {
  const auto has = [&](std::string_view option) {
    return std::ranges::find(choices.form, option) != choices.form.end();
  };
  if (!has("dropout")) return {};
  ModelForm form;
  if (has("layers")) form.layers = 2;
  if (has("feed-forward")) form.feed_forward = 3;
  return module_checks::model_with_dropout(name, 102, form);
}

}  // namespace

CheckedName registered_case(std::string_view name) {
  const DtypeScope scope(f64);
  Random random(81);
  const std::shared_ptr<const SequenceModel> model = make_model(name, small, random);
  const Tensor x = random.normal({samples, small.time, small.input});
  check_answer(name, (*model)(x));
  CheckedName checked{std::string(name), false, {module_checks::of(model, x, module_checks::result)}};
  if (const std::optional<ModelChoices> choices = choices_of(name))
    for (CheckCase& one : cases_of_form(name, *choices)) checked.cases.push_back(std::move(one));
  return checked;
}

}  // namespace retrace

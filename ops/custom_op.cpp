#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>

#include <retrace/core/checks/direction_check.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// Tells an op of a user's from one of the library's that has the same name.
AttributeList custom_attributes(const Record&) { return {{"custom", true}}; }
AttributeList surrogate_attributes(const Record&) { return {{"custom", true}, {"surrogate", true}}; }

struct Functions {
  CustomForward forward;
  CustomBackward backward;
};
struct CustomAttributes {
  std::shared_ptr<const Functions> functions;
};

DirectionCheck check_call(const Record& r, const Tensor& dy, std::span<const Tensor> dx) {
  return check_direction(r, r.attributes<CustomAttributes>().functions->forward, dy, dx);
}

/// The strings that an OpInfo of a custom op points to.
struct CustomInfo {
  std::string name;
  std::string forward;
  std::string backward;
  std::string inputs;
  OpInfo info;

  CustomInfo(std::string_view op, std::size_t count, bool is_surrogate) : name(op) {
    for (std::size_t i = 0; i < count; ++i) inputs += text(i == 0 ? "" : ", ", "x", i);
    forward = text("y = ", name, "(", inputs, ")");
    const std::string arguments = text("(dy, ", inputs, inputs.empty() ? "" : ", ", "y)");
    for (std::size_t i = 0; i < count; ++i)
      backward += text(i == 0 ? "" : ", ", "dx", i, " = backward", count == 1 ? "" : text(i), arguments);
    info = {name.c_str(),
            forward.c_str(),
            backward.c_str(),
            inputs.c_str(),
            nullptr,
            is_surrogate ? surrogate_attributes : custom_attributes,
            is_surrogate ? nullptr : check_call};
  }
};

/// The info of a name, a number of inputs and a kind of backward: made once, and there until the process ends, since
/// any tape may refer to it.
const OpInfo& info_of(std::string_view name, std::size_t inputs, bool is_surrogate) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::tuple<std::string, std::size_t, bool>, std::unique_ptr<CustomInfo>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<CustomInfo>& entry = known[{std::string(name), inputs, is_surrogate}];
  if (entry == nullptr) entry = std::make_unique<CustomInfo>(name, inputs, is_surrogate);
  return entry->info;
}

void custom_backward(Record& r) {
  const NoTape nothing_is_recorded;
  Tensors inputs;
  inputs.reserve(static_cast<std::size_t>(r.inputs()));
  for (int i = 0; i < r.inputs(); ++i) inputs.push_back(r.saved(i).tensor());
  const Tensor dy = r.output(0).grad();
  const Tensor y = r.saved(r.inputs()).tensor();
  const Tensors gradients = r.attributes<CustomAttributes>().functions->backward(dy, inputs, y);
  if (gradients.size() != inputs.size())
    throw ValueError(text(r.op().name, ": backward gave ", gradients.size(), " gradients for ", inputs.size(),
                          " inputs; give one for each (an undefined tensor for none)"));
  for (int i = 0; i < r.inputs(); ++i) {
    const Tensor& gradient = gradients[static_cast<std::size_t>(i)];
    if (r.wants(i) && gradient.defined()) r.add(i, gradient);
  }
}

bool has_dual(const Tensors& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return x.defined() && x.dtype() == dual; });
}

Tensor call_forward(std::string_view name, const Tensors& inputs, const CustomForward& forward) {
  try {
    return forward(inputs);
  } catch (const DifferencesOnlyError&) {
    throw;
  } catch (const DtypeError& error) {
    if (!has_dual(inputs)) throw;
    throw DtypeError(text(name, ": forward does not run on dual numbers (", error.what(),
                          "); compute with ops, dispatch on the dtype, or give custom_op the option "
                          "{.differences_only = true}, and gradcheck leaves its exact check out"));
  }
}

Tensor run_forward(std::string_view name, const Tensors& inputs, const CustomForward& forward) {
  const NoTape nothing_is_recorded;
  const Tensor y = call_forward(name, inputs, forward);
  if (!y.defined()) throw ValueError(text(name, ": forward gave an undefined tensor; return the result"));
  return y.detach();  // a node of its own, even if forward returned an input
}

}  // namespace

Tensor custom_op(std::string_view name, const Tensors& inputs, CustomForward forward, CustomBackward backward,
                 CustomOpOptions options) {
  if (!forward || !backward)
    throw ValueError(text(name, ": a custom op needs a forward and a backward function; one of them is empty"));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].defined()) throw_undefined(name, text("x", i));
  if (options.differences_only && has_dual(inputs))
    throw DifferencesOnlyError(text(name, ": runs on no dual numbers, as its option differences_only says"));
  const OpInfo& info = info_of(name, inputs.size(), options.surrogate);
  Tensor y = run_forward(name, inputs, forward);
  Tensors saved = inputs;
  saved.push_back(y);
  record(info, custom_backward, inputs, {&y}, saved,
         CustomAttributes{std::make_shared<const Functions>(Functions{std::move(forward), std::move(backward)})});
  return y;
}

}  // namespace retrace

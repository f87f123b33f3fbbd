// Modules are plain structs with operator() and visit():
//
//   struct Head {
//     Linear hidden, out;
//     Tensor operator()(const Tensor& x) const { return out(tanh(hidden(x))); }
//     void visit(auto&& see) const { see("hidden", hidden), see("out", out); }
//   };
//
// visit names every member that holds parameters: parameters, modules, vectors and optionals of them, and arrays of
// modules or of optionals (g++ 12 cannot clone a module with an array of plain parameters). Everything else uses visit:
// parameters, clone, save, load, optimisers, gradcheck.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <retrace/core/checks/gradcheck.h>
#include <retrace/core/tape/scope.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// A tensor that wants a gradient and belongs to one module. The copy constructor copies the values into a new leaf,
/// frozen if the original is, so that two modules never share a weight by accident; it is explicit, and there is no
/// copy assignment. (If it were move-only, a plain struct that holds one could not be cloned.) To tie weights, let one
/// module own them and use that module in both places. A parameter that its module lacks, such as the bias of a layer
/// without biases, is undefined, and visits pass it over.
class Parameter : public Tensor {
 public:
  explicit Parameter(const Tensor& values) : Tensor(values.defined() ? parameter(values) : Tensor()) {}
  explicit Parameter(const Parameter& other) : Parameter(static_cast<const Tensor&>(other)) {
    if (defined() && !other.wants_gradient()) freeze();
  }
  Parameter(Parameter&&) noexcept = default;
  Parameter& operator=(const Parameter&) = delete;
  Parameter& operator=(Parameter&&) noexcept = default;
  ~Parameter() = default;
};

/// A parameter and its path in the module: "lstm.weight_ih", "layers.2.bias".
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Prints the name, then the tensor.
std::ostream& operator<<(std::ostream& out, const NamedTensor& named);

/// The path to a member while a module is visited. It allocates nothing until text() is called.
struct Path {
  const Path* outer = nullptr;
  std::string_view name = {};
  std::int64_t index = -1;  // in a vector or an array

  std::string text() const {
    const std::string own = index >= 0 ? std::to_string(index) : std::string(name);
    const std::string before = outer == nullptr ? std::string() : outer->text();
    return before.empty() ? own : before + "." + own;
  }
};

namespace detail {

struct AnySee {
  void operator()(const char*, const auto&) const {}
};

template <class T>
concept IsModule = requires(const T& module) {
  module.visit(AnySee());
};
template <class T>
concept IsList = requires(const T& list) {
  list.begin(), list.end(), list.size();
};

template <class Member, class Visit> void visit_member(const Path& path, const Member& member, Visit& visit) {
  if constexpr (std::is_base_of_v<Tensor, Member>) {
    if (member.defined()) visit(path, static_cast<const Tensor&>(member));
  } else if constexpr (IsModule<Member>) {
    member.visit([&](std::string_view name, const auto& inner) { visit_member(Path{&path, name}, inner, visit); });
  } else if constexpr (IsList<Member>) {
    std::int64_t index = 0;
    for (const auto& element : member) visit_member(Path{&path, {}, index++}, element, visit);
  } else {
    if (member) visit_member(path, *member, visit);  // an optional or a pointer
  }
}

}  // namespace detail

/// A plain struct with visit().
template <class T>
concept Module = detail::IsModule<T>;

/// Calls visit(path, tensor) for every parameter, in the order of the module's visit(). Allocates nothing.
template <Module M, class Visit> void for_each_parameter(const M& module, Visit&& visit) {
  detail::visit_member(Path{}, module, visit);
}

/// Every parameter with its name, in the order of visit().
template <Module M> std::vector<NamedTensor> parameters(const M& module) {
  std::vector<NamedTensor> result;
  for_each_parameter(module, [&](const Path& path, const Tensor& tensor) { result.push_back({path.text(), tensor}); });
  return result;
}

/// The parameters without their names. Takes nothing from the heap.
template <Module M> Tensors parameter_tensors(const M& module) {
  Tensors result;
  for_each_parameter(module, [&](const Path&, const Tensor& tensor) { result.push_back(tensor); });
  return result;
}

/// The number of weights: the sum of the parameters' element counts.
template <Module M> std::int64_t count_parameters(const M& module) {
  std::int64_t count = 0;
  for_each_parameter(module, [&](const Path&, const Tensor& tensor) { count += tensor.numel(); });
  return count;
}

/// A copy of the module that shares nothing with it. Frozen parameters stay frozen.
template <Module M> M clone(const M& module) { return M(module); }

/// Converts all parameters to the dtype, in place, and drops their gradients.
void convert(const std::vector<NamedTensor>& parameters, Dtype dtype);
/// Converts all parameters of the module to the dtype, in place, and drops their gradients.
template <Module M> void to(const M& module, Dtype dtype) { convert(parameters(module), dtype); }

/// Freezes all parameters: backward treats them as constants.
template <Module M> void freeze(const M& module) {
  for_each_parameter(module, [](const Path&, const Tensor& tensor) { tensor.freeze(); });
}
/// Undoes freeze: backward computes gradients for all parameters again.
template <Module M> void unfreeze(const M& module) {
  for_each_parameter(module, [](const Path&, const Tensor& tensor) { tensor.watch(); });
}
/// Drops the gradients of all parameters.
template <Module M> void zero_grad(const M& module) {
  for_each_parameter(module, [](const Path&, const Tensor& tensor) { tensor.zero_grad(); });
}
/// Does nothing: several threads may read a model without it. It will be removed in version 0.4.
template <Module M> void share(const M&) {}

/// A hash of all names and values (FNV-1a, 64 bits) as 16 hexadecimal digits. Equal weights have equal hashes.
std::string weights_hash(const std::vector<NamedTensor>& parameters);
/// weights_hash of the parameters of a module.
template <Module M> std::string weights_hash(const M& module) { return weights_hash(parameters(module)); }

/// Copies values into the parameters of the same name and shape, converted to their dtypes. Throws ValueError if a name
/// is missing, unexpected or mis-shaped (it lists all of them) or occurs twice; nothing is changed then.
void assign(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& values, const char* function);
/// assign to the parameters of a module.
template <Module M> void assign(const M& module, const std::vector<NamedTensor>& values) {
  assign(parameters(module), values, "assign");
}

/// Writes all parameters to a safetensors file, completely or not at all. Throws FileError if it cannot be written,
/// ValueError if two parameters have the same name.
void save(const std::string& path, const std::vector<NamedTensor>& parameters);
/// save of the parameters of a module.
template <Module M> void save(const std::string& path, const M& module) { save(path, parameters(module)); }
/// Assigns the values of a safetensors file: see assign. Throws FileError if it cannot be read. For weights with
/// PyTorch's names see load_pytorch in nn/files/pytorch.h.
void load(const std::string& path, const std::vector<NamedTensor>& parameters);
/// load into the parameters of a module.
template <Module M> void load(const std::string& path, const M& module) { load(path, parameters(module)); }

/// Checks the gradient of f(module) with respect to every weight, in f64: see core/checks/gradcheck.h. Restores the
/// module's values, dtypes and gradients afterwards. Throws ValueError if f uses a leaf that wants a gradient but is
/// not named by visit().
template <Module M, class F> GradcheckResult gradcheck(const M& module, F&& f, const GradcheckOptions& options = {}) {
  std::vector<std::pair<std::string, Tensor>> weights;
  for (NamedTensor& parameter : parameters(module)) weights.emplace_back(parameter.name, parameter.tensor);
  GradcheckOptions of_module = options;
  of_module.named_by_visit = true;
  return gradcheck_parameters([&] { return Tensors{f(module)}; }, weights, of_module);
}

}  // namespace retrace

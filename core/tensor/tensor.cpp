#include <retrace/core/base/printable.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/core/tensor/tensor.h>

#include <algorithm>
#include <cstring>

namespace retrace {

namespace {

inline Node& checked_node(const Tensor& x, const char* function) {
  check_defined(function, x, "this");
  return OpAccess::node(x);
}

}  // namespace

void throw_undefined(std::string_view function, std::string_view operand) {
  throw ValueError(text(function, ": ", operand,
                        " is an undefined tensor (default-constructed or moved from); assign a tensor to it first"));
}

void Tensor::throw_undefined(const char* function) { retrace::throw_undefined(function, "this"); }

void Tensor::throw_wrong_type(Dtype asked) const {
  if (dtype() == dual)
    throw DtypeError(
        text("values: ", *this, " is dual, not ", asked, ", in which its tangents would be lost; read values<Dual>()"));
  throw DtypeError(text("values: ", *this, " is ", dtype(), ", not ", asked,
                        "; ask for its own type or convert with to(", asked, ")"));
}

void Tensor::throw_no_values() const {
  throw TapeError(text("values: the values of ", *this,
                       " are gone: only the tape refers to it; hold the tensor, or use Tape({.keep = true})"));
}

void* Tensor::elements_to_update(Dtype asked) const {
  void* first = elements(asked);
  OpAccess::node(*this).storage->count_change();
  return first;
}

void* Tensor::elements_to_change(Dtype asked) const {
  void* first = elements_to_update(asked);
  OpAccess::node(*this).storage->expose();
  return first;
}

std::string_view Tensor::name() const {
  const Node& n = checked_node(*this, "name");
  return n.name == nullptr ? std::string_view() : *n.name;
}

const Tensor& Tensor::named(std::string_view name) const {
  Node& n = checked_node(*this, "named");
  std::string* fresh = new std::string(name);
  delete n.name;
  n.name = fresh;
  return *this;
}

std::int64_t Tensor::place_of_item() const {
  check_defined("item", *this, "this");
  if (numel() != 1)
    throw ShapeError(text("item: ", *this, " has ", numel(), " elements, not one; use at({i, ...}) or values<T>()"));
  return 0;
}

std::int64_t Tensor::place_of(std::initializer_list<std::int64_t> index) const {
  check_defined("at", *this, "this");
  if (static_cast<int>(index.size()) != rank())
    throw ShapeError(text("at: ", index.size(), " indices for ", *this, "; give one per axis"));
  const auto strides = shape().strides();
  std::int64_t place = 0;
  int axis = 0;
  for (const std::int64_t i : index) {
    const std::int64_t extent = shape()[axis];
    if (i < -extent || i >= extent)
      throw IndexError(text("at: index ", i, " is outside axis ", axis, " of ", *this, "; it runs from ", -extent,
                            " to ", extent - 1));
    place += (i < 0 ? i + extent : i) * strides[static_cast<std::size_t>(axis++)];
  }
  return place;
}

double number_at(const Tensor& x, std::int64_t k) {
  return dispatch_any(x.dtype(), [&](auto zero) {
    return static_cast<double>(x.values<decltype(zero)>()[static_cast<std::size_t>(k)]);
  });
}

double Tensor::item() const { return without_nan_sign(number_at(*this, place_of_item())); }
double Tensor::at(std::initializer_list<std::int64_t> index) const {
  return without_nan_sign(number_at(*this, place_of(index)));
}

Tensor Tensor::detach() const {
  check_defined("detach", *this, "this");
  return view(*this, shape());
}

Tensor Tensor::clone() const {
  check_defined("clone", *this, "this");
  Tensor result = empty(shape(), dtype(), "clone");
  copy_values(*this, result);
  return result;
}

const Tensor& Tensor::watch() const {
  Node& n = checked_node(*this, "watch");
  if (n.dtype == i64) throw DtypeError(text("watch: ", *this, " is i64, and integers have no gradient"));
  if (n.tape != 0 && n.wants_gradient)
    throw TapeError(
        text("watch: ", *this, " was recorded on a tape and has its gradient there; watch leaves, before use"));
  n.wants_gradient = true;
  return *this;
}

bool Tensor::has_grad() const { return checked_node(*this, "has_grad").gradient != nullptr; }

Tensor Tensor::grad() const {
  Node& n = checked_node(*this, "grad");
  if (n.gradient == nullptr) {
    if (!n.wants_gradient)
      throw TapeError(
          text("grad: ", *this, " does not want a gradient; make it a parameter, or watch() it before use"));
    throw TapeError(text("grad: ", *this,
                         " has no gradient: no backward has reached it since it was made or cleared; call "
                         "tape.backward(loss) with a loss that depends on it"));
  }
  retain(n.gradient);
  Tensor result = OpAccess::over(n.gradient, n.gradient->data(), n.shape, n.dtype);
  return n.name == nullptr ? result : result.named(text(*n.name, ".grad"));
}

void Tensor::zero_grad() const { release_gradient(&checked_node(*this, "zero_grad")); }

const Tensor& Tensor::freeze() const {
  checked_node(*this, "freeze").wants_gradient = false;
  return *this;
}

bool Tensor::has_unused_grad() const {
  const Node& n = checked_node(*this, "has_unused_grad");
  return n.gradient != nullptr && !n.gradient_used;
}

bool Tensor::has_grad_of_nan() const { return checked_node(*this, "has_grad_of_nan").gradient_of_nan; }

void Tensor::use_up_grad() const {
  Node& n = checked_node(*this, "use_up_grad");
  n.gradient_of_nan = false;
  n.gradient_used = n.gradient != nullptr;
}

void Tensor::reuse_grad() const { checked_node(*this, "reuse_grad").gradient_used = false; }

void* Tensor::gradient_elements(Dtype asked) const {
  if (!has_grad()) [[unlikely]]
    grad();  // throws, and says why there is none
  if (dtype() != asked) [[unlikely]]
    throw_wrong_type(asked);
  return OpAccess::node(*this).gradient->data();
}

void* Tensor::gradient_elements_to_change(Dtype asked) const {
  gradient_elements(asked);  // checks
  Node& n = OpAccess::node(*this);
  own_gradient(&n);
  n.gradient->expose();
  return n.gradient->data();
}

void exchange_values(const Tensor& x, const Tensor& y) {
  check_defined("exchange_values", x, "x");
  check_defined("exchange_values", y, "y");
  if (x.shape() != y.shape())
    throw ShapeError(text("exchange_values: ", x, " and ", y, ": the shapes differ; reshape one"));
  Node &a = OpAccess::node(x), &b = OpAccess::node(y);
  release_gradient(&a);
  release_gradient(&b);
  std::swap(a.storage, b.storage);
  std::swap(a.elements, b.elements);
  std::swap(a.dtype, b.dtype);
}

void copy_values(const Tensor& from, const Tensor& to) {
  check_defined("copy_values", from, "from");
  check_defined("copy_values", to, "to");
  if (from.shape() != to.shape())
    throw ShapeError(text("copy_values: from ", from, " to ", to, ": the shapes differ; reshape one"));
  if (from.dtype() != to.dtype())
    throw DtypeError(text("copy_values: from ", from.dtype(), " to ", to.dtype(), ": the dtypes differ; use to(",
                          to.dtype(), ") first"));
  dispatch_any(from.dtype(), [&](auto zero) {
    using T = decltype(zero);
    to.update<T>([&](std::span<T> values) { std::ranges::copy(from.values<T>(), values.begin()); });
  });
}

std::string to_text(const Tensor& x) {
  return x.defined() ? text(x.name(), x.shape()) : std::string("an undefined tensor");
}

}  // namespace retrace

#include <retrace/core/tensor.h>

#include <algorithm>
#include <cstring>

namespace retrace {

void Tensor::throw_undefined(std::string_view function, std::string_view operand) {
  throw ValueError(text(function, ": ", operand,
                        " is an undefined tensor (default-constructed or moved from); assign a tensor to it first"));
}

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

const Tensor& Tensor::named(std::string_view name) const {
  Node& n = node("named");
  std::string* fresh = new std::string(name);
  delete n.name;
  n.name = fresh;
  return *this;
}

double Tensor::item() const {
  check_defined("item", *this, "this");
  if (numel() != 1)
    throw ShapeError(text("item: ", *this, " has ", numel(), " elements, not one; use at({i, ...}) or values<T>()"));
  return dispatch_any(dtype(), [&](auto zero) { return static_cast<double>(values<decltype(zero)>()[0]); });
}

double Tensor::at(std::initializer_list<std::int64_t> index) const {
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
  return dispatch_any(dtype(), [&](auto zero) {
    return static_cast<double>(values<decltype(zero)>()[static_cast<std::size_t>(place)]);
  });
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
  Node& n = node("watch");
  if (n.dtype == i64) throw DtypeError(text("watch: ", *this, " is i64, and integers have no gradient"));
  if (n.tape != 0 && n.wants_gradient)
    throw TapeError(
        text("watch: ", *this, " was recorded on a tape and has its gradient there; watch leaves, before use"));
  n.wants_gradient = true;
  return *this;
}

Tensor Tensor::grad() const {
  Node& n = node("grad");
  if (n.gradient == nullptr) {
    if (!n.wants_gradient)
      throw TapeError(
          text("grad: ", *this, " does not want a gradient; make it a parameter, or watch() it before use"));
    throw TapeError(text("grad: ", *this,
                         " has no gradient: no backward has reached it since it was made or cleared; call "
                         "tape.backward(loss) with a loss that depends on it"));
  }
  retain(n.gradient);
  Tensor result = over(n.gradient, 0, n.shape, n.dtype);
  return n.name == nullptr ? result : result.named(text(*n.name, ".grad"));
}

void Tensor::zero_grad() const { release_gradient(&node("zero_grad")); }

const Tensor& Tensor::freeze() const {
  node("freeze").wants_gradient = false;
  return *this;
}

void Tensor::use_up_grad() const {
  Node& n = node("use_up_grad");
  n.gradient_used = n.gradient != nullptr;
}

void Tensor::check_grad(Dtype asked) const {
  if (!has_grad()) [[unlikely]]
    grad();  // throws, and says why there is none
  if (dtype() != asked) [[unlikely]]
    throw_wrong_type(asked);
}

void exchange_values(const Tensor& x, const Tensor& y) {
  check_defined("exchange_values", x, "x");
  check_defined("exchange_values", y, "y");
  if (x.shape() != y.shape())
    throw ShapeError(text("exchange_values: ", x, " and ", y, ": the shapes differ; reshape one"));
  Node &a = x.node(), &b = y.node();
  release_gradient(&a);
  release_gradient(&b);
  std::swap(a.storage, b.storage);
  std::swap(a.offset, b.offset);
  std::swap(a.dtype, b.dtype);
}

void share(const Tensor& x) {
  Node& n = x.node("share");
  n.shared = true;
  n.storage->shared = true;
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
    std::copy(from.values<T>().begin(), from.values<T>().end(), to.mutable_values<T>().begin());
  });
}

std::string to_text(const Tensor& x) {
  return x.defined() ? text(x.name(), x.shape()) : std::string("an undefined tensor");
}

}  // namespace retrace

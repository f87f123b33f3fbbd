// A tensor: a handle to a node {dtype, shape, name, gradient, storage}. Copying a handle shares the node.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <retrace/core/tensor/dtype.h>
#include <retrace/core/tensor/memory.h>
#include <retrace/core/tensor/scalar.h>
#include <retrace/core/tensor/shape.h>
#include <retrace/core/tensor/tensor_info.h>

namespace retrace {

/// Contiguous, row-major elements of one dtype, of rank 0 to 8. A default-made tensor is undefined: it has no node, and
/// every query but defined() throws a ValueError that names the function. Any number of threads may read a tensor, and
/// copy and drop handles to it, at once. One that changes values, gradients or names, or runs a backward that reaches a
/// tensor, has to be the only one to use it meanwhile.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& other) : node_(other.node_) {
    if (node_ != nullptr) node_->add_handle();
  }
  Tensor(Tensor&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Tensor() {
    if (node_ != nullptr) node_->remove_handle();
  }

  bool defined() const { return node_ != nullptr; }
  /// False only for a handle got from a tape's record whose value nobody held.
  bool has_values() const { return info("has_values").elements != nullptr; }
  Dtype dtype() const { return info("dtype").dtype; }
  const Shape& shape() const { return info("shape").shape; }
  int rank() const { return info("rank").shape.rank(); }
  /// The extent of an axis; -1 is the last.
  std::int64_t dim(int axis) const { return info("dim").shape[axis]; }
  std::int64_t numel() const { return info("numel").shape.numel(); }
  /// "" if it has none.
  std::string_view name() const;
  /// Names this tensor in prints and errors.
  const Tensor& named(std::string_view name) const;

  /// The elements, for reading. Throws DtypeError if T is not their type.
  template <class T> std::span<const T> values() const {
    return {static_cast<const T*>(elements(dtype_of<T>)), static_cast<std::size_t>(numel())};
  }
  /// The elements, for changing: every tensor that shares the storage changes, and a backward that still needs the old
  /// values throws a TapeError. As the span may be kept, and written through at any time, ops that need these values in
  /// their backward from now on save copies of them.
  template <class T> std::span<T> mutable_values() const {
    return {static_cast<T*>(elements_to_change(dtype_of<T>)), static_cast<std::size_t>(numel())};
  }
  /// Calls change(span) with the elements, for changing. The callback must not keep the span, so that ops need no
  /// copies of these values; optimisers use this.
  template <class T, class Change> void update(Change&& change) const {
    change(std::span<T>{static_cast<T*>(elements_to_update(dtype_of<T>)), static_cast<std::size_t>(numel())});
  }
  /// The only element (of a tensor with one) as a double, which rounds i64 beyond 2^53. A dual gives its value. NaN
  /// comes without a sign.
  double item() const;
  /// The only element, exactly. Throws DtypeError if T is not its type.
  template <class T> T item() const { return values<T>()[static_cast<std::size_t>(place_of_item())]; }
  /// One element as a double, by one index per axis; negative ones count from the end.
  double at(std::initializer_list<std::int64_t> index) const;
  /// One element, exactly. Throws DtypeError if T is not its type.
  template <class T> T at(std::initializer_list<std::int64_t> index) const {
    return values<T>()[static_cast<std::size_t>(place_of(index))];
  }
  /// Row i of the first axis; shares the storage and is differentiable. Throws IndexError if there is none.
  Tensor operator[](std::int64_t index) const;

  /// The same values, cut off the tape: shares the storage, wants no gradient.
  Tensor detach() const;
  /// A copy of the values in new storage, cut off the tape.
  Tensor clone() const;
  /// The values in another dtype: y = dtype(x), dx = dtype(dy); differentiable between real types. A dual that becomes
  /// another type loses its tangent. Throws ValueError for a number that is no i64.
  Tensor to(Dtype dtype) const;

  /// Whether backward passes a gradient to this tensor.
  bool wants_gradient() const { return info("wants_gradient").wants_gradient; }
  /// Asks for the gradient of this leaf (a tensor that no op on a tape made). Returns itself. i64 throws a DtypeError.
  const Tensor& watch() const;
  bool has_grad() const;
  /// The gradient that the last backward left. Throws a TapeError that says why there is none.
  Tensor grad() const;
  /// Forgets the gradient: the next backward starts anew.
  void zero_grad() const;
  /// Stops backward from computing the gradient of this leaf, until watch() asks for it again. Returns itself.
  const Tensor& freeze() const;

  // For optimisers.
  /// Whether a backward left a gradient that use_up_grad() has not marked since.
  bool has_unused_grad() const;
  /// Whether the loss of this gradient was NaN, though the gradient itself may be finite.
  bool has_grad_of_nan() const;
  /// Marks the gradient as used: it stays readable, and the next backward overwrites it instead of adding to it.
  void use_up_grad() const;
  /// Takes the mark off again: another step may use the same gradient, and the next backward adds to it.
  void reuse_grad() const;
  /// The elements of the gradient, for reading. Throws TapeError if there is none, DtypeError if T is not their type.
  template <class T> std::span<const T> grad_values() const {
    return {static_cast<const T*>(gradient_elements(dtype_of<T>)), static_cast<std::size_t>(numel())};
  }
  /// The elements of the gradient, for changing. Handles that grad() gave before keep their values.
  template <class T> std::span<T> mutable_grad_values() const {
    return {static_cast<T*>(gradient_elements_to_change(dtype_of<T>)), static_cast<std::size_t>(numel())};
  }

 private:
  friend class OpAccess;    // core and those who write ops: core/tensor/op_access.h
  friend class TensorRefs;  // hands tensors to record()

  const TensorInfo& info(const char* function) const {
    if (node_ == nullptr) [[unlikely]]
      throw_undefined(function);
    return *node_;
  }
  void* elements(Dtype asked) const {
    const TensorInfo& its = info("values");
    if (its.dtype != asked) throw_wrong_type(asked);
    if (its.elements == nullptr) throw_no_values();
    return its.elements;
  }
  std::int64_t place_of_item() const;
  std::int64_t place_of(std::initializer_list<std::int64_t> index) const;
  void* elements_to_update(Dtype asked) const;
  void* elements_to_change(Dtype asked) const;
  void* gradient_elements(Dtype asked) const;
  void* gradient_elements_to_change(Dtype asked) const;
  [[noreturn]] static void throw_undefined(const char* function);
  [[noreturn]] void throw_wrong_type(Dtype asked) const;
  [[noreturn]] void throw_no_values() const;

  explicit Tensor(TensorInfo* node) : node_(node) {}

  TensorInfo* node_ = nullptr;
};

/// Element k of x, in row-major order, as a double; the value of a dual.
double number_at(const Tensor& x, std::int64_t k);

/// Throws the ValueError "matmul: b is an undefined tensor ...".
[[noreturn]] void throw_undefined(std::string_view function, std::string_view operand);
/// Throws it if x is undefined. Ops call it before they use an operand; the compiler then drops the later checks of the
/// same operand, so it costs nothing.
inline void check_defined(const char* function, const Tensor& x, const char* operand) {
  if (!x.defined()) [[unlikely]]
    throw_undefined(function, operand);
}

/// A list of tensors; its memory comes from the pool, as theirs does.
using Tensors = std::vector<Tensor, PoolAllocator<Tensor>>;

/// Numbers in nested braces: {{1, 2}, {3, 4}}. All lists of a level have the same length.
class NestedNumbers {
 public:
  template <class Value>
  requires std::is_arithmetic_v<Value> NestedNumbers(Value number) : number_(number) {}
  NestedNumbers(std::initializer_list<NestedNumbers> list) : list_(list), is_list_(true) {}
  /// The shape; throws ShapeError where the lists are ragged. Appends the numbers in order.
  Shape flatten(std::vector<Scalar>& numbers) const;

 private:
  Scalar number_ = 0;
  std::vector<NestedNumbers> list_;
  bool is_list_ = false;
};

/// A tensor of uninitialised elements, for callers that write all of them. Throws ShapeError or MemoryError, naming
/// `function`, if it is larger than memory.
Tensor empty(const Shape& shape, Dtype dtype = default_dtype(), const char* function = "empty");
/// Throws ShapeError or MemoryError, naming both, if a tensor of this shape is larger than this machine's memory.
void check_memory(const char* function, std::string_view name, const Shape& shape, Dtype dtype = default_dtype());
/// An uninitialised tensor with the shape and dtype of x.
Tensor empty_like(const Tensor& x);
/// Another shape or another part of the same storage, `offset` elements on; not recorded.
Tensor view(const Tensor& x, const Shape& shape, std::int64_t offset = 0);

/// A tensor of these numbers: nested braces give the shape, tensor({{1, 2}, {3, 4}}) is 2 x 2. Throws ShapeError for
/// lists of different lengths, and where the number of values is not that of `shape`. Integers become i64 exactly; any
/// other number throws ValueError there, here and in the following functions.
Tensor tensor(const NestedNumbers& numbers, Dtype dtype = default_dtype());
Tensor tensor(std::span<const float> values, const Shape& shape);
Tensor tensor(std::span<const double> values, const Shape& shape, Dtype dtype = default_dtype());
Tensor tensor(std::span<const Dual> values, const Shape& shape);
/// Integers (i64): ids, labels, masks.
Tensor indices(const NestedNumbers& numbers);
Tensor indices(std::span<const std::int64_t> values, const Shape& shape);
/// A tensor of zeros, of ones, or of one value; the _like forms take shape and dtype from x. Throw ShapeError or
/// MemoryError if it is larger than memory.
Tensor zeros(const Shape& shape, Dtype dtype = default_dtype());
Tensor ones(const Shape& shape, Dtype dtype = default_dtype());
Tensor full(const Shape& shape, Scalar value, Dtype dtype = default_dtype());
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
Tensor full_like(const Tensor& x, Scalar value);
/// start, start + step, ... below stop (above it, for a negative step). A step of 0 throws a ValueError.
Tensor arange(Scalar start, Scalar stop, Scalar step = 1, Dtype dtype = default_dtype());
/// `count` numbers from first to last, both included.
Tensor linspace(Scalar first, Scalar last, std::int64_t count, Dtype dtype = default_dtype());
/// Ones on the diagonal of rows x columns that is `offset` above the main one, or below it if the offset is negative.
Tensor eye(std::int64_t rows, std::int64_t columns = -1, Dtype dtype = default_dtype(), std::int64_t offset = 0);
/// ids [...] to [..., classes], 1 at the id. Throws IndexError for an id outside [0, classes).
Tensor one_hot(const Tensor& ids, std::int64_t classes, Dtype dtype = default_dtype());
/// A leaf that wants a gradient: the given values in new storage.
Tensor parameter(const Tensor& values, std::string_view name = "");
/// Does nothing: tensors may be read by several threads without it. It will be removed in version 0.4.
inline void share(const Tensor&) {}

/// Gives x the values and the dtype of y, and y those of x; their gradients are forgotten. Throws ShapeError unless the
/// shapes are the same.
void exchange_values(const Tensor& x, const Tensor& y);
/// Copies the values of `from` (same shape and dtype) into `to`.
void copy_values(const Tensor& from, const Tensor& to);
/// "w[2, 3]", or "[2, 3]" for a tensor without a name: what errors call it.
std::string to_text(const Tensor& x);
/// Name, dtype, shape and aligned values, shortened above 1000 elements.
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace retrace

// tril and triu: the triangles of matrices below and above a diagonal.
#include <retrace/ops/op.h>

namespace retrace {
namespace {

enum class Side { lower, upper };
struct Triangle {
  Side side;
  std::int64_t diagonal;
};

/// Calls body(k, keeps) for each element k of matrices; keeps says whether it is in the triangle.
template <class Body> void for_each_of(const Shape& matrices, const Triangle& triangle, Body&& body) {
  const std::int64_t rows = matrices[-2], columns = matrices[-1];
  parallel_for(columns == 0 ? 0 : matrices.numel() / columns, 16384 / (columns + 1) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row)
                   for (std::int64_t column = 0; column < columns; ++column) {
                     const std::int64_t above = column - row % rows;
                     body(row * columns + column,
                          triangle.side == Side::lower ? above <= triangle.diagonal : above >= triangle.diagonal);
                   }
               });
}

Formulas tril_formulas(const Record& r) {
  const auto [side, diagonal] = r.attributes<Triangle>();
  const int rank = r.in(0).shape.rank();
  const std::string here = "[" + index_letters(rank) + "]", row = index_letter(rank - 2);
  const std::string edge = diagonal == 0  ? row
                           : diagonal > 0 ? text(row, " + ", diagonal)
                                          : text(row, " - ", -diagonal);
  const std::string where = text(" where ", index_letter(rank - 1), side == Side::lower ? " <= " : " >= ", edge);
  return {text("y", here, " = x", here, where, ", else 0"), text("dx", here, " = dy", here, where, ", else 0")};
}
AttributeList tril_attributes(const Record& r) { return {{"diagonal", r.attributes<Triangle>().diagonal}}; }

constexpr OpInfo tril_info{"tril",
                           "y[i, j] = x[i, j] where j <= i + k, else 0",
                           "dx[i, j] = dy[i, j] where j <= i + k, else 0",
                           "x",
                           tril_formulas,
                           tril_attributes};
constexpr OpInfo triu_info{"triu",
                           "y[i, j] = x[i, j] where j >= i + k, else 0",
                           "dx[i, j] = dy[i, j] where j >= i + k, else 0",
                           "x",
                           tril_formulas,
                           tril_attributes};

void triangle_backward(Record& r) {
  dispatch_real(r.in(0).dtype, r.op().name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    for_each_of(r.in(0).shape, r.attributes<Triangle>(),
                [=](std::int64_t k, bool keeps) { dx.put_at(k, keeps ? dy[k] : T(0)); });
  });
}

Tensor triangle_of(const OpInfo& info, const Tensor& x, const Triangle& triangle) {
  check_defined(info.name, x, "x");
  if (x.rank() < 2)
    throw ShapeError(
        text(info.name, ": ", describe_operand("x", x), " is no matrix; it needs two axes or more: reshape it first"));
  Tensor y = empty(x.shape(), x.dtype(), info.name);
  dispatch_any(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = OpAccess::values<T>(y);
    for_each_of(x.shape(), triangle, [=](std::int64_t k, bool keeps) { to[k] = keeps ? from[k] : T(0); });
  });
  record(info, triangle_backward, {&x}, {&y}, {}, triangle);
  return y;
}

}  // namespace

Tensor tril(const Tensor& x, std::int64_t diagonal) { return triangle_of(tril_info, x, {Side::lower, diagonal}); }
Tensor triu(const Tensor& x, std::int64_t diagonal) { return triangle_of(triu_info, x, {Side::upper, diagonal}); }

}  // namespace retrace

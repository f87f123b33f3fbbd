#include <retrace/core/checks/foreign_function.h>

#include <retrace/core/tape/recording.h>

namespace retrace {
namespace {

constexpr OpInfo foreign_info{"foreign", "y = f(x)", "dx = vjp(x, dy)", nullptr};

struct ForeignAttributes {
  std::shared_ptr<const ForeignFunction> function;
};

void foreign_backward(Record& r) {
  const NoTape nothing_is_recorded;
  Tensors x, dy;
  for (int i = 0; i < r.inputs(); ++i) x.push_back(r.saved(i).tensor());
  for (int j = 0; j < r.outputs(); ++j)
    dy.push_back(r.has_grad_out(j) ? r.output(j).grad() : zeros(r.out(j).shape, f64));
  const Tensors dx = r.attributes<ForeignAttributes>().function->vjp(x, dy);
  if (dx.size() != x.size())
    throw ValueError(
        text("gradcheck: vjp gave ", dx.size(), " gradients for ", x.size(), " inputs; give one for each"));
  for (int i = 0; i < r.inputs(); ++i)
    if (const Tensor& gradient = dx[static_cast<std::size_t>(i)]; r.wants(i) && gradient.defined()) r.add(i, gradient);
}

}  // namespace

Tensors call_foreign(const std::shared_ptr<const ForeignFunction>& f, const Tensors& x) {
  for (const Tensor& each : x) {
    if (each.dtype() == dual) throw DifferencesOnlyError("the code that is checked computes with plain numbers");
    if (each.dtype() == f32) throw DtypeError("gradcheck: a foreign function computes in f64, and x is f32");
  }
  Tensors y;
  {
    const NoTape nothing_is_recorded;
    y = f->value(x);
  }
  record(foreign_info, foreign_backward, x, y, x, ForeignAttributes{f});
  return y;
}

}  // namespace retrace

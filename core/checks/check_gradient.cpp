#include <retrace/core/checks/check_gradient.h>

#include <memory>

#include <retrace/core/checks/foreign_function.h>
#include <retrace/core/checks/gradcheck.h>

namespace retrace::detail {
namespace {

Tensor vector_of(const PlainNumbers& numbers) {
  return tensor(std::span<const double>(numbers), {static_cast<std::int64_t>(numbers.size())}, f64);
}

void check_count(const char* function, std::size_t count, std::size_t expected, const char* like) {
  if (count != expected)
    throw ValueError(text("check_gradient: ", function, " gave ", count, count == 1 ? " number" : " numbers", ", and ",
                          like, " has ", expected, "; both must have as many"));
}

}  // namespace

GradcheckResult check_plain(const PlainValue& f, const PlainVjp& vjp, const PlainNumbers& x, std::size_t results,
                            const GradcheckOptions& options) {
  if (options.order != 1)
    throw ValueError(text("check_gradient: the order is ", options.order,
                          "; code without tensors is checked in order 1: pass its gradient as f for the second"));
  const auto value = [&](const Tensors& in) -> Tensors {
    const PlainNumbers y = f(in[0].values<double>());
    check_count("f", y.size(), results, "its result for the first x");
    return {vector_of(y)};
  };
  const auto pull_back = [&](const Tensors& in, const Tensors& dy) -> Tensors {
    const PlainNumbers dx = vjp(in[0].values<double>(), dy[0].values<double>());
    check_count("vjp", dx.size(), x.size(), "x");
    return {vector_of(dx)};
  };
  const auto function = std::make_shared<const ForeignFunction>(ForeignFunction{value, pull_back});
  GradcheckOptions named = options;
  if (named.name.empty()) named.name = "f";
  if (named.names.empty()) named.names = {"x"};
  return gradcheck(Function([&](const Tensors& in) { return call_foreign(function, in); }), {vector_of(x)}, named);
}

}  // namespace retrace::detail

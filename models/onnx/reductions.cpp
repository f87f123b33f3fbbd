// Sums, products of matrices, and the functions of whole rows.
#include <algorithm>
#include <limits>
#include <numeric>

#include <retrace/models/onnx/operators.h>
#include <retrace/ops/ops.h>

namespace retrace::onnx {
namespace {

/// Reductions of one call. ReduceSum has its axes as an input, the others as an attribute.
struct Reduction {
  const Call& call;
  std::vector<std::int64_t> axes = call.integers("axes");

  std::string operator()(std::string_view op, const std::string& x, bool keeps) const {
    const NodeAttribute keepdims{"keepdims", std::int64_t{keeps}};
    if (axes.empty()) return x;
    if (op == "ReduceSum") return call.build.node(op, {x, call.build.integers(axes)}, {keepdims});
    return call.build.node(op, {x}, {{"axes", axes}, keepdims});
  }
  bool keeps() const { return call.flag("keepdims"); }
};

template <std::size_t size> struct Word {
  char letters[size];
  constexpr Word(const char (&from)[size]) { std::copy_n(from, size, letters); }
};

template <Word op> void build_reduction(const Call& call) {
  const Reduction reduce{call};
  call.result(reduce(op.letters, call.in(0), reduce.keeps()));
}

/// max x + ln sum e^(x - max x)
void build_logsumexp(const Call& call) {
  const Reduction reduce{call};
  Builder& b = call.build;
  const std::string x = call.in(0), top = reduce("ReduceMax", x, true);
  const std::string sum = reduce("ReduceSum", b.node("Exp", {b.node("Sub", {x, top})}), reduce.keeps());
  call.result(b.node("Add", {b.node("Log", {sum}), reduce.keeps() ? top : reduce("ReduceMax", x, false)}));
}

/// sqrt sum x^2, or (sum |x|^order)^(1 / order)
void build_norm(const Call& call) {
  const Reduction reduce{call};
  const std::string x = call.in(0);
  if (call.has("order")) {
    const std::string powers =
        call.build.node("Pow", {call.build.node("Abs", {x}), number(call, call.number("order"))});
    const std::string sum = reduce("ReduceSum", powers, reduce.keeps());
    return call.result(call.build.node("Pow", {sum, number(call, 1 / call.number("order"))}));
  }
  call.result(call.build.node("Sqrt", {reduce("ReduceSum", call.build.node("Mul", {x, x}), reduce.keeps())}));
}

/// mean (x - mean x)^2; a correction is another record
void build_var(const Call& call) {
  const Reduction reduce{call};
  Builder& b = call.build;
  const std::string from_mean = b.node("Sub", {call.in(0), reduce("ReduceMean", call.in(0), true)});
  const std::string mean = reduce("ReduceMean", b.node("Mul", {from_mean, from_mean}), reduce.keeps());
  call.result(call.op() == "std" ? b.node("Sqrt", {mean}) : mean);
}

void build_matmul(const Call& call) {
  const auto factor = [&](int i, std::string_view transposed) {
    const bool exchange = call.flag(transposed) && call.rank(i) > 1;
    return exchange ? exchange_last_axes(call.build, call.in(i), call.rank(i)) : call.in(i);
  };
  call.result(call.build.node("MatMul", {factor(0, "transpose_a"), factor(1, "transpose_b")}));
}

void build_linear(const Call& call) {
  std::string y = call.build.node("MatMul", {call.in(0), exchange_last_axes(call.build, call.in(1), 2)});
  if (call.inputs() > 2) y = call.build.node("Add", {y, call.in(2)});
  const std::string f = activation(call.build, call.word("activation"), y, call.dtype());
  if (f.empty()) call.fail(text("its activation is ", call.word("activation")));
  call.result(f);
}

/// Rows in which everything is hidden become zeros, as in the op, where hidden elements may be: after a sum or where.
void build_softmax(const Call& call) {
  Builder& b = call.build;
  const std::int64_t axis = call.integer("axis");
  const std::string x = call.in(0), y = b.node("Softmax", {x}, {{"axis", axis}});
  const TracedCall* maker = call.maker(0);
  if (maker == nullptr || (maker->op != "add" && maker->op != "masked_fill" && maker->op != "where"))
    return call.result(y);
  const std::string top = b.node("ReduceMax", {x}, {{"axes", std::vector{axis}}, {"keepdims", std::int64_t{1}}});
  const std::string hidden = b.node("Equal", {top, number(call, -std::numeric_limits<double>::infinity())});
  call.result(b.node("Where", {hidden, number(call, 0), y}));
}

/// 1 for the last `axes` axes of input i.
std::string ones_like_last(const Call& call, std::int64_t axes) {
  std::vector<std::int64_t> lengths;
  for (int axis = static_cast<int>(-axes); axis < 0; ++axis) {
    if (!is_fixed(call.length(0, axis))) call.fail("it has no gamma for an axis whose length is free; fix the axis");
    lengths.push_back(call.length(0, axis).front());
  }
  return call.build.constant(full(Shape(lengths), 1, call.dtype()));
}

/// n = (x - mean x) / sqrt(mean (x - mean x)^2 + eps), for f64: the epsilon of LayerNormalization is a float. The
/// reciprocal keeps onnxruntime from putting these nodes together into one.
std::string normalised(const Call& call, const std::string& x, std::int64_t axes) {
  std::vector<std::int64_t> last(static_cast<std::size_t>(axes));
  std::iota(last.begin(), last.end(), -axes);
  Builder& b = call.build;
  const auto mean = [&](const std::string& of) {
    return b.node("ReduceMean", {of}, {{"axes", last}, {"keepdims", std::int64_t{1}}});
  };
  const std::string from_mean = b.node("Sub", {x, mean(x)});
  const std::string variance = mean(b.node("Mul", {from_mean, from_mean}));
  const std::string root = b.node("Sqrt", {b.node("Add", {variance, number(call, call.number("eps"))})});
  return b.node("Mul", {from_mean, b.node("Reciprocal", {root})});
}

void build_layer_norm(const Call& call) {
  Builder& b = call.build;
  const std::int64_t axes = call.integer("axes");
  const std::string residual = call.in("residual"), gamma = call.in("gamma"), beta = call.in("beta");
  const std::string x = residual.empty() ? call.in(0) : b.node("Add", {call.in(0), residual});
  if (call.dtype() == f64) {
    std::string y = normalised(call, x, axes);
    if (!gamma.empty()) y = b.node("Mul", {y, gamma});
    return call.result(beta.empty() ? y : b.node("Add", {y, beta}));
  }
  std::vector<std::string> inputs{x, gamma.empty() ? ones_like_last(call, axes) : gamma};
  if (!beta.empty()) inputs.push_back(beta);
  call.result(
      b.node("LayerNormalization", inputs, {{"axis", -axes}, {"epsilon", static_cast<float>(call.number("eps"))}}));
}

/// x / sqrt(mean x^2 + eps), times gamma
void build_rms_norm(const Call& call) {
  Builder& b = call.build;
  const std::string x = call.in(0);
  const std::string mean = b.node("ReduceMean", {b.node("Mul", {x, x})},
                                  {{"axes", std::vector<std::int64_t>{-1}}, {"keepdims", std::int64_t{1}}});
  const std::string root = b.node("Sqrt", {b.node("Add", {mean, number(call, call.number("eps"))})});
  const std::string normal = b.node("Div", {x, root});
  call.result(call.inputs() > 1 ? b.node("Mul", {normal, call.in(1)}) : normal);
}

}  // namespace

std::vector<Operator> reduction_operators() {
  return {{"sum", build_reduction<"ReduceSum">, "ReduceSum"},
          {"mean", build_reduction<"ReduceMean">, "ReduceMean"},
          {"max", build_reduction<"ReduceMax">, "ReduceMax"},
          {"min", build_reduction<"ReduceMin">, "ReduceMin"},
          {"prod", build_reduction<"ReduceProd">, "ReduceProd"},
          {"logsumexp", build_logsumexp, "ReduceMax, Exp, ReduceSum, Log"},
          {"norm", build_norm, "Mul, ReduceSum, Sqrt; of an order Abs, Pow"},
          {"var", build_var, "ReduceMean, Sub, Mul"},
          {"std", build_var, "ReduceMean, Sub, Mul, Sqrt"},
          {"cumsum",
           [](const Call& c) {
             c.result(c.build.node("CumSum", {c.in(0), c.build.constant(full({}, c.integer("axis"), i64))}));
           },
           "CumSum"},
          {"outer",
           [](const Call& c) {
             c.result(c.build.node("Mul", {unsqueeze(c.build, c.in(0), 1), unsqueeze(c.build, c.in(1), 0)}));
           },
           "Unsqueeze, Mul"},
          {"matmul", build_matmul, "MatMul"},
          {"linear", build_linear, "MatMul, Add, and its activation"},
          {"softmax", build_softmax, "Softmax"},
          {"log_softmax",
           [](const Call& c) {
             c.result(c.build.node("LogSoftmax", {c.in(0)}, {{"axis", c.integer("axis")}}));
           },
           "LogSoftmax"},
          {"layer_norm", build_layer_norm, "LayerNormalization"},
          {"residual_layer_norm", build_layer_norm, "Add, LayerNormalization"},
          {"rms_norm", build_rms_norm, "Mul, ReduceMean, Sqrt, Div"}};
}

}  // namespace retrace::onnx

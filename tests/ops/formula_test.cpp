// The formulas on a tape show the attributes, axes, permutations and options of the call.
#include <retrace/ops/loops/formula.h>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/trace/inspect.h>
#include <retrace/ops/checks/op_checks.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/ops/formula_notation.h>
#include <retrace/tests/source_text.h>

namespace retrace {
namespace {

/// "forward | backward" of the last record that f makes of parameters of these shapes.
template <class F> std::string formulas_of(F&& f, std::initializer_list<Shape> shapes) {
  Tensors inputs;
  for (const Shape& shape : shapes) inputs.push_back(parameter(full(shape, 0.5)));
  Tape tape;
  f(inputs);
  const Formulas formulas = tape.records().back()->formulas();
  return formulas.forward + " | " + formulas.backward;
}
template <class F> std::string formulas_of(F&& f, const Shape& shape = {2, 3}) {
  return formulas_of([&](const Tensors& in) { return f(in[0]); }, {shape});
}

TEST(Formulas, AMatmulNamesItsTransposes) {
  const auto product = [](const Shape& a, const Shape& b, MatmulOptions options) {
    return formulas_of([=](const Tensors& in) { return matmul(in[0], in[1], options); }, {a, b});
  };
  EXPECT_EQ(product({2, 3}, {3, 4}, {}), "y = a b | da = dy b^T, db = a^T dy");
  EXPECT_EQ(product({2, 3}, {4, 3}, {.transpose_b = true}), "y = a b^T | da = dy b, db = dy^T a");
  EXPECT_EQ(product({3, 2}, {3, 4}, {.transpose_a = true}), "y = a^T b | da = b dy^T, db = a dy");
  EXPECT_EQ(product({3, 2}, {4, 3}, {.transpose_a = true, .transpose_b = true}),
            "y = a^T b^T | da = b^T dy^T, db = dy^T a^T");
}

/// The gradients of all four, computed by the formulas that the tape prints.
TEST(Formulas, TheGradientsOfAMatmulAreWhatItsFormulaSays) {
  Random random(3);
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const Tensor a = parameter(random.normal(ta ? Shape{3, 2} : Shape{2, 3}, f64));
      const Tensor b = parameter(random.normal(tb ? Shape{4, 3} : Shape{3, 4}, f64)), dy = random.normal({2, 4}, f64);
      std::string backward;
      {
        Tape tape;
        tape.backward({matmul(a, b, {.transpose_a = ta, .transpose_b = tb})}, {dy});
        backward = tape.records().back()->formulas().backward;
      }
      const auto operand = [&](const std::string& name) {
        const Tensor& x = name[0] == 'a' ? a : name[0] == 'b' ? b : dy;
        return name.ends_with("^T") ? transpose(x) : x;
      };
      const auto computed = [&](const std::string& target) {
        const std::size_t begin = backward.find(target + " = ") + target.size() + 3, space = backward.find(' ', begin);
        const std::size_t end = std::min(backward.find(',', begin), backward.size());
        return matmul(operand(backward.substr(begin, space - begin)),
                      operand(backward.substr(space + 1, end - space - 1)));
      };
      for (const auto& [target, x] : {std::pair("da", a), std::pair("db", b)}) {
        const Tensor want = computed(target);
        ASSERT_EQ(want.shape(), x.shape()) << backward;
        for (std::size_t k = 0; k < want.values<double>().size(); ++k)
          EXPECT_NEAR(want.values<double>()[k], x.grad().values<double>()[k], 1e-12) << backward;
      }
    }
}

TEST(Formulas, LinearNamesItsBiasItsActivationAndItsRows) {
  const auto layer = [](const Shape& x, bool has_bias, Activation activation) {
    return formulas_of([=](const Tensors& in) { return linear(in[0], in[1], has_bias ? in[2] : Tensor(), activation); },
                       {x, {4, 3}, {4}});
  };
  EXPECT_EQ(layer({2, 3}, false, Activation::none), "y = x W^T | dx = dy W, dW = dy^T x");
  EXPECT_EQ(layer({2, 3}, true, Activation::none), "y = x W^T + b | dx = dy W, dW = dy^T x, db = sum dy along axis 0");
  EXPECT_EQ(layer({5, 2, 3}, true, Activation::none),
            "y = x W^T + b | dx = dy W, dW = dy^T x, db = sum dy along axes 0 and 1");
  EXPECT_EQ(layer({3}, true, Activation::none), "y = x W^T + b | dx = dy W, dW = dy^T x, db = dy");
  EXPECT_EQ(layer({2, 3}, true, Activation::tanh),
            "z = x W^T + b, y = tanh z | dz = dy (1 - y^2), dx = dz W, dW = dz^T x, db = sum dz along axis 0");
  EXPECT_EQ(layer({2, 3}, false, Activation::relu),
            "z = x W^T, y = max(z, 0) | dz = dy where y > 0, else 0, dx = dz W, dW = dz^T x");
}

TEST(Formulas, NumbersStandWhereTheyBelong) {
  EXPECT_EQ(formulas_of([](const Tensor& x) { return 0.5 * x; }), "y = 0.5 x | dx = 0.5 dy");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return scale(x, -2); }), "y = (-2) x | dx = (-2) dy");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return x + 2; }), "y = x + 2 | dx = dy");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return x - 0.25; }), "y = x - 0.25 | dx = dy");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return pow(x, 3); }), "y = x^3 | dx = dy 3 x^2");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return pow(x, -0.5); }), "y = x^(-0.5) | dx = dy (-0.5) x^(-1.5)");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return clip(x, -1, 2); }),
            "y = min(max(x, -1), 2) | dx = dy where -1 < x < 2, else 0");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return logit(x, 0.25); }),
            "z = min(max(x, 0.25), 0.75), y = ln(z / (1 - z)) | "
            "dx = dy / (x (1 - x)) where 0.25 <= x <= 0.75, else 0");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return leaky_relu(x, 0.1); }),
            "y = x where x > 0, else 0.1 x | dx = dy where x > 0, else 0.1 dy");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return masked_fill(x, zeros({3}, i64), -1e9); }),
            "y = -1e+09 where mask, else x | dx = 0 where mask, else dy");
  EXPECT_EQ(formulas_of([](const Tensor& x) {
              Random random(1);
              return dropout(x, 0.2, &random);
            }),
            "m in {0, 1.25}, y = x m | dx = dy m");
}

TEST(Formulas, ReductionsNameTheirAxes) {
  const auto of = [](auto f) { return formulas_of(f, Shape{2, 3, 4}); };
  EXPECT_EQ(of([](const Tensor& x) { return sum(x); }), "y = sum x | dx = dy");
  EXPECT_EQ(of([](const Tensor& x) { return sum(x, -1); }), "y = sum x along axis 2 | dx = dy");
  EXPECT_EQ(of([](const Tensor& x) { return mean(x, {0, 2}); }), "y = mean x along axes 0 and 2 | dx = dy / 8");
  EXPECT_EQ(of([](const Tensor& x) { return max(x, 1); }),
            "y = max x along axis 1 | dx = dy [x = y] / sum [x = y] along axis 1");
  EXPECT_EQ(of([](const Tensor& x) { return min(x); }), "y = min x | dx = dy [x = y] / sum [x = y]");
  EXPECT_EQ(of([](const Tensor& x) { return var(x, 1); }),
            "y = mean (x - mean x)^2 along axis 1 | dx = 2 dy (x - mean x) / 3 along axis 1");
  EXPECT_EQ(of([](const Tensor& x) { return prod(x, 0); }),
            "y = prod x along axis 0 | dx[k] = dy prod_(t != k) x[t] along axis 0");
  EXPECT_EQ(of([](const Tensor& x) { return logsumexp(x, 2); }), "y = ln sum e^x along axis 2 | dx = dy e^(x - y)");
  EXPECT_EQ(of([](const Tensor& x) { return norm(x, 0); }), "y = sqrt(sum x^2) along axis 0 | dx = dy x / y");
  EXPECT_EQ(of([](const Tensor& x) { return norm(x, 0, {}, 3); }),
            "y = (sum |x|^3)^(1 / 3) along axis 0 | dx = dy sign(x) (|x| / y)^2");
  EXPECT_EQ(of([](const Tensor& x) { return logcumsumexp(x, 1); }),
            "y[i, j, k] = ln sum_(t <= j) e^x[i, t, k] | "
            "dx[i, j, k] = sum_(t >= j) dy[i, t, k] e^(x[i, j, k] - y[i, t, k])");
  EXPECT_EQ(of([](const Tensor& x) { return cumsum(x, 1); }),
            "y[i, j, k] = sum_(t <= j) x[i, t, k] | dx[i, j, k] = sum_(t >= j) dy[i, t, k]");
  EXPECT_EQ(of([](const Tensor& x) { return cumprod(x, 1); }),
            "y[i, j, k] = prod_(t <= j) x[i, t, k] | s[i, j, k] = dy[i, j, k] + x[i, j + 1, k] s[i, j + 1, k], "
            "dx[i, j, k] = s[i, j, k] prod_(t < j) x[i, t, k]");
  EXPECT_EQ(of([](const Tensor& x) { return softmax(x, 1); }),
            "y = e^(x - max x) / sum e^(x - max x) along axis 1 | dx = y (dy - sum dy y) along axis 1");
  EXPECT_EQ(of([](const Tensor& x) { return log_softmax(x); }),
            "y = x - max x - ln sum e^(x - max x) along axis 2 | dx = dy - e^y sum dy along axis 2");
}

TEST(Formulas, NormalisationsNameTheirAxesAndOperands) {
  EXPECT_EQ(formulas_of([](const Tensor& x) { return layer_norm(x); }),
            "v = mean (x - mean x)^2 along axis 1, n = (x - mean x) / sqrt(v + 1e-05) along axis 1, y = n | "
            "g = dy, dx = (g - mean g - n mean g n) / sqrt(v + 1e-05) along axis 1");
  EXPECT_EQ(formulas_of([](const Tensors& in) { return residual_layer_norm(in[0], in[1], in[2], in[3], {.eps = 0.5}); },
                        {{2, 3}, {2, 3}, {3}, {3}}),
            "s = x + residual, v = mean (s - mean s)^2 along axis 1, n = (s - mean s) / sqrt(v + 0.5) along axis 1, "
            "y = n gamma + beta | g = dy gamma, ds = (g - mean g - n mean g n) / sqrt(v + 0.5) along axis 1, dx = ds, "
            "dresidual = ds, dgamma = sum dy n along axis 0, dbeta = sum dy along axis 0");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return rms_norm(x, {}, 0.5); }),
            "n = x / sqrt(mean x^2 + 0.5) along axis 1, y = n | g = dy, dx = (g - n mean g n) / sqrt(mean x^2 + 0.5) "
            "along axis 1");
}

TEST(Formulas, ShapesAndPermutationsAreNamed) {
  const auto of = [](auto f) { return formulas_of(f, Shape{2, 3, 4}); };
  EXPECT_EQ(of([](const Tensor& x) { return transpose(x); }), "y = x^T | dx = dy^T");
  EXPECT_EQ(of([](const Tensor& x) {
              return transpose(x, {2, 0, 1});
            }),
            "y[i, j, k] = x[j, k, i] | dx[j, k, i] = dy[i, j, k]");
  EXPECT_EQ(of([](const Tensor& x) {
              return reshape(x, {6, 4});
            }),
            "y = reshape(x, [6, 4]) | dx = reshape(dy, [2, 3, 4])");
  EXPECT_EQ(of([](const Tensor& x) {
              return broadcast_to(x, {5, 2, 3, 4});
            }),
            "y = broadcast(x, [5, 2, 3, 4]) | dx = sum dy along axis 0");
  EXPECT_EQ(of([](const Tensor& x) { return flip(x, 1); }),
            "y[i, j, k] = x[i, 2 - j, k] | dx[i, j, k] = dy[i, 2 - j, k]");
  EXPECT_EQ(of([](const Tensor& x) { return to(x, f64); }), "y = f64(x) | dx = f32(dy)");
  EXPECT_EQ(of([](const Tensor& x) {
              return pad(x, {{0, 0}, {1, 0}, {2, 1}});
            }),
            "y = 0, y[:, 1:4, 2:6] = x | dx = dy[:, 1:4, 2:6]");
  EXPECT_EQ(formulas_of(
                [](const Tensors& in) {
                  return concat({in[0], in[1]}, 1);
                },
                {{2, 3}, {2, 1}}),
            "y = [x0; x1] along axis 1 | dx0 = dy[:, 0:3], dx1 = dy[:, 3:4]");
  EXPECT_EQ(formulas_of(
                [](const Tensors& in) {
                  return concat({in[0], in[0], in[0], in[0], in[0], in[0]}, 0);
                },
                {{1}}),
            "y = [x0; x1; ...; x5] along axis 0 | dx0 = dy[0:1], dx1 = dy[1:2], ..., dx5 = dy[5:6]");
}

TEST(Formulas, PartsNameTheirIndex) {
  const auto part = [](std::initializer_list<SliceIndex> index) {
    return formulas_of([&](const Tensor& x) { return slice(x, index); }, Shape{4, 1, 6});
  };
  const auto both = [](const std::string& index) { return "y = x[" + index + "] | dx[" + index + "] += dy"; };
  EXPECT_EQ(formulas_of([](const Tensor& x) { return x[1]; }, Shape{2, 3, 4}), both("1, :, :"));
  EXPECT_EQ(part({all, 0, range(1, 4)}), both(":, 0, 1:4"));
  EXPECT_EQ(part({-1, 0, 3}), both("3, 0, 3"));
  EXPECT_EQ(part({range(0, 4, 2), all, range(5, 0, -2)}), both("0:3:2, :, 5:0:-2"));
  EXPECT_EQ(part({all, all, range(SliceIndex::none, SliceIndex::none, -1)}), both(":, :, 5::-1"));
  EXPECT_EQ(part({range(1, 2), new_axis, all, all}), both("1:2, new, :, :"));
  EXPECT_EQ(part({range(0, 0)}), both("..."));
  EXPECT_EQ(formulas_of([](const Tensor& x) { return split(x, {1, 2}, 1)[1]; }), both(":, 1:3"));
}

TEST(Formulas, TrianglesAndDiagonalsNameTheirOffset) {
  const auto of = [](auto f) { return formulas_of(f, Shape{2, 3, 4}); };
  EXPECT_EQ(of([](const Tensor& x) { return tril(x, -1); }),
            "y[i, j, k] = x[i, j, k] where k <= j - 1, else 0 | dx[i, j, k] = dy[i, j, k] where k <= j - 1, else 0");
  EXPECT_EQ(of([](const Tensor& x) { return triu(x); }),
            "y[i, j, k] = x[i, j, k] where k >= j, else 0 | dx[i, j, k] = dy[i, j, k] where k >= j, else 0");
  EXPECT_EQ(of([](const Tensor& x) { return diagonal(x, 2); }),
            "y[i, j] = x[i, j, j + 2] | dx[i, j, j + 2] += dy[i, j]");
  EXPECT_EQ(of([](const Tensor& x) { return diagonal(x, -1); }),
            "y[i, j] = x[i, j + 1, j] | dx[i, j + 1, j] += dy[i, j]");
  EXPECT_EQ(formulas_of([](const Tensor& x) { return diag_embed(x, 1); }, Shape{3}),
            "y = 0, y[i, i + 1] = x[i] | dx[i] = dy[i, i + 1]");
}

TEST(Formulas, IndicesAreWrittenOut) {
  const Tensor pair = indices({1, 0}), grid = indices({{0, 1, 0}, {1, 0, 1}});
  EXPECT_EQ(formulas_of([&](const Tensor& x) { return take(x, pair, 1); }),
            "y[i, j] = x[i, ids[j]] | dx[i, ids[j]] += dy[i, j]");
  EXPECT_EQ(formulas_of([&](const Tensor& x) { return take(x, indices(1), 0); }),
            "y[j] = x[ids, j] | dx[ids, j] += dy[j]");
  EXPECT_EQ(formulas_of([&](const Tensor& x) { return gather(x, grid, 1); }),
            "y[i, j] = x[i, ids[i, j]] | dx[i, ids[i, j]] += dy[i, j]");
  EXPECT_EQ(formulas_of([&](const Tensor& x) { return embedding(x, grid); }),
            "y[i, j, k] = table[ids[i, j], k] | dtable[ids[i, j], k] += dy[i, j, k]");
  EXPECT_EQ(formulas_of([&](const Tensor& x) { return embedding(x, grid, {.padding_idx = 1}); }),
            "y[i, j, k] = table[ids[i, j], k] | dtable[ids[i, j], k] += dy[i, j, k] where ids[i, j] != 1");
}

TEST(Formulas, LossesNameTheirReduction) {
  const Tensor labels = indices({0, 2});
  const auto entropy = [&](CrossEntropyOptions options) {
    return formulas_of([&](const Tensor& x) { return cross_entropy(x, labels, options); });
  };
  EXPECT_EQ(entropy({}),
            "l[i] = ln sum_c e^x[i, c] - x[i, t[i]], y = (sum l) / 2 | "
            "dl = dy / 2, dx[i, c] = dl[i] (softmax(x)[i, c] - [c = t[i]])");
  EXPECT_EQ(entropy({.reduction = Reduction::none, .ignore_index = 2}),
            "l[i] = ln sum_c e^x[i, c] - x[i, t[i]] where t[i] != 2, else 0, y = l | "
            "dl = dy, dx[i, c] = dl[i] (softmax(x)[i, c] - [c = t[i]]) where t[i] != 2, else 0");
  EXPECT_EQ(formulas_of([](const Tensor& x) {
              return mse(x, zeros({2, 3}), Reduction::sum);
            }),
            "l = (x - t)^2, y = sum l | dl = dy, dx = 2 dl (x - t), dt = -dx");
}

TEST(Formulas, AttentionNamesItsScaleItsMasksAndItsHeads) {
  const auto attend = [](const AttentionOptions& options) {
    return formulas_of([&](const Tensors& in) { return attention(in[0], in[0], in[0], options); }, {{3, 8}});
  };
  EXPECT_EQ(attend({}),
            "w = softmax(q k^T / sqrt(8)), y = w v | dw = dy v^T, ds = w (dw - sum dw w) along axis -1, "
            "dq = ds k / sqrt(8), dk = ds^T q / sqrt(8), dv = w^T dy");
  EXPECT_EQ(attend({.heads = 2, .causal = true, .mask = zeros({3, 3})}),
            "w = softmax(q k^T / sqrt(4) + causal + mask), y = w v, for each head | dw = dy v^T, "
            "ds = w (dw - sum dw w) along axis -1, dq = ds k / sqrt(4), dk = ds^T q / sqrt(4), dv = w^T dy, "
            "for each head");
  EXPECT_EQ(attend({.mask = parameter(zeros({3})), .scale = 0.25}),
            "w = softmax(0.25 q k^T + mask), y = w v | dw = dy v^T, ds = w (dw - sum dw w) along axis -1, "
            "dq = 0.25 ds k, dk = 0.25 ds^T q, dv = w^T dy, dmask = ds");
}

TEST(Formulas, RotaryNamesItsPairsAndTheirAngles) {
  EXPECT_EQ(formulas_of([](const Tensor& x) { return rotary(x, {.heads = 2, .first = 3}); }, Shape{5, 16}),
            "m = (t + 3) 10000^(-2 i / 8), y[t, 2 i] = x[t, 2 i] cos(m) - x[t, 2 i + 1] sin(m), "
            "y[t, 2 i + 1] = x[t, 2 i] sin(m) + x[t, 2 i + 1] cos(m), for each head | "
            "m = (t + 3) 10000^(-2 i / 8), dx[t, 2 i] = dy[t, 2 i] cos(m) + dy[t, 2 i + 1] sin(m), "
            "dx[t, 2 i + 1] = dy[t, 2 i + 1] cos(m) - dy[t, 2 i] sin(m), for each head");
  EXPECT_EQ(
      formulas_of([](const Tensor& x) { return rotary(x, {.base = 50, .pairs = RotaryPairs::halves}); }, Shape{5, 6}),
      "m = t 50^(-2 i / 6), y[t, i] = x[t, i] cos(m) - x[t, i + 3] sin(m), "
      "y[t, i + 3] = x[t, i] sin(m) + x[t, i + 3] cos(m) | "
      "m = t 50^(-2 i / 6), dx[t, i] = dy[t, i] cos(m) + dy[t, i + 3] sin(m), "
      "dx[t, i + 3] = dy[t, i + 3] cos(m) - dy[t, i] sin(m)");
}

TEST(Formulas, EveryWayToPrintATapeShowsThem) {
  const Tensor w = parameter(ones({2, 2}), "w");
  Tape tape;
  const Tensor loss = sum(matmul(w, w, {.transpose_b = true}));
  const std::string forward = "y = a b^T", backward = "da = dy b, db = dy^T a";
  for (const std::string& written : {to_text(tape), to_text(*tape.records()[0]), to_dot(tape), to_json(tape)}) {
    EXPECT_NE(written.find(forward), std::string::npos) << written;
    EXPECT_NE(written.find(backward), std::string::npos) << written;
  }
  std::string walked;
  for (BackwardWalk walk(tape, loss); walk.next();) walked += to_text(walk.record());
  EXPECT_NE(walked.find(backward), std::string::npos) << walked;
}

/// The names that formulas of an op may use besides short ones.
std::set<std::string> names_for(const OpInfo& op) {
  std::set<std::string> names{
      "tanh",   "sqrt", "sin",  "cos",       "sigmoid", "softmax", "log_softmax", "log",      "erf",       "sign",
      "max",    "min",  "mean", "sum",       "prod",    "gelu",    "f32",         "reshape",  "broadcast", "mask",
      "causal", "dual", "f64",  "gelu_tanh", "qkv",     "name",    "condition",   "backward", "floor",     "digamma"};
  names.insert(op.name);
  std::string name;
  for (const char c : std::string(op.inputs) + ",") {
    if (c == ',' || c == ' ') {
      names.insert(name);
      name.clear();
    } else {
      name += c;
    }
  }
  return names;
}

void expect_notation(const OpInfo& op, const Formulas& formulas) {
  for (const std::string& list : {formulas.forward, formulas.backward}) try {
      FormulaReader(list, names_for(op));
    } catch (const ValueError& error) {
      ADD_FAILURE() << op.name << ": " << list << "\n  " << error.what();
    }
}

/// Every record of the cases of the gradient-check table.
template <class See> void see_records_of_all_ops(See&& see) {
  for (const CheckedName& row : op_cases())
    for (const CheckCase& check : row.cases) {
      for (const Tensor& input : check.inputs)
        if (input.dtype() != i64) input.watch();
      Tape tape;
      check.function(check.inputs);
      for (const Record* record : tape.records()) see(*record);
    }
}

TEST(Formulas, EveryOpKeepsToTheNotationInEveryCaseOfTheTable) {
  std::set<std::string> seen;
  see_records_of_all_ops([&](const Record& record) {
    expect_notation(record.op(), record.formulas());
    seen.insert(record.op().name);
  });
  for (const char* name : {"matmul", "attention", "lstm_sequence", "gated_memory", "slice", "residual_layer_norm"})
    EXPECT_TRUE(seen.contains(name)) << name << " was never recorded";
}

/// A formula in a table of Markdown.
std::string cell(std::string formula) {
  for (std::size_t at = 0; (at = formula.find('|', at)) != std::string::npos; at += 2) formula.insert(at, "\\");
  return "`" + formula + "`";
}

TEST(Formulas, TheTableOfAllOpsShowsThem) {
  std::string table =
      "# All formulas\n\nThe forward and the vector-Jacobian product of every op, as tapes print them and as the study "
      "page reads them. On\nthe tape of a call, attributes such as axes and scales stand in their places.\n\n"
      "| op | inputs | forward | vector-Jacobian product |\n| --- | --- | --- | --- |\n";
  std::map<std::string, const OpInfo*> ops;
  see_records_of_all_ops([&](const Record& record) { ops.emplace(record.op().name, &record.op()); });
  for (const char* custom : {"on_gradient", "product"}) ops.erase(custom);  // their formulas are functions of the user
  for (const auto& [name, op] : ops)
    table += text("| ", name, " | `", op->inputs, "` | ", cell(op->forward), " | ", cell(op->backward), " |\n");
  EXPECT_TRUE(source_text("ops/FORMULAS.md") == table) << "ops/FORMULAS.md is to contain\n" << table;
}

TEST(Formulas, TheReaderRefusesProse) {
  for (const char* prose : {"y = x in another shape", "dx = sum of dy over them", "dx = dy with the axes put back",
                            "y = a b da = dy", "y = x, repeated", "y = (x", "y == x", "y = tanh"})
    EXPECT_THROW(FormulaReader(prose, {"tanh", "sum"}), ValueError) << prose;
}

}  // namespace
}  // namespace retrace

// oneDNN 3 in the cases of models_benchmark (LSTM, and GRU with the reset gate after the product, as in PyTorch) and of
// gemm_benchmark. Layers keep their weights in the layout of their gradients; the layouts that forward and backward
// want are copied in each step, because each step changes the weights. oneDNN always computes the gradient of x.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <benchmark/benchmark.h>
#include <dnnl.hpp>

#include <retrace/benchmarks/product_cases.h>
#include <retrace/benchmarks/recurrent_cases.h>

namespace retrace {
namespace {

using dnnl::memory, dnnl::prop_kind;
using Layout = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
dnnl::stream& queue() {
  static dnnl::stream stream(cpu());
  return stream;
}

memory::desc described(const memory::dims& sizes, Layout layout) { return {sizes, memory::data_type::f32, layout}; }
float* values(const memory& m) { return static_cast<float*>(m.get_data_handle()); }
std::size_t count(const memory& m) { return m.get_desc().get_size() / sizeof(float); }

/// Normal numbers of this standard deviation.
memory drawn(const memory::desc& description, float deviation) {
  static std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  memory result(description, cpu());
  float* first = values(result);
  for (float* at = first; at != first + count(result); ++at) *at = deviation * normal(engine);
  return result;
}
memory zeros(const memory::desc& description) { return drawn(description, 0); }

/// A trained array, its gradient, and the moments of Adam.
struct Weight {
  memory value, gradient, first, second;

  Weight(const memory::desc& description, float deviation)
      : value(drawn(description, deviation)),
        gradient(zeros(description)),
        first(zeros(description)),
        second(zeros(description)) {}

  void clear() const { std::fill_n(values(gradient), count(gradient), 0.0F); }
  void update(int step) const {
    const float rate = 1e-3F / (1 - std::pow(0.9F, static_cast<float>(step)));
    const float scale = 1 / (1 - std::pow(0.999F, static_cast<float>(step)));
    float* __restrict w = values(value), * __restrict m = values(first), * __restrict v = values(second);
    const float* __restrict g = values(gradient);
    const std::size_t size = count(value);
    for (std::size_t k = 0; k < size; ++k) {
      m[k] = 0.9F * m[k] + 0.1F * g[k];
      v[k] = 0.999F * v[k] + 0.001F * g[k] * g[k];
      w[k] -= rate * m[k] / (std::sqrt(v[k] * scale) + 1e-8F);
    }
  }
};

/// A recurrent layer as oneDNN compiles it, and the layouts that it wants.
struct Layer {
  dnnl::primitive forward, backward;
  memory::desc forward_w, forward_u, backward_w, backward_u, gradient_w, gradient_u, workspace;

  template <class F, class B>
  Layer(const dnnl::primitive& f, const F& of_f, const dnnl::primitive& b, const B& of_b)
      : forward(f),
        backward(b),
        forward_w(of_f.weights_layer_desc()),
        forward_u(of_f.weights_iter_desc()),
        backward_w(of_b.weights_layer_desc()),
        backward_u(of_b.weights_iter_desc()),
        gradient_w(of_b.diff_weights_layer_desc()),
        gradient_u(of_b.diff_weights_iter_desc()),
        workspace(of_f.workspace_desc()) {}
};

constexpr auto forwards = dnnl::rnn_direction::unidirectional_left2right;

/// The arrays that describe an LSTM or a GRU; the states before the first step are 0.
struct Arrays {
  memory::desc x, y, w, u, bias, none;

  Arrays(const RecurrentCase& n, std::int64_t gates)
      : x(described({n.steps, n.batch, n.input}, Layout::tnc)),
        y(described({n.steps, n.batch, n.hidden}, Layout::tnc)),
        w(described({1, 1, n.input, gates, n.hidden}, Layout::any)),
        u(described({1, 1, n.hidden, gates, n.hidden}, Layout::any)),
        bias(described({1, 1, 4, n.hidden}, Layout::ldgo)) {}  // a GRU has another one, inside its candidate

  Layer lstm() const {
    const dnnl::lstm_forward::primitive_desc f(cpu(), prop_kind::forward_training, forwards, x, none, none, w, u, bias,
                                               y, none, none);
    const dnnl::lstm_backward::primitive_desc b(cpu(), prop_kind::backward, forwards, x, none, none, w, u, bias, y,
                                                none, none, x, none, none, w, u, bias, y, none, none, f);
    return {dnnl::lstm_forward(f), f, dnnl::lstm_backward(b), b};
  }
  Layer gru() const {
    const dnnl::lbr_gru_forward::primitive_desc f(cpu(), prop_kind::forward_training, forwards, x, none, w, u, bias, y,
                                                  none);
    const dnnl::lbr_gru_backward::primitive_desc b(cpu(), prop_kind::backward, forwards, x, none, w, u, bias, y, none,
                                                   x, none, w, u, bias, y, none, f);
    return {dnnl::lbr_gru_forward(f), f, dnnl::lbr_gru_backward(b), b};
  }
};

/// The layer, a linear map of each step's h, the mean squared error, backward, Adam.
class Training {
 public:
  Training(const RecurrentCase& n, const Arrays& arrays, const Layer& layer)
      : rows_(n.batch * n.steps),
        hidden_(n.hidden),
        layer_(layer),
        weights_{{layer.gradient_w, 1 / std::sqrt(static_cast<float>(n.input))},
                 {layer.gradient_u, 1 / std::sqrt(static_cast<float>(n.hidden))},
                 {arrays.bias, 0},
                 {described({n.hidden, n.output}, Layout::ab), 0.1F},
                 {described({n.output}, Layout::a), 0}},
        y_(zeros(arrays.y)),
        gradient_of_y_(zeros(arrays.y)),
        output_(zeros(described({rows_, n.output}, Layout::ab))),
        target_(drawn(output_.get_desc(), 1)) {
    const memory x = drawn(arrays.x, 1), workspace(layer.workspace, cpu());
    forward_ = arguments(x, workspace, layer.forward_w, layer.forward_u);
    backward_ = arguments(x, workspace, layer.backward_w, layer.backward_u);
    backward_.insert({{DNNL_ARG_DIFF_SRC_LAYER, zeros(arrays.x)},
                      {DNNL_ARG_DIFF_WEIGHTS_LAYER, weights_[0].gradient},
                      {DNNL_ARG_DIFF_WEIGHTS_ITER, weights_[1].gradient},
                      {DNNL_ARG_DIFF_BIAS, weights_[2].gradient},
                      {DNNL_ARG_DIFF_DST_LAYER, gradient_of_y_}});
  }

  void step() {
    for (const Copy& copy : copies_) copy.move.execute(queue(), {{DNNL_ARG_FROM, copy.from}, {DNNL_ARG_TO, copy.to}});
    layer_.forward.execute(queue(), forward_);
    queue().wait();
    for (const Weight& weight : weights_) weight.clear();  // oneDNN adds to gradients
    output_and_its_gradients();
    layer_.backward.execute(queue(), backward_);
    queue().wait();
    ++steps_;
    for (const Weight& weight : weights_) weight.update(steps_);
  }

 private:
  struct Copy {
    memory from, to;
    dnnl::reorder move;
  };

  memory in_layout(const memory& value, const memory::desc& wanted) {
    if (value.get_desc() == wanted) return value;
    const memory to(wanted, cpu());
    copies_.push_back({value, to, dnnl::reorder(value, to)});
    return to;
  }
  Arguments arguments(const memory& x, const memory& workspace, const memory::desc& w, const memory::desc& u) {
    return {{DNNL_ARG_SRC_LAYER, x},
            {DNNL_ARG_WEIGHTS_LAYER, in_layout(weights_[0].value, w)},
            {DNNL_ARG_WEIGHTS_ITER, in_layout(weights_[1].value, u)},
            {DNNL_ARG_BIAS, weights_[2].value},
            {DNNL_ARG_DST_LAYER, y_},
            {DNNL_ARG_WORKSPACE, workspace}};
  }
  void output_and_its_gradients() const {
    constexpr std::int64_t size = RecurrentCase::output;
    const Weight &map = weights_[3], &bias = weights_[4];
    const float *w = values(map.value), *y = values(y_), *b = values(bias.value), *target = values(target_);
    float *out = values(output_), *gradient_of_b = values(bias.gradient);
    dnnl::sgemm('N', 'N', rows_, size, hidden_, 1, y, hidden_, w, size, 0, out, size);
    const float scale = 2.0F / static_cast<float>(rows_ * size);
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t k = 0; k < size; ++k) {
        float& value = out[row * size + k];
        value = scale * (value + b[k] - target[row * size + k]);
        gradient_of_b[k] += value;
      }
    dnnl::sgemm('T', 'N', hidden_, size, rows_, 1, y, hidden_, out, size, 0, values(map.gradient), size);
    dnnl::sgemm('N', 'T', rows_, hidden_, size, 1, out, size, w, size, 0, values(gradient_of_y_), hidden_);
  }

  std::int64_t rows_, hidden_;
  Layer layer_;
  std::vector<Weight> weights_;  // W, U, bias; those of the linear map
  memory y_, gradient_of_y_, output_, target_;
  std::vector<Copy> copies_;
  Arguments forward_, backward_;
  int steps_ = 0;
};

void time_product(benchmark::State& state, const ProductCase& n) {
  const memory a = drawn(described({n.batch, n.m, n.k}, n.transpose_a ? Layout::acb : Layout::abc), 1);
  const memory b = drawn(described({n.batch, n.k, n.n}, n.transpose_b ? Layout::acb : Layout::abc), 1);
  const memory c = zeros(described({n.batch, n.m, n.n}, Layout::abc));
  const dnnl::matmul products({cpu(), a.get_desc(), b.get_desc(), c.get_desc()});
  for (auto _ : state)
    if (n.batch == 1) {  // this takes less time around the product
      dnnl::sgemm(n.transpose_a ? 'T' : 'N', n.transpose_b ? 'T' : 'N', n.m, n.n, n.k, 1, values(a),
                  n.transpose_a ? n.m : n.k, values(b), n.transpose_b ? n.k : n.n, 0, values(c), n.n);
    } else {
      products.execute(queue(), {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}});
      queue().wait();
    }
}

template <class Body> void add_case(const std::string& name, double flops, Body body) {
  const auto run = [=](benchmark::State& state) {
    body(state);
    state.counters["GFLOPS"] = benchmark::Counter(1e-9 * flops, benchmark::Counter::kIsIterationInvariantRate);
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
  const dnnl_version_t& version = *dnnl::version();
  benchmark::AddCustomContext("library", "oneDNN " + std::to_string(version.major) + "." +
                                             std::to_string(version.minor) + "." + std::to_string(version.patch));
  for (const RecurrentCase& n : recurrent_cases)
    for (const std::int64_t gates : {4, 3}) {
      const auto run = [=](benchmark::State& state) {
        const Arrays arrays(n, gates);
        Training training(n, arrays, gates == 4 ? arrays.lstm() : arrays.gru());
        for (auto _ : state) training.step();
      };
      add_case(name_of(gates == 4 ? "lstm_fused" : "gru_fused", n, InputGradient::wanted),
               flops_of(n, gates, InputGradient::wanted), run);
    }
  for (const ProductCase& product : product_cases())
    add_case(product.name, product.flops(), [=](benchmark::State& state) { time_product(state, product); });
  return true;
}();

}  // namespace
}  // namespace retrace

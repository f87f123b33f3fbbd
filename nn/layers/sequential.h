// Modules and functions one after the other.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include <retrace/nn/layers/multi_head_attention.h>
#include <retrace/nn/module/module.h>

namespace retrace {
namespace detail {

// The result of a module for x: with a generator for its dropout if it takes one.
template <class M> auto result_of(const M& module, const Tensor& x, Random* random) {
  if constexpr (requires { module(x, random); }) {
    return module(x, random);
  } else if constexpr (requires { module(x, {}, {}, random); }) {  // a recurrent layer: state and lengths
    return module(x, {}, {}, random);
  } else if constexpr (requires { module(x, AttendOptions{.random = random}); }) {
    return module(x, AttendOptions{.random = random});
  } else {
    return module(x);
  }
}

// y of a result with several parts.
inline Tensor y_of(Tensor y) { return y; }
template <class Result> Tensor y_of(const Result& result) requires requires { result.y; }
{ return result.y; }

}  // namespace detail

/// Applies its parts in order: modules, and functions of a tensor,
///
///   const Sequential model(Linear(3, 32, random), gelu, Dropout(0.1), Lstm(32, 32, random), Linear(32, 2, random));
///
/// Of a result with several parts, as an Lstm's, y goes on. A random goes to every part that takes one; null turns off
/// their dropout. Parts go by their number, "0", "1", ..., functions included, as in PyTorch; get<k>() is part k.
/// Throws what its parts throw.
template <class... Parts> struct Sequential {
  std::tuple<Parts...> parts;

  explicit Sequential(Parts... all_parts) : parts(std::move(all_parts)...) {}
  Tensor operator()(const Tensor& x, Random* random = nullptr) const {
    const Scope scope(this, "sequential");
    Tensor y = x;
    std::apply([&](const Parts&... part) { ((y = detail::y_of(detail::result_of(part, y, random))), ...); }, parts);
    return y;
  }
  template <std::size_t k> const auto& get() const { return std::get<k>(parts); }
  void visit(auto&& see) const {
    std::size_t k = 0;
    std::apply([&](const Parts&... part) { (visit_part(see, k++, part), ...); }, parts);
  }

 private:
  template <class Part> static void visit_part(auto& see, std::size_t k, const Part& part) {
    if constexpr (Module<Part>) see(std::to_string(k).c_str(), part);
  }
};

}  // namespace retrace

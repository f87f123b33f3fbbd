// Shape and indexing.
#pragma once

#include <retrace/models/checks/op_case.h>

namespace retrace::op_checks {

// ---- shape and indexing

template <> inline Cases cases_of<Op::reshape>() {
  return {one([](const Tensors& in) { return reshape(in[0], {4, 6}); }, {normal({2, 3, 4})})};
}
template <> inline Cases cases_of<Op::transpose>() {
  return {one(
              [](const Tensors& in) {
                return transpose(in[0], {2, 0, 1});
              },
              {normal({2, 3, 4})}),
          one([](const Tensors& in) { return transpose(in[0]); }, {normal({3, 5})})};
}
template <> inline Cases cases_of<Op::slice>() {
  return {one([](const Tensors& in) { return slice(in[0], {range(1, 3)}); }, {normal({4, 5})}),
          one(
              [](const Tensors& in) {
                return slice(in[0], {all, 1});
              },
              {normal({4, 5})}),
          one(
              [](const Tensors& in) {
                return slice(in[0], {range(SliceIndex::none, SliceIndex::none, -2), new_axis, range(1)});
              },
              {normal({4, 5})}),
          one([](const Tensors& in) { return in[0][2]; }, {normal({4, 5})})};
}
template <> inline Cases cases_of<Op::concat>() {
  return {one([](const Tensors& in) { return concat({in[0], in[1], in[0]}, 1); }, {normal({2, 3}), normal({2, 1})})};
}
template <> inline Cases cases_of<Op::stack>() {
  return {one([](const Tensors& in) { return stack({in[0], in[1]}, 1); }, {normal({2, 3}), normal({2, 3})})};
}
template <> inline Cases cases_of<Op::split>() {
  return {{[](const Tensors& in) { return split(in[0], {1, 3, 2}, 1); }, {normal({2, 6})}}};
}
template <> inline Cases cases_of<Op::squeeze>() {
  return {one([](const Tensors& in) { return squeeze(in[0], 1); }, {normal({3, 1, 4})})};
}
template <> inline Cases cases_of<Op::unsqueeze>() {
  return {one([](const Tensors& in) { return unsqueeze(in[0], 1); }, {normal({3, 4})})};
}
template <> inline Cases cases_of<Op::broadcast_to>() {
  return {one(
              [](const Tensors& in) {
                return broadcast_to(in[0], {2, 4, 3});
              },
              {normal({2, 1, 3})}),
          one(
              [](const Tensors& in) {
                return broadcast_to(in[0], {2, 3});
              },
              {normal({})})};
}
template <> inline Cases cases_of<Op::flip>() {
  return {one([](const Tensors& in) { return flip(in[0], 1); }, {normal({3, 4})})};
}
template <> inline Cases cases_of<Op::pad>() {
  return {one([](const Tensors& in) { return pad(in[0], {{1, 2}, {0, 3}}); }, {normal({2, 3})})};
}
template <> inline Cases cases_of<Op::take>() {
  return {one([](const Tensors& in) { return take(in[1], in[0], 1); }, {indices({3, 0, 3, 1}), normal({3, 4})})};
}
template <> inline Cases cases_of<Op::gather>() {
  return {one([](const Tensors& in) { return gather(in[1], in[0]); }, {indices({{0, 2}, {4, 4}}), normal({2, 5})})};
}
template <> inline Cases cases_of<Op::embedding>() {
  return {one([](const Tensors& in) { return embedding(in[1], in[0]); }, {indices({{0, 2}, {3, 2}}), normal({5, 3})})};
}
template <> inline Cases cases_of<Op::scatter_add>() {
  return {one([](const Tensors& in) { return scatter_add(in[1], in[0], in[2]); },
              {indices({1, 3, 1}), normal({4, 2}), normal({3, 2})})};
}

}  // namespace retrace::op_checks

// More axes than the backward was written for, and axes in another order.
#pragma once

#include <retrace/core/tape/recording.h>
#include <retrace/models/checks/bugs/bug_card.h>

namespace retrace::bugs {

/// y = gather(x, ids) for x [2, 4] and ids [2, 2].
inline void gather_backward(Record& r) {
  dispatch_real(r.in(0).dtype, "replay", [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const std::int64_t* ids = r.saved(0).values<std::int64_t>();
    T* dx = r.grad_in<T>(0, Begin::zeroed).values;
    const std::int64_t stride = r.attributes<bool>() ? 2 : 4;  // of ids for that of x
    for (std::int64_t k = 0; k < 4; ++k) dx[k / 2 * stride + ids[k]] += dy[k];
  });
}
inline constexpr OpInfo gathered{"replay", "y = gather(x, ids)", "dx[ids] += dy", "x"};
inline CheckCase scatter_stride(bool bug) {
  return of({normal({2, 4})}, [=](const Tensors& in) {
    const Tensor ids = indices({{1, 3}, {0, 2}}), y = gather(in[0].detach(), ids);
    record(gathered, gather_backward, in, {&y}, {&ids}, bug);
    return Tensors{y};
  });
}

inline CheckCase two_dimensions(bool bug) {
  return of({normal({2, 3, 4}), normal({4})}, [=](const Tensors& in) {
    const auto scale_rows = [](auto& of) { return of[0] * of[1]; };
    return Tensors{custom_op("replay", {layer_norm(in[0]), in[1]}, scale_rows, [=](auto& dy, auto& of, auto&) {
      const Tensor rows = reshape(dy * of[0], {6, 4});
      return Tensors{dy * of[1], sum(bug ? slice(rows, {range(0, 2)}) : rows, 0)};
    })};
  });
}

inline CheckCase larger_batch(bool bug) {
  return of({normal({2, 3, 4}), normal({2, 3, 4}), normal({2, 3, 4})}, [=](const Tensors& in) {
    const double factor = bug && in[0].dim(0) > 1 ? 5 : 1;
    return Tensors{attention(weighted_gradient(in[0], full({}, factor, f64)), in[1], in[2])};
  });
}

inline CheckCase transposed_keys(bool bug) {
  return of(
      {normal({3, 2}), normal({2, 4})}, [](auto& in) { return matmul(in[0], in[1]); },
      [=](auto& dy, auto& in, auto&) {
        const Tensor dk = matmul(dy, in[0], {.transpose_a = true});
        return Tensors{matmul(dy, in[1], {.transpose_b = true}), bug ? reshape(dk, {2, 4}) : transpose(dk)};
      });
}

/// Adds the first 2 x 2 elements of a source [3, 4] to rows of x.
inline CheckCase smaller_index(bool bug) {
  const Tensor ids = indices({1, 0});
  return of(
      {normal({2, 2}), normal({3, 4})},
      [=](auto& in) {
        return scatter_add(in[0], ids, slice(in[1], {range(0, 2), range(0, 2)}));
      },
      [=](auto& dy, auto&, auto&) {
        const Tensor of_used = take(dy, ids), flat = pad(reshape(of_used, {4}), {{0, 8}});
        return Tensors{dy, bug ? reshape(flat, {3, 4}) : pad(of_used, {{0, 1}, {0, 2}})};
      });
}

inline constexpr BugCard ranks[] = {
    {"unslothai/unsloth-zoo#776, mlx PR#3483", "gather: a wrong stride for all batch rows but the first",
     BugClass::rank, scatter_stride},
    {"FlagGems#5392", "layer norm: takes [2, 3, 4] for two rows", BugClass::rank, two_dimensions},
    {"TransformerEngine#3216", "attention: dq is 5 times too large for more than one sample", BugClass::rank,
     larger_batch},
    {"pytorch#146377", "attention scores: dk is written as if k were contiguous", BugClass::rank, transposed_keys},
    {"pytorch PR#188843", "scatter_add: the source's gradient is wrong where it is larger than the index",
     BugClass::rank, smaller_index},
};

// ---- sums over axes that were broadcast

inline CheckCase correction_along_columns(bool bug) {
  return of(
      {normal({4, 4})}, [](auto& in) { return rms_norm(in[0], {}, 1e-5); },
      [=](auto& dy, auto& in, auto& y) {
        const Tensor along = mean_last(dy * y), root = sqrt(mean_last(square(in[0])) + 1e-5);
        return Tensors{(dy - y * (bug ? transpose(along) : along)) / root};
      });
}

inline CheckCase bias_reduction(bool bug) {
  return of(
      {normal({3, 3}), normal({3})}, [](auto& in) { return in[0] + in[1]; },
      [=](auto& dy, auto&, auto&) {
        return Tensors{dy, sum(dy, bug ? 1 : 0)};
      });
}

inline CheckCase expanded_view(bool bug) {
  return of({normal({4}), normal({3, 4})},
            [=](const Tensors& in) { return Tensors{weighted_gradient(in[0], full({}, bug ? 3 : 1, f64)) + in[1]}; });
}

inline constexpr BugCard broadcasts[] = {
    {"attorch#17", "rms norm: the correction of a row goes along the columns", BugClass::broadcast,
     correction_along_columns},
    {"InfiniTrain PR#214 (bias)", "bias: its gradient is summed over the wrong axis", BugClass::broadcast,
     bias_reduction},
    {"pytorch#188084", "index_put into an expanded view: too large by the size of the batch", BugClass::broadcast,
     expanded_view},
};

}  // namespace retrace::bugs

// Ops of programs that move elements, and views of them.
#include <retrace/tests/trust/program_ops.h>

#include <numeric>

namespace retrace {
namespace {

using naive::Array;
using naive::Arrays;
using naive::Extents;
using naive::Number;

using Fitting = std::optional<std::vector<Extents>>;
using Fit = std::function<Fitting(const Extents&, Choices&, Numbers&)>;

std::size_t place(std::int64_t number) { return static_cast<std::size_t>(number); }
Shape shape_of(const Extents& extents) { return Shape{std::span<const std::int64_t>(extents)}; }

/// For operands of at least this rank; the first number is one of their axes.
Fit axis_of_rank(std::int64_t least, std::int64_t most = 4) {
  return [=](const Extents& x, Choices& choices, Numbers& n) -> Fitting {
    if (std::ssize(x) < least || std::ssize(x) > most) return std::nullopt;
    n = {x.empty() ? 0 : choices.below(std::ssize(x))};
    return std::vector<Extents>{};
  };
}

/// An op that takes each element of y from the place of x that `from` names; zero where there is none.
ProgramOp moved(std::string_view name, Fit fit, std::function<Tensor(const Tensor&, const Numbers&)> run,
                std::function<Extents(const Extents& x, const Numbers& n)> shape,
                std::function<Extents(Extents index, const Extents& x, const Numbers& n)> from) {
  return {name, std::move(fit), [run](const Tensors& in, const Numbers& n) { return Tensors{run(in[0], n)}; },
          [=](const Arrays& in, const Numbers& n) {
            const Array& x = in[0];
            return Arrays{naive::fill(shape(x.shape, n), [&](const Extents& index) {
              const Extents at = from(index, x.shape, n);
              for (std::size_t k = 0; k < at.size(); ++k)
                if (at[k] < 0 || at[k] >= x.shape[k]) return Number(0);
              return x[at];
            })};
          }};
}

Array reshaped(Array x, const Extents& shape) {
  x.shape = shape;
  return x;
}

/// Ids that come twice.
std::int64_t id_of(std::int64_t k, std::int64_t extent) { return (k * k + 1) % extent; }
Tensor ids_of(std::int64_t count, std::int64_t extent) {
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < count; ++k) ids.push_back(id_of(k, extent));
  return indices(ids, Shape{count});
}

ProgramOp in_triangle(std::string_view name, Tensor (*run)(const Tensor&, std::int64_t), bool lower) {
  return {name, axis_of_rank(2), [run](const Tensors& in, const Numbers& n) { return Tensors{run(in[0], n[0] - 1)}; },
          [lower](const Arrays& in, const Numbers& n) {
            return Arrays{naive::fill(in[0].shape, [&](const Extents& index) {
              const std::int64_t beyond = index.back() - index[index.size() - 2] - (n[0] - 1);
              return (lower ? beyond <= 0 : beyond >= 0) ? in[0][index] : Number(0);
            })};
          }};
}

/// Rows of x joined to those of another.
ProgramOp joined(std::string_view name, bool is_new_axis, Tensor (*run)(const Tensors&, int)) {
  return {
      name,
      [is_new_axis](const Extents& x, Choices& choices, Numbers& n) -> Fitting {
        if (x.empty() || x.size() > 3) return std::nullopt;
        n = {choices.below(std::ssize(x))};
        Extents other = x;
        if (!is_new_axis) other[place(n[0])] = 1 + choices.below(3);
        return std::vector<Extents>{other};
      },
      [run](const Tensors& in, const Numbers& n) { return Tensors{run(in, static_cast<int>(n[0]))}; },
      [is_new_axis](const Arrays& in, const Numbers& n) {
        const std::size_t axis = place(n[0]);
        if (is_new_axis)
          return Arrays{naive::fill(naive::inserted(in[0].shape, axis, 2), [&](const Extents& index) {
            return in[place(index[axis])][naive::without(index, axis)];
          })};
        const std::int64_t first = in[0].shape[axis];
        return Arrays{naive::fill(naive::with(in[0].shape, axis, first + in[1].shape[axis]), [&](const Extents& index) {
          const std::int64_t at = index[axis];
          return at < first ? in[0][index] : in[1][naive::with(index, axis, at - first)];
        })};
      }};
}

}  // namespace

std::vector<ProgramOp> shape_program_ops() {
  return {
      {"reshape", axis_of_rank(1),
       [](const Tensors& in, const Numbers& n) {
         Extents shape(in[0].shape().begin(), in[0].shape().end());
         std::rotate(shape.begin(), shape.begin() + n[0], shape.end());
         return Tensors{reshape(in[0], shape_of(shape))};
       },
       [](const Arrays& in, const Numbers& n) {
         Extents shape = in[0].shape;
         std::rotate(shape.begin(), shape.begin() + n[0], shape.end());
         return Arrays{reshaped(in[0], shape)};
       }},
      moved(
          "transpose", axis_of_rank(2), [](const Tensor& x, const Numbers&) { return transpose(x); },
          [](Extents x, const Numbers&) { return std::swap(x.back(), x[x.size() - 2]), x; },
          [](Extents i, const Extents&, const Numbers&) { return std::swap(i.back(), i[i.size() - 2]), i; }),
      moved(
          "transpose by a permutation", axis_of_rank(2),
          [](const Tensor& x, const Numbers&) {
            std::vector<int> axes(place(x.rank()));
            std::iota(axes.begin(), axes.end(), 1);
            axes.back() = 0;
            return transpose(x, axes);
          },
          [](Extents x, const Numbers&) { return std::rotate(x.begin(), x.begin() + 1, x.end()), x; },
          [](Extents i, const Extents&, const Numbers&) { return std::rotate(i.begin(), i.end() - 1, i.end()), i; }),
      moved(
          "x[last]", axis_of_rank(1), [](const Tensor& x, const Numbers&) { return x[x.dim(0) - 1]; },
          [](const Extents& x, const Numbers&) { return naive::without(x, 0); },
          [](const Extents& i, const Extents& x, const Numbers&) { return naive::inserted(i, 0, x[0] - 1); }),
      moved(
          "slice of the first axis", axis_of_rank(1),
          [](const Tensor& x, const Numbers&) { return slice(x, {range(x.dim(0) / 2, x.dim(0))}); },
          [](const Extents& x, const Numbers&) { return naive::with(x, 0, x[0] - x[0] / 2); },
          [](const Extents& i, const Extents& x, const Numbers&) { return naive::with(i, 0, i[0] + x[0] / 2); }),
      moved(
          "slice by steps", axis_of_rank(2),
          [](const Tensor& x, const Numbers&) {
            return slice(x, {all, range(0, SliceIndex::none, 2)});
          },
          [](const Extents& x, const Numbers&) { return naive::with(x, 1, (x[1] + 1) / 2); },
          [](const Extents& i, const Extents&, const Numbers&) { return naive::with(i, 1, 2 * i[1]); }),
      moved(
          "unsqueeze", axis_of_rank(1, 3),
          [](const Tensor& x, const Numbers& n) { return unsqueeze(x, static_cast<int>(n[0])); },
          [](const Extents& x, const Numbers& n) { return naive::inserted(x, place(n[0]), 1); },
          [](const Extents& i, const Extents&, const Numbers& n) { return naive::without(i, place(n[0])); }),
      moved(
          "broadcast_to", axis_of_rank(0, 3),
          [](const Tensor& x, const Numbers&) {
            Extents shape(x.shape().begin(), x.shape().end());
            for (std::int64_t& extent : shape) extent = extent == 1 ? 3 : extent;
            return broadcast_to(x, shape_of(naive::inserted(shape, 0, 2)));
          },
          [](Extents x, const Numbers&) {
            for (std::int64_t& extent : x) extent = extent == 1 ? 3 : extent;
            return naive::inserted(x, 0, 2);
          },
          [](const Extents& i, const Extents& x, const Numbers&) {
            Extents at = naive::without(i, 0);
            for (std::size_t k = 0; k < at.size(); ++k) at[k] = x[k] == 1 ? 0 : at[k];
            return at;
          }),
      moved(
          "pad", axis_of_rank(1),
          [](const Tensor& x, const Numbers& n) {
            std::vector<Padding> padding(place(x.rank()));
            padding[place(n[0])] = {.before = 1, .after = 2};
            return pad(x, padding);
          },
          [](const Extents& x, const Numbers& n) { return naive::with(x, place(n[0]), x[place(n[0])] + 3); },
          [](const Extents& i, const Extents&, const Numbers& n) {
            return naive::with(i, place(n[0]), i[place(n[0])] - 1);
          }),
      moved(
          "repeat", axis_of_rank(1),
          [](const Tensor& x, const Numbers& n) {
            std::vector<std::int64_t> counts(place(x.rank()), 1);
            counts[place(n[0])] = 2;
            return repeat(x, counts);
          },
          [](const Extents& x, const Numbers& n) { return naive::with(x, place(n[0]), 2 * x[place(n[0])]); },
          [](const Extents& i, const Extents& x, const Numbers& n) {
            return naive::with(i, place(n[0]), i[place(n[0])] % x[place(n[0])]);
          }),
      moved(
          "diagonal", axis_of_rank(2), [](const Tensor& x, const Numbers&) { return diagonal(x); },
          [](Extents x, const Numbers&) {
            const std::int64_t last = x.back();
            x.pop_back();
            x.back() = std::min(x.back(), last);
            return x;
          },
          [](Extents i, const Extents&, const Numbers&) { return i.push_back(i.back()), i; }),
      {"diag_embed", axis_of_rank(1, 3),
       [](const Tensors& in, const Numbers&) { return Tensors{diag_embed(in[0], 1)}; },
       [](const Arrays& in, const Numbers&) {
         Extents shape = in[0].shape;
         ++shape.back();
         shape.push_back(shape.back());
         return Arrays{naive::fill(shape, [&](Extents index) {
           const std::int64_t column = index.back();
           index.pop_back();
           return column == index.back() + 1 ? in[0][index] : Number(0);
         })};
       }},
      moved(
          "take", axis_of_rank(1),
          [](const Tensor& x, const Numbers& n) {
            const int axis = static_cast<int>(n[0]);
            return take(x, ids_of(4, x.dim(axis)), axis);
          },
          [](const Extents& x, const Numbers& n) { return naive::with(x, place(n[0]), 4); },
          [](const Extents& i, const Extents& x, const Numbers& n) {
            return naive::with(i, place(n[0]), id_of(i[place(n[0])], x[place(n[0])]));
          }),
      moved(
          "embedding", axis_of_rank(2, 2),
          [](const Tensor& x, const Numbers&) { return embedding(x, ids_of(3, x.dim(0))); },
          [](const Extents& x, const Numbers&) { return naive::with(x, 0, 3); },
          [](const Extents& i, const Extents& x, const Numbers&) { return naive::with(i, 0, id_of(i[0], x[0])); }),
      moved(
          "gather", axis_of_rank(1, 1),
          [](const Tensor& x, const Numbers&) { return gather(x, ids_of(5, x.dim(0)), 0); },
          [](const Extents&, const Numbers&) { return Extents{5}; },
          [](const Extents& i, const Extents& x, const Numbers&) { return Extents{id_of(i[0], x[0])}; }),
      {"scatter_add",
       [](const Extents& x, Choices&, Numbers&) -> Fitting {
         if (x.empty()) return std::nullopt;
         return std::vector<Extents>{naive::with(x, 0, 4)};
       },
       [](const Tensors& in, const Numbers&) { return Tensors{scatter_add(in[0], ids_of(4, in[0].dim(0)), in[1])}; },
       [](const Arrays& in, const Numbers&) {
         return Arrays{naive::fill(in[0].shape, [&](const Extents& index) {
           Number sum = in[0][index];
           for (std::int64_t k = 0; k < 4; ++k)
             if (id_of(k, in[0].shape[0]) == index[0]) sum = sum + in[1][naive::with(index, 0, k)];
           return sum;
         })};
       }},
      {"split", axis_of_rank(1),
       [](const Tensors& in, const Numbers& n) {
         const int axis = static_cast<int>(n[0]);
         const std::int64_t first = in[0].dim(axis) / 2;
         return split(in[0], {first, in[0].dim(axis) - first}, axis);
       },
       [](const Arrays& in, const Numbers& n) {
         const std::size_t axis = place(n[0]);
         const std::int64_t extent = in[0].shape[axis], first = extent / 2;
         const auto part = [&](std::int64_t begin, std::int64_t length) {
           return naive::fill(naive::with(in[0].shape, axis, length), [&](const Extents& index) {
             return in[0][naive::with(index, axis, index[axis] + begin)];
           });
         };
         return Arrays{part(0, first), part(first, extent - first)};
       }},
      in_triangle("tril", tril, true),
      in_triangle("triu", triu, false),
      joined("concat", false, concat),
      joined("stack", true, stack),
  };
}

}  // namespace retrace

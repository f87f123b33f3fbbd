// Shape and indexing.
#pragma once

#include <retrace/ops/checks/op_row.h>

namespace retrace::op_checks {

// clang-format off
inline constexpr OpChecks shapes[] = {
    {"reshape", [] { return Cases{one([](auto& x) { return reshape(x, {4, 6}); }, {normal({2, 3, 4})})}; }},
    {"transpose", [] { return Cases{
        one([](auto& x) { return transpose(x, {2, 0, 1}); }, {normal({2, 3, 4})}),
        one([](auto& x) { return transpose(x); }, {normal({3, 5})})}; }},
    {"slice", [] { return Cases{
        one([](auto& x) { return slice(x, {range(1, 3)}); }, {normal({4, 5})}),
        one([](auto& x) { return slice(x, {all, 1}); }, {normal({4, 5})}),
        one([](auto& x) { return slice(x, {range(SliceIndex::none, SliceIndex::none, -2), new_axis, range(1)}); },
            {normal({4, 5})}),
        one([](auto& x) { return x[2]; }, {normal({4, 5})})}; }},
    {"concat", [] { return Cases{
        one([](auto& a, auto& b) { return concat({a, b, a}, 1); }, {normal({2, 3}), normal({2, 1})})}; }},
    {"stack", [] { return Cases{
        one([](auto& a, auto& b) { return stack({a, b}, 1); }, {normal({2, 3}), normal({2, 3})})}; }},
    {"split", [] { return Cases{one([](auto& x) { return split(x, {1, 3, 2}, 1); }, {normal({2, 6})})}; }},
    {"squeeze", [] { return Cases{one([](auto& x) { return squeeze(x, 1); }, {normal({3, 1, 4})})}; }},
    {"unsqueeze", [] { return Cases{one([](auto& x) { return unsqueeze(x, 1); }, {normal({3, 4})})}; }},
    {"broadcast_to", [] { return Cases{
        one([](auto& x) { return broadcast_to(x, {2, 4, 3}); }, {normal({2, 1, 3})}),
        one([](auto& x) { return broadcast_to(x, {2, 3}); }, {normal({})})}; }},
    {"flip", [] { return Cases{one([](auto& x) { return flip(x, 1); }, {normal({3, 4})})}; }},
    {"pad", [] { return Cases{one([](auto& x) { return pad(x, {{1, 2}, {0, 3}, {1, 0}}); }, {normal({2, 3, 2})}),
                            one([](auto& x) { return pad(x, {{-1, 2}, {1, -2}}); }, {normal({2, 4})})}; }},
    {"repeat", [] { return Cases{
        one([](auto& x) { return repeat(x, {2, 1, 3}); }, {normal({2, 3})}),
        one([](auto& x) { return repeat(x, {1, 2}); }, {normal({3, 1})}),
        one([](auto& x) { return repeat(x, {4}); }, {normal({})})}; }},
    {"roll", [] { return Cases{
        one([](auto& x) { return roll(x, 1, 1); }, {normal({2, 3, 2})}),
        one([](auto& x) { return roll(x, -7, 0); }, {normal({5})})}; }},
    {"tril", [] { return Cases{
        one([](auto& x) { return tril(x); }, {normal({3, 4})}),
        one([](auto& x) { return tril(x, -1); }, {normal({2, 4, 3})})}; }},
    {"triu", [] { return Cases{
        one([](auto& x) { return triu(x); }, {normal({4, 3})}),
        one([](auto& x) { return triu(x, 1); }, {normal({2, 3, 3})})}; }},
    {"diagonal", [] { return Cases{
        one([](auto& x) { return diagonal(x); }, {normal({3, 4})}),
        one([](auto& x) { return diagonal(x, 2); }, {normal({2, 4, 3})}),
        one([](auto& x) { return diagonal(x, -1); }, {normal({2, 4, 3})})}; }},
    {"diag_embed", [] { return Cases{
        one([](auto& x) { return diag_embed(x); }, {normal({2, 3})}),
        one([](auto& x) { return diag_embed(x, 1); }, {normal({3})}),
        one([](auto& x) { return diag_embed(x, -2); }, {normal({2, 1, 2})})}; }},
    {"diag", [] { return Cases{
        one([](auto& x) { return diag(x); }, {normal({3})}),
        one([](auto& x) { return diag(x, -1); }, {normal({3, 3})})}; }},
    {"take", [] { return Cases{
        one([](auto& ids, auto& x) { return take(x, ids); }, {indices({1, 0, 1, 1}), normal({2, 3})}),
        one([](auto& ids, auto& x) { return take(x, ids, 1); }, {indices({3, 0, 3, 1}), normal({3, 4})}),
        one([](auto& ids, auto& x) { return take(x, ids, 1); }, {indices(0), normal({2, 3})})}; }},
    {"gather", [] { return Cases{
        one([](auto& ids, auto& x) { return gather(x, ids); }, {indices({{0, 2}, {4, 4}}), normal({2, 5})}),
        one([](auto& ids, auto& x) { return gather(x, ids, 0); }, {indices({{0, 1, 1}}), normal({2, 3})})}; }},
    {"embedding", [] { return Cases{
        one([](auto& ids, auto& x) { return embedding(x, ids); }, {indices({{0, 2}, {3, 2}}), normal({5, 3})}),
        one([](auto& ids, auto& x) { return embedding(x, ids); }, {indices(1), normal({2, 3})}),
        one([](auto& ids, auto& x) { return embedding(x, ids, {.padding_idx = -2}); },
            {indices({{0, 1}, {3, 1}}), normal({4, 3})})}; }},
    {"index", [] { return Cases{
        one([](auto& i, auto& j, auto& x) { return index(x, {i, j}); },
            {indices({{0}, {-1}}), indices({1, 1, 3}), normal({3, 4, 2})}),
        one([](auto& i, auto& x) { return index(x, {i}); }, {indices({{0, -2}, {1, 0}}), normal({3, 2})})}; }},
    {"scatter", [] { return Cases{
        one([](auto& ids, auto& x, auto& updates) { return scatter(x, ids, updates, 1); },
            {indices({{1, 3, 1}, {0, 0, 0}}), normal({2, 4}), normal({2, 3})}),
        one([](auto& ids, auto& x, auto& updates) { return scatter(x, ids, updates); },
            {indices({{2, 0}}), normal({3, 2}), normal({1, 2})})}; }},
    {"scatter_add", [] { return Cases{
        one([](auto& ids, auto& x, auto& updates) { return scatter_add(x, ids, updates); },
            {indices({1, 3, 1}), normal({4, 2}), normal({3, 2})}),
        one([](auto& ids, auto& x, auto& updates) { return scatter_add(x, ids, updates, -2); },
            {indices({1, 3, 1}), normal({2, 4, 2}), normal({2, 3, 2})}),
        one([](auto& ids, auto& x, auto& updates) { return scatter_add(x, ids, updates, 1); },
            {indices({{1, 3, 1}, {0, 0, 0}}), normal({2, 4}), normal({2, 3})})}; }},
    {"sort", [] { return Cases{
        one([](auto& x) { return sort(x); }, {normal({3, 5})}),
        one([](auto& x) { return sort(x, 1, {.descending = true}); }, {normal({2, 4, 3})})}; }},
    {"argsort", [] { return Cases{
        one([](auto& x) { return gather(x, argsort(x, 0), 0); }, {normal({4, 3})})}; }},
    {"topk", [] { return Cases{
        one([](auto& x) { return topk(x, 2); }, {normal({3, 5})}),
        one([](auto& x) { return topk(x, 3, 0, {.largest = false}); }, {normal({4, 2})})}; }},
    {"cummax", [] { return Cases{
        one([](auto& x) { return cummax(x); }, {normal({3, 5})}),
        one([](auto& x) { return cummax(x, 0); }, {normal({4, 2})})}; }},
    {"cummin", [] { return Cases{
        one([](auto& x) { return cummin(x); }, {normal({3, 5})}),
        one([](auto& x) { return cummin(x, 1); }, {normal({2, 4, 3})})}; }},
    {"median", [] { return Cases{
        one([](auto& x) { return median(x); }, {normal({3, 5})}),
        one([](auto& x) { return median(x, 0); }, {normal({4, 2})})}; }},
    {"quantile", [] { return Cases{
        one([](auto& x) { return quantile(x, 0.3); }, {normal({3, 5})}),
        one([](auto& x) { return quantile(x, 0.5, 1); }, {normal({2, 3, 2})})}; }},
    {"nonzero", [] { return Cases{
        one([](auto& x) { return take(x, nonzero(greater(x, 0.0))[0][0]); },
            {tensor({-1.0, 2.0, 0.5, -0.3}, f64)})}; }},
    {"masked_select", [] { return Cases{
        one([](auto& mask, auto& x) { return masked_select(x, mask); },
            {indices({{1, 0, 1, 1}, {0, 0, 1, 0}}), normal({2, 4})}),
        one([](auto& mask, auto& x) { return masked_select(x, mask); },
            {indices({{1}, {0}, {1}}), normal({4})})}; }},
};
// clang-format on

}  // namespace retrace::op_checks

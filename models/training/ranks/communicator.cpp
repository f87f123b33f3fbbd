#include <retrace/core/base/error.h>
#include <retrace/core/base/printable.h>
#include <retrace/models/training/ranks/communicator.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace retrace {
namespace {

/// The part of `settings` from the first one that `other` does not share, cut off where it gets long.
std::string difference(std::string_view settings, std::string_view other) {
  constexpr std::size_t max_shown = 120;
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(settings, other).in1 - settings.begin());
  const std::size_t comma = settings.substr(0, same).rfind(", ");
  const std::string_view rest = settings.substr(comma == settings.npos ? 0 : comma + 2);
  const std::string_view setting = rest.substr(0, rest.find(", ", same - (settings.size() - rest.size())));
  return setting.empty() ? "nothing more" : printable(setting.substr(0, max_shown));
}

}  // namespace

void share_from(Communicator& ranks, int owner, std::span<std::byte> bytes) {
  if (ranks.rank() != owner) return ranks.exchange({}, {{owner, bytes}});
  std::vector<Sent> sent;
  for (int other = 0; other < ranks.size(); ++other)
    if (other != owner) sent.push_back({other, bytes});
  ranks.exchange(sent, {});
}

void share_values(Communicator& ranks, int owner, const Tensor& x) {
  dispatch_any(x.dtype(), [&](auto zero) {
    x.update<decltype(zero)>([&](auto values) { share_from(ranks, owner, std::as_writable_bytes(values)); });
  });
}

Tensor tensor_from(Communicator& ranks, int owner, const Tensor& own) {
  const bool is_own = ranks.rank() == owner;
  std::array<std::int64_t, 2> kind{};  // dtype and rank
  if (is_own) kind = {static_cast<std::int64_t>(own.dtype()), own.rank()};
  share_from(ranks, owner, std::as_writable_bytes(std::span(kind)));
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(kind[1]));
  if (is_own) sizes.assign(own.shape().begin(), own.shape().end());
  share_from(ranks, owner, std::as_writable_bytes(std::span(sizes)));
  const Tensor x = is_own ? own : empty(Shape(sizes), static_cast<Dtype>(kind[0]));
  share_values(ranks, owner, x);
  return x;
}

std::vector<std::string> texts_of_ranks(Communicator& ranks, const std::string& own) {
  const auto size = static_cast<std::size_t>(ranks.size()), rank = static_cast<std::size_t>(ranks.rank());
  const auto to_and_from_all = [&](const auto& bytes_to_send, auto&& place_of) {
    std::vector<Sent> sent;
    std::vector<Received> received;
    for (std::size_t other = 0; other < size; ++other) {
      if (other == rank) continue;
      sent.push_back({static_cast<int>(other), std::as_bytes(std::span(bytes_to_send))});
      received.push_back({static_cast<int>(other), std::as_writable_bytes(place_of(other))});
    }
    ranks.exchange(sent, received);
  };
  const std::vector<std::uint64_t> own_length{own.size()};
  std::vector<std::uint64_t> lengths(size, own.size());
  to_and_from_all(own_length, [&](std::size_t other) { return std::span(lengths).subspan(other, 1); });
  std::vector<std::string> texts(size, own);
  for (std::size_t other = 0; other < size; ++other) texts[other].resize(lengths[other]);
  to_and_from_all(own, [&](std::size_t other) { return std::span(texts[other]); });
  return texts;
}

void check_same_settings(Communicator& ranks, const char* function, const std::string& settings, const char* remedy) {
  const std::vector<std::string> of_all = texts_of_ranks(ranks, settings);
  const auto other = std::ranges::find_if(of_all, [&](const std::string& text) { return text != of_all.front(); });
  if (other == of_all.end()) return;
  throw ValueError(text(function, ": the ranks differ: rank 0 has ", difference(of_all.front(), *other), ", and rank ",
                        other - of_all.begin(), " has ", difference(*other, of_all.front()), "; ", remedy));
}

}  // namespace retrace

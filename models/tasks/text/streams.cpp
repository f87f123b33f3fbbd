#include <retrace/core/base/error.h>
#include <retrace/models/tasks/text/streams.h>

#include <algorithm>

namespace retrace {

Streams::Streams(TokenIds ids, std::int64_t rows, std::int64_t length) : ids_(ids), rows_(rows), length_(length) {
  if (ids.size() < 2 || rows < 1 || length < 1)
    throw ValueError(text("Streams: ", ids.size(), " tokens in ", rows, " rows and segments of ", length,
                          "; there have to be 2 tokens, a row and a length of 1, at least"));
  steps_ = (std::ssize(ids) - 1 + rows - 1) / rows;
}

Batch Streams::segment(std::int64_t number) const {
  const std::int64_t begin = number * length_, time = std::min(length_, steps_ - begin);
  const std::int64_t last = std::ssize(ids_) - 1;
  Batch result{zeros({rows_, time}, i64), full({rows_, time}, static_cast<double>(no_answer), i64)};
  std::int64_t* x = result.x.mutable_values<std::int64_t>().data();
  std::int64_t* y = result.y.mutable_values<std::int64_t>().data();
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::int64_t from = row * steps_ + begin, count = std::clamp<std::int64_t>(last - from, 0, time);
    for (std::int64_t t = 0; t < count; ++t) {
      x[row * time + t] = ids_[static_cast<std::size_t>(from + t)];
      y[row * time + t] = ids_[static_cast<std::size_t>(from + t + 1)];
    }
  }
  return result;
}

std::int64_t streams_of_test(TokenIds ids) {
  constexpr std::int64_t ids_of_a_row = 1024, max_rows = 64;
  return std::clamp<std::int64_t>(std::ssize(ids) / ids_of_a_row, 1, max_rows);
}

void check_length(const TextData& data, std::int64_t rows, std::int64_t length) {
  const std::int64_t count = std::ssize(data.training());
  for (const auto& [own, part] : {std::pair(data.own_validation, "validation"), std::pair(data.own_test, "test")})
    if (own && own->size() < 2)
      throw ValueError(text("text: the text for the ", part, " has ", own->size(), " ", name_of(data.vocabulary.kind()),
                            "; at least 2 are needed"));
  if (rows < 1 || length < 1 || data.test().size() < 2 || count / rows < length || count < rows * length + 1)
    throw ValueError(text("text: ", data.ids.size(), " ", name_of(data.vocabulary.kind()), ", of which ", count,
                          " are to train on, are too few for a batch of ", rows, " segments of ", length,
                          "; give a longer text, or a smaller --batch or --length"));
}

}  // namespace retrace

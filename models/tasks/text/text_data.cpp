#include <retrace/core/base/error.h>
#include <retrace/models/data/file_text.h>
#include <retrace/models/tasks/text/text_data.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace retrace {
namespace {

/// The text as ids, of which `parts` twentieths are held out.
TextData data_of(std::string_view utf8, TokenKind kind, std::int64_t parts) {
  const std::int64_t count = count_tokens(utf8, kind);
  const Vocabulary vocabulary = Vocabulary::of(utf8, kind, count - parts * (count / 20));
  return {vocabulary, vocabulary.encode(utf8)};
}

void check_not_empty(std::string_view content, const std::string& path) {
  if (content.empty()) throw ValueError(text(path, ": the file is empty; give one with a text"));
}

/// Calls read(content of the file).
auto read_file(const std::string& path, auto&& read) {
  const std::string content = read_utf8_file(path, "read_text: " + path);
  try {
    return read(content);
  } catch (const ValueError& error) {
    throw FileError(text("read_text: ", error.what()));
  }
}

std::span<const std::string_view> token_names() {
  static constexpr std::array names{name_of(TokenKind::characters), name_of(TokenKind::words)};
  return names;
}

}  // namespace

OptionRows<TextSource> text_option_rows() {
  using enum OptionGroup;
  static constexpr std::array rows{
      option<&TextSource::file>("text", files, "text: a file in UTF-8"),
      option<&TextSource::validation_file>(
          "validation-text", files, "text: a file to validate on (default: 5 % of --text, before those of the test)"),
      option<&TextSource::test_file>("test-text", files, "text: a file to test on (default: the last 5 % of --text)"),
      option<&TextSource::tokens>("tokens", task, "text: characters (the default) or words", {.words = token_names})};
  return rows;
}

TextData make_text_data(std::string_view utf8, TokenKind kind, std::string_view name) {
  check_utf8(utf8, name);
  return data_of(utf8, kind, 2);
}

TextData read_text(const TextSource& source, const std::optional<Vocabulary>& vocabulary) {
  const std::int64_t parts = (source.validation_file.empty() ? 1 : 0) + (source.test_file.empty() ? 1 : 0);
  TextData data = vocabulary ? TextData{*vocabulary, read_tokens(source.file, *vocabulary)}
                             : read_file(source.file, [&](const std::string& content) {
                                 check_not_empty(content, source.file);
                                 return data_of(content, source.kind(), parts);
                               });
  if (!source.validation_file.empty()) data.own_validation = read_tokens(source.validation_file, data.vocabulary);
  if (!source.test_file.empty()) data.own_test = read_tokens(source.test_file, data.vocabulary);
  return data;
}

std::vector<std::int32_t> read_tokens(const std::string& path, const Vocabulary& vocabulary) {
  return read_file(path, [&](const std::string& content) {
    check_not_empty(content, path);
    return vocabulary.encode(content, path);
  });
}

std::string fingerprint(TokenIds ids) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::int32_t id : ids)
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ ((static_cast<std::uint32_t>(id) >> shift) & 0xffU)) * 0x100000001b3U;
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

Streams::Streams(TokenIds ids, std::int64_t rows, std::int64_t length) : ids_(ids), rows_(rows), length_(length) {
  if (ids.size() < 2 || rows < 1 || length < 1)
    throw ValueError(text("Streams: ", ids.size(), " tokens in ", rows, " rows and segments of ", length,
                          "; there have to be 2 tokens, a row and a length of 1, at least"));
  steps_ = (static_cast<std::int64_t>(ids.size()) - 1 + rows - 1) / rows;
}

Streams::Segment Streams::segment(std::int64_t number) const {
  const std::int64_t begin = number * length_, time = std::min(length_, steps_ - begin);
  const std::int64_t last = static_cast<std::int64_t>(ids_.size()) - 1;
  Segment result{zeros({rows_, time}, i64), full({rows_, time}, static_cast<double>(no_token), i64)};
  std::int64_t* in = result.in.mutable_values<std::int64_t>().data();
  std::int64_t* next = result.next.mutable_values<std::int64_t>().data();
  for (std::int64_t row = 0; row < rows_; ++row) {
    const std::int64_t from = row * steps_ + begin, count = std::clamp<std::int64_t>(last - from, 0, time);
    for (std::int64_t t = 0; t < count; ++t) {
      in[row * time + t] = ids_[static_cast<std::size_t>(from + t)];
      next[row * time + t] = ids_[static_cast<std::size_t>(from + t + 1)];
    }
  }
  return result;
}

}  // namespace retrace

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

}  // namespace

TextData make_text_data(std::string_view utf8, TokenKind kind, std::string_view name) {
  check_utf8(utf8, name);
  return data_of(utf8, kind, 2);
}

TextData read_text(const TaskOptions& options, const std::optional<Vocabulary>& vocabulary) {
  if (!options.text) throw ValueError("text: there is no text to learn from; give --text FILE");
  for (const auto* name : {&options.text, &options.validation_text, &options.test_text})
    if (*name) check_storable(**name, "text");
  const std::string& file = *options.text;
  const std::int64_t parts = (options.validation_text ? 0 : 1) + (options.test_text ? 0 : 1);
  TextData data = vocabulary ? TextData{*vocabulary, read_tokens(file, *vocabulary)}
                             : read_file(file, [&](const std::string& content) {
                                 check_not_empty(content, file);
                                 return data_of(content, options.tokens.value_or(TokenKind::characters), parts);
                               });
  if (options.validation_text) data.own_validation = read_tokens(*options.validation_text, data.vocabulary);
  if (options.test_text) data.own_test = read_tokens(*options.test_text, data.vocabulary);
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

}  // namespace retrace

#include <gtest/gtest.h>
#include <retrace/models/tasks/text/streams.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/ops/gradient_support.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace retrace {
namespace {

constexpr TokenKind characters = TokenKind::characters, words = TokenKind::words;

TEST(TextTokens, CharactersAreCodePoints) {
  const std::string greeting = "z\u00df\u6c34\U0001f34c z";  // of 1, 2, 3, 4, 1 and 1 bytes
  EXPECT_EQ(count_tokens(greeting, characters), 6);
  const Vocabulary vocabulary = Vocabulary::of(greeting, characters, 6);
  EXPECT_EQ(vocabulary.tokens(), (std::vector<std::string>{" ", "z", "\u00df", "\u6c34", "\U0001f34c"}));
  EXPECT_EQ(vocabulary.encode(greeting), (std::vector<std::int32_t>{1, 2, 3, 4, 0, 1}));
  EXPECT_EQ(vocabulary.decode(vocabulary.encode(greeting)), greeting);
  expect_error<ValueError>([&] { vocabulary.encode("zy"); },
                           "encode: the character 'y' is not among the 5 of the text that the model was trained on; "
                           "leave it out");
}

TEST(TextTokens, WordsStandBetweenSpacesAndRareOnesAreUnknown) {
  const std::string poem = "the  cat\tthe dog\n the cat \nlast";
  EXPECT_EQ(count_tokens(poem, words), 9);
  const Vocabulary full = Vocabulary::of(poem, words, 9);
  EXPECT_EQ(full.tokens(), (std::vector<std::string>{"\n", "<unk>", "cat", "dog", "last", "the"}));
  EXPECT_EQ(full.decode(full.encode(poem)), "the cat the dog\nthe cat\nlast");
  EXPECT_EQ(full.decode(full.encode("the bird\n")), "the <unk>\n");
  EXPECT_EQ(Vocabulary::of(poem, words, 9, 2).tokens(), (std::vector<std::string>{"\n", "<unk>", "the"}))
      << "of words that are as frequent, the first by its bytes";
  EXPECT_FALSE(Vocabulary::of(poem, words, 8).find("last")) << "only the first words are looked at";
}

TEST(TextParts, TheEndIsForValidationAndTheTest) {
  std::string alphabet;
  for (int k = 0; k < 70; ++k) alphabet += static_cast<char>('0' + k);
  const TextData data = make_text_data(alphabet, characters, "a text");
  const auto text_of = [&](TokenIds ids) { return data.vocabulary.decode(ids); };
  EXPECT_EQ(text_of(data.training()), alphabet.substr(0, 64));
  EXPECT_EQ(text_of(data.validation()), alphabet.substr(64, 3));
  EXPECT_EQ(text_of(data.test()), alphabet.substr(67));
}

TEST(TextParts, WordsOfTheTestAloneAreUnknown) {
  std::string lines;
  for (int k = 0; k < 40; ++k) lines += k < 36 ? "seen " : "unseen ";
  const TextData data = make_text_data(lines, words, "a text");
  EXPECT_FALSE(data.vocabulary.find("unseen"));
  EXPECT_EQ(data.vocabulary.decode(data.test()), "<unk> <unk>");
}

TEST(TextParts, OfFilesThatCannotBeRead) {
  const TemporaryFolder own;
  const std::filesystem::path& folder = own.path();
  std::ofstream(folder / "latin.txt") << "caf\xe9";
  std::ofstream(folder / "empty.txt").flush();
  const auto message = [&](const std::filesystem::path& path) {
    return message_of<FileError>([&] { read_text({.text = path.string()}); });
  };
  EXPECT_NE(message(folder / "none.txt").find("No such file"), std::string::npos) << message(folder / "none.txt");
  EXPECT_NE(message(folder).find("it is a folder"), std::string::npos) << message(folder);
  EXPECT_NE(message(folder / "empty.txt").find("empty.txt: the file is empty"), std::string::npos);
  EXPECT_NE(message(folder / "latin.txt").find("latin.txt is not UTF-8: byte 3, in line 1"), std::string::npos)
      << message(folder / "latin.txt");
}

class TextFiles : public testing::Test {
 protected:
  std::string write(const char* name, const std::string& content) const {
    std::ofstream(own_.path() / name) << content;
    return own_ / name;
  }

  TemporaryFolder own_;
};

TEST_F(TextFiles, APartWithAFileOfItsOwnIsNotHeldOut) {
  std::string digits;
  for (int k = 0; k < 40; ++k) digits += static_cast<char>('0' + k % 10);
  const std::string file = write("a", digits), validation = write("b", "135"), test = write("c", "8642");
  const auto parts = [](const TextData& data) {
    const auto text_of = [&](TokenIds ids) { return data.vocabulary.decode(ids); };
    return std::vector{text_of(data.training()), text_of(data.validation()), text_of(data.test())};
  };
  using Parts = std::vector<std::string>;
  EXPECT_EQ(parts(read_text({.text = file})), (Parts{digits.substr(0, 36), "67", "89"}));
  EXPECT_EQ(parts(read_text({.text = file, .validation_text = validation})),
            (Parts{digits.substr(0, 38), "135", "89"}));
  EXPECT_EQ(parts(read_text({.text = file, .test_text = test})), (Parts{digits.substr(0, 38), "89", "8642"}));
  EXPECT_EQ(parts(read_text({.text = file, .validation_text = validation, .test_text = test})),
            (Parts{digits, "135", "8642"}));
}

TEST_F(TextFiles, AByteOrderMarkIsNotLearned) {
  const TextData data = read_text({.text = write("a",
                                                 "\xef\xbb\xbf"
                                                 "abab")});
  EXPECT_EQ(data.vocabulary.tokens(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read_tokens(write("b",
                              "\xef\xbb\xbf"
                              "b"),
                        data.vocabulary),
            (std::vector<std::int32_t>{1}));
  EXPECT_NE(message_of<FileError>([&] {
              read_text({.text = write("c",
                                       "\xff\xfe"
                                       "a")});
            }).find("c is UTF-16"),
            std::string::npos);
}

TEST_F(TextFiles, TheVocabularyIsThatOfTheTextToTrainOn) {
  const std::string file = write("a", "ab\nba\n"),
                    other = write("b",
                                  "ab\nba\na\xc3\xa9"
                                  "b\n"),
                    windows = write("c", "a\r\n");
  expect_error<FileError>([&] { read_text({.text = file, .test_text = other}); },
                          "read_text: " + other +
                              " has the character '\xc3\xa9' (U+00E9) in line 3, which is not among the 3 of the text "
                              "that the model is trained on; remove it, or train on a text that has it");
  const std::string message = message_of<FileError>([&] { read_text({.text = file, .validation_text = windows}); });
  EXPECT_NE(message.find("has the character U+000D in line 1"), std::string::npos) << message;
  const TextData data =
      read_text({.text = write("d", "one two one two"), .test_text = write("e", "one three"), .tokens = words});
  EXPECT_EQ(data.vocabulary.decode(data.test()), "one <unk>");
}

TEST_F(TextFiles, WordsOfTheLastLinesAreKnownIfTheyAreTrainedOn) {
  std::string lines;
  for (int k = 0; k < 40; ++k) lines += k < 38 ? "seen " : "late ";
  const TextData data = read_text({.text = write("a", lines),
                                   .validation_text = write("b", "late seen"),
                                   .test_text = write("c", "seen late"),
                                   .tokens = words});
  EXPECT_EQ(data.vocabulary.decode(data.test()), "seen late");
}

TEST(TextParts, TheFingerprintTellsTextsApart) {
  const std::vector<std::int32_t> one{1, 2, 3}, other{1, 3, 2}, longer{1, 2, 3, 0};
  EXPECT_EQ(fingerprint(one), fingerprint(std::vector<std::int32_t>(one)));
  EXPECT_EQ((std::set{fingerprint(one), fingerprint(other), fingerprint(longer)}).size(), 3U);
}

/// The rows of all segments, one after the other, are the text; each token except the first is an answer exactly once.
TEST(TextStreams, AreContiguousAndComplete) {
  for (const std::int64_t count : {2, 3, 10, 31, 64})
    for (const std::int64_t rows : {1, 3, 8})
      for (const std::int64_t length : {1, 4, 7, 100}) {
        std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
        std::iota(ids.begin(), ids.end(), 0);
        const Streams streams(ids, rows, length);
        std::vector<std::vector<std::int64_t>> read(static_cast<std::size_t>(rows));
        for (std::int64_t number = 0; number < streams.segments(); ++number) {
          const Batch segment = streams.segment(number);
          const Tensor &in = segment.x, &next = segment.y;
          ASSERT_EQ(in.shape(), next.shape());
          ASSERT_LE(in.dim(1), length);
          for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t t = 0; t < in.dim(1); ++t) {
              const auto at = static_cast<std::size_t>(row * in.dim(1) + t);
              if (next.values<std::int64_t>()[at] == no_answer) continue;
              EXPECT_EQ(next.values<std::int64_t>()[at], in.values<std::int64_t>()[at] + 1);
              read[static_cast<std::size_t>(row)].push_back(in.values<std::int64_t>()[at]);
            }
        }
        std::vector<std::int64_t> answered, expected(static_cast<std::size_t>(count - 1));
        for (const auto& row : read) answered.insert(answered.end(), row.begin(), row.end());
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(answered, expected) << count << " tokens, " << rows << " rows, segments of " << length;
      }
}

TEST(TextStreams, Errors) {
  const std::vector<std::int32_t> one{0}, two{0, 1};
  EXPECT_THROW(Streams(one, 1, 1), ValueError);
  EXPECT_THROW(Streams(two, 0, 1), ValueError);
  expect_error<ValueError>([&] { Streams(two, 1, 0); },
                           "Streams: 2 tokens in 1 rows and segments of 0; there have to be 2 tokens, a row and a "
                           "length of 1, at least");
}

}  // namespace
}  // namespace retrace

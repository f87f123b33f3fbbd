// Files that are cut short, or have one bit flipped, are refused by name or read alike.
#include <retrace/core/base/error.h>
#include <retrace/core/tensor/memory.h>
#include <retrace/tests/heap_count.h>
#include <retrace/tests/temporary_folder.h>
#include <retrace/tests/trust/in_full.h>
#include <retrace/tests/trust/readers.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace retrace {
namespace {

class DamagedFiles : public testing::TestWithParam<FileReader> {
 protected:
  void SetUp() override {
    reader_ = GetParam();
    path_ = folder_ / std::string(reader_.file);
    valid_ = reader_.valid();
    meaning_ = read_of(valid_);
  }
  std::string read_of(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return reader_.read(path_);
  }
  /// What is wrong with the reading of damaged bytes; empty if nothing is.
  std::string complaint(const std::string& bytes, bool must_be_noticed) const {
    try {
      return read_of(bytes) == meaning_ || !must_be_noticed ? "" : "the damage was not noticed";
    } catch (const Error& error) {
      const std::string_view named = reader_.refusal.empty() ? path_ : reader_.refusal;
      const std::string message = error.what();
      return message.find(named) != std::string::npos ? "" : "the message names no file: " + message;
    } catch (const std::exception& error) {
      return std::string("not an error of Retrace: ") + error.what();
    }
  }
  void expect_right_reading(const std::string& bytes, bool must_be_noticed, const std::string& damage) {
    const std::string wrong = complaint(bytes, must_be_noticed);
    EXPECT_EQ(wrong, "") << reader_.name << ", " << damage << " of " << valid_.size() << " bytes";
    failures_ += !wrong.empty();
  }
  bool gave_up() const { return failures_ > 4; }
  /// All numbers below a limit; of a sample, those near both ends and some between.
  static std::set<std::size_t> places(std::size_t limit, std::size_t at_the_ends, std::size_t between) {
    std::set<std::size_t> result;
    const auto add = [&](std::size_t place) { result.insert(std::min(place, limit - 1)); };
    if (in_full()) between = limit, at_the_ends = 0;
    for (std::size_t k = 0; k < at_the_ends; ++k) add(k * k / 8), add(limit - 1 - std::min(limit - 1, k * k / 16));
    for (std::size_t k = 0; k < between; ++k) add(in_full() ? k : (k * 2654435761U) % limit);
    return result;
  }

  FileReader reader_;
  TemporaryFolder folder_;
  std::string path_, valid_, meaning_;
  int failures_ = 0;
};

TEST_P(DamagedFiles, CutShort) {
  for (const std::size_t length : places(valid_.size(), 30, 30)) {
    if (gave_up()) return;
    expect_right_reading(valid_.substr(0, length), reader_.guard != Guard::none, "the first " + std::to_string(length));
  }
}

TEST_P(DamagedFiles, WithAFlippedBit) {
  constexpr std::int64_t most_bytes = 1 << 26;
  largest_heap_allocation();
  const std::int64_t tensors_before = memory_stats().peak_bytes;
  std::string damaged = valid_;
  for (const std::size_t bit : places(8 * valid_.size(), 100, 100)) {
    if (gave_up()) return;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    expect_right_reading(damaged, reader_.guard == Guard::contents,
                         "bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8));
    damaged[bit / 8] = valid_[bit / 8];
  }
  EXPECT_LT(largest_heap_allocation(), most_bytes);
  EXPECT_LT(memory_stats().peak_bytes - tensors_before, most_bytes);
}

INSTANTIATE_TEST_SUITE_P(Trust, DamagedFiles, testing::ValuesIn(file_readers().begin(), file_readers().end()),
                         [](const auto& row) {
                           std::string name(row.param.name);
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace retrace

// The headers that users include show tensors, tapes and records, and nothing behind the wall of core, whose door is
// core/tensor/op_access.h.
#include <retrace/nn/nn.h>

#include <gtest/gtest.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace retrace {

class OpAccess;
namespace detail {
struct Node;
struct Storage;
}  // namespace detail

namespace {

template <class T>
concept IsDefined = requires {
  sizeof(T);
};
static_assert(IsDefined<TensorInfo> && IsDefined<Record>);
static_assert(!IsDefined<detail::Node> && !IsDefined<detail::Storage> && !IsDefined<OpAccess>);

template <class T>
concept HandsOutANode = requires(T& x) {
  x.node();
}
|| requires(T& x) { x.node_or_null(); }
|| requires(T& x) { x.node_; }
|| requires(T& x) { x.nodes_; };
static_assert(!HandsOutANode<Tensor> && !HandsOutANode<Parameter> && !HandsOutANode<Record>);

template <class T>
concept HandsOutAStorage = requires(T& x) {
  x.storage;
}
|| requires(T& x) { x.storage_; }
|| requires(T& x) { x.elements; }
|| requires(T& x) { x.elements_; };
static_assert(!HandsOutAStorage<TensorInfo> && !HandsOutAStorage<SavedValue>);

template <class T>
concept CountsHandles = requires(T& x) {
  x.handles;
}
|| requires(T& x) { x.add_handle(); };
static_assert(!CountsHandles<TensorInfo>);

// A record's inputs and outputs are looked at, neither changed nor copied.
static_assert(std::is_same_v<decltype(std::declval<Record&>().in(0)), const TensorInfo&>);
static_assert(!std::is_copy_constructible_v<TensorInfo> && !std::is_copy_assignable_v<TensorInfo>);

const std::filesystem::path root = RETRACE_SOURCE_DIR;

/// The headers of the project that a file includes: "core/tensor/tensor.h".
std::vector<std::string> includes_of(const std::filesystem::path& file) {
  const std::string before = "#include <retrace/";
  std::vector<std::string> result;
  std::istringstream lines(file_bytes(file));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(before)) result.push_back(line.substr(before.size(), line.find('>') - before.size()));
  return result;
}

void collect_headers(const std::string& header, std::set<std::string>& found) {
  if (!found.insert(header).second) return;
  for (const std::string& included : includes_of(root / header)) collect_headers(included, found);
}

const std::set<std::string> behind_the_wall = {"core/tensor/node.h", "core/tensor/op_access.h",
                                               "core/tensor/storage.h"};

TEST(PublicSurface, NoHeaderForUsersCastsConstAwayOrIncludesWhatIsBehindTheWall) {
  std::set<std::string> headers;
  collect_headers("nn/nn.h", headers);
  EXPECT_TRUE(headers.contains("core/tensor/tensor.h") && headers.contains("core/tape/recording.h"));
  for (const std::string& header : headers) {
    EXPECT_FALSE(behind_the_wall.contains(header)) << header;
    EXPECT_EQ(file_bytes(root / header).find("const_cast"), std::string::npos) << header;
  }
}

TEST(PublicSurface, ModulesAndModelsAreWrittenWithIt) {
  int files = 0;
  for (const char* folder : {"nn", "models", "benchmarks"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      ++files;
      for (const std::string& header : includes_of(entry.path()))
        EXPECT_FALSE(behind_the_wall.contains(header)) << entry.path() << " includes " << header;
    }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace retrace

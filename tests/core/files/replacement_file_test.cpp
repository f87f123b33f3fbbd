// A replacement is whole, private to nobody else's names, and as accessible as what it replaces.
#include <retrace/core/base/error.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace retrace {
namespace {

class ReplacementFiles : public testing::Test {
 protected:
  static void replace(const std::string& path, const std::string& content = "new") {
    ReplacementFile file("save", path);
    file.write(content.data(), content.size());
    file.put_into_place();
  }
  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }
  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      result.insert(entry.path().filename());
    return result;
  }
  std::string refusal(const std::string& path) const {
    return message_of<FileError>([&] { replace(path); });
  }

  TemporaryFolder folder_;
};

TEST_F(ReplacementFiles, KeepPermissions) {
  const std::string path = folder_ / "x";
  for (const mode_t mode : {0600, 0640, 0644, 0400, 0755, 0666}) {
    std::ofstream(path) << "old";
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    replace(path);
    EXPECT_EQ(mode_of(path), mode);
    EXPECT_EQ(file_bytes(path), "new");
    std::filesystem::remove(path);
  }
}

TEST_F(ReplacementFiles, NewOnesHaveThePermissionsOfTheProcess) {
  const mode_t before = ::umask(0027);
  replace(folder_ / "x");
  ::umask(before);
  EXPECT_EQ(mode_of(folder_ / "x"), 0640U);
}

TEST_F(ReplacementFiles, KeepOwnerAndGroupWhereTheSystemAllowsIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const std::string path = folder_ / "x";
  std::ofstream(path) << "old";
  ASSERT_EQ(::chown(path.c_str(), 12, 34), 0);
  replace(path);
  struct stat status {};
  ::stat(path.c_str(), &status);
  EXPECT_EQ(status.st_uid, 12U);
  EXPECT_EQ(status.st_gid, 34U);
}

/// A link that somebody left under the name of the unfinished file would lead the data elsewhere.
TEST_F(ReplacementFiles, TheUnfinishedOneHasANameOfItsOwnThatOnlyItsUserReads) {
  const std::string path = folder_ / "x";
  std::ofstream(path) << "old";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  std::set<std::string> seen;
  for (int k = 0; k < 50; ++k) {
    const ReplacementFile file("save", path);
    for (const std::string& name : names()) {
      EXPECT_TRUE(name == "x" || name.starts_with("x.tmp.")) << name;
      EXPECT_EQ(mode_of(folder_ / name), 0600U) << name;
      seen.insert(name);
    }
  }
  EXPECT_EQ(seen.size(), 51U) << "no two have the same name, in a process or in two";
  EXPECT_EQ(names(), std::set<std::string>{"x"});
}

TEST_F(ReplacementFiles, LinksAreFollowedAlsoToFilesThatAreNotThereYet) {
  std::filesystem::create_directory(folder_ / "sub");
  std::filesystem::create_symlink("sub/target", folder_ / "one");
  std::filesystem::create_symlink("one", folder_ / "two");
  for (const std::string content : {"first", "second"}) {
    replace(folder_ / "two", content);
    EXPECT_EQ(file_bytes(folder_ / "sub/target"), content);
    EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "two") && std::filesystem::is_symlink(folder_ / "one"));
  }
  std::filesystem::create_symlink("circle", folder_ / "circle");
  EXPECT_NE(refusal(folder_ / "circle").find("cannot be replaced: Too many levels of symbolic links"),
            std::string::npos);
}

TEST_F(ReplacementFiles, WhatIsNoFileIsRefusedAndLeavesNothing) {
  std::filesystem::create_directory(folder_ / "taken");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", folder_ / "null");
  EXPECT_EQ(refusal(folder_ / "taken"),
            "save: " + (folder_ / "taken") + " is a folder, not a file; choose another path");
  EXPECT_EQ(refusal(folder_ / "pipe"),
            "save: " + (folder_ / "pipe") + " is a device or a pipe, not a file; choose another path");
  EXPECT_EQ(refusal(folder_ / "null"), "save: /dev/null is a device or a pipe, not a file; choose another path");
  EXPECT_NE(refusal(folder_ / "missing/x").find("cannot be created: No such file"), std::string::npos);
  EXPECT_NE(refusal("").find("cannot be"), std::string::npos);
  EXPECT_EQ(names(), (std::set<std::string>{"taken", "pipe", "null"}));
}

/// Wherever the disk is full.
TEST_F(ReplacementFiles, AFailureAtAnyByteLeavesTheOldOneAlone) {
  const std::string path = folder_ / "x";
  std::ofstream(path) << "old";
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (const rlim_t limit : {0, 1, 4096, 99'999}) {
    rlimit now = before;
    now.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &now);
    const std::string message = message_of<FileError>([&] { replace(path, std::string(100'000, 'x')); });
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_NE(message.find("cannot be written: File too large"), std::string::npos) << limit << ": " << message;
    EXPECT_EQ(file_bytes(path), "old") << limit;
    EXPECT_EQ(names(), std::set<std::string>{"x"}) << limit;
  }
  std::signal(SIGXFSZ, SIG_DFL);
}

}  // namespace
}  // namespace retrace

#include "support/atomic_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/file_identity.hpp"
#include "support/output_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/whole_file.hpp"

namespace dadsim {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  std::string read(const fs::path& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  test::TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST_F(AtomicFile, ReplacesTheWholeFile) {
  const fs::path path = folder_ / "result.json";
  write_file_atomically(path.string(), "first, and longer");
  write_file_atomically(path.string(), "second");
  EXPECT_EQ(read(path), "second");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "nothing is left beside it";
}

TEST_F(AtomicFile, SaysWhyItCannot) {
  EXPECT_THROW(write_file_atomically((folder_ / "no" / "such" / "folder").string(), "x"), OutputError);
  EXPECT_THROW(write_file_atomically(folder_.string(), "x"), OutputError);
  EXPECT_THROW(check_writable(folder_.string()), OutputError);
  EXPECT_NO_THROW(check_writable((folder_ / "new").string()));
}

TEST_F(AtomicFile, AFullDiskLeavesTheOldResult) {
  // Every write to /dev/full fails, which must be reported.
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  EXPECT_THROW(write_file_atomically("/dev/full", "x"), OutputError);
}

TEST_F(AtomicFile, ASymbolicLinkAndPermissionsStay) {
  const fs::path target = folder_ / "target";
  write_file_atomically(target.string(), "first");
  fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target", folder_ / "link");
  write_file_atomically((folder_ / "link").string(), "second");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(target), "second");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(AtomicFile, WhatWasReadStays) {
  const fs::path path = folder_ / "input";
  std::ofstream(path) << "mine";
  EXPECT_EQ(read_input(path.string(), "a file", kMostOfTable), "mine");
  fs::create_symlink("input", folder_ / "link");
  fs::create_hard_link(path, folder_ / "hard");
  for (const char* name : {"input", "./input", "link", "hard"})
    EXPECT_THROW(write_file_atomically((folder_ / name).string(), "x"), OutputError) << name;
  EXPECT_EQ(read(path), "mine");
}

TEST_F(AtomicFile, AWriteProtectedFileStays) {
  const fs::path path = folder_ / "kept";
  write_file_atomically(path.string(), "mine");
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read);
  EXPECT_THROW(check_writable(path.string()), OutputError);
  EXPECT_THROW(write_file_atomically(path.string(), "yours"), OutputError);
  EXPECT_EQ(read(path), "mine");
}

// A file may have several names, all with one identity.
TEST_F(AtomicFile, IdentityIsOfTheFileAndNotOfItsName) {
  const std::string path = (folder_ / "a").string();
  const auto same = [](const fs::path& one, const fs::path& other) {
    return identity_of(one.string()).is_same_as(identity_of(other.string()));
  };
  const fs::path other = folder_ / "." / "sub" / ".." / "a";
  fs::create_directory(folder_ / "sub");
  EXPECT_TRUE(same(path, other)) << "before it is there";
  EXPECT_FALSE(same(path, folder_ / "b"));
  EXPECT_FALSE(same(path, folder_ / "sub" / "a"));
  fs::create_symlink("a", folder_ / "soft");
  fs::create_symlink(folder_ / "sub", folder_ / "way");
  EXPECT_TRUE(same(path, folder_ / "soft")) << "a link to what is not there yet";
  EXPECT_TRUE(same(folder_ / "sub" / "x", folder_ / "way" / "x"));
  write_file_atomically(path, "x");
  fs::create_hard_link(path, folder_ / "hard");
  for (const char* name : {"hard", "soft", "way/../a"}) EXPECT_TRUE(same(path, folder_ / name)) << name;
  EXPECT_TRUE(same("/dev/stdout", "-"));
  EXPECT_TRUE(identity_of("/dev/null").takes_all);
  EXPECT_FALSE(identity_of("/dev/full").takes_all);
}

}  // namespace
}  // namespace dadsim

#include "support/atomic_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/output_error.hpp"
#include "support/temporary_folder.hpp"

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
  // /dev/full fails every write: the error must come out.
  if (!fs::exists("/dev/full")) GTEST_SKIP();
  EXPECT_THROW(write_file_atomically("/dev/full", "x"), OutputError);
}

}  // namespace
}  // namespace dadsim

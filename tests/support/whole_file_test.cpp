#include "support/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim {
namespace {

TEST(WholeFile, IsReadToItsEnd) {
  const test::TemporaryFolder folder;
  std::string content(100'000, 'a');
  content[70'000] = '\0';
  EXPECT_EQ(whole_file(folder.write("large", content)), content);
  EXPECT_EQ(whole_file(folder.write("empty", "")), "");
  EXPECT_EQ(whole_file(folder.path("none")), std::nullopt);
}

TEST(WholeFile, WhatCannotBeReadToItsEndIsNoFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("");
  try {
    static_cast<void>(whole_file(path));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), path + ": cannot be read: Is a directory; a file that can be read to its end");
  }
  // The memory of this process, which has nothing at its beginning: to who reads it, a device that fails.
  EXPECT_THROW(static_cast<void>(whole_file("/proc/self/mem")), EnvironmentError);
}

TEST(WholeFile, IsTheFirstBytesWhereNoMoreAreAskedFor) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("long", std::string(100000, 'x'));
  EXPECT_EQ(whole_file(path, 3), "xxx");
  EXPECT_EQ(whole_file(path, 70000)->size(), 70000U);
  EXPECT_EQ(whole_file(path, 200000)->size(), 100000U);
}

// A scenario was said to be wrong ("give yourself the right to read it"), and a file that seemed not to be there was
// written anew, where there was no descriptor to open it with.
TEST(WholeFile, WhatTheSystemDeniesIsNoFaultOfTheFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("there", "content");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free = ::dup(0);
  ASSERT_GE(free, 0);
  ::close(free);
  const rlimit tight{static_cast<rlim_t>(free), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  EXPECT_THROW(static_cast<void>(whole_file(path)), EnvironmentError);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(whole_file(path), "content");
  EXPECT_NO_THROW(throw_if_denied(path, ENOENT));
  EXPECT_NO_THROW(throw_if_denied(path, EACCES));
  EXPECT_THROW(throw_if_denied(path, ENOMEM), EnvironmentError);
}

}  // namespace
}  // namespace dadsim

#include "support/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>

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
    EXPECT_EQ(std::string(error.what()),
              path + ": cannot be read: Is a directory; use a file that can be read to its end");
  }
  // /proc/self/mem has no memory at address 0, so reading fails as from a broken device.
  EXPECT_THROW(static_cast<void>(whole_file("/proc/self/mem")), EnvironmentError);
}

TEST(WholeFile, IsTheFirstBytesWhereNoMoreAreAskedFor) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("long", std::string(100000, 'x'));
  EXPECT_EQ(whole_file(path, 3), "xxx");
  EXPECT_EQ(whole_file(path, 70000)->size(), 70000U);
  EXPECT_EQ(whole_file(path, 200000)->size(), 100000U);
}

TEST(WholeFile, AnInputHasALimit) {
  const test::TemporaryFolder folder;
  const InputLimit limit{std::size_t{1} << 20U, "a part of it"};
  const auto said = [&](const std::string& path) {
    try {
      return read_input(path, "a log", limit);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  const std::string small = folder.write("small", "content");
  EXPECT_EQ(said(small), "content");
  EXPECT_EQ(std::ranges::count(noted_inputs(), small), 1);
  EXPECT_EQ(said(folder.path("")), folder.path("") + ": is a folder; a log");
  EXPECT_EQ(said("/dev/zero"), "/dev/zero: is a device; a log");
  const std::string none = folder.path("none");
  EXPECT_EQ(said(none), none + ": cannot be read: No such file or directory; a log");
  const std::string sparse = folder.write("sparse", "");
  ASSERT_EQ(::truncate(sparse.c_str(), off_t{20} << 30U), 0);
  EXPECT_EQ(said(sparse), sparse + ": has more than 1 MiB; a part of it");
  // The size of a pipe is unknown.
  const std::string fifo = folder.path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] {
    std::signal(SIGPIPE, SIG_IGN);
    std::ofstream(fifo) << std::string(std::size_t{2} << 20U, 'a');
  });
  EXPECT_EQ(said(fifo), fifo + ": has more than 1 MiB; a part of it");
  writer.join();
}

// Without a free file descriptor, a scenario was once called unreadable ("give yourself the right to read it"), and a
// file that seemed to be missing was overwritten.
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

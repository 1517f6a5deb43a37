#include "support/whole_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/diagnostics.hpp"
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
  // The memory of this process, which has nothing at its beginning.
  try {
    static_cast<void>(whole_file("/proc/self/mem"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "/proc/self/mem: cannot be read: Input/output error; a file that can be read to its end");
  }
}

}  // namespace
}  // namespace dadsim

#include <gtest/gtest.h>

#include "cli/arguments.hpp"
#include "cli/collective_options.hpp"

namespace dadsim::cli {
namespace {

using Sizes = std::vector<double>;

TEST(ByteSizes, UnitsArePowersOf1024AsInNcclTests) {
  EXPECT_EQ(parse_byte_sizes("8"), Sizes{8});
  EXPECT_EQ(parse_byte_sizes("8B"), Sizes{8});
  for (const char* text : {"4K", "4k", "4KB", "4kb", "4KiB", "4096"})
    EXPECT_EQ(parse_byte_sizes(text), Sizes{4096}) << text;
  EXPECT_EQ(parse_byte_sizes("1.5M"), Sizes{1.5 * 1048576});
  EXPECT_EQ(parse_byte_sizes("1GB"), Sizes{1073741824});
  EXPECT_EQ(parse_byte_sizes("1024TB"), Sizes{kLargestSize});
}

TEST(ByteSizes, RangesAndLists) {
  EXPECT_EQ(parse_byte_sizes("1KB:8KB"), (Sizes{1024, 2048, 4096, 8192}));
  EXPECT_EQ(parse_byte_sizes("1KB:20KB:4"), (Sizes{1024, 4096, 16384})) << "not beyond the last";
  EXPECT_EQ(parse_byte_sizes("3:3"), Sizes{3});
  EXPECT_EQ(parse_byte_sizes("4MB,1MB"), (Sizes{4194304, 1048576})) << "in the order given";
  EXPECT_EQ(parse_byte_sizes("1:2,7"), (Sizes{1, 2, 7}));
}

TEST(ByteSizes, WhatIsWrongIsSaid) {
  for (const char* text : {"",
                           "x",
                           "4X",
                           "4KBs",
                           "-4",
                           "+4",
                           "0x10",
                           "nan",
                           "inf",
                           "1e3",
                           "0",
                           "0KB",
                           "1025TB",
                           "1KB:",
                           ":1KB",
                           "1KB,",
                           "8KB:1KB",
                           "1KB:1MB:1",
                           "1KB:1MB:0.5",
                           "1KB:1MB:x",
                           "1KB:1MB:2:3",
                           "1:1GB:1.000001",
                           "4 KB",
                           "1KB:1MB:2KB"}) {
    EXPECT_THROW(parse_byte_sizes(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace dadsim::cli

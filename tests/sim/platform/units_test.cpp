#include <gtest/gtest.h>

#include <string>

#include "sim/platform.hpp"

namespace dadsim::sim {
namespace {

TEST(Units, ReadWhatSimGridReads) {
  EXPECT_EQ(parse_seconds("5ms"), 0.005);
  EXPECT_EQ(parse_seconds("1.5us"), 1.5e-6);
  EXPECT_EQ(parse_seconds("2h"), 7200);
  EXPECT_EQ(parse_seconds("1e3s"), 1000);
  EXPECT_EQ(parse_seconds(".5s"), 0.5);
  EXPECT_EQ(parse_bytes("1MiB"), 1048576);
  EXPECT_EQ(parse_bytes("1kB"), 1000);
  EXPECT_EQ(parse_bytes("8b"), 1);
  EXPECT_EQ(parse_bytes_per_second("100Mbps"), 12.5e6);
  EXPECT_EQ(parse_bytes_per_second("25GBps"), 25e9);
  EXPECT_EQ(parse_flops("312TF"), 312e12);
  EXPECT_EQ(parse_flops("312Tf"), 312e12);
  EXPECT_EQ(parse_flops("19.5Gf"), 19.5e9);
}

TEST(Units, OnlyAZeroNeedsNoUnit) {
  EXPECT_EQ(parse_seconds("0"), 0);
  EXPECT_EQ(parse_seconds("0.0"), 0);
  EXPECT_EQ(parse_seconds("0e5"), 0);
  EXPECT_EQ(parse_seconds("0s"), 0);
  EXPECT_EQ(parse_seconds("5"), std::nullopt);
  EXPECT_EQ(parse_bytes("1000"), std::nullopt);
  EXPECT_EQ(parse_bytes_per_second("1e6"), std::nullopt);
  EXPECT_EQ(parse_flops("1e12"), std::nullopt);
}

TEST(Units, WhatIsNoQuantity) {
  for (const char* text :
       {"",    " ",   "ms",    "-5ms",   "+5ms", " 5ms",  "5ms ", "5 ms", "5msx",  "nans", "infs",
        "nan", "inf", "0x10s", "1e999s", "5S",   "5Mbps", "5MB",  "--5s", "5..0s", ".s",   "5ms,6ms"}) {
    EXPECT_EQ(parse_seconds(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_seconds(std::string("5ms\0x", 5)), std::nullopt);
  EXPECT_EQ(parse_bytes("5ms"), std::nullopt);
  EXPECT_EQ(parse_bytes_per_second("100Mb"), std::nullopt);
  EXPECT_EQ(parse_bytes_per_second("1Gbps,2Gbps"), std::nullopt);
  EXPECT_EQ(parse_flops("1GB"), std::nullopt);
  EXPECT_EQ(parse_flops("F"), std::nullopt);
}

TEST(Units, WritesNothingToTheTerminal) {
  ::testing::internal::CaptureStderr();
  parse_seconds("5");
  parse_seconds("banana");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace dadsim::sim

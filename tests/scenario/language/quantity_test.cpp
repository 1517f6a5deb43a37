#include "scenario/language/quantity.hpp"

#include <gtest/gtest.h>

#include <string>

namespace dadsim::scenario {
namespace {

TEST(Quantity, ReadWhatSimGridReads) {
  EXPECT_EQ(parse_quantity(Unit::seconds, "5ms"), 0.005);
  EXPECT_EQ(parse_quantity(Unit::seconds, "1.5us"), 1.5e-6);
  EXPECT_EQ(parse_quantity(Unit::seconds, "2h"), 7200);
  EXPECT_EQ(parse_quantity(Unit::seconds, "1e3s"), 1000);
  EXPECT_EQ(parse_quantity(Unit::seconds, ".5s"), 0.5);
  EXPECT_EQ(parse_quantity(Unit::bytes, "1MiB"), 1048576);
  EXPECT_EQ(parse_quantity(Unit::bytes, "1kB"), 1000);
  EXPECT_EQ(parse_quantity(Unit::bytes, "8b"), 1);
  EXPECT_EQ(parse_quantity(Unit::bytes_per_second, "100Mbps"), 12.5e6);
  EXPECT_EQ(parse_quantity(Unit::bytes_per_second, "25GBps"), 25e9);
  EXPECT_EQ(parse_quantity(Unit::flops, "312TF"), 312e12);
  EXPECT_EQ(parse_quantity(Unit::flops, "312Tf"), 312e12);
  EXPECT_EQ(parse_quantity(Unit::flops, "19.5Gf"), 19.5e9);
}

TEST(Quantity, OnlyAZeroNeedsNoUnit) {
  EXPECT_EQ(parse_quantity(Unit::seconds, "0"), 0);
  EXPECT_EQ(parse_quantity(Unit::seconds, "0.0"), 0);
  EXPECT_EQ(parse_quantity(Unit::seconds, "0e5"), 0);
  EXPECT_EQ(parse_quantity(Unit::seconds, "0s"), 0);
  EXPECT_EQ(parse_quantity(Unit::seconds, "5"), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::bytes, "1000"), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::bytes_per_second, "1e6"), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::flops, "1e12"), std::nullopt);
}

TEST(Quantity, WhatIsNoQuantity) {
  for (const char* text :
       {"",    " ",   "ms",    "-5ms",   "+5ms", " 5ms",  "5ms ", "5 ms", "5msx",  "nans", "infs",
        "nan", "inf", "0x10s", "1e999s", "5S",   "5Mbps", "5MB",  "--5s", "5..0s", ".s",   "5ms,6ms"}) {
    EXPECT_EQ(parse_quantity(Unit::seconds, text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_quantity(Unit::seconds, std::string("5ms\0x", 5)), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::bytes, "5ms"), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::bytes_per_second, "100Mb"), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::bytes_per_second, "1Gbps,2Gbps"), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::flops, "1GB"), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::flops, "F"), std::nullopt);
}

TEST(Quantity, EveryPrefixOfEveryKind) {
  EXPECT_EQ(parse_quantity(Unit::bytes_per_second, "3YBps"), 3e24);
  EXPECT_EQ(parse_quantity(Unit::bytes_per_second, "1Kibps"), 128);
  EXPECT_EQ(parse_quantity(Unit::bytes, "1kb"), 125);
  EXPECT_EQ(parse_quantity(Unit::seconds, "1ps"), 1e-12);
  EXPECT_EQ(parse_quantity(Unit::seconds, "1w"), 604800);
  EXPECT_EQ(parse_quantity(Unit::flops, "1kiloflops"), 1000);
  for (const char* text : {"1Mflops", "1megaf", "1Kif", "1kflops"})
    EXPECT_EQ(parse_quantity(Unit::flops, text), std::nullopt) << text;
  EXPECT_EQ(parse_quantity(Unit::bytes, "1kibiB"), std::nullopt);
  EXPECT_EQ(parse_quantity(Unit::bytes_per_second, "1KBps"), std::nullopt);
}

TEST(Quantity, AMegabitIsNoByte) {
  EXPECT_EQ(meant_quantity(Unit::bytes_per_second, "20MBit"), "20Mbps");
  EXPECT_EQ(meant_quantity(Unit::bytes_per_second, "20MB/s"), "20MBps");
}

}  // namespace
}  // namespace dadsim::scenario

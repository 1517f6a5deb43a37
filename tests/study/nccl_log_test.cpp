#include "study/nccl_log.hpp"

#include <gtest/gtest.h>

#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

// As nccl-tests 2.13 and later write it (NVIDIA/nccl-tests, src/common.cu), shortened; the numbers are made up.
const char* const kLogOfReductions =
    R"(# nThread 1 nGpus 2 minBytes 0 maxBytes 1048576 step: 1024(factor) warmup iters: 5 iters: 20
#
# Using devices
#  Rank  0 Group  0 Pid   4242 on      node0 device  0 [0x07] NVIDIA A100-SXM4-40GB
#  Rank  1 Group  0 Pid   4242 on      node0 device  1 [0x0f] NVIDIA A100-SXM4-40GB
# Collective test starting: all_reduce_perf
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0     float     sum      -1     0.20    0.00    0.00      0     0.15    0.00    0.00      0
        1024           256     float     sum      -1    12.50    0.08    0.08      0    12.25    0.08    0.08    N/A
     1048576        262144     float     sum      -1    31.25   33.55   33.55      0    30.00   34.95   34.95      0
     1048576        262144     float     sum      -1    99.00   10.59   10.59      0    99.00   10.59   10.59      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 16.9
)";

TEST(NcclLog, IsReadByItsHeading) {
  const NcclLog log = read_nccl_log("all_reduce.log", kLogOfReductions);
  EXPECT_EQ(log.test, "all_reduce_perf");
  EXPECT_EQ(log.ranks, 2U);
  ASSERT_EQ(log.rows.size(), 2U);  // no bytes are no measurement, and of a size the first is taken
  EXPECT_EQ(log.rows[0].size, 1024);
  EXPECT_DOUBLE_EQ(log.rows[0].seconds, 12.5e-6);
  EXPECT_DOUBLE_EQ(log.rows[0].in_place_seconds.value(), 12.25e-6);
  EXPECT_EQ(log.rows[0].line, 12);
  EXPECT_DOUBLE_EQ(log.rows[1].seconds, 31.25e-6);
  EXPECT_DOUBLE_EQ(log.rows[1].bus_bandwidth, 33.55e9);
}

TEST(NcclLog, OfOlderVersionsAndThroughMpirun) {
  // Before 2.12: no root where there is none, `error` in place of #wrong, and units without a heading of their own.
  const NcclLog log =
      read_nccl_log("log",
                    "[1,0]<stdout>:#   size  count  type  time  algbw  busbw  error  time  algbw  busbw  error\n"
                    "[1,0]<stdout>:   2048    512 float  20.0   0.10   0.09  0e+00  1e+01   0.20   0.18  0e+00\n");
  EXPECT_EQ(log.test, "");
  EXPECT_FALSE(log.ranks.has_value());
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(log.rows[0].seconds, 20e-6);
  EXPECT_DOUBLE_EQ(log.rows[0].in_place_seconds.value(), 10e-6);
}

std::string fault_of(const std::string& text) {
  try {
    read_nccl_log("the.log", text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(NcclLog, WhatIsNoneIsTold) {
  EXPECT_EQ(fault_of("hello\n").find("the.log: has no table of nccl-tests; "), 0U);
  const std::string heading = "# size count type time algbw busbw error\n";
  EXPECT_EQ(fault_of(heading).find("the.log: has a table of nccl-tests without a row; "), 0U);
  EXPECT_EQ(fault_of(heading + "8 2 float 1.0 0 0\n").find("the.log:2: has 6 columns, and the heading 7; "), 0U);
  EXPECT_EQ(fault_of(heading + "8 2 float soon 0 0 0\n").find("the.log:2: 'soon' in column 4 is no number; "), 0U);
  EXPECT_EQ(fault_of(heading + "8 2 float 0.00 0 0 0\n").find("the.log:2: '0.00' in column 4 is no time; "), 0U);
}

}  // namespace
}  // namespace dadsim::study

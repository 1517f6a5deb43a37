#include "study/measured/nccl_log.hpp"

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

std::string fault_of(const std::string& text, const std::string& test = "", std::size_t ranks = 2) {
  try {
    times_of(read_nccl_log("the.log", text), "the.log", test, ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(NcclLog, IsReadByItsHeading) {
  const NcclLog log = read_nccl_log("all_reduce.log", kLogOfReductions);
  ASSERT_EQ(log.tables.size(), 1U);
  const NcclLog::Table& table = log.tables.front();
  EXPECT_EQ(table.test, "all_reduce_perf");
  EXPECT_EQ(table.ranks, 2U);
  EXPECT_EQ(table.line, 9);
  ASSERT_EQ(table.rows.size(), 3U);  // no bytes are no measurement
  EXPECT_EQ(table.rows[0].size, 1024);
  EXPECT_DOUBLE_EQ(table.rows[0].seconds, 12.5e-6);
  EXPECT_DOUBLE_EQ(table.rows[0].in_place_seconds.value(), 12.25e-6);
  EXPECT_EQ(table.rows[0].line, 12);
  EXPECT_DOUBLE_EQ(table.rows[1].seconds, 31.25e-6);
  EXPECT_DOUBLE_EQ(table.rows[1].bus_bandwidth, 33.55e9);
}

TEST(NcclLog, OfASizeThatWasMeasuredTwiceTheMedianIsTakenAndTold) {
  const NcclTimes times = times_of(read_nccl_log("the.log", kLogOfReductions), "the.log", "all_reduce_perf", 2);
  ASSERT_EQ(times.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(times.rows[1].seconds, (31.25e-6 + 99e-6) / 2);
  EXPECT_DOUBLE_EQ(times.rows[1].in_place_seconds.value(), (30e-6 + 99e-6) / 2);
  ASSERT_EQ(times.warnings.size(), 1U);
  EXPECT_EQ(to_string(times.warnings.front()),
            "the.log:14: 1048576 bytes were measured 2 times, first in line 13; the median of 31.25 to 99 us is "
            "compared");
}

TEST(NcclLog, OfOlderVersions) {
  // Before 2.12: no root where there is none, `error` in place of #wrong, and units without a heading of their own.
  const NcclLog log = read_nccl_log("log",
                                    "#   size  count  type  time  algbw  busbw  error  time  algbw  busbw  error\n"
                                    "   2048    512 float  20.0   0.10   0.09  0e+00  1e+01   0.20   0.18  0e+00\n");
  EXPECT_EQ(log.tables.front().test, "");
  EXPECT_FALSE(log.tables.front().ranks.has_value());
  ASSERT_EQ(log.tables.front().rows.size(), 1U);
  EXPECT_DOUBLE_EQ(log.tables.front().rows[0].seconds, 20e-6);
  EXPECT_DOUBLE_EQ(log.tables.front().rows[0].in_place_seconds.value(), 10e-6);
  // The tests of NCCL 1 and 2.0 name other columns, and their times are milliseconds.
  const NcclLog first =
      read_nccl_log("log",
                    "#  bytes  N  type  op  time  algbw  busbw  res  time  algbw  busbw  res\n"
                    " 8388608  2097152  float  sum  0.250  33.55  50.33  0e+00  0.500 16.78 25.17 0\n");
  EXPECT_DOUBLE_EQ(first.tables.front().rows.at(0).seconds, 250e-6);
  EXPECT_DOUBLE_EQ(first.tables.front().rows.at(0).in_place_seconds.value(), 500e-6);
}

// What starts nccl-tests on many machines puts the task, the machine or the time before every line.
TEST(NcclLog, WhateverStandsBeforeItsLines) {
  const NcclLog::Row plain = read_nccl_log("log", kLogOfReductions).tables.front().rows.at(1);
  for (const char* label : {"0: ",                                        // srun -l
                            " 0: ",                                       // the same with ten tasks and more
                            "12: ",                                       //
                            "[1,0]<stdout>:",                             // Open MPI 4: mpirun --tag-output
                            "[1,0]<stdout>: ",                            //
                            "[prterun-node0-77@1,0]<stdout>: ",           // Open MPI 5
                            "Thu Nov  5 10:11:12 2026<stdout>:",          // mpirun --timestamp-output
                            "[0] ",                                       // MPICH, Intel MPI: -prepend-rank
                            "node-1.lab: ",                               // pdsh, clush
                            "10.0.0.7: ",                                 //
                            "2026-11-05T10:11:12.123456789Z ",            // kubectl logs --timestamps
                            "2026-11-05T10:11:12.123456789Z stdout F ",   // files of containerd
                            "[pod/nccl-launcher-x7/mpi] ",                // kubectl logs --prefix
                            "2026-11-05T10:11:12Z [1,0]<stdout>:",        // MPI operator
                            "worker-0  | ",                               // docker compose
                            "Nov 05 10:11:12 node-1 slurmstepd[4711]: ",  // journalctl
                            "\x1b[32m[1,0]<stdout>:\x1b[0m", "\x1b[1;34m0:\x1b[m "}) {
    SCOPED_TRACE(label);
    for (const char* end : {"\n", "\r\n", "   \n"}) {
      std::string text;
      for (const char* rest = kLogOfReductions; *rest != '\0'; ++rest) {
        if (rest == kLogOfReductions || rest[-1] == '\n') text += label;
        if (*rest == '\n')
          text += end;
        else
          text += *rest;
      }
      const NcclLog log = read_nccl_log("log", text);
      ASSERT_EQ(log.tables.size(), 1U);
      EXPECT_EQ(log.tables.front().test, "all_reduce_perf");
      EXPECT_EQ(log.tables.front().ranks, 2U);
      ASSERT_EQ(log.tables.front().rows.size(), 3U);
      EXPECT_EQ(log.tables.front().rows[1].seconds, plain.seconds);
      EXPECT_EQ(log.tables.front().rows[1].line, plain.line);
    }
  }
}

TEST(NcclLog, OfSeveralTablesThatOfTheCollectiveAndTheRanksIsTaken) {
  const std::string heading = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  const auto run = [&](const std::string& head, const std::string& ranks, const char* microseconds, const char* rate) {
    std::string text = head;
    for (const char rank : ranks) text += std::string("#  Rank  ") + rank + " Group  0 Pid 7 on n device  0 [0x07]\n";
    return text + heading + "1000 250 float sum -1 " + microseconds + " " + rate + " 0 0 " + microseconds + " " + rate +
           " 0 N/A\n# Out of bounds values : 0 OK\n";
  };
  const std::string log = run("$ srun -l ./build/all_gather_perf -b 1000\n", "01", "1.00", "1.00") +
                          run("+ mpirun -np 2 /opt/nccl-tests/build/all_reduce_perf_mpi -g 1\n", "01", "2.00", "0.50") +
                          run("+ mpirun -np 3 /opt/nccl-tests/build/all_reduce_perf_mpi -g 1\n", "012", "4.00", "0.25");
  const auto seconds = [&](const char* test, std::size_t ranks) {
    const NcclTimes times = times_of(read_nccl_log("the.log", log), "the.log", test, ranks);
    EXPECT_TRUE(times.warnings.empty());
    return times.rows.at(0).seconds;
  };
  EXPECT_DOUBLE_EQ(seconds("all_gather_perf", 2), 1e-6);
  EXPECT_DOUBLE_EQ(seconds("all_reduce_perf", 2), 2e-6);
  EXPECT_DOUBLE_EQ(seconds("all_reduce_perf", 3), 4e-6);
  EXPECT_EQ(fault_of(log, "all_reduce_perf", 8),
            "the.log: is of 2 and of 3 ranks, and 8 are timed; --ranks 2, or --hosts");
  EXPECT_EQ(fault_of(log, "broadcast_perf"),
            "the.log: is of all_gather_perf and all_reduce_perf; a log of broadcast_perf, or another --op");
  // Of tables that do not say what they are of nobody can tell which is meant, until a line above one says so.
  const std::string unsaid = run("", "01", "1.00", "1.00") + run("", "01", "2.00", "0.50");
  EXPECT_EQ(fault_of(unsaid, "all_reduce_perf"),
            "the.log:3: has 2 tables, and does not say of which collective this one is; a line '# Collective test "
            "starting: all_reduce_perf' above it");
  const std::string said = "# Collective test starting: all_reduce_perf\n" + unsaid;
  EXPECT_DOUBLE_EQ(times_of(read_nccl_log("the.log", said), "the.log", "all_reduce_perf", 2).rows.at(0).seconds, 1e-6);
}

TEST(NcclLog, WhatIsNoneIsTold) {
  EXPECT_EQ(fault_of("hello\n").find("the.log: has no table of nccl-tests; "), 0U);
  const std::string heading = "# size count type time algbw busbw error\n";
  EXPECT_EQ(fault_of(heading).find("the.log: has a table of nccl-tests without a row; "), 0U);
  EXPECT_EQ(fault_of(heading + "8 2 float 1.0 0 0\n").find("the.log:2: has 6 columns, and the heading 7; "), 0U);
  EXPECT_EQ(fault_of(heading + "8 2\n").find("the.log:2: has 2 columns, and the heading 7; "), 0U);
  EXPECT_EQ(fault_of(heading + "8 2 float soon 0 0 0\n").find("the.log:2: 'soon' in column 4 is no number; "), 0U);
  EXPECT_EQ(fault_of(heading + "8 2 float 0.00 0 0 0\n").find("the.log:2: '0.00' in column 4 is no time; "), 0U);
}

TEST(NcclLog, ResultsThatCameOutWrongAreNoMeasurement) {
  const std::string heading = "# size count type time algbw busbw #wrong time algbw busbw #wrong\n";
  EXPECT_EQ(fault_of(heading + "1000 250 float 1.00 1.00 1 0 1.00 1.00 1 N/A\n"), "");
  EXPECT_EQ(fault_of(heading + "1000 250 float 1.00 1.00 1 0 1.00 1.00 1 3\n"),
            "the.log:2: '3' values came out wrong; a run whose results are right (0 in #wrong)");
  EXPECT_EQ(fault_of(heading + "1000 250 float 1.00 1.00 1 0 1.00 1.00 1 N/A\n# Out of bounds values : 3 FAILED\n"),
            "the.log:3: says that results were out of bounds; a run whose results are right");
}

TEST(NcclLog, ATimeIsThatOfItsBandwidth) {
  const std::string heading = "# size count type time algbw busbw #wrong\n";
  EXPECT_EQ(fault_of(heading + "1000 250 float 100.0 1.00 1 0\n"),
            "the.log:2: 1000 bytes in 100.0 microseconds are 0.01 GB/s, and the row says 1.00; time and algbw of one "
            "measurement");
  // As far as both were rounded they may differ.
  EXPECT_EQ(fault_of(heading + "1000 250 float 1e+03 0.00 0 0\n"), "");
  EXPECT_EQ(fault_of(heading + "8589934592 2147483648 float 1e+07 0.64 1 0\n"), "");
  EXPECT_NE(fault_of(heading + "8589934592 2147483648 float 1e+07 0.40 1 0\n"), "");
}

}  // namespace
}  // namespace dadsim::study

#include "study/measured/collective_log.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "study/measured/collective_times.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

// A log in the format of nccl-tests 2.13 and later (NVIDIA/nccl-tests, src/common.cu), shortened and with made-up
// numbers.
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

std::string fault_of_log(const std::string& text, const std::string& test = "", std::size_t ranks = 2) {
  try {
    times_of(read_collective_log("the.log", text), "the.log", test, ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(CollectiveLog, IsReadByItsHeading) {
  const CollectiveLog log = read_collective_log("all_reduce.log", kLogOfReductions);
  ASSERT_EQ(log.tables.size(), 1U);
  const CollectiveLog::LoggedTable& table = log.tables.front();
  EXPECT_EQ(table.test, "all_reduce_perf");
  EXPECT_EQ(table.ranks, 2U);
  EXPECT_EQ(table.line, 9);
  ASSERT_EQ(table.rows.size(), 3U);  // rows of 0 bytes are no measurements
  EXPECT_EQ(table.rows[0].size, 1024);
  EXPECT_DOUBLE_EQ(table.rows[0].seconds, 12.5e-6);
  EXPECT_DOUBLE_EQ(table.rows[0].in_place_seconds.value(), 12.25e-6);
  EXPECT_EQ(table.rows[0].line, 12);
  EXPECT_DOUBLE_EQ(table.rows[1].seconds, 31.25e-6);
}

TEST(CollectiveLog, OfASizeThatWasMeasuredTwiceTheMedianIsTakenAndTold) {
  const CollectiveTimes times =
      times_of(read_collective_log("the.log", kLogOfReductions), "the.log", "all_reduce_perf", 2);
  ASSERT_EQ(times.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(times.rows[1].seconds, (31.25e-6 + 99e-6) / 2);
  EXPECT_DOUBLE_EQ(times.rows[1].in_place_seconds.value(), (30e-6 + 99e-6) / 2);
  ASSERT_EQ(times.warnings.size(), 1U);
  EXPECT_EQ(
      to_string(times.warnings.front()),
      "the.log:14: 1048576 bytes were measured 2 times, first in line 13; the median of times from 31.25 to 99 µs is "
      "compared");
}

TEST(CollectiveLog, OfOlderVersions) {
  // Versions before 2.12 have no root column for operations without a root, `error` instead of #wrong, and no separate
  // line of units.
  const CollectiveLog log =
      read_collective_log("log",
                          "#   size  count  type  time  algbw  busbw  error  time  algbw  busbw  error\n"
                          "   2048    512 float  20.0   0.10   0.09  0e+00  1e+01   0.20   0.18  0e+00\n");
  EXPECT_EQ(log.tables.front().test, "");
  EXPECT_FALSE(log.tables.front().ranks.has_value());
  ASSERT_EQ(log.tables.front().rows.size(), 1U);
  EXPECT_DOUBLE_EQ(log.tables.front().rows[0].seconds, 20e-6);
  EXPECT_DOUBLE_EQ(log.tables.front().rows[0].in_place_seconds.value(), 10e-6);
  // Tests of NCCL 1 and 2.0 name other columns and print milliseconds.
  const CollectiveLog first =
      read_collective_log("log",
                          "#  bytes  N  type  op  time  algbw  busbw  res  time  algbw  busbw  res\n"
                          " 8388608  2097152  float  sum  0.250  33.55  50.33  0e+00  0.500 16.78 25.17 0\n");
  EXPECT_DOUBLE_EQ(first.tables.front().rows.at(0).seconds, 250e-6);
  EXPECT_DOUBLE_EQ(first.tables.front().rows.at(0).in_place_seconds.value(), 500e-6);
}

// Launchers of nccl-tests on many machines put a task number, a machine's name or a time before every line.
TEST(CollectiveLog, WhateverStandsBeforeItsLines) {
  const CollectiveLog::LoggedRow plain = read_collective_log("log", kLogOfReductions).tables.front().rows.at(1);
  for (const char* label : {"0: ",                                        // srun -l
                            " 0: ",                                       // srun -l with ten or more tasks
                            "12: ",                                       //
                            "[1,0]<stdout>:",                             // Open MPI 4: mpirun --tag-output
                            "[1,0]<stdout>: ",                            //
                            "[prterun-node0-77@1,0]<stdout>: ",           // Open MPI 5
                            "Thu Nov  5 10:11:12 2026<stdout>:",          // mpirun --timestamp-output
                            "[0] ",                                       // MPICH, Intel MPI: -prepend-rank
                            "node-1.lab: ",                               // pdsh, clush
                            "10.0.0.7: ",                                 //
                            "2026-11-05T10:11:12.123456789Z ",            // kubectl logs --timestamps
                            "2026-11-05T10:11:12.123456789Z stdout F ",   // log files of containerd
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
      const CollectiveLog log = read_collective_log("log", text);
      ASSERT_EQ(log.tables.size(), 1U);
      EXPECT_EQ(log.tables.front().test, "all_reduce_perf");
      EXPECT_EQ(log.tables.front().ranks, 2U);
      ASSERT_EQ(log.tables.front().rows.size(), 3U);
      EXPECT_EQ(log.tables.front().rows[1].seconds, plain.seconds);
      EXPECT_EQ(log.tables.front().rows[1].line, plain.line);
    }
  }
}

TEST(CollectiveLog, OfSeveralTablesThatOfTheCollectiveAndTheRanksIsTaken) {
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
    const CollectiveTimes times = times_of(read_collective_log("the.log", log), "the.log", test, ranks);
    EXPECT_TRUE(times.warnings.empty());
    return times.rows.at(0).seconds;
  };
  EXPECT_DOUBLE_EQ(seconds("all_gather_perf", 2), 1e-6);
  EXPECT_DOUBLE_EQ(seconds("all_reduce_perf", 2), 2e-6);
  EXPECT_DOUBLE_EQ(seconds("all_reduce_perf", 3), 4e-6);
  EXPECT_EQ(fault_of_log(log, "all_reduce_perf", 8),
            "the.log: measures 2 and 3 ranks, but 8 are timed; use --ranks 2, or --hosts");
  EXPECT_EQ(
      fault_of_log(log, "broadcast_perf"),
      "the.log: measures all_gather_perf and all_reduce_perf; use a log of broadcast_perf, or name another collective");
  // A table that does not name its collective is ambiguous, unless a line above a table names it.
  const std::string unsaid = run("", "01", "1.00", "1.00") + run("", "01", "2.00", "0.50");
  EXPECT_EQ(fault_of_log(unsaid, "all_reduce_perf"),
            "the.log:3: has 2 tables, but this table does not name its collective; add a line '# Collective test "
            "starting: all_reduce_perf' above the table");
  EXPECT_EQ(
      fault_of_log("# Collective test starting: foo_bar_perf\n" + run("", "01", "1.00", "1.00"), "all_reduce_perf"),
      "the.log: measures foo_bar_perf; use a log of all_reduce_perf, or name another collective");
  const std::string said = "# Collective test starting: all_reduce_perf\n" + unsaid;
  EXPECT_DOUBLE_EQ(times_of(read_collective_log("the.log", said), "the.log", "all_reduce_perf", 2).rows.at(0).seconds,
                   1e-6);
}

TEST(CollectiveLog, WhatIsNoneIsTold) {
  EXPECT_EQ(fault_of_log("hello\n").find("the.log: has no table of measured collectives; "), 0U);
  const std::string heading = "# size count type time algbw busbw error\n";
  EXPECT_EQ(fault_of_log(heading).find("the.log: has a table without rows; "), 0U);
  EXPECT_EQ(fault_of_log(heading + "8 2 float 1.0 0 0\n").find("the.log:2: has 6 columns, and the heading has 7; "),
            0U);
  EXPECT_EQ(fault_of_log(heading + "8 2\n").find("the.log:2: has 2 columns, and the heading has 7; "), 0U);
  EXPECT_EQ(fault_of_log(heading + "8 2 float soon 0 0 0\n").find("the.log:2: 'soon' in column 4 is not a number; "),
            0U);
  EXPECT_EQ(fault_of_log(heading + "8 2 float 0.00 0 0 0\n").find("the.log:2: '0.00' in column 4 is not a time; "), 0U);
}

// With eight ranks, bus bandwidth ÷ algorithm bandwidth is 7/8 for all-gather and 7/4 for all-reduce (nccl-tests,
// PERFORMANCE.md).
TEST(CollectiveLog, ATableWithoutATestIsOfWhatItsBusBandwidthTells) {
  const std::string gathered = R"(#       size         count      type   redop    root     time   algbw   busbw #wrong
        1024           256     float    none      -1    12.50    0.08    0.07      0
     1048576        262144     float    none      -1    31.25   33.55   29.36      0
)";
  EXPECT_EQ(fault_of_log(gathered, "all_gather_perf", 8), "");
  EXPECT_EQ(fault_of_log(gathered, "reduce_scatter_perf", 8), "");
  EXPECT_EQ(
      fault_of_log(gathered, "", 8),
      "the.log:1: has bus bandwidths of 0.875 × algbw, but all-reduce of 8 ranks needs 1.75 × algbw; name all-gather "
      "or reduce-scatter or gather or scatter or all-to-all (--test of diagnose, --op of collective), or give "
      "the number of measured ranks");
  EXPECT_NE(
      fault_of_log(gathered, "all_gather_perf", 2).find("all-gather of 2 ranks needs 0.5 × algbw; give the number"),
      std::string::npos);
}

TEST(CollectiveLog, ResultsThatCameOutWrongAreNoMeasurement) {
  const std::string heading = "# size count type time algbw busbw #wrong time algbw busbw #wrong\n";
  EXPECT_EQ(fault_of_log(heading + "1000 250 float 1.00 1.00 1 0 1.00 1.00 1 N/A\n"), "");
  EXPECT_EQ(fault_of_log(heading + "1000 250 float 1.00 1.00 1 0 1.00 1.00 1 3\n"),
            "the.log:2: '3' values are wrong; use a run with correct results (0 in #wrong)");
  EXPECT_EQ(fault_of_log(heading + "1000 250 float 1.00 1.00 1 0 1.00 1.00 1 N/A\n# Out of bounds values : 3 FAILED\n"),
            "the.log:3: reports results out of bounds; use a run with correct results");
}

TEST(CollectiveLog, ATimeIsThatOfItsBandwidth) {
  const std::string heading = "# size count type time algbw busbw #wrong\n";
  EXPECT_EQ(
      fault_of_log(heading + "1000 250 float 100.0 1.00 1 0\n"),
      "the.log:2: 1000 bytes in 100.0 microseconds are 0.01 GB/s, but the row has 1.00; give time and algbw of one "
      "measurement");
  // Differences that rounding of both numbers can explain are accepted.
  EXPECT_EQ(fault_of_log(heading + "1000 250 float 1e+03 0.00 0 0\n"), "");
  EXPECT_EQ(fault_of_log(heading + "8589934592 2147483648 float 1e+07 0.64 1 0\n"), "");
  EXPECT_NE(fault_of_log(heading + "8589934592 2147483648 float 1e+07 0.40 1 0\n"), "");
}

/// Returns the microseconds by size of one test, over all ranks.
std::map<double, double> times_in(const std::string& text, const std::string& test, std::size_t ranks) {
  std::map<double, double> times;
  for (const auto& row : times_of(read_collective_log("the.log", text), "the.log", test, ranks).rows)
    times[row.size] = std::round(row.seconds * 1e9) / 1e3;
  return times;
}

TEST(CollectiveLog, OfOsuSizesAreOfOneMessageWhereRanksHaveBlocks) {
  const std::string all_to_all =
      "# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v7.4\n"
      "# Datatype: MPI_CHAR.\n"
      "# Size       Avg Latency(us)\n"
      "4096                  120.00\n"
      "1048576              2700.00\n";
  EXPECT_EQ(times_in(all_to_all, "alltoall_perf", 16), (std::map<double, double>{{65536, 120}, {16777216, 2700}}));
  EXPECT_NE(fault_of_log(all_to_all, "all_reduce_perf").find("measures alltoall_perf"), std::string::npos);
  EXPECT_EQ(times_in("# OSU MPI-CUDA Allreduce Latency Test v7.4\n"
                     "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations    Validation\n"
                     "1048576               210.00            205.00            220.00        1000          Pass\n",
                     "all_reduce_perf", 16),
            (std::map<double, double>{{1048576, 210}}));
  EXPECT_EQ(times_in("# OSU MPI Reduce_scatter Latency Test v5.6\n# Size  Avg Latency(us)\n64  3.5\n",
                     "reduce_scatter_perf", 4),
            (std::map<double, double>{{64, 3.5}}));
  EXPECT_EQ(
      times_in("[1,0]<stdout>:# OSU MPI Non-blocking Allgather Latency Test v7.4\n"
               "[1,0]<stdout>:# Size Overall(us) Compute(us) Pure Comm.(us) Min Comm.(us) Max Comm.(us) Overlap(%)\n"
               "[1,0]<stdout>:1024  90.0  40.0  50.0  49.0  51.0  80.0\n",
               "all_gather_perf", 4),
      (std::map<double, double>{{4096, 50}}));
  const std::string latency = "# OSU MPI-CUDA Latency Test v5.6.2\n# Size          Latency (us)\n0  1.0\n8  1.25\n";
  EXPECT_EQ(times_in(latency, "sendrecv_perf", 2), (std::map<double, double>{{8, 1.25}}));
  EXPECT_NE(fault_of_log(latency, "all_reduce_perf"), "");
  EXPECT_NE(fault_of_log("# OSU MPI Bandwidth Test v5.6\n# Size  Bandwidth (MB/s)\n1024  900.0\n").find("osu_latency"),
            std::string::npos);
}

TEST(CollectiveLog, OfUccNvshmemAndIntelsBenchmarks) {
  const std::string ucc =
      "Collective:             Alltoall\n"
      "Memory type:            cuda\n\n"
      "       Count        Size                Time, us                           Bandwidth, GB/s\n"
      "                                 avg         min         max         avg         min         max\n"
      "       65536      262144       76.46       72.62       82.30       24.00       25.27       22.30\n";
  EXPECT_EQ(times_in(ucc, "alltoall_perf", 8), (std::map<double, double>{{2097152, 76.46}}));
  const std::string nvshmem =
      "#reduction_on_stream\n"
      "size(B)     count     type      redop     latency(us)       min_lat(us)       max_lat(us)       algbw(GB/s)   "
      "busbw(GB/s)\n"
      "1048576     262144    int       sum       60.000000         59.000            61.000            17.476        "
      "32.768\n";
  EXPECT_EQ(times_in(nvshmem, "all_reduce_perf", 16), (std::map<double, double>{{1048576, 60}}));
  EXPECT_EQ(times_in("# Benchmarking Allreduce\n# #processes = 4\n"
                     "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
                     "            0         1000         0.03         0.05         0.04\n"
                     "         1024         1000         2.50         3.50         3.00\n",
                     "all_reduce_perf", 4),
            (std::map<double, double>{{1024, 3}}));
}

TEST(CollectiveLog, OfMscclppColumnsAreTakenByTheirNames) {
  const std::string log =
      "#                                        in-place                       out-of-place\n"
      "#       size         count     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong\n"
      "#        (B)    (elements)     (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)\n"
      "     8388608       2097152    80.00  104.86  183.50      0\n"
      "    67108864      16777216   520.00  129.06  225.85      0   540.00  124.28  217.48      0\n"
      "# Out of bounds values : 0 OK\n";
  const CollectiveLog::LoggedTable table = read_collective_log("the.log", log).tables.at(0);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(table.rows[0].seconds, 80e-6);
  EXPECT_FALSE(table.rows[0].in_place_seconds.has_value());
  EXPECT_DOUBLE_EQ(table.rows[1].seconds, 540e-6);
  EXPECT_DOUBLE_EQ(table.rows[1].in_place_seconds.value(), 520e-6);
}

// NCCL may write to the same stream in the middle of a row (NVIDIA/nccl, issue 1453).
TEST(CollectiveLog, RowsThatAreCutGoOnBelow) {
  const std::string heading = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
  const std::string last = "16777216 4194304 float sum -1 130.10 128.96 128.96 0 130.94 128.13 128.13 0\n";
  const std::string info = "node-a:1000:1020 [0] NCCL INFO ";
  for (const std::string& cut : std::vector<std::string>{
           "8388608 2097152 float sum -1" + info + "Connected NVLS tree\n" + info + "Channel 00/24 : 0 1\n" +
               "    85.10 98.57 98.57 0 84.94 98.76 98.76 0\n",
           "8388608 2097152 float sum -1" + info + "Channel 00/24 : 0 1 2 3\n85.10 98.57 98.57 0" + info +
               "comm 0x7f\n84.94 98.76 98.76 0\n",
           "0: 8388608 2097152 float sum -1[1749546000.1] node-a:77 UCX WARN late\n0:    85.10 98.57 98.57 0 84.94 "
           "98.76 "
           "98.76 "
           "0\n",
           "8388608 2097152 float sum -1 85.10 98.57 98.57 N/A" + info + "x\n84.94 98.76 98.76 N/A\n"}) {
    SCOPED_TRACE(cut);
    const CollectiveLog log = read_collective_log("the.log", heading + cut + last);
    EXPECT_TRUE(log.warnings.empty());
    ASSERT_EQ(log.tables.at(0).rows.size(), 2U);
    EXPECT_DOUBLE_EQ(log.tables[0].rows[0].seconds, 85.10e-6);
    EXPECT_DOUBLE_EQ(log.tables[0].rows[0].in_place_seconds.value(), 84.94e-6);
    EXPECT_EQ(log.tables[0].rows[0].line, 2);
  }
  // A damaged row is skipped with a warning; the rest of the log is read.
  const CollectiveLog log =
      read_collective_log("the.log", heading + "8388608 2097152 float sum -1" + info + "x\n" + last);
  ASSERT_EQ(log.warnings.size(), 1U);
  EXPECT_EQ(to_string(log.warnings[0]).find("the.log:2: has 5 columns, and the heading has 13"), 0U);
  EXPECT_EQ(log.tables.at(0).rows.size(), 1U);
  const CollectiveLog wrong = read_collective_log("the.log", heading + "8388608 2097152 float sum -1" + info +
                                                                 "x\n85.10 12.00 98.57 0 84.94 98.76 98.76 0\n" + last);
  EXPECT_EQ(wrong.warnings.size(), 1U);
  EXPECT_EQ(wrong.tables.at(0).rows.size(), 1U);
}

TEST(CollectiveLog, TestsAreKnownByTheirNames) {
  using report::Operation;
  for (const auto& [name, operation] : std::map<std::string, std::optional<Operation>>{
           {"broadcast_perf", Operation::broadcast},
           {"/opt/nccl-tests/build/all_gather_perf_mpi", Operation::all_gather},
           {"sendrecv_perf", Operation::neighbour_exchange},
           {"osu_ialltoall", Operation::all_to_all},
           {"All-to-All", Operation::all_to_all},
           {"Reduce_scatter", Operation::reduce_scatter},
           {"#fcollect_on_stream", Operation::all_gather},
           {"osu_latency", Operation::send},
           {"hypercube_perf", std::nullopt},
           {"zzz", std::nullopt}}) {
    EXPECT_EQ(operation_of_test(name), operation) << name;
  }
}

}  // namespace
}  // namespace dadsim::study

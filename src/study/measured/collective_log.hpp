#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Columns of a table of measured collectives, from 0.
struct CollectiveColumns {
  std::size_t count = 0;               ///< of the heading
  std::size_t size = 0;                ///< bytes
  std::size_t elements = 0, type = 0;  ///< 0: it has none
  std::vector<std::size_t> time;       ///< of each way of measuring: out of place, in place
  std::vector<std::size_t> algorithm_bandwidth, wrong;
  std::size_t bus_bandwidth = 0;  ///< of the first way of measuring; 0: it has none
  double unit = 1;                ///< seconds, of the times
  bool whole_rows = false;        ///< a row has as many cells as the heading
  bool of_messages = false;       ///< sizes of operations with blocks are of one block
};

/// The columns of a line, where it is the heading of a table with times: of nccl-tests, rccl-tests and MSCCL++ ("size
/// count type redop root time algbw busbw #wrong …"; those of NCCL 1 have "bytes N type op time …" in milliseconds), of
/// the OSU benchmarks ("Size Avg Latency(us) …"), UCC's ucc_perftest ("Count Size Time, us …"), NVSHMEM ("size(B) count
/// type redop latency(us) …"), and of the Intel MPI Benchmarks and oneCCL ("#bytes #repetitions … t_avg[usec]").
std::optional<CollectiveColumns> columns_of(const std::vector<std::string>& words);

/// What the line names in place of times, where it is the heading of a benchmark of bandwidths; else empty.
std::string bandwidths_in(const std::vector<std::string>& words);

/// All of them, in words.
inline constexpr const char* kCollectiveBenchmarks =
    "nccl-tests (all_reduce_perf …), rccl-tests, MSCCL++, the OSU benchmarks, UCC (ucc_perftest), NVSHMEM, the Intel "
    "MPI "
    "Benchmarks or oneCCL";

/// What a benchmark of collectives measured (collective_log.cpp lists which are read): a table for each of its
/// runs.
struct CollectiveLog {
  struct LoggedRow {
    double size = 0;                              ///< bytes, as the benchmark counts them
    double seconds = 0;                           ///< out of place, or in place where that alone was measured
    std::optional<double> in_place_seconds = {};  ///< where both were measured
    int line = 0;                                 ///< of the file, from 1
  };
  struct LoggedTable {
    std::string test;                  ///< as nccl-tests call it: "all_reduce_perf"; empty where the log does not say
    std::optional<std::size_t> ranks;  ///< where it lists them
    std::vector<LoggedRow> rows;       ///< of at least one byte, in the order of the log
    int line = 0;                      ///< of its heading
    std::optional<double> bus_share = {};  ///< bus bandwidth ÷ algorithm bandwidth, as the largest row with both has it
    bool of_messages = false;              ///< sizes of operations with blocks are of one block, not over all ranks
  };
  std::vector<LoggedTable> tables;   ///< at least one, each with a row
  std::vector<Diagnostic> warnings;  ///< rows that are left out
};

/// Reads `text`, the content of `file`: the tables in it, whatever stands around them and whatever has been put before
/// their lines: the task by srun ("0: "), mpirun ("[1,0]<stdout>:", "[0] "), pdsh ("node1: ") or docker, a time by
/// Kubernetes. Columns are found by their heading. A row that a line of a library cuts (NCCL_DEBUG=INFO) goes on below;
/// where it does not it is left out with a warning. Throws InputError where there is no table or no whole row, a time
/// is none or not that of its bandwidth, or the results that were measured are wrong.
CollectiveLog read_collective_log(const std::string& file, const std::string& text);
/// The same; nothing where there is no heading of a benchmark that is known.
std::optional<CollectiveLog> find_collective_log(const std::string& file, const std::string& text);

}  // namespace dadsim::study

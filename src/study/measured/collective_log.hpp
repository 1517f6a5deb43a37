#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Column indices of a table of measured collectives, from 0.
struct CollectiveColumns {
  std::size_t count = 0;               ///< number of columns in the heading
  std::size_t size = 0;                ///< column of the size in bytes
  std::size_t elements = 0, type = 0;  ///< columns of the number and type of elements; 0: absent
  std::vector<std::size_t> time;       ///< columns of times, one per way of measuring: out of place, in place
  std::vector<std::size_t> algorithm_bandwidth, wrong;
  std::size_t bus_bandwidth = 0;  ///< column of the bus bandwidth, out of place; 0: absent
  double unit = 1;                ///< seconds per unit of the times
  bool whole_rows = false;        ///< true: each row has as many cells as the heading
  bool of_messages = false;       ///< true: for operations with blocks, the size is that of one block
};

/// Returns the columns of a line that is the heading of a table with times: of nccl-tests, rccl-tests and MSCCL++
/// ("size count type redop root time algbw busbw #wrong …"; NCCL 1 has "bytes N type op time …" in milliseconds), of
/// the OSU benchmarks ("Size Avg Latency(us) …"), UCC's ucc_perftest ("Count Size Time, us …"), NVSHMEM ("size(B) count
/// type redop latency(us) …"), and of the Intel MPI Benchmarks and oneCCL ("#bytes #repetitions … t_avg[usec]").
std::optional<CollectiveColumns> columns_of(const std::vector<std::string>& words);

/// Returns the bandwidth column of a line that is the heading of a bandwidth benchmark; else an empty text.
std::string bandwidths_in(const std::vector<std::string>& words);

/// All supported benchmarks, in words.
inline constexpr const char* kCollectiveBenchmarks =
    "nccl-tests (all_reduce_perf …), rccl-tests, MSCCL++, the OSU benchmarks, UCC (ucc_perftest), NVSHMEM, the Intel "
    "MPI "
    "Benchmarks or oneCCL";

/// Measurements of a benchmark of collectives (collective_log.cpp lists the supported ones): a table for each of its
/// runs.
struct CollectiveLog {
  struct LoggedRow {
    double size = 0;                              ///< bytes, as the benchmark counts them
    double seconds = 0;                           ///< time out of place, or in place if only that was measured
    std::optional<double> in_place_seconds = {};  ///< filled if both were measured
    int line = 0;                                 ///< line of the file, from 1
  };
  struct LoggedTable {
    std::string test;                      ///< name in nccl-tests: "all_reduce_perf"; empty if the log has none
    std::optional<std::size_t> ranks;      ///< number of ranks; none if the log does not list them
    std::vector<LoggedRow> rows;           ///< rows of at least one byte, in the order of the log
    int line = 0;                          ///< line of its heading
    std::optional<double> bus_share = {};  ///< bus ÷ algorithm bandwidth, in the last row with 1 GB/s or more
    bool of_messages = false;              ///< true: sizes are those of one block, not of all ranks
  };
  std::vector<LoggedTable> tables;   ///< at least one, each with a row
  std::vector<Diagnostic> warnings;  ///< about omitted rows
};

/// Reads `text`, the contents of `file`, and returns its tables. Ignores text around them, and prefixes of their lines:
/// the task by srun ("0: "), mpirun ("[1,0]<stdout>:", "[0] "), pdsh ("node1: ") or docker, a time by Kubernetes. Finds
/// columns by the heading. A row cut by a library's log line (NCCL_DEBUG=INFO) continues below; otherwise it is omitted
/// with a warning. Throws InputError without any table or complete row, for a time that is invalid or contradicts its
/// bandwidth, and for wrong results of the benchmark.
CollectiveLog read_collective_log(const std::string& file, const std::string& text);
/// Reads the tables as read_collective_log() does, but returns none if `text` has no heading of a known benchmark.
std::optional<CollectiveLog> find_collective_log(const std::string& file, const std::string& text);

}  // namespace dadsim::study

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dadsim::study {

/// Where the columns of a table of measured collectives are, from 0.
struct CollectiveColumns {
  std::size_t count = 0;               ///< of the heading
  std::size_t size = 0;                ///< bytes
  std::size_t elements = 0, type = 0;  ///< 0: it has none
  std::vector<std::size_t> time;       ///< of each way of measuring: out of place, in place
  std::vector<std::size_t> algorithm_bandwidth, wrong;
  double unit = 1;           ///< seconds, of the times
  bool whole_rows = false;   ///< a row has as many cells as the heading
  bool of_messages = false;  ///< sizes of operations with blocks are of one block
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

}  // namespace dadsim::study

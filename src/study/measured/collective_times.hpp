#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "report/collective/collective_report.hpp"
#include "study/measured/collective_log.hpp"

namespace dadsim::study {

/// Names of the tests of single messages: in nccl-tests every rank sends to the next one; in OSU one rank sends to
/// another.
inline constexpr std::string_view kSendTest = "sendrecv_perf";
inline constexpr std::string_view kLatencyTest = "osu_latency";

/// Returns the operation of a benchmark's test name: "all_reduce_perf" and "alltoall_perf_mpi" of nccl-tests,
/// "osu_bcast" and "All-to-All" of OSU, "fcollect_on_stream" of NVSHMEM, "all-gather"; none for another name.
std::optional<report::Operation> operation_of_test(std::string_view name);

/// Returns the name of an operation's test in nccl-tests.
std::string test_of(report::Operation operation);

/// Returns the test names of all operations that nccl-tests measure.
std::vector<std::string> names_of_tests();

/// Returns the request of an operation among `ranks` ranks, on a vector of `bytes` bytes as nccl-tests count them.
/// `pairs`: sender and receiver of each message. If `pairs` is empty, every rank sends to the next one; of
/// Operation::send, only the first rank sends.
collectives::CollectiveRequest request_of(report::Operation operation, double bytes, std::size_t ranks,
                                          std::span<const std::pair<int, int>> pairs = {});

/// Measured times of one collective in a log, for one number of ranks.
struct CollectiveTimes {
  std::string test;                            ///< name of the test; empty if neither the log nor the caller gives it
  std::vector<CollectiveLog::LoggedRow> rows;  ///< one per size, over all ranks: the median of its measurements
  std::vector<Diagnostic> warnings;            ///< omitted rows, and sizes measured several times
};

/// Returns the times of `test` ("all_reduce_perf"; empty: the log's only test) among `ranks` in `log`, read from
/// `file`. Throws InputError if there are none, or if several tables have no test names.
CollectiveTimes times_of(const CollectiveLog& log, const std::string& file, const std::string& test, std::size_t ranks);

}  // namespace dadsim::study

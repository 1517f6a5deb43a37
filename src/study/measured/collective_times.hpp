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

/// Messages between ranks, as nccl-tests measure them: every rank sends to the next; and OSU: one to another.
inline constexpr std::string_view kSendTest = "sendrecv_perf";
inline constexpr std::string_view kLatencyTest = "osu_latency";

/// The operation that a benchmark's name of a test stands for: "all_reduce_perf" and "alltoall_perf_mpi" of nccl-tests,
/// "osu_bcast" and "All-to-All" of OSU, "fcollect_on_stream" of NVSHMEM, "all-gather"; none where it is no such name.
std::optional<report::Operation> operation_of_test(std::string_view name);

/// Name of an operation's test in nccl-tests.
std::string test_of(report::Operation operation);

/// Of all operations that nccl-tests measure.
std::vector<std::string> names_of_tests();

/// An operation among so many ranks, of whose vector nccl-tests count so many bytes. `pairs`, from → to: of messages;
/// if none are named, every rank sends to the next, or the first rank alone.
collectives::CollectiveRequest request_of(report::Operation operation, double bytes, std::size_t ranks,
                                          std::span<const std::pair<int, int>> pairs = {});

/// What a log says of one collective among so many ranks.
struct CollectiveTimes {
  std::string test;  ///< of which it is; empty where neither the log nor the caller says
  std::vector<CollectiveLog::LoggedRow>
      rows;                          ///< one for each size, over all ranks; the median of what was measured of it
  std::vector<Diagnostic> warnings;  ///< what was left out, or measured several times
};

/// The rows of `test` ("all_reduce_perf"; empty: of the only one) among `ranks` in `log`, which `file` holds. Throws
/// InputError where it has none, or where several tables do not say what they are of.
CollectiveTimes times_of(const CollectiveLog& log, const std::string& file, const std::string& test, std::size_t ranks);

}  // namespace dadsim::study

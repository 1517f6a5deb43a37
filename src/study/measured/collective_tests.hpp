#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/collective.hpp"
#include "report/collective/collective_report.hpp"

namespace dadsim::study {

/// Messages between ranks, as nccl-tests measure them: every rank sends to the next; and OSU: one to another.
inline constexpr std::string_view kSendTest = "sendrecv_perf";
inline constexpr std::string_view kLatencyTest = "osu_latency";

/// The operation that a benchmark's name of a test stands for: "all_reduce_perf" and "alltoall_perf_mpi" of nccl-tests,
/// "osu_bcast" and "All-to-All" of OSU, "fcollect_on_stream" of NVSHMEM, "all-gather"; none where it is no such name.
std::optional<report::Operation> operation_of_test(std::string_view name);

/// How nccl-tests name the test of an operation.
std::string test_of(report::Operation operation);

/// Of all operations that nccl-tests measure.
std::vector<std::string> names_of_tests();

/// An operation among so many ranks, of whose vector nccl-tests count so many bytes. `pairs`, from → to: of messages;
/// if none are named, every rank sends to the next, or the first rank alone.
collectives::CollectiveRequest request_of(report::Operation operation, double bytes, std::size_t ranks,
                                          std::span<const std::pair<int, int>> pairs = {});

}  // namespace dadsim::study

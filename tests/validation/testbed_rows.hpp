#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sim/simulator.hpp"
#include "validation/measured.hpp"

namespace dadsim::test {

/// A transfer or collective over real TCP, with its measured and predicted times.
struct TestbedRow {
  std::string topology, operation, connection;
  std::int32_t ranks = 0;
  double bytes = 0;
  Compared seconds;

  bool is(const char* begin) const { return topology.starts_with(begin); }
  bool is_gloo() const { return operation.starts_with("gloo_"); }
};

/// Parses the cells of a row of tests/validation/testbed*.csv.
inline TestbedRow testbed_row(std::map<std::string, std::string>& cells) {
  const std::string& connection = cells["connection"];
  return {cells["topology"],
          cells["operation"],
          connection == "c" ? "cold" : connection == "i" ? "idle" : "warm",
          std::stoi(cells["ranks"]),
          std::stod(cells["bytes"]),
          {0, std::stod(cells["median_s"])}};
}

/// Number of messages that are on the busiest link at once, and the bytes of each.
struct Load {
  double messages, bytes;
};

inline Load load_of(const TestbedRow& row) {
  const double others = row.ranks - 1;
  if (row.operation == "ring") return {1, row.bytes / row.ranks};
  if (row.operation == "ps") return {others, row.bytes};
  if (row.operation == "agdirect") return {row.is("dumbbell") ? 16.0 : others, row.bytes};
  if (row.operation == "pairs") return {4, row.bytes};
  return {1, row.bytes};
}

inline sim::CollectiveJob testbed_job(const TestbedRow& row) {
  sim::CollectiveJob job;
  job.request.bytes = {row.bytes};
  const auto is = [&](const char* operation) { return row.operation == operation; };
  if (is("ring") || is("ps") || is("gloo_allreduce") || is("gloo_ps")) {
    job.request.kind = step::CollectiveKind::all_reduce;
    job.algorithm = is("ring")      ? "ring"
                    : is("ps")      ? "parameter-server"
                    : is("gloo_ps") ? "gloo-parameter-server"
                                    : "gloo";
  } else if (is("agring") || is("agdirect") || is("gloo_allgather")) {
    job.request.kind = step::CollectiveKind::all_gather;
    job.algorithm = is("agring") ? "ring" : is("agdirect") ? "direct" : "gloo";
  } else {
    job.request.kind = step::CollectiveKind::neighbour_exchange;
    job.algorithm = "direct";
    auto& to = job.request.neighbours;
    to.resize(static_cast<std::size_t>(row.ranks));
    if (is("p2p")) to[0] = {1};
    if (is("p2px")) to[0] = {row.ranks - 1};
    for (collectives::Rank rank = 0; is("pairs") && rank < row.ranks / 2; ++rank) {
      to[static_cast<std::size_t>(rank)] = {rank + row.ranks / 2};
    }
  }
  return job;
}

/// Predicts rows measured on one cluster.
inline void predict_rows(const sim::Cluster& cluster, const std::vector<TestbedRow*>& rows) {
  std::vector<sim::CollectiveJob> jobs;
  for (const TestbedRow* row : rows) {
    EXPECT_EQ(row->ranks, static_cast<std::int32_t>(cluster.hosts.size()));
    jobs.push_back(testbed_job(*row));
  }
  const sim::TimedCollectives timed = time_collectives(cluster, jobs);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const sim::CollectiveTiming& timing = timed.timings[i];
    rows[i]->seconds.predicted = rows[i]->connection == "cold" ? timing.cold_seconds : timing.seconds;
  }
}

}  // namespace dadsim::test

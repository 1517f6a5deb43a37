#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "step/timing.hpp"

// Roles of a schedule's nodes in its tasks, for simulation message by message or by flow.

namespace dadsim::sim {

/// Returns whether a collective has nodes that only send and others that only receive, so that a sender is done before
/// all data has arrived.
constexpr bool is_one_way(step::CollectiveKind kind) {
  return step::is_star(kind) || kind == step::CollectiveKind::stage_send;
}

/// Roles of the nodes in a schedule. Nodes are the workers, followed by the aggregator if used. If replicas have
/// several devices, workers are the devices, stage by stage.
class Parts {
 public:
  /// `cluster_workers`: number of the cluster's workers, after which its aggregator comes, although a schedule may use
  /// fewer workers.
  Parts(const schedule::Schedule& schedule, std::size_t cluster_workers)
      : workers_(schedule.workers),
        nodes_(schedule.workers + (schedule.uses_aggregator ? 1 : 0)),
        cluster_workers_(cluster_workers),
        tensor_(static_cast<std::size_t>(schedule.tensor)),
        replicas_(schedule.replicas()),
        of_replica_(tensor_ * static_cast<std::size_t>(schedule.context)),
        of_stage_(of_replica_ * replicas_),
        single_(schedule.devices() * schedule.experts == 1 && schedule.shard_group == 0) {}

  std::size_t nodes() const { return nodes_; }
  std::size_t workers() const { return workers_; }
  /// Returns whether replicas are single devices.
  bool single_devices() const { return single_; }
  bool is_worker(std::size_t node) const { return node < workers_; }
  /// Returns the index in the cluster of the node's host and device.
  std::size_t host_index(std::size_t node) const { return is_worker(node) ? node : cluster_workers_; }
  /// Returns the index of the node's entry in a computation's amounts.
  std::size_t entry(std::size_t node) const {
    if (!is_worker(node)) return 0;
    return single_ ? node : node / of_replica_ % replicas_;
  }

  /// Returns the stage of a worker; kEveryStage if replicas are single devices.
  std::int32_t stage_of(std::size_t worker) const {
    return single_ ? schedule::kEveryStage : static_cast<std::int32_t>(worker / of_stage_);
  }

  /// A range of consecutive nodes.
  struct RankRange {
    std::size_t first = 0, behind = 0;
    std::size_t size() const { return behind - first; }
    bool holds(std::size_t node) const { return first <= node && node < behind; }
  };
  /// Returns the nodes with a role in a stage.
  RankRange with(step::Role who, std::int32_t stage) const {
    if (who == step::Role::aggregator) return {workers_, nodes_};
    if (single_ || stage == schedule::kEveryStage) return {0, workers_};
    const std::size_t first = of_stage_ * static_cast<std::size_t>(stage);
    return {first, first + of_stage_};
  }

  /// Returns the nodes that issue a collective: all participants except those that only receive. The aggregator takes
  /// no part in collectives among workers. `task`, here and below, is a collective.
  RankRange issuers(const schedule::Task& task) const;
  /// Returns the nodes that only receive: they take part from the start, without issuing the collective.
  RankRange receivers(const schedule::Task& task) const;
  bool issues(const schedule::Task& task, std::size_t node) const { return issuers(task).holds(node); }
  bool only_receives(const schedule::Task& task, std::size_t node) const { return receivers(task).holds(node); }
  /// Returns whether a node gets data from a collective. Other nodes wait only until their own messages have arrived.
  bool gets_something(const schedule::Task& task, std::size_t node) const;
  /// Returns whether a task concerns the compute stream of a node.
  bool concerns(const schedule::Task& task, std::size_t node) const;

  /// Number of lines of a node if replicas have several devices. Collectives that a node issues on one line are
  /// consecutive; those on different lines overlap. Messages between stages have one line for the next stage, one for
  /// the previous stage, and one for other stages. The last is used if the last and the first stage exchange data
  /// (pieces of stages, a tied table).
  static constexpr std::size_t kMostLines = 6;
  std::size_t lines() const { return single_ ? 1 : kMostLines; }
  static std::size_t line_of(const schedule::Task& task);
  static bool is_between_stages(std::size_t line) { return line == 2 || line == 3 || line == 5; }

 private:
  std::size_t workers_;
  std::size_t nodes_;
  std::size_t cluster_workers_;
  std::size_t tensor_;      ///< number of devices that share the parts of a layer
  std::size_t replicas_;    ///< number of replicas, which is the number of entries per amount
  std::size_t of_replica_;  ///< number of devices of one replica in a stage
  std::size_t of_stage_;    ///< number of devices of all replicas in a stage
  bool single_;
};

/// Seconds of a node's compute stream, by kind of use.
struct StreamTime {
  double end = 0;  ///< date up to which the stream has executed its tasks
  double busy = 0;
  double compressing = 0;  ///< part of `busy` due to compression; 0 in a plain step
  double waiting = 0;      ///< part of idle time due to nodes that had not issued a collective yet
};

/// Returns the part of a wait from `begin` to `end` that counts as waiting for others, up to `all_issued`: the date at
/// which the last sender to the node issued the collective. The remainder is due to the network.
inline double waiting_for_others(double begin, double end, double all_issued) {
  const double until = end < all_issued ? end : all_issued;
  return until > begin ? until - begin : 0;
}

/// Returns the worker that ends last, the first of equals.
std::size_t last_worker(const std::vector<StreamTime>& streams, std::size_t workers);

/// Divides a step of `seconds` into its parts, by the worker that ends last.
void split_among_parts(const std::vector<StreamTime>& streams, std::size_t last, double seconds,
                       step::StepTiming& timing);

}  // namespace dadsim::sim

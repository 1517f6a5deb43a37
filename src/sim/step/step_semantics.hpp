#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "step/timing.hpp"

// What a schedule means to the nodes that simulate it, message by message or by flow.

namespace dadsim::sim {

/// Whether some only send in a collective and the others only receive: who sends is done before all has arrived.
constexpr bool is_one_way(step::CollectiveKind kind) {
  return step::is_star(kind) || kind == step::CollectiveKind::stage_send;
}

/// Who has which part in a schedule. Its nodes are its workers (where replicas are of several devices: these, stage by
/// stage), and behind them the aggregator where it is used.
class Parts {
 public:
  /// `cluster_workers`: the cluster's aggregator comes behind all of its workers, of which a schedule may use fewer.
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
  /// Whether replicas are of one device each.
  bool single_devices() const { return single_; }
  bool is_worker(std::size_t node) const { return node < workers_; }
  /// Index of the node's host and device among those of the cluster.
  std::size_t host_index(std::size_t node) const { return is_worker(node) ? node : cluster_workers_; }
  /// Which of a computation's amounts are the node's.
  std::size_t entry(std::size_t node) const {
    if (!is_worker(node)) return 0;
    return single_ ? node : node / of_replica_ % replicas_;
  }

  /// Of a worker; kEveryStage where replicas are of one device each.
  std::int32_t stage_of(std::size_t worker) const {
    return single_ ? schedule::kEveryStage : static_cast<std::int32_t>(worker / of_stage_);
  }

  /// Nodes that follow one another.
  struct RankRange {
    std::size_t first = 0, behind = 0;
    std::size_t size() const { return behind - first; }
    bool holds(std::size_t node) const { return first <= node && node < behind; }
  };
  /// Those with a role in a stage.
  RankRange with(step::Role who, std::int32_t stage) const {
    if (who == step::Role::aggregator) return {workers_, nodes_};
    if (single_ || stage == schedule::kEveryStage) return {0, workers_};
    const std::size_t first = of_stage_ * static_cast<std::size_t>(stage);
    return {first, first + of_stage_};
  }

  /// Who has to issue a collective: takes part, and not only by receiving. The aggregator has no part in what the
  /// workers do among themselves. `task` is a collective, here and below.
  RankRange issuers(const schedule::Task& task) const;
  /// Who only receives: it takes part from the start, without being asked.
  RankRange receivers(const schedule::Task& task) const;
  bool issues(const schedule::Task& task, std::size_t node) const { return issuers(task).holds(node); }
  bool only_receives(const schedule::Task& task, std::size_t node) const { return receivers(task).holds(node); }
  /// Whether a node of a collective gets something out of it: for others, to wait is to see what they sent arrive.
  bool gets_something(const schedule::Task& task, std::size_t node) const;
  /// Whether the compute stream of a node has anything to do with a task.
  bool concerns(const schedule::Task& task, std::size_t node) const;

  /// Of a node, the collectives that it issues on one line go one after the other, and those on different lines go on
  /// beside one another. What it hands to stages has a line for each of them: the next one, the one before, and the one
  /// that is no neighbour, where the last and the first send each other something (pieces of stages, a tied table).
  static constexpr std::size_t kMostLines = 6;
  std::size_t lines() const { return single_ ? 1 : kMostLines; }
  static std::size_t line_of(const schedule::Task& task);
  static bool is_between_stages(std::size_t line) { return line == 2 || line == 3 || line == 5; }

 private:
  std::size_t workers_;
  std::size_t nodes_;
  std::size_t cluster_workers_;
  std::size_t tensor_;      ///< devices
  std::size_t replicas_;    ///< as many entries have amounts per worker
  std::size_t of_replica_;  ///< devices of a stage of one replica
  std::size_t of_stage_;    ///< devices of a stage, of all replicas
  bool single_;
};

/// What a node's compute stream did with its time, seconds.
struct StreamTime {
  double end = 0;  ///< when it was done with what it has done so far: a date
  double busy = 0;
  double compressing = 0;  ///< of that: what an algorithm computes beside a plain step
  double waiting = 0;      ///< of standing still: for others who had not issued a collective yet
};

/// The part of a wait from `begin` to `end` that counts as waiting for others: until the last of those that the node
/// gets something from had issued the collective, at `all_issued`. The rest is the network's.
inline double waiting_for_others(double begin, double end, double all_issued) {
  const double until = end < all_issued ? end : all_issued;
  return until > begin ? until - begin : 0;
}

/// The worker that is done last, the first of equals.
std::size_t last_worker(const std::vector<StreamTime>& streams, std::size_t workers);

/// What the streams make of a step of `seconds`: its parts are those of the worker that ends last.
void split_among_parts(const std::vector<StreamTime>& streams, std::size_t last, double seconds,
                       step::StepTiming& timing);

}  // namespace dadsim::sim

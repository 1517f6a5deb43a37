#pragma once

#include <cstddef>
#include <vector>

#include "step/schedule.hpp"
#include "step/timing.hpp"

// What a schedule means to the nodes that play it, message by message or by flow.

namespace dadsim::sim {

/// Who has which part in a schedule. Its nodes are its workers, and behind them the aggregator where it is used.
class Parts {
 public:
  /// `cluster_workers`: the cluster's aggregator comes behind all of its workers, of which a schedule may use fewer.
  Parts(const step::Schedule& schedule, std::size_t cluster_workers)
      : workers_(schedule.workers),
        nodes_(schedule.workers + (schedule.uses_aggregator ? 1 : 0)),
        cluster_workers_(cluster_workers) {}

  std::size_t nodes() const { return nodes_; }
  std::size_t workers() const { return workers_; }
  bool is_worker(std::size_t node) const { return node < workers_; }
  /// Index of the node's host and device among those of the cluster.
  std::size_t host_index(std::size_t node) const { return is_worker(node) ? node : cluster_workers_; }
  /// Which of a computation's amounts are the node's.
  std::size_t entry(std::size_t node) const { return is_worker(node) ? node : 0; }
  bool has_role(std::size_t node, step::Role who) const { return is_worker(node) == (who == step::Role::workers); }

  /// The aggregator is the last rank of a star, and has no part in what the workers do among themselves.
  std::size_t ranks(const step::CollectiveTask& task) const { return workers_ + (is_star(task.kind) ? 1 : 0); }
  /// Whether a node only receives: it takes part from the start, without being asked.
  bool only_receives(const step::CollectiveTask& task, std::size_t node) const;
  /// Whether a node has to issue a collective: it takes part, and not only by receiving. The collectives that a node
  /// issues go one after the other.
  bool issues(const step::CollectiveTask& task, std::size_t node) const {
    return node < ranks(task) && !only_receives(task, node);
  }
  /// Whether a node gets something out of a collective: for others, to wait is to see what they sent arrive.
  bool gets_something(const step::CollectiveTask& task, std::size_t node) const {
    return task.kind != step::CollectiveKind::gather || !is_worker(node);
  }
  /// Whether the compute stream of a node has anything to do with a task.
  bool concerns(const step::Task& task, std::size_t node) const;

 private:
  std::size_t workers_;
  std::size_t nodes_;
  std::size_t cluster_workers_;
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
void divide_among_parts(const std::vector<StreamTime>& streams, std::size_t last, double seconds,
                        step::StepTiming& timing);

}  // namespace dadsim::sim

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/collective.hpp"
#include "schedule/schedule.hpp"
#include "sim/network/connection.hpp"
#include "sim/network/event_graph.hpp"
#include "sim/step/beside_communication.hpp"
#include "sim/step/collective_layouts.hpp"
#include "sim/step/collective_run.hpp"
#include "sim/step/compute_time.hpp"
#include "sim/step/framework_costs.hpp"
#include "sim/step/host_link.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/step_semantics.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

class TimelineRecorder;

/// A step to be replayed.
struct ReplayStep {
  const schedule::Schedule* schedule = nullptr;
  std::vector<double> slowdown{};  ///< factor on the seconds of computations, per host; empty: 1
};

/// Consecutive steps without a barrier, simulated message by message: a node begins its next step when it has finished
/// the previous one. The nodes' compute streams, each a separate actor, drive the simulation (see StepReplayer).
class StepRun {
 public:
  /// All steps have the same nodes; `layout`: that of their workers. `recorder`, if not null, records the steps; its
  /// tasks are those of all steps in sequence.
  StepRun(const Nodes& nodes, const collectives::RankLayout& layout, std::span<const ReplayStep> steps,
          Interconnect& network, Connections& connections, TimelineRecorder* recorder);

  const Parts& parts() const { return parts_; }

  /// Prepares the run, before the streams start.
  void begin();
  /// Runs the compute stream of a node, in its actor.
  void compute_in_order(std::size_t node);
  /// Returns when all messages have been delivered. Call after all streams have ended.
  void end();

  // ---- afterwards ----

  /// Returns the seconds from the beginning until each worker has finished the first, the second … step.
  std::vector<std::vector<double>> finished() const;
  /// Returns the seconds from the beginning until the last worker has finished the first, the second … step.
  std::vector<double> ends() const;
  /// Returns the mean timing of the steps `from` … `to` − 1, for example (0, 1) for the first step. Bytes are those of
  /// the last step.
  step::StepTiming timing(std::size_t from, std::size_t to) const;

 private:
  using EventId = EventGraph::Id;

  /// State of a node's compute stream, an actor that executes the tasks in order.
  struct ComputeStream {
    EventId cause = EventGraph::kStart;  ///< event for which the stream waited last
    StreamTime time;                     ///< times of the stream so far
    HostLink host_link;
    std::optional<std::size_t> waits_for;  ///< task for which the stream waits
    bool computes_beside = false;          ///< true: wakes the stream when the node has no collective in progress any
                                           ///< more
    simgrid::s4u::SemaphorePtr wake = simgrid::s4u::Semaphore::create(0);
    Outbox outbox;
    /// A computation of a merged sequence.
    struct RunPiece {
      std::size_t task;
      double until;  ///< seconds of computing from the beginning of the first piece to the end of this one
    };
    std::vector<RunPiece> pieces;
  };

  /// A node's part in a collective.
  struct RunPart {
    bool issued = false;
    double begun_at = 0;    ///< date at which earlier collectives on the same line had ended, seconds
    double leaves_at = 0;   ///< date at which its first message may leave, after the framework has packed it, seconds
    double through_at = 0;  ///< date at which its last message had arrived, seconds; only if recorded
    double issued_at = 0;
    EventId issued_by = EventGraph::kStart;
    bool done = false;
    double done_at = 0;
    EventId done_by = EventGraph::kStart;
  };

  struct RunOperation {
    std::shared_ptr<const CollectiveLayout> laid_out;
    std::unique_ptr<CollectiveRun> run;
    std::vector<RunPart> parts;                                   ///< part of each node
    std::shared_ptr<const std::vector<FrameworkCost>> framework;  ///< costs of each node; empty: no costs
    double last_issued = 0;                                       ///< date of the last issue so far, seconds
  };

  /// A node's collectives on one line on which it sends. They begin in order, as many at once as their library allows.
  struct RunLine {
    struct RunEnd {
      double date;  ///< date, seconds; may lie in the future
      EventId by;
    };
    std::size_t next = 0;          ///< task that begins next
    std::int32_t in_progress = 0;  ///< number of collectives in progress
    std::int32_t most = 0;         ///< number of collectives at once that all of those in progress allow
    std::vector<RunEnd> ends;      ///< ends of finished collectives that may still matter, latest first
  };

  /// A step of the run.
  struct RunStage {
    const ReplayStep* step = nullptr;
    std::size_t first = 0, behind = 0;  ///< range of the step's tasks: `first` … `behind` − 1
    const ComputeTime* measured = nullptr;
    std::vector<StreamTime> streams;     ///< times of each node's stream at the end of the step
    std::vector<EventId> causes;         ///< event for which each node waited last
    std::vector<double> sent, received;  ///< bytes of each node
  };

  void add_stage(const ReplayStep& step, const collectives::RankLayout& layout);
  std::size_t execute_from(std::size_t first, std::size_t node, const RunStage& stage);
  void compute(std::size_t node, double seconds);
  bool communicates(std::size_t node) const;
  double communicates_until(std::size_t node) const;
  void carry(std::size_t index, const schedule::ComputeTask& task, double seconds, std::size_t node);
  void wait_for(std::size_t index, std::size_t task, std::size_t node);
  double all_issued(std::size_t task, std::size_t node) const;
  void begin_receiving(std::size_t node);
  void issue(std::size_t task, std::size_t node);
  RunLine& line(std::size_t node, const schedule::Task& task) {
    return lines_[node * parts_.lines() + Parts::line_of(task)];
  }
  void begin_next(std::size_t node, const schedule::Task& of_line, Outbox& outbox);
  std::shared_ptr<const std::vector<FrameworkCost>> framework_of(const schedule::Task& task,
                                                                 const collectives::Rounds& rounds) const;
  void done(std::size_t task, std::size_t node, double date, EventId cause, Outbox& outbox);
  void record_collectives();
  EventGraph::Names names() const;

  const Nodes& nodes_;
  Parts parts_;
  Interconnect& network_;
  Connections& connections_;
  TimelineRecorder* recorder_;
  BesideCommunication beside_;
  double begin_;
  EventGraph graph_;
  std::vector<std::unique_ptr<ComputeTime>> measured_;  ///< seconds of computations, for each distinct schedule
  std::vector<RunStage> stages_;
  std::vector<const schedule::Task*> tasks_;  ///< tasks of all stages, in sequence
  std::vector<std::size_t> stage_of_;         ///< stage of each task
  std::vector<simgrid::s4u::Host*> hosts_;    ///< host of each node
  std::vector<ComputeStream> streams_;        ///< stream of each node
  std::vector<RunOperation> operations_;      ///< operation of each task; empty unless the task is a collective
  std::vector<RunLine> lines_;                ///< lines of the nodes, node by node
};

}  // namespace dadsim::sim

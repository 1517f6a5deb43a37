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
  std::vector<double> slowdown{};  ///< per host, multiplies the seconds of computations; empty: 1
};

/// Consecutive steps without a barrier, with every message: a node begins its next step when it is done with the
/// previous one. The nodes' compute streams, actors of their own, drive the simulation (see StepReplayer).
class StepRun {
 public:
  /// All steps have the same nodes; `layout` is of their workers. `recorder`, if any, records them; its tasks are those
  /// of all steps, one after the other.
  StepRun(const Nodes& nodes, const collectives::RankLayout& layout, std::span<const ReplayStep> steps,
          Interconnect& network, Connections& connections, TimelineRecorder* recorder);

  const Parts& parts() const { return parts_; }

  /// Prepares the run, before the streams start.
  void begin();
  /// Runs the compute stream of a node, in its actor.
  void compute_in_order(std::size_t node);
  /// Returns when all messages are through. Call after all streams have ended.
  void end();

  // ---- afterwards ----

  /// Returns the seconds from the beginning until each worker was done with the first, the second … step.
  std::vector<std::vector<double>> finished() const;
  /// Returns the seconds from the beginning until the last worker was done with the first, the second … step.
  std::vector<double> ends() const;
  /// Returns the mean timing of steps number `from` to before `until`; of a single step, (0, 1). Bytes are those of the
  /// last of them.
  step::StepTiming timing(std::size_t from, std::size_t to) const;

 private:
  using EventId = EventGraph::Id;

  /// The state of a node's compute stream, an actor that goes through the tasks in order.
  struct ComputeStream {
    EventId cause = EventGraph::kStart;  ///< event that it waited for last
    StreamTime time;                     ///< times so far
    HostLink host_link;
    std::optional<std::size_t> waits_for;  ///< task that it waits for
    bool computes_beside = false;          ///< true: wake it when the node has nothing more under way
    simgrid::s4u::SemaphorePtr wake = simgrid::s4u::Semaphore::create(0);
    Outbox outbox;
    /// A computation of a merged sequence.
    struct RunPiece {
      std::size_t task;
      double until;  ///< seconds of computing since the first began
    };
    std::vector<RunPiece> pieces;
  };

  /// A node's part in a collective.
  struct RunPart {
    bool issued = false;
    double begun_at = 0;    ///< when earlier collectives on the same line were done
    double leaves_at = 0;   ///< when its first message may leave, after the framework has packed it
    double through_at = 0;  ///< when its last message had arrived; only if recorded
    double issued_at = 0;
    EventId issued_by = EventGraph::kStart;
    bool done = false;
    double done_at = 0;
    EventId done_by = EventGraph::kStart;
  };

  struct RunOperation {
    std::shared_ptr<const CollectiveLayout> laid_out;
    std::unique_ptr<CollectiveRun> run;
    std::vector<RunPart> parts;                                   ///< per node
    std::shared_ptr<const std::vector<FrameworkCost>> framework;  ///< per node; empty: no costs
    double last_issued = 0;                                       ///< seconds, date of the last issue so far
  };

  /// A node's collectives on one line in which it sends. They begin in order, as many at once as their library allows.
  struct RunLine {
    struct RunEnd {
      double date;  ///< seconds, perhaps in the future
      EventId by;
    };
    std::size_t next = 0;          ///< task that begins next
    std::int32_t in_progress = 0;  ///< collectives under way
    std::int32_t most = 0;         ///< collectives allowed at once, the least among them
    std::vector<RunEnd> ends;      ///< ends of finished collectives that may matter, the last first
  };

  /// A step of the run.
  struct RunStage {
    const ReplayStep* step = nullptr;
    std::size_t first = 0, behind = 0;  ///< range of its tasks
    const ComputeTime* measured = nullptr;
    std::vector<StreamTime> streams;     ///< times of the streams at their ends, per node
    std::vector<EventId> causes;         ///< event that each node waited for last
    std::vector<double> sent, received;  ///< bytes, per node
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
  std::vector<std::unique_ptr<ComputeTime>> measured_;  ///< one per distinct schedule
  std::vector<RunStage> stages_;
  std::vector<const schedule::Task*> tasks_;  ///< tasks of all stages, one after the other
  std::vector<std::size_t> stage_of_;         ///< per task
  std::vector<simgrid::s4u::Host*> hosts_;    ///< per node
  std::vector<ComputeStream> streams_;        ///< per node
  std::vector<RunOperation> operations_;      ///< per task; empty unless the task is a collective
  std::vector<RunLine> lines_;                ///< per node and line
};

}  // namespace dadsim::sim

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/attendance.hpp"
#include "methods/method.hpp"
#include "report/run/divergence.hpp"
#include "report/words/statement.hpp"
#include "scenario/scenario.hpp"
#include "spec/layer_shape.hpp"
#include "step/leak.hpp"
#include "step/trajectory.hpp"
#include "study/setting/schedule_memory.hpp"
#include "study/store/memory_store.hpp"

namespace dadsim::study {

/// Adds ε to each adversary for which it holds: to other sites always, to adversaries that see single messages if each
/// message has this ε, and to a secure aggregator if the sums have it.
void add_privacy(const methods::PrivacySpent& spent, step::Leak& leak);

/// A learned run with one seed, and the properties of the learned network that timing needs.
struct LearnedRun {
  spec::ModelShape shape;
  std::string data;                        ///< name of the data set
  bool has_batch_statistics = false;       ///< true: the network has batch norms
  double rows = 0;                         ///< rows per worker and step, mean over workers and steps with all sites
  report::Guess guess = {};                ///< result of guessing on the held-back samples
  std::vector<report::Statement> remarks;  ///< the method's remarks on this network
  step::Trajectory trajectory;
};

using LearnedRunPtr = std::shared_ptr<const LearnedRun>;

class Records;
class SharedCache;
class TimingMemory;

/// Store of learned runs by the keys of learning_hash_of(), in memory up to a limit, and in records, if any. A learning
/// problem is learned once for any number of clusters. Not thread-safe.
class LearningStore {
 public:
  LearningStore() = default;
  /// Creates a store of at most a gigabyte of memory.
  LearningStore(std::shared_ptr<Records> records, std::shared_ptr<SharedCache> shared_cache);
  LearningStore(const LearningStore&) = delete;
  LearningStore& operator=(const LearningStore&) = delete;

  LearnedRunPtr find(std::uint64_t key);  ///< null if missing
  void keep(std::uint64_t key, const LearnedRunPtr& run);
  /// Adds runs that other processes have learned. find() returns such a run, and then keeps it in memory.
  void offer(std::map<std::uint64_t, LearnedRunPtr> runs) { offered_.merge(runs); }
  const MemoryStore<std::uint64_t, LearnedRunPtr>& runs() const { return runs_; }
  /// Returns the cache that simulations of event-driven runs share.
  const std::shared_ptr<SharedCache>& shared_cache();
  std::int64_t learned() const { return learned_; }  ///< runs learned and kept since construction

 private:
  MemoryStore<std::uint64_t, LearnedRunPtr> runs_;
  std::map<std::uint64_t, LearnedRunPtr> offered_;
  std::shared_ptr<Records> records_;
  std::shared_ptr<SharedCache> shared_cache_;
  std::int64_t learned_ = 0;
};

/// Returns whether a run learns the same as every exact run of all sites, up to rounding. Not true for pooled data with
/// batch norms.
bool learns_the_pooled_gradient(const spec::RunSpec& run);

/// Results of learning a scenario.
struct Learned {
  /// Per run of the scenario, with the scenario's seed. Runs that learn on their cluster (learns_on_cluster) have no
  /// trajectory.
  std::vector<LearnedRunPtr> runs;
  std::shared_ptr<SharedCache> shared_cache;
  /// Learned runs by further seed and by run; they end at the target. Empty unless relative steps are requested.
  std::vector<std::vector<LearnedRunPtr>> other_seeds;
  std::vector<LearnedRunPtr> reference;  ///< gradient sharing per seed, if needs_reference()
  bool nothing = false;                  ///< nothing was learned: runs are timed and simulated, without accuracies
  double wall_seconds = 0;
  /// Schedules of the runs above, kept for timing on several platforms.
  std::shared_ptr<ScheduleMemory> schedules = std::make_shared<ScheduleMemory>();
  /// Simulations of these runs, reused by scenarios that time them on their own clusters; may be null.
  std::shared_ptr<TimingMemory> timings{};
};

/// Learns a run with the sites present in each step. `described`: the properties of the run known before its steps. The
/// result is not stored, because presence depends on the cluster. With a seed other than the scenario's, the run ends
/// at the target.
LearnedRunPtr learn_attended(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRun& described,
                             SharedCache& shared_cache, std::uint64_t seed, algorithms::Attendance& attendance);
/// Learns the first `steps` steps of a longer run again, independently.
LearnedRunPtr learn_first_steps(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                const LearnedRun& described, SharedCache& shared_cache, std::uint64_t seed,
                                std::int64_t steps);

/// Learns whatever `store` (may be null) lacks, and stores the results there. `show_progress`: prints progress on
/// standard error. For a timing-only scenario only steps are recorded; sizes that learning would determine take the
/// largest values that the run's parameters allow. *Requires* a scenario without faults_of_runs(), as reading a
/// scenario checks. Throws InputError if a result of learning is needed and nothing is learned, Cancelled.
Learned learn_scenario(const scenario::Scenario& scenario, LearningStore* store, bool show_progress);

}  // namespace dadsim::study

#pragma once

#include <cstdint>
#include <limits>
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

/// Says of each adversary what of a run's privacy holds towards it: what all sites get holds towards other sites; what
/// single messages or their sums are like decides what holds towards those who see them.
void add_privacy(const methods::PrivacySpent& spent, step::Leak& leak);

/// What one run learned with one seed, and all that timing asks of the network that learned.
struct LearnedRun {
  spec::ModelShape shape;
  std::string data;                        ///< name of the data set
  bool has_batch_statistics = false;       ///< batch norms
  double rows = 0;                         ///< of a worker's batch in a step with all sites, the mean over both
  report::Guess guess = {};                ///< what guessing would come to on the held-back samples
  std::vector<report::Statement> remarks;  ///< of the algorithm on this network
  step::Trajectory trajectory;
};

using LearnedRunPtr = std::shared_ptr<const LearnedRun>;

class SharedCache;
class TimingMemory;

/// Learned runs by the keys of learning_hash_of(), in memory as far as there is room: a learning problem is learned
/// once for any number of clusters. For one thread.
class LearningStore {
 public:
  explicit LearningStore(double most_bytes = std::numeric_limits<double>::infinity()) : runs_(most_bytes) {}
  virtual ~LearningStore() = default;
  LearningStore(const LearningStore&) = delete;
  LearningStore& operator=(const LearningStore&) = delete;

  virtual LearnedRunPtr find(std::uint64_t key);  ///< null if it is not there
  virtual void keep(std::uint64_t key, const LearnedRunPtr& run);
  /// Runs that others have learned. Each counts once it has been found, as if it had been learned here.
  void offer(std::map<std::uint64_t, LearnedRunPtr> runs) { offered_.merge(runs); }
  const MemoryStore<std::uint64_t, LearnedRunPtr>& runs() const { return runs_; }
  /// What runs whose order depends on time share from one simulation to another.
  const std::shared_ptr<SharedCache>& shared_cache();

 protected:
  void share(std::shared_ptr<SharedCache> shared_cache) { shared_cache_ = std::move(shared_cache); }

 private:
  MemoryStore<std::uint64_t, LearnedRunPtr> runs_;
  std::map<std::uint64_t, LearnedRunPtr> offered_;
  std::shared_ptr<SharedCache> shared_cache_;
};

/// Whether a run learns what every exact run of the sites does, up to rounding (pooled data have batch norms of their
/// own).
bool learns_the_pooled_gradient(const spec::RunSpec& run);

/// The learned half of a scenario.
struct Learned {
  /// Per run of the scenario, with its own seed. Of those that learn on their cluster (learns_on_cluster) all but the
  /// trajectory.
  std::vector<LearnedRunPtr> runs;
  std::shared_ptr<SharedCache> shared_cache;
  /// With the seeds after it, each per run of the scenario; those end at the target. Only where steps at scale are
  /// asked for.
  std::vector<std::vector<LearnedRunPtr>> other_seeds;
  std::vector<LearnedRunPtr> reference;  ///< gradient sharing per seed, where needs_reference()
  bool nothing = false;                  ///< runs are timed and simulated, and no accuracy is known of any
  double wall_seconds = 0;
  /// The schedules of the runs above, for whoever times them on several platforms.
  std::shared_ptr<ScheduleMemory> schedules = std::make_shared<ScheduleMemory>();
  /// What was simulated of them, for whoever times them as many scenarios ask on their own clusters; may be null.
  std::shared_ptr<TimingMemory> timings{};
};

/// Learns a run of the scenario by those that are there in each step. `described`: what is known of the run without
/// its steps. Nothing of it is kept: who is there depends on the cluster. With another seed than the scenario's it ends
/// at the target.
LearnedRunPtr learn_attended(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRun& described,
                             SharedCache& shared_cache, std::uint64_t seed, algorithms::Attendance& attendance);
/// The first so many steps of a run that was to take more, learned again by themselves.
LearnedRunPtr learn_first_steps(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                const LearnedRun& described, SharedCache& shared_cache, std::uint64_t seed,
                                std::int64_t steps);

/// Learns for real what `store` (may be null) does not have yet, and keeps it there. `show_progress` on standard error.
/// Of a scenario that asks for times only steps are recorded, and nothing is learned: sizes that learning would decide
/// on are as large as a run's parameters let them be. *Requires* a scenario without faults_of_runs(), which reading one
/// looks for; throws InputError where nothing is learned all the same that has to be, Cancelled.
Learned learn_scenario(const scenario::Scenario& scenario, LearningStore* store, bool show_progress);

}  // namespace dadsim::study

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "models/data/dataset.hpp"
#include "models/data/drift.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/store/memory_store.hpp"
#include "world/history.hpp"
#include "world/remote_operations.hpp"

namespace dadsim::study {

/// Runs that were simulated already, of scenarios that learn the same. Points of a sweep that differ in what a
/// simulation does not see (prices, budgets, what is asked) are simulated once. For several threads.
class TimingMemory {
 public:
  /// Run number `run` of a scenario on its own cluster: what `simulate` gives, now or for an earlier scenario.
  sim::TimedRun of(const scenario::Scenario& scenario, std::size_t run, const std::function<sim::TimedRun()>& simulate);

 private:
  AnswerMemory<std::shared_ptr<const sim::TimedRun>> runs_;
};

/// The data of a scenario as one seed draws and deals them.
struct Problem {
  Problem(const scenario::Scenario& scenario, std::uint64_t seed);
  models::Dataset data;
  models::Partition partition;
  models::DriftedData drift;  ///< its samples stand behind those of the partition
};

/// What was learned in the order of events, in memory as far as there is room: what was used last stays.
class MemoryHistoryStore final : public world::HistoryStore {
 public:
  explicit MemoryHistoryStore(double most_bytes) : data_(most_bytes) {}
  world::DatumPtr find(const world::ValueKey& key) override { return data_.find(key).value_or(nullptr); }
  void keep(const world::ValueKey& key, const world::DatumPtr& datum) override;
  world::DatumPtr claim(const world::ValueKey& key) override;
  void release(const world::ValueKey& key) override;

 private:
  std::mutex mutex_;  ///< of the claims
  std::condition_variable released_;
  std::set<world::ValueKey> claimed_;
  MemoryStore<world::ValueKey, world::DatumPtr> data_;
};

/// What simulations of one process share: data, and what was learned. For several threads.
class SharedCache {
 public:
  /// `histories`: where what was learned is kept; none: in a gigabyte of memory.
  explicit SharedCache(std::shared_ptr<world::HistoryStore> histories = nullptr);

  std::shared_ptr<const Problem> problem(const scenario::Scenario& scenario, std::uint64_t seed);
  world::HistoryStore& histories() { return *histories_; }
  /// What is learned from now on in the order of events is kept in so much memory.
  void keep_histories_in(double bytes) { histories_ = std::make_shared<MemoryHistoryStore>(bytes); }

  /// Other processes that learn event-driven runs, of a scenario that is theirs too; null: there are none.
  void set_remote(std::shared_ptr<world::RemoteOperations> remote) { remote_ = std::move(remote); }
  world::RemoteOperations* remote() const { return remote_.get(); }

 private:
  std::mutex mutex_;
  std::uint64_t key_ = 0;  ///< of the last problem; 0: none yet
  std::shared_ptr<const Problem> problem_;
  std::shared_ptr<world::HistoryStore> histories_;
  std::shared_ptr<world::RemoteOperations> remote_;
};

}  // namespace dadsim::study

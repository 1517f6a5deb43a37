#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/data/drift.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/store/memory_store.hpp"
#include "world/history.hpp"
#include "world/remote_operations.hpp"

namespace dadsim::study {

/// Runs simulated so far, for scenarios with the same learning. Points of a sweep that share all inputs of a simulation
/// (and differ in prices, budgets or questions) are simulated once. For several threads.
class TimingMemory {
 public:
  /// Returns run number `run` of a scenario on its own cluster: the result of `simulate`, now or for an earlier
  /// scenario.
  sim::TimedRun of(const scenario::Scenario& scenario, std::size_t run, const std::function<sim::TimedRun()>& simulate);

 private:
  AnswerMemory<std::shared_ptr<const sim::TimedRun>> runs_;
};

/// The data of a scenario, drawn and dealt with one seed.
struct Problem {
  Problem(const scenario::Scenario& scenario, std::uint64_t seed);
  models::Dataset data;
  models::Partition partition;
  models::DriftedData drift;  ///< drifted data; samples are those of the partition
};

/// Event-driven learning in memory, as far as it fits: the least recently used values are dropped.
class MemoryHistoryStore final : public world::HistoryStore {
 public:
  explicit MemoryHistoryStore(double most_bytes) : data_(most_bytes) {}
  world::DatumPtr find(const world::ValueKey& key) override { return data_.find(key).value_or(nullptr); }
  void keep(const world::ValueKey& key, const world::DatumPtr& datum) override;
  world::DatumPtr claim(const world::ValueKey& key) override;
  void release(const world::ValueKey& key) override;

 private:
  std::mutex mutex_;  ///< protects `claimed_`
  std::condition_variable released_;
  std::set<world::ValueKey> claimed_;
  MemoryStore<world::ValueKey, world::DatumPtr> data_;
};

/// Answers about islands, by everything that they depend on. For several threads.
struct IslandMemory {
  AnswerMemory<std::vector<double>> steps;          ///< seconds of an island's steps
  AnswerMemory<std::vector<std::size_t>> likeness;  ///< per island, the first one with the same timing
  AnswerMemory<std::set<std::string>> outside;      ///< links that no island uses
};

/// Common cache of the simulations of one process: data, learning and steps of islands. For several threads.
class SharedCache {
 public:
  /// `histories`: store of the learning; null: a gigabyte of memory.
  explicit SharedCache(std::shared_ptr<world::HistoryStore> histories = nullptr);

  std::shared_ptr<const Problem> problem(const scenario::Scenario& scenario, std::uint64_t seed);
  world::HistoryStore& histories() { return *histories_; }
  IslandMemory& islands() { return islands_; }
  /// Limits later event-driven learning to `bytes` of memory.
  void keep_histories_in(double bytes) { histories_ = std::make_shared<MemoryHistoryStore>(bytes); }

  /// Sets other processes that learn event-driven runs of their copy of the scenario; null: none.
  void set_remote(std::shared_ptr<world::RemoteOperations> remote) { remote_ = std::move(remote); }
  world::RemoteOperations* remote() const { return remote_.get(); }

 private:
  std::mutex mutex_;
  std::uint64_t key_ = 0;  ///< key of the last problem; 0: none yet
  std::shared_ptr<const Problem> problem_;
  std::shared_ptr<world::HistoryStore> histories_;
  std::shared_ptr<world::RemoteOperations> remote_;
  IslandMemory islands_;
};

}  // namespace dadsim::study

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/data/drift.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/store/memory_store.hpp"
#include "study/store/records.hpp"
#include "world/history.hpp"
#include "world/remote_operations.hpp"

namespace dadsim::study {

/// Cache of simulated runs, for scenarios with the same learning. Points of a sweep that differ only in prices, budgets
/// or questions share a simulation. Thread-safe.
class TimingMemory {
 public:
  /// Returns the times of run number `run` on the scenario's cluster. Calls `simulate` unless an earlier scenario had
  /// the same inputs.
  sim::TimedRun of(const scenario::Scenario& scenario, std::size_t run, const std::function<sim::TimedRun()>& simulate);

 private:
  AnswerMemory<std::shared_ptr<const sim::TimedRun>> runs_;
};

/// The data of a scenario and their division among workers, for one seed.
struct Problem {
  Problem(const scenario::Scenario& scenario, std::uint64_t seed);
  models::Dataset data;
  models::Partition partition;
  models::DriftedData drift;  ///< drifted data; samples are those of the partition
};

using HistoryMemory = MemoryStore<world::ValueKey, world::DatumPtr>;

/// Store of event-driven learning, in memory up to a limit, and in records, if any.
class KeptHistories final : public world::HistoryStore {
 public:
  /// `memory`: store shared with others, whose values are also recorded here because their records may be lost; null: a
  /// gigabyte of its own.
  explicit KeptHistories(std::shared_ptr<HistoryMemory> memory, std::shared_ptr<Records> records = nullptr);
  explicit KeptHistories(double most_bytes) : KeptHistories(std::make_shared<HistoryMemory>(most_bytes)) {}

  world::DatumPtr find(const world::ValueKey& key) override;
  void keep(const world::ValueKey& key, const world::DatumPtr& datum) override;
  world::DatumPtr claim(const world::ValueKey& key) override;
  void release(const world::ValueKey& key) override { memory_->release(key); }
  void flush() override;

 private:
  void record(const world::ValueKey& key, const world::DatumPtr& datum);

  bool shares_memory_;
  std::shared_ptr<HistoryMemory> memory_;
  std::shared_ptr<Records> records_;
};

/// Cache of answers about islands, by all inputs. Thread-safe.
struct IslandMemory {
  AnswerMemory<std::vector<double>> steps;          ///< seconds of an island's steps
  AnswerMemory<std::vector<std::size_t>> likeness;  ///< per island, the first one with the same timing
  AnswerMemory<std::set<std::string>> outside;      ///< links that no island uses
};

/// Common cache of the simulations of one process: data, learning and steps of islands. Thread-safe.
class SharedCache {
 public:
  /// Takes the arguments of KeptHistories.
  explicit SharedCache(std::shared_ptr<HistoryMemory> memory = nullptr, std::shared_ptr<Records> records = nullptr)
      : histories_(std::make_shared<KeptHistories>(std::move(memory), std::move(records))) {}

  std::shared_ptr<const Problem> problem(const scenario::Scenario& scenario, std::uint64_t seed);
  world::HistoryStore& histories() { return *histories_; }
  IslandMemory& islands() { return islands_; }
  /// Replaces the store of event-driven learning by one of at most `bytes` of memory.
  void keep_histories_in(double bytes) { histories_ = std::make_shared<KeptHistories>(bytes); }

  /// Sets other processes that learn event-driven runs from their copies of the scenario; null: none.
  void set_remote(std::shared_ptr<world::RemoteOperations> remote) { remote_ = std::move(remote); }
  world::RemoteOperations* remote() const { return remote_.get(); }

 private:
  MemoryStore<std::uint64_t, std::shared_ptr<const Problem>> problem_{1};  ///< keeps the last one
  std::shared_ptr<world::HistoryStore> histories_;
  std::shared_ptr<world::RemoteOperations> remote_;
  IslandMemory islands_;
};

}  // namespace dadsim::study

#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "models/data/dataset.hpp"
#include "models/data/drift.hpp"
#include "scenario/scenario.hpp"
#include "world/history.hpp"
#include "world/remote_operations.hpp"

namespace dadsim::study {

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
  explicit MemoryHistoryStore(double most_bytes) : most_bytes_(most_bytes) {}
  world::DatumPtr find(const world::ValueKey& key) override;
  void keep(const world::ValueKey& key, const world::DatumPtr& datum) override;
  world::DatumPtr claim(const world::ValueKey& key) override;
  void release(const world::ValueKey& key) override;

 private:
  using Entry = std::pair<world::ValueKey, world::DatumPtr>;
  world::DatumPtr look_up(const world::ValueKey& key);

  std::mutex mutex_;
  std::condition_variable released_;
  std::set<world::ValueKey> claimed_;
  double most_bytes_, bytes_ = 0;
  std::list<Entry> entries_;  ///< the last used first
  std::map<world::ValueKey, std::list<Entry>::iterator> index_;
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

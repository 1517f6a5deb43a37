#pragma once

#include <list>
#include <map>
#include <string_view>

#include "study/learning/learned.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/sweep/database.hpp"

namespace dadsim::study {

/// Of a row of the table `learning`. A row with another one is as good as none: what it held is learned again.
std::int64_t checksum_of_learning(std::string_view key, std::string_view run);

/// Puts what `from` has learned into `to`, in the order of the keys; what is damaged is learned again.
void copy_learning(Database& from, Database& to);

/// Learned runs in memory, as far as there is room for them, and in a file of results. For one thread; others may use
/// the file meanwhile.
class SweepLearningStore : public LearningStore {
 public:
  /// `file` keeps what is learned, of event-driven runs weights of so many bytes; `other`, if there is one, is only
  /// read; `memory` of event-driven runs: one of its own where there is none.
  SweepLearningStore(Database& file, Database* other, std::int64_t most_weights,
                     std::shared_ptr<MemoryHistoryStore> memory = nullptr);

  LearnedRunPtr find(std::uint64_t key) override;
  void keep(std::uint64_t key, const LearnedRunPtr& run) override;

  std::int64_t learned() const { return learned_; }  ///< kept, and so learned, since it was made

 private:
  struct Held {
    std::uint64_t key = 0;
    LearnedRunPtr run;
    double bytes = 0;
  };
  void hold(std::uint64_t key, const LearnedRunPtr& run);

  Database& file_;
  Database* other_;
  std::list<Held> held_;  ///< last used first
  std::map<std::uint64_t, std::list<Held>::iterator> index_;
  double bytes_ = 0;
  std::int64_t learned_ = 0;
};

}  // namespace dadsim::study

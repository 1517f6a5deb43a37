#pragma once

#include <map>

#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Learned runs in memory, as long as it lives.
class MemoryLearningStore final : public LearningStore {
 public:
  LearnedRunPtr find(std::uint64_t key) override {
    const auto found = runs_.find(key);
    return found == runs_.end() ? nullptr : found->second;
  }
  void keep(std::uint64_t key, const LearnedRunPtr& run) override { runs_[key] = run; }
  std::size_t size() const { return runs_.size(); }
  const std::map<std::uint64_t, LearnedRunPtr>& runs() const { return runs_; }

 private:
  std::map<std::uint64_t, LearnedRunPtr> runs_;
};

}  // namespace dadsim::study

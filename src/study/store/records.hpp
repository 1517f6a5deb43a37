#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dadsim::study {

/// Persistent store of computed results, as bytes by key and kind. Thread-safe.
class Records {
 public:
  /// Kinds of records: a learned run; of event-driven runs, weights and values of a few scalars.
  static constexpr std::string_view kLearned = "learned", kWeights = "weights", kEvaluation = "evaluation";

  virtual ~Records() = default;
  /// Returns the value of a record; none if it is missing or damaged.
  virtual std::optional<std::string> find(const std::string& key) = 0;
  /// Stores a record, unless the key has one, or there are too many weights. `size`: bytes of the value in memory.
  /// `value` is called when the record is written: a learned run at once, others by flush() at the latest.
  virtual void keep(std::string_view kind, const std::string& key, std::size_t size,
                    std::function<std::string()> value) = 0;
  virtual void flush() = 0;
};

}  // namespace dadsim::study

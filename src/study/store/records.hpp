#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dadsim::study {

/// Records of what was worked out, by key and kind, as bytes that outlive the process. For several threads.
class Records {
 public:
  /// Kinds: a learned run; of event-driven runs the weights, and values of a few scalars.
  static constexpr std::string_view kLearned = "learned", kWeights = "weights", kEvaluation = "evaluation";

  virtual ~Records() = default;
  /// Returns the value of a record; none if it is missing or damaged.
  virtual std::optional<std::string> find(const std::string& key) = 0;
  /// Keeps a record, unless the key has one, or there are too many weights. `size`: bytes of the value in memory.
  /// `value` is called when the record is written: a learned run at once, others by flush() at the latest.
  virtual void keep(std::string_view kind, const std::string& key, std::size_t size,
                    std::function<std::string()> value) = 0;
  virtual void flush() = 0;
};

}  // namespace dadsim::study

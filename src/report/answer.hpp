#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/result.hpp"

namespace dadsim::report {

/// What runs are compared by.
enum class Metric : std::uint8_t {
  time_at_scale,   ///< of the workload to the accuracy that its known steps are to
  time_per_step,   ///< of the workload, where no steps are known, or nothing was learned
  time_to_target,  ///< of the network that learned, where that is what is timed
};
const char* to_string(Metric metric);

/// What a result says to whom asked, always of what was timed.
struct Answer {
  Metric metric = Metric::time_to_target;
  std::string of;  ///< the workload, or the network that learned
  /// A run with its time, between what it is to be expected.
  struct Place {
    std::size_t run = 0;  ///< index among Result::runs
    double seconds = 0;
    std::optional<double> low, high;
    std::size_t seeds = 1;  ///< that it is the mean of
    /// How many times as long as the first of the ranking, over the seeds that both have, with what seeds and
    /// evaluations leave open (estimate/comparison.hpp). Of times to the target that were learned; none of the first.
    std::optional<estimate::Estimate> of_first = {};
    bool tied = false;  ///< it may as well be as quick as the first
  };
  /// How many times as long one run of the ranking takes as another that comes before it, as Place::of_first.
  struct Pair {
    std::size_t run = 0, of = 0;  ///< indices among Result::runs
    estimate::Estimate times;
  };
  std::vector<Pair> pairs;             ///< all that there are by the time to the target
  std::vector<Place> ranking;          ///< runs that share and have such a time, the quickest first
  std::vector<std::string> sentences;  ///< the answer itself first, then what qualifies it
};

Answer answer_to(const Result& result);

/// All its sentences: for a terminal, a page and JSON the same.
std::string verdict(const Result& result);

/// "1.8 times": two digits, three below 1.1, so that 1.02 is not rounded away.
std::string times_in_words(double factor);

}  // namespace dadsim::report

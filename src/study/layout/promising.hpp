#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "study/layout/candidate.hpp"

namespace dadsim::study {

/// By what the closed form was off where a layout was simulated, for others of its kind (the same tensor, context,
/// pipeline and expert parallelism and sharding).
class EstimateCorrection {
 public:
  explicit EstimateCorrection(const std::vector<report::LayoutTrial>& trials);

  bool knows(const report::Layout& layout) const;
  /// Simulated ÷ estimated: the least of its kind, or, of kinds of which nothing was simulated, the least of all.
  double factor(const report::Layout& layout) const;

  using Kind = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, spec::Sharding, std::int32_t>;
  static Kind kind_of(const report::Layout& layout);

 private:
  std::map<Kind, double> by_kind_;
  double of_all_ = 1;
};

/// At most so many of the fitting candidates, which are in the order of their estimates: the quickest, few of a kind;
/// the quickest of each kind; and some of the front of time against memory.
std::vector<std::size_t> most_promising(const std::vector<LayoutCandidate>& candidates,
                                        const std::vector<std::size_t>& fitting, std::size_t most);

/// At most so many of those that were not simulated and may still be quicker than the best trial, by the closed form
/// set right; the quickest first.
std::vector<std::size_t> still_promising(const std::vector<LayoutCandidate>& candidates,
                                         const std::vector<std::size_t>& fitting,
                                         const std::vector<report::LayoutTrial>& trials, std::size_t most);

}  // namespace dadsim::study

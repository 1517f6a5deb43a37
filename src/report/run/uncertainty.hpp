#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/bands.hpp"
#include "estimate/comparison.hpp"

namespace dadsim::report {

/// What the file of a sweep keeps of a run beside its figures, so that a verdict on its runs is that on the runs
/// themselves.
struct Uncertainty {
  std::vector<estimate::TimePart> parts;                    ///< of a step; what they rest on in words is left out
  std::vector<std::optional<estimate::Arrival>> arrivals;   ///< at the target, by the seeds of the training
  double seed_scatter = estimate::seed_scatter("unknown");  ///< of its kind
};

/// As JSON: {"parts": [[category, seconds, cause] …], "arrivals": [[after, at, steps] or null …], "seed_scatter":
/// number}.
std::string to_text(const Uncertainty& uncertainty);
/// Nothing of an empty text. Throws std::runtime_error where the text is of another kind.
Uncertainty uncertainty_of(const std::string& text);

}  // namespace dadsim::report

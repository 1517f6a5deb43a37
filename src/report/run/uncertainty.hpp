#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/bands.hpp"
#include "estimate/verdict.hpp"

namespace dadsim::report {

/// Data of a run that a sweep's file stores in addition to its figures, so that verdicts equal those computed from the
/// run itself.
struct Uncertainty {
  std::vector<estimate::TimePart> parts;                    ///< parts of a step, without the text of their basis
  std::vector<std::optional<estimate::Arrival>> arrivals;   ///< arrivals at the target, one per seed
  double seed_scatter = estimate::seed_scatter("unknown");  ///< scatter over seeds, measured for runs of this kind
};

/// Returns JSON: {"parts": [[category, seconds, cause] …], "arrivals": [[after, at, steps] or null …], "seed_scatter":
/// number}.
std::string to_text(const Uncertainty& uncertainty);
/// Reads the JSON; empty text gives an empty value. Throws std::runtime_error for any other text.
Uncertainty uncertainty_of(const std::string& text);

}  // namespace dadsim::report

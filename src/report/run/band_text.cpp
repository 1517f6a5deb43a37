#include "report/run/band_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/text/seconds.hpp"

namespace dadsim::report {

std::string band_sentence(const RunResult& run) {
  if (!run.step_band) return {};
  std::string text = fmt::format("{}: nine measurements of ten are expected at a step of {}", run.spec.label,
                                 seconds_with_band(run.step_seconds, run.factors()));
  if (run.target_reached && run.target_seconds > 0)
    text += fmt::format(", to the target {}", seconds_with_band(run.target_seconds, run.factors()));
  return text + fmt::format(": {}.", fmt::join(in_words(estimate::basis_of(run.step_band->parts)), "; "));
}

}  // namespace dadsim::report

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// What the lines of a training program say.
struct TrainerLog {
  std::string program;                    ///< that wrote them
  std::optional<MeasuredStep> step = {};  ///< none: its lines are there, and none of them has a figure
  std::string missing = {};               ///< what would have had it
};

/// Reads lines of the programs in trainer_log.cpp, and progress bars (tqdm). Of several lines the median counts, the
/// first of them left out where there are three or more: it has the start. Figures that are rounded to more than
/// 2.5 % are none. Nothing where no line is known.
std::optional<TrainerLog> read_trainer_log(std::string_view text);

/// Those that are read, in words.
std::string programs_with_logs();

}  // namespace dadsim::study

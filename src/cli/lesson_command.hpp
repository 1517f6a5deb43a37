#pragma once

#include <string>
#include <vector>

namespace dadsim::cli {

/// `dadsim lesson ARGUMENTS`: lists the lessons, or writes one as a page with the results of its runs, and its
/// scenarios beside that. Throws UsageError, InputError, SimulationError, OutputError, Cancelled.
void run_lesson_command(const std::vector<std::string>& arguments);

std::string usage_of_lesson();

}  // namespace dadsim::cli

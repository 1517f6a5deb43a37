#pragma once

#include <functional>
#include <vector>

#include "report/validate/validation.hpp"
#include "study/validation/measured_job.hpp"

namespace dadsim::study {

/// Predicts each job by the scenario of its row. All rows are read before anything runs. A refused job is reported in
/// its row. `show_progress` on standard error. Throws InputError with the file and the line of each invalid row,
/// SimulationError, and Cancelled when interrupted() is set. `on_read` is called before anything runs.
report::Validation validate_jobs(const std::vector<MeasuredJob>& jobs, bool show_progress,
                                 const std::function<void()>& on_read = {});

}  // namespace dadsim::study

#pragma once

#include <functional>
#include <vector>

#include "report/validate/validation.hpp"
#include "study/validation/measured_job.hpp"

namespace dadsim::study {

/// Predicts each job by the scenario of its row. All rows are read before anything runs. The row of a refused job
/// states so. `show_progress` on standard error. Throws InputError with the file and the line of each row that is no
/// scenario, SimulationError, and Cancelled when interrupted() is set. `on_read` is called before anything runs.
report::Validation validate_jobs(const std::vector<MeasuredJob>& jobs, bool show_progress,
                                 const std::function<void()>& on_read = {});

}  // namespace dadsim::study

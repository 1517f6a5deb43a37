#pragma once

#include <optional>

#include "report/run/answer.hpp"

namespace dadsim::report {

/// Who gets most done in a second, for the money or for the energy; some run has such a rate.
Statement statement_by_work(const Result& result, const Answer& answer);

/// What is to be expected of machines that may be taken away, of the first run that shares; none where the scenario
/// does not say on what terms they are.
std::optional<Statement> statement_on_spot(const Result& result);

}  // namespace dadsim::report

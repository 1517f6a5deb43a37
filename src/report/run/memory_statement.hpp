#pragma once

#include <optional>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Says which runs need more memory than their devices have, and what takes most of it; none: all fit.
std::optional<Statement> statement_on_memory(const Result& result);

}  // namespace dadsim::report

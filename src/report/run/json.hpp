#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// The result as JSON, indented, ending in a newline; every field is documented in docs/output-json.md. Numbers are
/// written so that reading them back gives the same bits; what is not a finite number becomes null. Only `wall_clock`,
/// which comes last, differs between two runs of the same scenario. Throws std::logic_error if the ranks do not fit the
/// layer names.
std::string to_json(const Result& result);

}  // namespace dadsim::report

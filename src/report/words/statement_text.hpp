#pragma once

#include <string>

#include "report/words/statement.hpp"

namespace dadsim::report {

/// A statement as files keep it: one line of JSON, {"kind": …, "subjects": […], "values": {…}, "parts": […]}.
std::string to_text(const Statement& statement);
/// Throws std::runtime_error where the text is of none that has words here.
Statement statement_of(const std::string& text);

}  // namespace dadsim::report

#pragma once

#include <string>

#include "report/explain/explanation.hpp"
#include "report/html/about.hpp"

namespace dadsim::report {

/// The explanation as a page of HTML that loads nothing (docs/explain.md). Throws what to_json() throws.
std::string to_html(const Explanation& explanation, const About& about = {});

/// In a sentence or two: who is first, what its step went into, and what would help it most.
std::string verdict(const Explanation& explanation);

}  // namespace dadsim::report

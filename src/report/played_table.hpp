#pragma once

#include <string>

#include "report/result.hpp"

namespace dadsim::report {

/// What the time of an event-driven run's workers went into: what stands for other runs in what bound them.
std::string time_sentence(const RunResult& run);

/// Who took part, how stale, what was wasted, what failed: sentences for a terminal, each a paragraph.
std::string played_paragraphs(const RunResult& run);

}  // namespace dadsim::report

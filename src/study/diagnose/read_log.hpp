#pragma once

#include <optional>
#include <string>

#include "formats/kineto.hpp"
#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// What `text`, the content of `file`, says that a step or collectives took. Known are, and told apart by what stands
/// in them: traces (Kineto) and tables of torch.profiler ("Self CUDA" and a row ProfilerStep*), lines of training
/// programs, tables of collectives (collective_log.hpp). Throws InputError where the file is none of
/// these, or what it has cannot be used.
Measurement read_log(const std::string& file, const std::string& text);

/// The same of a profile of torch.profiler alone; none where the text is something else.
std::optional<formats::ProfiledStep> read_profile(const std::string& file, const std::string& text);

}  // namespace dadsim::study

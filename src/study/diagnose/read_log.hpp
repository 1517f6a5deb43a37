#pragma once

#include <optional>
#include <string>

#include "formats/kineto.hpp"
#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// Reads the measured steps or collectives in `text`, the content of `file`. Known formats, recognised by content:
/// traces (Kineto) and tables of torch.profiler ("Self CUDA" and a row ProfilerStep*), lines of training programs,
/// tables of collectives (collective_log.hpp). Throws InputError if the file has none of these formats, or if its
/// figures cannot be used.
Measurement read_log(const std::string& file, const std::string& text);

/// Reads a profile of torch.profiler; none if the text is something else.
std::optional<formats::ProfiledStep> read_profile(const std::string& file, const std::string& text);

}  // namespace dadsim::study

#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// The image of each run that messages show best, beside what they show of it, as JSON: grey levels or colours from 0
/// to 255, the darkest and the brightest of the original being these. Empty where no run has such an image.
std::string pictures_for_page(const Result& result);

}  // namespace dadsim::report

#pragma once

#include <optional>

#include "spec/specification.hpp"

namespace dadsim::study {

/// Tokens of a sample, of workloads whose samples are sequences; none of others.
std::optional<double> tokens_per_sample(const spec::TimedAsSpec& timed);

}  // namespace dadsim::study

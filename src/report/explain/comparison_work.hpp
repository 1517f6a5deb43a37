#pragma once

#include <vector>

#include "report/explain/comparison.hpp"

namespace dadsim::report {

/// What is said of the first run that both sides have and that shares: what is taken for granted of batches that
/// differ, what the same work costs on both sides, and in how many days what is bought for the second side pays.
std::vector<Statement> statements_on_work(const Comparison& comparison, const std::vector<Compared>& runs);

}  // namespace dadsim::report

#pragma once

#include <vector>

#include "compress/message.hpp"
#include "step/expression.hpp"

namespace dadsim::algorithms {

/// Throws std::logic_error unless the sizes in symbols evaluate to what the message holds: as many elements of each
/// type in the same order, so that neither its length nor what a run in 16 bit makes of it can be made up.
void check_message(const std::vector<step::Payload>& said, const step::Scope& scope, const compress::Message& message);

}  // namespace dadsim::algorithms

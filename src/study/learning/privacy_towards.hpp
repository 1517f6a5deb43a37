#pragma once

#include "methods/method.hpp"
#include "step/leak.hpp"

namespace dadsim::study {

/// Says of each adversary what of a run's privacy holds towards it: what all sites get holds towards other sites; what
/// single messages or their sums are like decides what holds towards those who see them.
void add_privacy(const methods::PrivacySpent& spent, step::Leak& leak);

}  // namespace dadsim::study

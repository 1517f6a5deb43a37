#include "estimate/own_step.hpp"

namespace dadsim::estimate {

std::vector<TimePart> with_own_step(std::vector<TimePart> parts) {
  for (TimePart& part : parts) {
    if (!part.category.starts_with("compute.")) continue;
    part.category = kOwnStep;
    part.unseen.clear();
  }
  return parts;
}

}  // namespace dadsim::estimate

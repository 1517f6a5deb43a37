#include "study/learning/privacy_towards.hpp"

namespace dadsim::study {

void add_privacy(const methods::PrivacySpent& spent, step::Leak& leak) {
  for (step::AdversaryLeak& one : leak.adversaries) {
    const bool holds = one.adversary == step::Adversary::site || spent.messages ||
                       (one.adversary == step::Adversary::secure_aggregator && spent.sums_of_sites);
    if (!holds) continue;
    one.epsilon = spent.epsilon;
    one.delta = spent.delta;
  }
}

}  // namespace dadsim::study

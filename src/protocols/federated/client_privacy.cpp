#include "protocols/federated/client_privacy.hpp"

namespace dadsim::protocols {

ClientPrivacy::OrderRange ClientPrivacy::range() const {
  OrderRange range;
  std::map<Mechanisms, OfClient> known;  // many clients have equal ones
  for (std::size_t client = 0; client < of_.size(); ++client) {
    const auto [at, is_new] = known.try_emplace(of_[client]);
    OfClient& own = at->second;
    if (is_new) {
      std::vector<estimate::SampledGaussian> mechanisms;
      for (const auto& [mechanism, times] : of_[client]) {
        mechanisms.push_back({mechanism.first, mechanism.second, times});
        own.times += times;
      }
      own.epsilon = estimate::epsilon_spent(mechanisms, delta_);
    }
    own.client = client;
    if (client == 0 || own.epsilon > range.most.epsilon) range.most = own;
    if (client == 0 || own.epsilon < range.least.epsilon) range.least = own;
  }
  return range;
}

}  // namespace dadsim::protocols

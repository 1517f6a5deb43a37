#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "estimate/privacy.hpp"
#include "methods/method.hpp"

namespace dadsim::protocols {

/// Privacy spent by each client over a run: adds up the mechanisms that included the client. EXAMPLE: dp_fed_avg.cpp.
class ClientPrivacy {
 public:
  ClientPrivacy(std::size_t clients, double delta) : of_(clients), delta_(delta) {}

  /// Adds a mechanism that included the client `times` times.
  void add(std::size_t client, double rate, double noise_multiplier, std::int64_t times = 1) {
    of_.at(client)[{rate, noise_multiplier}] += times;
  }

  struct OfClient {
    std::size_t client = 0;
    std::int64_t times = 0;
    double epsilon = 0;
  };
  /// Clients that have spent the largest and the smallest ε; on a tie, the first one.
  struct OrderRange {
    OfClient most, least;
  };
  OrderRange range() const;
  double delta() const { return delta_; }

 private:
  using Mechanisms = std::map<std::pair<double, double>, std::int64_t>;  ///< number of mechanisms, by rate and noise
                                                                         ///< multiplier
  std::vector<Mechanisms> of_;
  double delta_;
};

inline ClientPrivacy::OrderRange ClientPrivacy::range() const {
  OrderRange range;
  std::map<Mechanisms, OfClient> known;  // privacy spent by clients with these mechanisms; many clients share them
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

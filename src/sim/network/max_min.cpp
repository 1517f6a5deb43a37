#include "sim/network/max_min.hpp"

#include <cstddef>
#include <limits>
#include <queue>
#include <utility>

namespace dadsim::sim {

std::vector<double> max_min_rates(const std::vector<double>& capacity,
                                  const std::vector<const std::vector<std::int32_t>*>& links) {
  struct State {
    double left = 0;
    std::int32_t transfers = 0;  ///< not fixed yet
    std::vector<std::int32_t> on_it;
  };
  std::vector<State> states(capacity.size());
  for (std::size_t i = 0; i < capacity.size(); ++i) states[i].left = capacity[i];
  for (std::size_t t = 0; t < links.size(); ++t) {
    for (const std::int32_t link : *links[t]) {
      State& state = states[static_cast<std::size_t>(link)];
      ++state.transfers;
      state.on_it.push_back(static_cast<std::int32_t>(t));
    }
  }
  const auto share = [](const State& state) { return state.left / state.transfers; };
  using Candidate = std::pair<double, std::int32_t>;  // share when it was put in, link
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> tightest;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].transfers > 0) tightest.emplace(share(states[i]), static_cast<std::int32_t>(i));
  }
  std::vector<double> rates(links.size(), -1);
  while (!tightest.empty()) {
    const auto [then, link] = tightest.top();
    tightest.pop();
    State& state = states[static_cast<std::size_t>(link)];
    if (state.transfers == 0) continue;
    const double rate = share(state);
    // Shares only grow while others are fixed: an old one is put back with what it has become.
    if (rate > then * (1 + 1e-12)) {
      tightest.emplace(rate, link);
      continue;
    }
    for (const std::int32_t transfer : state.on_it) {
      double& fixed = rates[static_cast<std::size_t>(transfer)];
      if (fixed >= 0) continue;
      fixed = rate;
      for (const std::int32_t other : *links[static_cast<std::size_t>(transfer)]) {
        State& passed = states[static_cast<std::size_t>(other)];
        passed.left = passed.left > rate ? passed.left - rate : 0;
        --passed.transfers;
      }
    }
  }
  for (double& rate : rates) {
    if (rate < 0) rate = std::numeric_limits<double>::infinity();
  }
  return rates;
}

}  // namespace dadsim::sim

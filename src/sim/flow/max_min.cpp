#include "sim/flow/max_min.hpp"

#include <cstddef>
#include <limits>
#include <queue>
#include <utility>

namespace dadsim::sim {

std::vector<double> max_min_rates(const std::vector<double>& capacity,
                                  const std::vector<const std::vector<std::int32_t>*>& links) {
  LinksOfFlows flows;
  for (const std::vector<std::int32_t>* of_transfer : links) {
    for (const std::int32_t link : *of_transfer) flows.cross(link, 1);
    flows.end_flow();
  }
  return max_min_rates(capacity, flows);
}

std::vector<double> max_min_rates(const std::vector<double>& capacity, const LinksOfFlows& links) {
  struct State {
    double left = 0;
    double flows = 0;       ///< not fixed yet
    std::size_t first = 0;  ///< in on_it
    std::size_t end = 0;
  };
  std::vector<State> states(capacity.size());
  for (std::size_t i = 0; i < capacity.size(); ++i) states[i].left = capacity[i];
  for (std::size_t flow = 0; flow < links.count(); ++flow) {
    for (const LinksOfFlows::Crossing& crossing : links.of(flow)) {
      State& state = states[static_cast<std::size_t>(crossing.link)];
      state.flows += crossing.flows;
      ++state.end;
    }
  }
  std::size_t place = 0;
  for (State& state : states) {
    state.first = place;
    place += std::exchange(state.end, place);
  }
  std::vector<std::int32_t> on_it(links.crossings());  // flows, link by link
  for (std::size_t flow = 0; flow < links.count(); ++flow) {
    for (const LinksOfFlows::Crossing& crossing : links.of(flow)) {
      on_it[states[static_cast<std::size_t>(crossing.link)].end++] = static_cast<std::int32_t>(flow);
    }
  }
  const auto share = [](const State& state) { return state.left / state.flows; };
  constexpr double kNone = 1e-6;                      // flows: what rounding leaves of shares of classes
  using Candidate = std::pair<double, std::int32_t>;  // share when it was put in, link
  std::vector<Candidate> candidates;
  candidates.reserve(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].flows > kNone) candidates.emplace_back(share(states[i]), static_cast<std::int32_t>(i));
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> tightest(std::greater<>(),
                                                                                  std::move(candidates));
  std::vector<double> rates(links.count(), -1);
  while (!tightest.empty()) {
    const auto [then, link] = tightest.top();
    tightest.pop();
    const State& state = states[static_cast<std::size_t>(link)];
    if (!(state.flows > kNone)) continue;
    const double rate = share(state);
    // Shares only grow while others are fixed: an old one is put back with what it has become.
    if (rate > then * (1 + 1e-12)) {
      tightest.emplace(rate, link);
      continue;
    }
    for (std::size_t i = state.first; i < state.end; ++i) {
      const auto flow = static_cast<std::size_t>(on_it[i]);
      if (rates[flow] >= 0) continue;
      rates[flow] = rate;
      for (const LinksOfFlows::Crossing& crossing : links.of(flow)) {
        State& passed = states[static_cast<std::size_t>(crossing.link)];
        const double taken = crossing.flows * rate;
        passed.left = passed.left > taken ? passed.left - taken : 0;
        passed.flows -= crossing.flows;
      }
    }
  }
  for (double& rate : rates) {
    if (rate < 0) rate = std::numeric_limits<double>::infinity();
  }
  return rates;
}

}  // namespace dadsim::sim

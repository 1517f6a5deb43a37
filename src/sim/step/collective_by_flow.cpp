#include "sim/step/collective_by_flow.hpp"

#include <algorithm>
#include <vector>

#include "sim/network/flow.hpp"
#include "sim/step/closed_form.hpp"

namespace dadsim::sim {

Refused collective_by_flow(const Nodes& nodes, const collectives::Rounds& rounds, Interconnect& network,
                           bool by_closed_form, double& seconds) {
  if (by_closed_form) {
    seconds = closed_form_of(nodes.hosts, rounds, network);
    return {};
  }
  std::vector<double> dates(static_cast<std::size_t>(rounds.ranks()), 0);
  if (Refused refused = FlowModel(network, nodes.hosts).run(rounds, dates)) return refused;
  seconds = *std::ranges::max_element(dates);
  return {};
}

}  // namespace dadsim::sim

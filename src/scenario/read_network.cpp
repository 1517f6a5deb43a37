#include <array>

#include "scenario/read.hpp"

namespace dadsim::scenario {

spec::NetworkSpec read_network(const Element& element, const ReadContext& context) {
  static const std::array<std::string, 4> kFidelities = {
      to_string(spec::Fidelity::automatic), to_string(spec::Fidelity::message), to_string(spec::Fidelity::flow),
      to_string(spec::Fidelity::closed_form)};
  constexpr std::int64_t kMaxBudget = 1'000'000'000'000;
  // A sample of which nothing can be said how good it is would be a guess.
  constexpr std::int64_t kLeastTimedSteps = 8;
  constexpr std::int64_t kMaxTimedSteps = 1'000'000;
  // The standard deviation of a factor's logarithm: at 3, one computation in forty is 400 times slower than the median.
  constexpr Range kDeviation{.minimum = 0, .maximum = 3};
  const Node node(element, context.findings);
  spec::NetworkSpec network;
  network.fidelity = static_cast<spec::Fidelity>(node.choice("fidelity", kFidelities, 0));
  if (node.has("message-budget") && network.fidelity != spec::Fidelity::automatic) {
    node.refuse("message-budget", "means nothing with that fidelity", "only fidelity=\"auto\" has a budget");
  }
  network.message_budget = node.integer("message-budget", 1, kMaxBudget, network.message_budget);
  network.timed_steps = node.integer("timed-steps", kLeastTimedSteps, kMaxTimedSteps, network.timed_steps);
  network.rendezvous = node.boolean("rendezvous", network.rendezvous);
  if (const Element* jitter = node.child("jitter")) {
    const Node one(*jitter, context.findings);
    network.jitter.spatial = one.real("spatial", kDeviation, network.jitter.spatial);
    network.jitter.temporal = one.real("temporal", kDeviation, network.jitter.temporal);
  }
  return network;
}

}  // namespace dadsim::scenario

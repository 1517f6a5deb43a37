#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "scenario/elements/elements.hpp"
#include "scenario/language/quantity.hpp"

namespace dadsim::scenario {
namespace {

const Table<spec::JitterSpec>& jitter_table() {
  using Spec = spec::JitterSpec;
  static const Table<Spec> kTable = Table<Spec>("jitter", "Jitter of computing speed: log-normal factors with mean 1.",
                                                {attribute("spatial", &Spec::spatial, real(kDeviation)),
                                                 attribute("temporal", &Spec::temporal, real(kDeviation))});
  return kTable;
}

}  // namespace

const Table<spec::NetworkSpec>& network_table() {
  using Spec = spec::NetworkSpec;
  static const Table<Spec> kTable =
      Table<Spec>("network", "Settings of the network simulation.",
                  {attribute("fidelity", &Spec::fidelity),
                   attribute("message-budget", &Spec::message_budget, integer(1, 1'000'000'000'000))
                       .only([](const Spec& network) { return network.fidelity == spec::Fidelity::automatic; },
                             "needs fidelity=\"auto\"", "set fidelity=\"auto\", or remove it"),
                   attribute("timed-steps", &Spec::timed_steps, integer(8, 1'000'000)).if_given().if_left_out("all"),
                   attribute("rendezvous", &Spec::rendezvous),
                   attribute("streams", &Spec::streams, integer(1, 1024)).if_given(),
                   attribute("window", &Spec::window, quantity(kBytesForm)).if_given()})
          .with(jitter_table(), &Spec::jitter);
  return kTable;
}

void check_connections(const Element& network, const spec::PlatformSpec& platform, const ReadContext& context) {
  const Node node(network, context.findings);
  if (!node.has("streams") && !node.has("window")) return;
  if (std::holds_alternative<spec::PlatformFileSpec>(platform.what)) {
    if (!context.catalog.links_of_platform) return;
    const auto links = context.catalog.links_of_platform(platform);
    if (std::ranges::any_of(links, &Catalog::NamedLink::is_goodput)) return;
  } else if (spec::has_goodput_lines(platform)) {
    return;
  }
  for (const char* attribute : {"streams", "window"}) {
    node.refuse(attribute, "needs a line with measured=\"goodput\", but the platform has none",
                "set measured=\"goodput\" on the lines, add a <pair> without a queue, or remove it");
  }
}

void check_fidelity(const Element& network, const std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  const auto takes_steps = [](const spec::RunSpec& run) { return run.communicates && !run.event_driven; };
  if (runs.empty() || std::ranges::any_of(runs, takes_steps)) return;
  const Node node(network, context.findings);
  const char* what =
      "has no effect: only event-driven runs exchange messages, and their messages are simulated one by one";
  // Printed scenarios contain the default.
  const std::string budget = std::to_string(spec::NetworkSpec().message_budget);
  if (node.text("message-budget", budget) != budget) node.refuse("message-budget", what, "remove it");
  node.refuse("timed-steps", what, "remove it");
  const std::string fidelity = node.text("fidelity", "auto");
  if (fidelity == to_string(spec::Fidelity::flow) || fidelity == to_string(spec::Fidelity::closed_form)) {
    node.refuse("fidelity", what, "remove it");
  }
}

std::vector<ElementRule> network_rules() { return {network_table().rule(), jitter_table().rule()}; }

}  // namespace dadsim::scenario

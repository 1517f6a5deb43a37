#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/language/quantity.hpp"
#include "spec/islands.hpp"

namespace dadsim::scenario {
namespace {

using Framework = spec::FrameworkSpec;

constexpr QuantityForm kRateForm{Unit::bytes_per_second,
                                 {.minimum = 0, .open_minimum = true},
                                 "bytes a second above 0 with their unit, e.g. 80MBps"};
constexpr QuantityForm kPauseForm{Unit::seconds, {.minimum = 0, .maximum = 1e7}, "seconds with their unit, e.g. 5s"};
constexpr QuantityForm kMessageForm{Unit::bytes, {.minimum = 1000}, "at least 1kB, with its unit, e.g. 2GB"};

/// Returns the row of a number that is printed only if it differs from the framework's default.
template <class Value>
Row<Framework> number(std::string name, Value Framework::*member, Kind kind) {
  Row<Framework> row = attribute(std::move(name), member, std::move(kind));
  return std::move(row)
      .printed_if([member](const Framework& framework) {
        return framework.*member != spec::framework_of_table(framework.name, framework.version).*member;
      })
      .without_default()
      .if_left_out("the framework's");
}

/// Attributes that apply to event-driven runs only.
constexpr std::array kOfEvents{"polling", "idle-cut", "evaluate", "sends", "server-models"};
/// Attributes that apply only to runs with a server. After the first kOfAnyServers, they apply only to event-driven
/// runs.
constexpr std::array kOfServers{"server-serialise", "server-deserialise", "server-cores", "aggregate",
                                "polling",          "idle-cut",           "server-models"};
constexpr std::size_t kOfAnyServers = 4;

}  // namespace

const Table<Framework>& framework_table() {
  static const Table<Framework> kTable = Table<Framework>(
      "framework",
      "Software overhead of messages ([frameworks.md](frameworks.md)): a framework of the table, and your own numbers "
      "where given.",
      {attribute("name", &Framework::name, one_of(spec::framework_names())).by_reader(),
       attribute("version", &Framework::version, any_text())
           .by_reader()
           .without_default()
           .printed_if([](const Framework& framework) { return !framework.version.empty(); })
           .if_left_out("the newest"),
       number("serialise", &Framework::serialise, quantity(kRateForm)),
       number("deserialise", &Framework::deserialise, quantity(kRateForm)),
       number("server-serialise", &Framework::server_serialise, quantity(kRateForm)),
       number("server-deserialise", &Framework::server_deserialise, quantity(kRateForm)),
       number("server-cores", &Framework::server_cores, integer(1, 100'000)),
       number("aggregate", &Framework::aggregate, quantity(kRateForm)),
       number("copy", &Framework::copy, quantity(kRateForm)), number("streams", &Framework::streams, truth()),
       number("round", &Framework::round, quantity(kPauseForm)),
       number("per-client", &Framework::per_client, quantity(kPauseForm)),
       number("polling", &Framework::polling, quantity(kPauseForm)),
       number("message", &Framework::longest_message, quantity(kMessageForm)),
       number("server-models", &Framework::server_models, integer(0, 1'000'000)),
       number("idle-cut", &Framework::idle_cut, quantity(kPauseForm)),
       number("evaluate", &Framework::evaluates, truth()),
       number("sends", &Framework::sends, one_of<Framework::Sends>()),
       number("computing", &Framework::computing, real({.minimum = 0, .maximum = 100, .open_minimum = true}))});
  return kTable;
}

spec::FrameworkSpec read_framework(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  const std::vector<std::string> names = spec::framework_names();
  const std::size_t chosen = node.choice("name", names, 0);
  spec::FrameworkSpec framework;
  const std::string version = node.text("version", "");
  if (node.has("version") && spec::find_framework(names[chosen], version) == nullptr) {
    if (names[chosen] == "none") {
      node.fail_at("version", "needs a framework", "add name=\"…\", or remove it");
    } else {
      node.fail_at("version", fmt::format("is no version of '{}' in the table", names[chosen]),
                   context.findings.suggest(version, spec::framework_versions(names[chosen])));
    }
  } else {
    framework = spec::framework_of_table(names[chosen], version);
  }
  framework_table().read(node, context, framework);
  if (node.has("server-cores") && framework.server_serialise == 0 && framework.server_deserialise == 0)
    node.fail_at("server-cores", "needs server-serialise or server-deserialise",
                 "add one of these attributes, or remove server-cores");
  if (node.has("streams") && framework.serialise == 0 && framework.deserialise == 0 && framework.copy == 0 &&
      framework.server_serialise == 0 && framework.server_deserialise == 0)
    node.fail_at("streams", "needs a rate of packing or unpacking", "add serialise or deserialise");
  return framework;
}

void check_framework(const Element& element, const spec::FrameworkSpec& framework,
                     const std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  const Node node(element, context.findings);
  // True if the framework only changes the duration of computing.
  const bool computes_alone = framework.none() && framework.computing != 1;
  if (!computes_alone && std::ranges::none_of(runs, &spec::RunSpec::communicates)) {
    node.fail("<framework> has no effect: no run exchanges anything", "remove it");
    return;
  }
  const auto sums = [](const spec::RunSpec& run) { return run.event_driven && spec::sums_among_peers(run.parameters); };
  const bool of_server = spec::framework_of_table(framework.name, framework.version).server_serialise > 0;
  if (const auto run = std::ranges::find_if(runs, sums); of_server && run != runs.end()) {
    node.fail(fmt::format("'{}' needs a server and clients, but run '{}' sums among peers", framework.name, run->label),
              "set name=\"hivemind\", or use your own numbers without name and version");
  }
  const auto has_server = [&](const spec::RunSpec& run) {
    return run.event_driven ? !sums(run)
                            : run.communicates && !run.decentralised && run.exchange == spec::ExchangeMode::aggregator;
  };
  const auto is_in_rounds = [](const spec::RunSpec& run) { return run.parameters.contains("over-selection"); };
  const bool has_events = std::ranges::any_of(runs, &spec::RunSpec::event_driven);
  if (std::ranges::none_of(runs, has_server)) {
    for (const char* attribute : std::span(kOfServers).first(has_events ? kOfServers.size() : kOfAnyServers))
      node.refuse(attribute, "has no effect: no run has a server", "remove it, or add a run with an aggregator");
  }
  if (!has_events) {
    for (const char* attribute : kOfEvents)
      node.refuse(attribute, "has no effect: no run is event-driven", "remove it, or add a run such as fedavg");
  } else if (std::ranges::none_of(runs, is_in_rounds)) {
    node.refuse("evaluate", "has no effect: no run works in rounds of selected clients",
                "remove it, or add a run such as fedavg");
  }
}

std::vector<ElementRule> framework_rules() { return {framework_table().rule()}; }

}  // namespace dadsim::scenario

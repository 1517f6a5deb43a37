#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/language/quantity.hpp"

namespace dadsim::scenario {
namespace {

using Framework = spec::FrameworkSpec;

constexpr QuantityForm kRateForm{Unit::bytes_per_second,
                                 {.minimum = 0, .open_minimum = true},
                                 "bytes a second above 0 with their unit, e.g. 80MBps"};
constexpr QuantityForm kPauseForm{Unit::seconds, {.minimum = 0, .maximum = 1e7}, "seconds with their unit, e.g. 5s"};
constexpr QuantityForm kMessageForm{Unit::bytes, {.minimum = 1000}, "bytes with their unit, 1kB at least, e.g. 2GB"};

/// Returns the row of a number that is printed if it differs from the framework's own.
template <class Value>
Row<Framework> number(std::string name, Value Framework::*member, Kind kind, const char* words) {
  Row<Framework> row = attribute(std::move(name), member, std::move(kind), words);
  return std::move(row)
      .printed_if([member](const Framework& framework) {
        return framework.*member != spec::framework_of_table(framework.name, framework.version).*member;
      })
      .without_default()
      .if_left_out("the framework's");
}

/// Attributes that apply to event-driven runs only.
constexpr std::array kOfEvents{"polling", "idle-cut", "evaluate", "sends", "server-models"};
/// Attributes that apply only to runs with a server.
constexpr std::array kOfServers{"server-serialise", "server-deserialise", "server-cores", "aggregate"};

}  // namespace

const Table<Framework>& framework_table() {
  static const Table<Framework> kTable = Table<Framework>(
      "framework",
      "What software adds to what lines carry ([frameworks.md](frameworks.md)): a framework of the table, and numbers "
      "of "
      "one's own in place of its.",
      {attribute("name", &Framework::name, one_of(spec::framework_names()),
                 "A framework that was measured; none: packing, summing and polling take no time.")
           .by_reader(),
       attribute("version", &Framework::version, any_text(), "Of its rows in the table.")
           .by_reader()
           .without_default()
           .printed_if([](const Framework& framework) { return !framework.version.empty(); })
           .if_left_out("the newest"),
       number("serialise", &Framework::serialise, quantity(kRateForm),
              "What a client packs in a second, before a message leaves."),
       number("deserialise", &Framework::deserialise, quantity(kRateForm),
              "What it unpacks in a second, once a message is there."),
       number("server-serialise", &Framework::server_serialise, quantity(kRateForm),
              "What a core of the server packs in a second."),
       number("server-deserialise", &Framework::server_deserialise, quantity(kRateForm),
              "What it unpacks in a second."),
       number(
           "server-cores", &Framework::server_cores, integer(1, 100'000),
           "Messages that the server packs or unpacks at the same time at that rate; more of them share it. One where "
           "a lock of the interpreter is held."),
       number("aggregate", &Framework::aggregate, quantity(kRateForm),
              "What the server takes into its sum in a second, one message after the other: summing, saving, looking "
              "through what came."),
       number("copy", &Framework::copy, quantity(kRateForm),
              "What a client copies in a second between training and the framework's own process, a whole payload each "
              "time that it is exchanged."),
       number(
           "streams", &Framework::streams, truth(),
           "Whether parts of a message are packed, carried and unpacked side by side; otherwise one after the other."),
       number("round", &Framework::round, quantity(kPauseForm),
              "What passes before the server hands out models, whatever is sent; among peers before they exchange: "
              "forming a group."),
       number("per-client", &Framework::per_client, quantity(kPauseForm), "The same for each that takes part."),
       number("polling", &Framework::polling, quantity(kPauseForm),
              "How often a client asks for work: a message from the server leaves when it next does."),
       number("message", &Framework::longest_message, quantity(kMessageForm),
              "The longest message: a run that sends a longer model in one is refused."),
       number("server-models", &Framework::server_models, integer(0, 1'000'000),
              "Models in the server's memory beside one of every client of a round."),
       number(
           "idle-cut", &Framework::idle_cut, quantity(kPauseForm),
           "A connection on which nothing goes for so long is lost, and with it what a client that trained meanwhile "
           "sends next. Some clouds cut after 4 minutes. 0: never."),
       number("evaluate", &Framework::evaluates, truth(),
              "Whether a round's new model goes to its clients once more, to be evaluated there."),
       number(
           "sends", &Framework::sends, one_of<Framework::Sends>(),
           "What of a model goes: its parameters; the saved state, with tied layers twice and running statistics; or "
           "that with the optimizer's state."),
       number("computing", &Framework::computing, real({.minimum = 0, .maximum = 100, .open_minimum = true}),
              "How many times as long what workers compute takes as by their devices' own numbers.")});
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
      node.fail_at("version", "is of no framework", "name=\"…\" beside it");
    } else {
      node.fail_at("version", fmt::format("is no version of '{}' in the table", names[chosen]),
                   context.findings.suggest(version, spec::framework_versions(names[chosen])));
    }
  } else {
    framework = spec::framework_of_table(names[chosen], version);
  }
  framework_table().read(node, context, framework);
  if (node.has("server-cores") && framework.server_serialise == 0 && framework.server_deserialise == 0)
    node.fail_at("server-cores", "does nothing in no time", "server-serialise or server-deserialise beside it");
  if (node.has("streams") && framework.serialise == 0 && framework.deserialise == 0 && framework.copy == 0 &&
      framework.server_serialise == 0 && framework.server_deserialise == 0)
    node.fail_at("streams", "is of packing that takes no time", "serialise or deserialise beside it");
  return framework;
}

void check_framework(const Element& element, const spec::FrameworkSpec& framework,
                     const std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  const Node node(element, context.findings);
  const bool computes_alone = framework.none() && framework.computing != 1;  // only the duration of computing changes
  if (!computes_alone && std::ranges::none_of(runs, &spec::RunSpec::communicates)) {
    node.fail("<framework> means nothing: no run exchanges anything", "remove it");
    return;
  }
  const auto has_server = [](const spec::RunSpec& run) {
    return run.event_driven ||
           (run.communicates && !run.decentralised && run.exchange == spec::ExchangeMode::aggregator);
  };
  const auto is_in_rounds = [](const spec::RunSpec& run) { return run.parameters.contains("over-selection"); };
  if (std::ranges::none_of(runs, has_server)) {
    for (const char* attribute : kOfServers)
      node.refuse(attribute, "means nothing: no run has a server", "remove it, or a run through an aggregator");
  }
  if (std::ranges::none_of(runs, &spec::RunSpec::event_driven)) {
    for (const char* attribute : kOfEvents)
      node.refuse(attribute, "means nothing: no run is event-driven", "remove it, or a run such as fedavg");
  } else if (std::ranges::none_of(runs, is_in_rounds)) {
    node.refuse("evaluate", "means nothing: no run is in rounds in which clients are asked",
                "remove it, or a run such as fedavg");
  }
}

std::vector<ElementRule> framework_rules() { return {framework_table().rule()}; }

}  // namespace dadsim::scenario

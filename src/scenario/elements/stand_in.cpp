#include "scenario/elements/stand_in.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "scenario/elements/elements.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::scenario {
namespace {

Element made(const char* name, std::vector<std::pair<const char*, std::string>> attributes, const Origin& origin,
             std::vector<Element> children = {}) {
  Element element{.name = name, .origin = origin};
  for (auto& [key, value] : attributes) element.attributes.push_back({key, std::move(value), origin});
  element.children = std::move(children);
  return element;
}

/// Refuses <training> attributes without effect on times. Only clip-norm and the optimizer have an effect, by the
/// optimizer's state and by their work.
void check_training(const Node& training) {
  for (const std::string& attribute : find_rule("training")->attribute_names()) {
    if (attribute != "clip-norm")
      training.refuse(attribute, "needs learning, but <timing-only> learns nothing",
                      "remove it: <timed-as> sets the batch, and only the optimizer of <training> is used");
  }
  if (const Element* schedule = training.child("schedule")) {
    Node(*schedule, training.findings())
        .fail("<schedule> needs learning, but <timing-only> learns nothing", "remove it from <training>");
  }
}

/// Returns the number of batches in a client's samples.
std::size_t batches_of(const spec::PayloadSpec& payload, const Element* timed_as, std::size_t workers,
                       const Element& asked, const ReadContext& context) {
  // Largest number of batches of all clients together; each is represented by one sample of a small picture.
  constexpr std::size_t kMostBatches = 50'000;
  if (payload.samples == 0) return 1;
  const Attribute* given = timed_as == nullptr ? nullptr : timed_as->find("batch");
  const std::int64_t batch = given == nullptr ? 1 : parse_whole<std::int64_t>(given->value).value_or(1);
  const auto batches = static_cast<std::size_t>((payload.samples + std::max<std::int64_t>(1, batch) - 1) /
                                                std::max<std::int64_t>(1, batch));
  if (batches * workers <= kMostBatches) return batches;
  Node(asked, context.findings)
      .fail_at("samples", fmt::format("need {} batches for all clients", batches * workers),
               fmt::format("use at most {} in all; local-steps of <run> sets the steps of a client", kMostBatches));
  return 1;
}

}  // namespace

std::optional<StandIn> read_timing_only(const Node& scenario, std::size_t workers, const ReadContext& context) {
  const Element* asked = scenario.child("timing-only");
  if (asked == nullptr) return std::nullopt;
  for (const char* name : {"data", "model", "evaluation", "scale-study"}) {
    if (const Element* beside = scenario.child(name)) {
      Node(*beside, context.findings)
          .fail(fmt::format("<{}> cannot be combined with <timing-only>, which learns nothing", name),
                "remove one of the two; `dadsim --timing-only` times a scenario that has data and a model");
    }
  }
  StandIn stand_in;
  stand_in.payload = timing_only_table().read(Node(*asked, context.findings), context);
  const Element* timed_as = scenario.child("timed-as");
  if (stand_in.payload.bytes > 0 || asked->find("payload") != nullptr) {
    if (timed_as != nullptr)
      context.findings.add(timed_as->origin, "<timed-as> cannot be combined with a payload", "remove one of the two");
  } else if (timed_as == nullptr || (timed_as->find("workload") == nullptr && timed_as->find("file") == nullptr)) {
    context.findings.add(timed_as == nullptr ? asked->origin : timed_as->origin,
                         "<timing-only> needs a network to time",
                         "add <timed-as workload=\"…\" batch=\"…\"/>; `dadsim workloads` lists them");
  } else if (timed_as->find("batch") == nullptr) {
    context.findings.add(timed_as->origin, "<timed-as> lacks 'batch', which <timing-only> needs",
                         "add samples per worker and step, e.g. batch=\"8\"");
  }
  const Origin& origin = asked->origin;
  const auto train = std::to_string(workers * batches_of(stand_in.payload, timed_as, workers, *asked, context));
  // A payload uses only the number of samples; otherwise steps are recorded on the samples.
  Element samples =
      stand_in.payload.bytes > 0
          ? made("tabular", {{"train", train}, {"test", "10"}, {"features", "2"}, {"classes", "10"}}, origin)
          : made("digits", {{"train", train}, {"test", "10"}}, origin);
  stand_in.data = made("data", {}, origin, {std::move(samples), made("split", {{"by", "iid"}}, origin)});
  stand_in.model = made(
      "model", {}, origin,
      {made("dense", {{"units", "16"}, {"activation", "relu"}}, origin), made("dense", {{"units", "10"}}, origin)});
  const std::string steps = std::to_string(kRecordedSteps);
  stand_in.training =
      made("training", {{"batch", "1"}, {"batches", "equal"}, {"epochs", steps}, {"evaluate-every", steps}}, origin);
  if (const Element* training = scenario.child("training")) {
    check_training(Node(*training, context.findings));
    if (const Attribute* norm = training->find("clip-norm")) stand_in.training.attributes.push_back(*norm);
    for (const Element& child : training->children) {
      if (child.name != "schedule") stand_in.training.children.push_back(child);
    }
  }
  return stand_in;
}

void check_stand_in(const Node& scenario, const StandIn& stand_in, const std::vector<spec::RunSpec>& runs,
                    const ReadContext& context) {
  const std::vector<const Element*> elements = scenario.children("run");
  const Node asked(*scenario.child("timing-only"), context.findings);
  if (stand_in.payload.bytes > 0) {
    for (std::size_t i = 0; i < runs.size() && i < elements.size(); ++i) {
      if (runs[i].event_driven) continue;
      Node(*elements[i], context.findings)
          .fail_at("algorithm", "needs steps of a network, but a payload has none",
                   "use <timed-as workload=\"…\" batch=\"…\"/> instead of payload, or an event-driven run");
    }
  }
  if (stand_in.payload.samples > 0 && std::ranges::none_of(runs, &spec::RunSpec::event_driven))
    asked.fail_at("samples", "has no effect: no run is event-driven", "remove it");
}

void check_recorded(const Node& node, const Scenario& scenario, std::size_t workers, const ReadContext& context) {
  const Node timed_as(*node.child("timed-as"), context.findings);
  if (!scenario.stand_in)
    timed_as.fail_at("file", "holds a recorded step, which cannot learn",
                     "use <timing-only/> instead of <data>, <model> and <training>");
  if (workers != scenario.recorded->workers) {
    timed_as.fail_at("file", fmt::format("was recorded on {} devices", scenario.recorded->workers),
                     fmt::format("use the same number of hosts in <workers>, which has {} now", workers));
  }
  if (node.child("failures") != nullptr)
    Node(*node.child("failures"), context.findings)
        .fail("<failures> cannot be combined with a recorded step, which needs all workers", "remove one of the two");
  if (const Element* training = node.child("training"); training != nullptr && scenario.stand_in)
    context.findings.add(training->origin, "<training> needs a network, but a recorded step has none",
                         "remove it from <scenario>");
  constexpr std::array kOfAnyStep{"algorithm", "label", "exchange", "all-reduce", "all-gather", "reduce-scatter"};
  for (const Element* run : node.children("run")) {
    const Node one(*run, context.findings);
    for (const std::string& attribute : find_rule("run")->attribute_names()) {
      if (std::ranges::find(kOfAnyStep, attribute) == kOfAnyStep.end())
        one.refuse(attribute, "has no effect: the recorded step defines what a run sends", "remove it");
    }
    for (const Element& child : run->children) {
      context.findings.add(
          child.origin,
          fmt::format("<{}> has no effect: the recorded step defines what a run sends", printable(child.name)),
          "remove it from <run>");
    }
  }
}

}  // namespace dadsim::scenario

#include "scenario/elements/stand_in.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace dadsim::scenario {
namespace {

Element made(const char* name, std::vector<std::pair<const char*, std::string>> attributes, const Origin& origin,
             std::vector<Element> children = {}) {
  Element element{.name = name, .origin = origin};
  for (auto& [key, value] : attributes) element.attributes.push_back({key, std::move(value), origin});
  element.children = std::move(children);
  return element;
}

/// Of <training> the optimizer means something to times: what it keeps and what it computes.
void check_training(const Node& training) {
  for (const std::string& attribute : find_rule("training")->attribute_names()) {
    if (attribute != "clip-norm")
      training.refuse(attribute, "is of learning, and <timing-only> learns nothing",
                      "the batch is that of <timed-as>; of <training> the optimizer");
  }
  if (const Element* schedule = training.child("schedule")) {
    Node(*schedule, training.findings())
        .fail("<schedule> is of learning, and <timing-only> learns nothing", "<training> without it");
  }
}

}  // namespace

std::optional<StandIn> read_timing_only(const Node& scenario, std::size_t workers, const ReadContext& context) {
  const Element* asked = scenario.child("timing-only");
  if (asked == nullptr) return std::nullopt;
  for (const char* name : {"data", "model", "evaluation", "goal", "scale-study"}) {
    if (const Element* beside = scenario.child(name)) {
      Node(*beside, context.findings)
          .fail(fmt::format("<{}> stands beside <timing-only>, which learns nothing", name),
                "one of both; `dadsim --timing-only` times a scenario that has data and a model");
    }
  }
  const Element* timed_as = scenario.child("timed-as");
  if (timed_as == nullptr || (timed_as->find("workload") == nullptr && timed_as->find("file") == nullptr)) {
    context.findings.add(timed_as == nullptr ? asked->origin : timed_as->origin,
                         "<timing-only> without a network that is timed",
                         "<timed-as workload=\"…\" batch=\"…\"/>; `dadsim workloads` lists them");
  } else if (timed_as->find("batch") == nullptr) {
    context.findings.add(timed_as->origin, "<timed-as> lacks 'batch', and with <timing-only> there is no other",
                         "samples per worker and step, e.g. batch=\"8\"");
  }
  const Origin& origin = asked->origin;
  StandIn stand_in;
  stand_in.data = made("data", {}, origin,
                       {made("digits", {{"train", std::to_string(workers)}, {"test", "10"}}, origin),
                        made("split", {{"by", "iid"}}, origin)});
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

void reject_event_driven(const std::vector<const Element*>& elements, const std::vector<spec::RunSpec>& runs,
                         const ReadContext& context) {
  for (std::size_t i = 0; i < runs.size() && i < elements.size(); ++i) {
    if (!runs[i].event_driven) continue;
    Node(*elements[i], context.findings)
        .fail_at("algorithm",
                 not_built("is event-driven: what it does depends on how many samples each site has",
                           "<data> and <model> in the place of <timing-only>, and `dadsim --timing-only`"));
  }
}

}  // namespace dadsim::scenario

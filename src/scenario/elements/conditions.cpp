#include "scenario/elements/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "scenario/language/quantity.hpp"

namespace dadsim::scenario {
namespace {

using Absence = spec::AbsenceSpec;
using Conditions = spec::ConditionsSpec;

bool takes_steps(const spec::RunSpec& run) { return run.communicates && !run.event_driven; }

std::optional<Fault> takes_no_steps(const Node&, const spec::RunSpec& run) {
  if (takes_steps(run)) return std::nullopt;
  return Fault{fmt::format("has no effect with '{}'", run.algorithm),
               run.event_driven ? "remove it: the method defines its own reaction to failures"
                                : "remove it: its sites exchange nothing"};
}

bool is_drawn_in_steps(const spec::FailureSpec& what) {
  return std::ranges::any_of(
      what.availability, [](const spec::AvailabilitySpec& one) { return one.by == spec::AvailabilitySpec::By::steps; });
}

/// Reports a layout in which every worker holds a part of the network that no other worker has, so that one failure
/// stops all.
std::optional<Fault> takes_a_part_with_it(const spec::ParallelismSpec& how) {
  const auto fault = [](const char* part, const char* attributes) {
    return Fault{fmt::format("skips absent workers, but each worker has {} that no other worker has", part),
                 fmt::format("use <timed-as> without {}", attributes)};
  };
  if (how.experts > 1 && how.of_stage() % (how.experts * how.expert_tensor) != 0)
    return fault("experts", "expert-parallel, expert-imbalance, expert-capacity and expert-tensor");
  if (how.sharding != spec::Sharding::none && how.sharding_group != 1)
    return fault("a part of the states", "sharding, sharding-group and prefetch");
  return std::nullopt;
}

}  // namespace

Row<spec::RunSpec> weights_row() { return attribute("weights", &spec::RunSpec::weights).if_given(); }

Row<spec::RunSpec> failures_row() {
  return within(&spec::RunSpec::conditions, attribute("failures", &Conditions::failures)).if_given();
}

Row<spec::RunSpec> availability_row() {
  return within(&spec::RunSpec::conditions, attribute("availability", &Conditions::availability)).if_given();
}

Row<spec::RunSpec> jitter_row() {
  return within(&spec::RunSpec::conditions, attribute("jitter", &Conditions::jitter)).if_given();
}

Row<spec::RunSpec> absent_row() {
  return within(&spec::RunSpec::absence, attribute("absent", &Absence::does)).if_given().refused_if(takes_no_steps);
}

Row<spec::RunSpec> absent_patience_row() {
  return within(&spec::RunSpec::absence, attribute("absent-patience", &Absence::patience, quantity(kDurationForm)))
      .only([](const spec::RunSpec& run) { return run.absence.does == Absence::Does::retry; }, "needs absent=\"retry\"",
            "set absent=\"retry\", or remove it");
}

Row<spec::RunSpec> absent_weights_row() {
  return within(&spec::RunSpec::absence, attribute("absent-weights", &Absence::estimate))
      .only([](const spec::RunSpec& run) { return run.absence.goes_without(); },
            "needs absent=\"without\" or \"retry\"", "set absent=\"without\" or \"retry\", or remove it");
}

void read_conditions(const Node& run, const PlacedHosts& placed, const ReadContext& context, spec::RunSpec& into) {
  const bool own = run.child("failures") != nullptr || !run.children("availability").empty();
  if (!own) return;
  if (into.conditions.failures == Conditions::Of::none || into.conditions.availability == Conditions::Of::none) {
    run.fail("<run> has its own <failures> or <availability>, but also failures=\"none\" or availability=\"none\"",
             "remove one of the two");
  }
  into.conditions.own = read_failures(run, placed, context);
}

std::string conditions_label(const spec::RunSpec& run) {
  std::string label;
  if (run.conditions.failures == Conditions::Of::none) label += ", no failures";
  if (run.conditions.availability == Conditions::Of::none) label += ", always there";
  if (run.conditions.jitter == Conditions::Of::none) label += ", no jitter";
  if (run.conditions.own) label += ", failures of its own";
  return label;
}

void check_conditions(const Scenario& scenario, const std::vector<const Element*>& elements,
                      const ReadContext& context) {
  if (elements.size() != scenario.runs.size()) return;  // a faulty run has been reported already
  // State profiles inside a platform file are not checked here, because their contents are unknown.
  const bool of_file = std::holds_alternative<spec::PlatformFileSpec>(scenario.platform.what);
  bool checkpoints_used = false;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Node node(*elements[i], context.findings);
    const spec::RunSpec& run = scenario.runs[i];
    const spec::FailureSpec& all = scenario.failures;
    if (run.conditions.failures == Conditions::Of::none && !of_file && all.random.empty() && all.outages.empty() &&
        all.checkpoints.empty()) {
      node.fail_at("failures", "has no effect: the scenario has no <failures>", "remove it");
    }
    if (run.conditions.availability == Conditions::Of::none && all.availability.empty()) {
      node.fail_at("availability", "has no effect: the scenario has no <availability>", "remove it");
    }
    if (run.conditions.jitter == Conditions::Of::none && scenario.network.jitter == spec::JitterSpec{}) {
      node.fail_at("jitter", "has no effect: <network> has no <jitter>", "remove it");
    }
    const spec::FailureSpec what = run.conditions.failures_of(all);
    checkpoints_used = checkpoints_used || run.event_driven || run.absence.does == Absence::Does::restart;
    if (is_drawn_in_steps(what) && run.event_driven) {
      node.fail(fmt::format("<availability by=\"steps\"> needs a method with steps, unlike '{}'", run.algorithm),
                "use by=\"sessions\", or availability=\"none\" for this run");
    }
    if (!takes_steps(run)) continue;
    if (scenario.timed_as && run.absence.goes_without()) {
      if (std::optional<Fault> fault = takes_a_part_with_it(scenario.timed_as->parallelism))
        node.fail_at("absent", *std::move(fault));
    }
    if (is_drawn_in_steps(what) && !run.absence.goes_without()) {
      node.fail("<availability by=\"steps\"> needs a run that continues without absent sites",
                "set absent=\"without\" for this run, or by=\"sessions\"");
    }
    if (run.absence.does == Absence::Does::retry && !what.has_dates()) {
      node.fail_at("absent", "needs outages at given times, but <availability by=\"steps\"> draws the missed steps",
                   "set absent=\"without\"");
    }
    if (run.absence.does == Absence::Does::restart && what.checkpoints.empty()) {
      node.fail_at("absent", "needs a checkpoint to restart from", "add a <checkpoint> to <failures>");
    }
    const bool says_so = node.has("absent") && run.absence.does != Absence::Does::wait;
    if (says_so && !of_file && !what.has_dates() && !is_drawn_in_steps(what)) {
      node.fail_at("absent", "has no effect: no site is ever absent in this run", "add <failures> or <availability>");
    }
  }
  if (!scenario.failures.checkpoints.empty() && !checkpoints_used && !elements.empty()) {
    Node(*elements.front(), context.findings)
        .fail("<checkpoint> has no effect: no run restarts from a checkpoint",
              "use an event-driven run, or absent=\"restart\"; or remove the <checkpoint>");
  }
}

}  // namespace dadsim::scenario

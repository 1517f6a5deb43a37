#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "scenario/overrides.hpp"
#include "scenario/quantity.hpp"
#include "scenario/read.hpp"
#include "scenario/read_varied.hpp"

namespace dadsim::scenario {
namespace {

constexpr Range kAmount{.minimum = 0, .maximum = 1e15, .open_minimum = true};
constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kGramsPerKilogram = 1e3;

class GoalReader {
 public:
  GoalReader(const Element& element, const Scenario& scenario, const ReadContext& context)
      : node_(element, context.findings), scenario_(scenario), context_(context) {}

  spec::GoalSpec read() {
    if (node_.has("accuracy"))
      goal_.accuracy = node_.real("accuracy", {.minimum = 0, .maximum = 1, .open_minimum = true});
    if (node_.has("within")) goal_.seconds = required_quantity(node_, "within", kDurationForm, context_.catalog);
    read_limit("cost", 1, goal_.money);
    read_limit("energy-kwh", kJoulesPerKwh, goal_.joules);
    read_limit("carbon-kg", kGramsPerKilogram, goal_.carbon);
    read_run();
    for (const Element* child : node_.children("allow")) read_allow(*child);
    return std::move(goal_);
  }

 private:
  void read_limit(const char* attribute, double factor, std::optional<double>& limit) {
    if (!node_.has(attribute)) return;
    if (const std::optional<double> value = node_.real(attribute, kAmount)) limit = *value * factor;
    if (!scenario_.costs) node_.fail_at(attribute, "is a limit on what is not told", "<costs> in the scenario");
  }

  void read_run() {
    goal_.run = node_.text("run", "");
    if (goal_.run.empty()) return;
    std::vector<std::string> labels;
    for (const spec::RunSpec& run : scenario_.runs) labels.push_back(run.label);
    if (std::ranges::find(labels, goal_.run) == labels.end())
      node_.fail_at("run", "is no label of a run", context_.findings.suggest(goal_.run, labels));
  }

  void read_allow(const Element& element) {
    const Node node(element, context_.findings);
    spec::AllowedChange change;
    change.varied.line = element.origin.line;
    change.varied.path = node.required_text("path", "a path as in --set, e.g. training.batch").value_or("");
    if (!change.varied.path.empty()) {
      if (!is_override_path(change.varied.path)) {
        node.fail_at("path", "is no path",
                     "names with dots between them and selectors in brackets, as in --set, e.g. run[2].cap");
      } else if (change.varied.path.starts_with("goal.") || change.varied.path.starts_with("sweep.")) {
        node.fail_at("path", "is of the question itself", "a path of the rest of the scenario");
      } else if (!paths_.insert(change.varied.path).second) {
        node.fail_at("path", "is allowed already", "each path once");
      }
    }
    if (node.has("values")) {
      for (const char* other : {"from", "to", "whole", "prefer"})
        node.refuse(other, "stands beside values=\"…\"", "a list of values, or a range");
      change.varied.values = values_of(node.text("values", ""));
      if (change.varied.values.empty()) node.fail_at("values", "is empty", "values with spaces between them");
    } else if (node.has("from") || node.has("to")) {
      read_range(node, change);
    } else {
      node.fail("<allow> lacks 'values'", "values=\"16 32 64\", or from=\"1\" to=\"1000\"");
    }
    read_form(node, change.varied);
    goal_.allowed.push_back(std::move(change));
  }

  void read_range(const Node& node, spec::AllowedChange& change) {
    constexpr Range kNumber{.minimum = 0, .maximum = kLargestWhole};
    const std::size_t before = context_.findings.added();
    change.varied.whole = node.boolean("whole", false);
    change.varied.from = node.real("from", kNumber).value_or(1);
    change.varied.to = node.real("to", kNumber).value_or(2);
    if (context_.findings.added() == before && change.varied.from >= change.varied.to)
      node.fail_at("to", "is not above from", "the smaller number first");
    change.prefers_least = node.choice("prefer", std::array<std::string, 2>{"least", "most"}, 0) == 0;
  }

  Node node_;
  const Scenario& scenario_;
  const ReadContext& context_;
  spec::GoalSpec goal_;
  std::set<std::string> paths_;
};

}  // namespace

spec::GoalSpec read_goal(const Element& element, const Scenario& scenario, const ReadContext& context) {
  return GoalReader(element, scenario, context).read();
}

}  // namespace dadsim::scenario

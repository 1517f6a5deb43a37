#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_axes.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "scenario/language/overrides.hpp"

namespace dadsim::scenario {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kGramsPerKilogram = 1e3;
constexpr double kWattsPerKilowatt = 1e3;
constexpr std::int64_t kMostGpus = 10'000'000;
constexpr std::int64_t kMostSamples = 1'000'000'000;

/// Returns the row of a limit whose written unit differs from its stored unit.
Row<spec::GoalSpec> limit(const char* name, std::optional<double> spec::GoalSpec::*member, double factor) {
  Row<spec::GoalSpec> row = attribute(name, member, real({.minimum = 0, .maximum = 1e15, .open_minimum = true}));
  row.read = [member, factor, read = row.read](const Node& node, const ReadContext& context, spec::GoalSpec& goal) {
    read(node, context, goal);
    if (goal.*member) *(goal.*member) *= factor;
  };
  row.text = [member, factor](const spec::GoalSpec& goal, const PathText&) {
    return goal.*member ? fmt::format("{}", *(goal.*member) / factor) : std::string();
  };
  return row;
}

bool allows_range(const spec::AllowedChange& change) { return change.varied.values.empty(); }

const Table<spec::AllowedChange>& allow_table() {
  using Spec = spec::AllowedChange;
  static const Table<Spec> kTable =
      Table<Spec>(
          "allow",
          "A change that the plan may make: a value of a list, a number of a range, or a layout of the network. The "
          "first range is searched to three digits, other ranges at seven numbers.",
          {within(&Spec::varied,
                  attribute("path", &spec::VariedPath::path, text("a path as in --set, e.g. training.batch"))
                      .by_reader()
                      .if_left_out("`layout` instead")),
           by_code<Spec>(attribute("values", text()), {},
                         [](const Spec& one, const PathText&) { return values_text(one.varied.values); })
               .printed_if([](const Spec& one) { return !allows_range(one); }),
           within(&Spec::varied,
                  attribute("from", &spec::VariedPath::from, real({.minimum = 0, .maximum = kLargestWhole})))
               .printed_if(allows_range)
               .by_reader()
               .without_default(),
           within(&Spec::varied, attribute("to", &spec::VariedPath::to, real({.minimum = 0, .maximum = kLargestWhole})))
               .printed_if(allows_range)
               .by_reader()
               .without_default(),
           within(&Spec::varied, attribute("whole", &spec::VariedPath::whole)).printed_if(allows_range).by_reader(),
           by_code<Spec>(
               attribute("prefer", one_of({"least", "most"})), {},
               [](const Spec& one, const PathText&) { return std::string(one.prefers_least ? "least" : "most"); })
               .printed_if(allows_range)
               .if_left_out("`least`"),
           by_code<Spec>(attribute("unit", text())),
           within(&Spec::varied, attribute("form", &spec::VariedPath::form, text())).if_given().by_reader(),
           by_code<Spec>(attribute("layout", one_of({"any"}))),
           by_code<Spec>(
               attribute("global-batch", integer(1, kMostSamples)).if_left_out("the global batch of the scenario"))})
          .repeats();
  return kTable;
}

const Table<spec::GoalSpec>& goal_table() {
  using Spec = spec::GoalSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "goal", "The goal of dadsim plan, and the changes that it may make.",
          {attribute("accuracy", &Spec::accuracy, real(kPositiveShare))
               .if_left_out("the target of `<training>`; with `<timing-only>` the end of the work"),
           attribute("within", &Spec::seconds, quantity(kDurationForm)).if_left_out("no limit"),
           limit("cost", &Spec::money, 1).if_left_out("no limit"),
           limit("energy-kwh", &Spec::joules, kJoulesPerKwh).if_left_out("no limit"),
           limit("carbon-kg", &Spec::carbon, kGramsPerKilogram).if_left_out("no limit"),
           attribute("memory", &Spec::memory, quantity(kBytesForm)).if_left_out("the device's memory"),
           limit("power-kw", &Spec::watts, kWattsPerKilowatt).if_left_out("no limit"),
           attribute("gpus", &Spec::devices, integer(1, kMostGpus)).if_left_out("no limit"),
           attribute("throughput", &Spec::throughput, real({.minimum = 0, .maximum = 1e15, .open_minimum = true}))
               .if_left_out("no limit"),
           attribute("scaling", &Spec::scaling, real(kPositiveShare)).if_left_out("no limit"),
           attribute("objective", &Spec::objective).if_given(),
           attribute("against", &Spec::against, one_of<spec::Objective>()).if_left_out("none"),
           attribute("run", &Spec::run, any_text()).if_given().if_left_out("any that shares")})
          .holds({"allow"});
  return kTable;
}

class GoalReader {
 public:
  GoalReader(const Element& element, const Scenario& scenario, const ReadContext& context)
      : node_(element, context.findings), scenario_(scenario), context_(context) {}

  spec::GoalSpec read() {
    goal_table().read(node_, context_, goal_);
    for (const char* limit : {"cost", "energy-kwh", "carbon-kg", "power-kw"}) {
      if (node_.has(limit) && !scenario_.costs) node_.fail_at(limit, "needs costs", "add <costs> to the scenario");
    }
    check_timing();
    check_objectives();
    check_run();
    for (const Element* child : node_.children("allow")) read_allow(*child);
    if (goal_.layouts) check_layouts();
    return std::move(goal_);
  }

 private:
  void check_timing() {
    if (scenario_.stand_in) {
      node_.refuse("accuracy", "needs learning, but <timing-only> learns nothing",
                   "remove it: <timed-as> sets the work (tokens, samples, epochs or steps)");
    } else {
      node_.refuse("scaling", "needs <timing-only>", "use <timing-only> instead of <data> and <model>");
    }
  }

  void check_objectives() {
    const auto is_of_costs = [](spec::Objective one) {
      return one != spec::Objective::automatic && one != spec::Objective::quickest;
    };
    if (is_of_costs(goal_.objective) && !scenario_.costs)
      node_.fail_at("objective", "needs costs", "add <costs> to the scenario");
    if (!goal_.against) return;
    if (is_of_costs(*goal_.against) && !scenario_.costs)
      node_.fail_at("against", "needs costs", "add <costs> to the scenario");
    if (goal_.objective == spec::Objective::automatic || goal_.against == spec::Objective::automatic) {
      node_.fail_at("against", "needs two named objectives", "set objective=\"cheapest\" against=\"quickest\"");
    } else if (goal_.against == goal_.objective) {
      node_.fail_at("against", "is the same as objective", "set objective=\"cheapest\" against=\"quickest\"");
    }
  }

  void check_run() {
    if (goal_.run.empty()) {
      if (!scenario_.runs.empty() && std::ranges::none_of(scenario_.runs, &spec::RunSpec::communicates))
        node_.fail("<goal> needs a run with sharing", "add a run of another algorithm, or remove <goal>");
      return;
    }
    std::vector<std::string> labels;
    for (const spec::RunSpec& run : scenario_.runs) labels.push_back(run.label);
    if (std::ranges::find(labels, goal_.run) == labels.end())
      node_.fail_at("run", "is not the label of a run", context_.findings.suggest(goal_.run, labels));
  }

  /// Reads <allow layout="any">: the network may be divided differently.
  void read_layouts(const Node& node) {
    for (const char* other : {"path", "values", "from", "to", "whole", "prefer", "unit", "form"})
      node.refuse(other, "cannot be combined with layout=\"any\"", "use a separate <allow>");
    if (goal_.layouts) node.fail_at("layout", "is allowed already", "keep one <allow layout=\"any\">");
    node.chosen("layout");
    goal_.layouts.emplace();
    if (node.has("global-batch")) goal_.layouts->global_batch = node.integer("global-batch");
    if (!scenario_.timed_as || scenario_.timed_as->workload.empty()) {
      node.fail_at("layout", "needs a workload that defines how its layers divide",
                   "set <timed-as workload=\"…\"> to one of `dadsim workloads`");
    }
    for (const spec::RunSpec& run : scenario_.runs) {
      const bool asked = goal_.run.empty() ? run.communicates : run.label == goal_.run;
      if (asked && run.event_driven) {
        node.fail_at("layout",
                     not_built(fmt::format("needs a run with steps, and '{}' is event-driven", printable(run.label)),
                               "set run=\"…\" of <goal> to the label of a run with steps"));
      }
    }
  }

  void check_layouts() {
    for (const Element* child : node_.children("allow")) {
      const Node node(*child, context_.findings);
      if (sets_layout(node.text("path", "")))
        node.fail_at("path", "is searched by layout=\"any\" already", "remove one of the two");
    }
  }

  void read_allow(const Element& element) {
    const Node node(element, context_.findings);
    if (node.has("layout")) return read_layouts(node);
    node.refuse("global-batch", "needs layout=\"any\"", "add layout=\"any\", or remove it");
    spec::AllowedChange change;
    change.varied.line = element.origin.line;
    change.varied.path = node.required_text("path", "a path as in --set, e.g. training.batch").value_or("");
    if (!change.varied.path.empty()) {
      if (!is_override_path(change.varied.path)) {
        node.fail_at("path", "is not a path",
                     "use names with dots between them and selectors in brackets, as in --set, e.g. run[2].cap");
      } else if (change.varied.path.starts_with("goal.") || change.varied.path.starts_with("sweep.")) {
        node.fail_at("path", "belongs to <goal> or <sweep>", "use another path of the scenario");
      } else if (!paths_.insert(change.varied.path).second) {
        node.fail_at("path", "is allowed already", "use each path once");
      }
    }
    if (node.has("values")) {
      for (const char* other : {"from", "to", "whole", "prefer"})
        node.refuse(other, "cannot be combined with values=\"…\"", "give a list of values, or a range");
      change.varied.values = values_of(node.text("values", ""));
      if (change.varied.values.empty()) node.fail_at("values", "is empty", "list values with spaces between them");
    } else if (node.has("from") || node.has("to")) {
      read_range(node, change);
    } else {
      node.fail("<allow> lacks 'values'", "add values=\"16 32 64\", or from=\"1\" to=\"1000\"");
    }
    read_form(node, change.varied);
    goal_.allowed.push_back(std::move(change));
  }

  void read_range(const Node& node, spec::AllowedChange& change) {
    const std::size_t before = context_.findings.added();
    change.varied.whole = node.boolean("whole", false);
    change.varied.from = node.real("from").value_or(1);
    change.varied.to = node.real("to").value_or(2);
    if (context_.findings.added() == before && change.varied.from >= change.varied.to)
      node.fail_at("to", "is not above 'from'", "put the smaller number first");
    change.prefers_least = node.chosen("prefer") == 0;
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

void write_goal(XmlWriter& xml, const spec::GoalSpec& goal) {
  XmlWriter::Open element(xml, "goal");
  goal_table().print_attributes(element, goal, {});
  for (const spec::AllowedChange& change : goal.allowed) allow_table().print(xml, change, {});
  if (!goal.layouts) return;
  XmlWriter::Open layouts(xml, "allow");
  layouts.set("layout", "any");
  if (goal.layouts->global_batch) layouts.set("global-batch", *goal.layouts->global_batch);
}

std::vector<ElementRule> goal_rules() { return {goal_table().rule(), allow_table().rule()}; }

}  // namespace dadsim::scenario

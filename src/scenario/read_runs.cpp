#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "scenario/read.hpp"

namespace dadsim {
namespace {

constexpr std::size_t kMaxRuns = 1000;
constexpr std::size_t kMaxLabel = 100;  // bytes

/// The value of a parameter in its shortest form, checked.
std::string read_parameter(const Node& node, const ParameterSpec& parameter) {
  switch (parameter.type) {
    case ParameterSpec::Type::integer: {
      const std::int64_t fallback = parse_integer(parameter.default_value).value_or(0);
      return std::to_string(node.integer(parameter.name, static_cast<std::int64_t>(parameter.minimum),
                                         static_cast<std::int64_t>(parameter.maximum), fallback));
    }
    case ParameterSpec::Type::real: {
      const double fallback = parse_real(parameter.default_value).value_or(0);
      return fmt::format(
          "{}", node.real(parameter.name, {.minimum = parameter.minimum, .maximum = parameter.maximum}, fallback));
    }
    case ParameterSpec::Type::choice: {
      const auto fallback = std::ranges::find(parameter.choices, parameter.default_value) - parameter.choices.begin();
      return parameter.choices.at(node.choice(parameter.name, parameter.choices, static_cast<std::size_t>(fallback)));
    }
  }
  throw std::logic_error("unknown type of parameter");
}

void check_parameter_names(const Node& node, const Catalog::Algorithm& algorithm, const ReadContext& context) {
  std::vector<std::string> known = {"algorithm", "label", "exchange"};
  for (const ParameterSpec& parameter : algorithm.parameters) known.push_back(parameter.name);
  for (const Attribute& attribute : node.element().attributes) {
    if (attribute.name.find(':') != std::string::npos || attribute.name == "xmlns") continue;  // refused already
    if (std::ranges::find(known, attribute.name) != known.end()) continue;
    std::vector<std::string> owners;
    for (const Catalog::Algorithm& other : context.catalog.algorithms) {
      if (std::ranges::find(other.parameters, attribute.name, &ParameterSpec::name) != other.parameters.end())
        owners.push_back(other.name);
    }
    context.findings.add(attribute.origin,
                         fmt::format("'{}' has no parameter '{}'", algorithm.name, printable(attribute.name)),
                         owners.empty() ? context.findings.suggest(attribute.name, known)
                                        : fmt::format("only {} has it", fmt::join(owners, ", ")));
  }
}

Topology read_exchange(const Node& node, const Catalog::Algorithm& algorithm, bool has_aggregator) {
  static const std::array<std::string, 2> kExchanges = {"aggregator", "peer"};
  const Topology fallback = has_aggregator ? Topology::aggregator : Topology::peer;
  if (!algorithm.communicates) {
    node.refuse("exchange", fmt::format("means nothing to '{}'", algorithm.name), "remove it: nothing is exchanged");
    return fallback;
  }
  const auto exchange = static_cast<Topology>(node.choice("exchange", kExchanges, static_cast<std::size_t>(fallback)));
  if (exchange == Topology::aggregator && !has_aggregator) {
    node.fail_at("exchange", "needs an aggregator", "an <aggregator> in <workers>, or exchange=\"peer\"");
  }
  return exchange;
}

/// Labels for the runs that have none: the algorithm, told apart by what differs between its runs, then by a number.
void complete_labels(std::vector<RunSpec>& runs) {
  std::set<std::string> taken;
  for (const RunSpec& run : runs) taken.insert(run.label);
  for (RunSpec& run : runs) {
    if (!run.label.empty()) continue;
    std::string label = run.algorithm;
    const auto differs = [&](auto&& value) {
      return std::ranges::any_of(
          runs, [&](const RunSpec& other) { return other.algorithm == run.algorithm && value(other) != value(run); });
    };
    for (const auto& parameter : run.parameters) {
      const std::string& name = parameter.first;
      if (differs([&](const RunSpec& other) { return other.parameters.at(name); }))
        label += fmt::format(", {} {}", name, parameter.second);
    }
    if (differs([](const RunSpec& other) { return other.topology; }))
      label += fmt::format(", {}", to_string(run.topology));
    const std::string stem = label;
    for (int number = 2; !taken.insert(label).second; ++number) label = fmt::format("{} ({})", stem, number);
    run.label = label;
  }
}

}  // namespace

std::vector<RunSpec> read_runs(const Node& scenario, bool has_aggregator, const ReadContext& context) {
  const std::vector<const Element*> elements = scenario.children("run");
  std::vector<RunSpec> runs;
  if (elements.empty())
    scenario.fail("<scenario> lacks <run>", "at least one, e.g. <run algorithm=\"gradient-sharing\"/>");
  if (elements.size() > kMaxRuns) {
    scenario.fail(fmt::format("{} <run>", elements.size()), fmt::format("at most {}", kMaxRuns));
  }
  std::vector<std::string> names;
  for (const Catalog::Algorithm& algorithm : context.catalog.algorithms) names.push_back(algorithm.name);

  std::set<std::string> labels;
  for (const Element* element : elements) {
    const Node node(*element, context.findings);
    RunSpec run;
    if (node.has("label")) {
      run.label = node.required_text("label", "a name for the run").value_or("");
      if (run.label.size() > kMaxLabel)
        node.fail_at("label", fmt::format("has {} bytes", run.label.size()), fmt::format("at most {}", kMaxLabel));
      if (!run.label.empty() && !labels.insert(run.label).second)
        node.fail_at("label", "is taken by another run", "labels are unique");
    }
    const std::optional<std::string> name = node.required_text("algorithm", context.findings.suggest("", names));
    if (!name) continue;
    const auto algorithm = std::ranges::find(context.catalog.algorithms, *name, &Catalog::Algorithm::name);
    if (algorithm == context.catalog.algorithms.end()) {
      node.fail_at("algorithm", "is unknown", context.findings.suggest(*name, names));
      continue;
    }
    run.algorithm = *name;
    run.communicates = algorithm->communicates;
    run.topology = read_exchange(node, *algorithm, has_aggregator);
    for (const ParameterSpec& parameter : algorithm->parameters)
      run.parameters[parameter.name] = read_parameter(node, parameter);
    check_parameter_names(node, *algorithm, context);
    runs.push_back(std::move(run));
  }
  if (runs.size() <= kMaxRuns) complete_labels(runs);
  return runs;
}

}  // namespace dadsim

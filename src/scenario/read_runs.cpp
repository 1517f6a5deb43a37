#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "scenario/quantity.hpp"
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
  std::vector<std::string> known = find_rule("run")->attributes;
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

/// How the collectives are carried out.
void read_collectives(const Node& node, const Catalog::Algorithm& algorithm, RunSpec& run, const ReadContext& context) {
  if (!algorithm.communicates) {
    for (const char* attribute : {"all-reduce", "all-gather", "bucket"}) {
      node.refuse(attribute, fmt::format("means nothing to '{}'", algorithm.name), "remove it: nothing is exchanged");
    }
    return;
  }
  const auto choose = [&](const char* attribute, const std::vector<std::string>& choices, std::string& chosen) {
    if (!node.has(attribute)) return;
    chosen = node.text(attribute, chosen);
    if (std::ranges::find(choices, chosen) != choices.end()) return;
    node.fail_at(attribute, "is unknown", context.findings.suggest(chosen, choices));
  };
  choose("all-reduce", context.catalog.all_reduces, run.all_reduce);
  choose("all-gather", context.catalog.all_gathers, run.all_gather);
  constexpr QuantityForm kBucket{
      Catalog::Unit::bytes, {.minimum = 0}, "bytes with their unit, e.g. 25MB, or 0 for no buckets"};
  run.bucket_bytes = quantity(node, "bucket", kBucket, run.bucket_bytes, context.catalog);
}

std::string bucket_label(double bytes) {
  return bytes > 0 ? fmt::format("buckets of {:g} MB", bytes / 1e6) : "no buckets";
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
    if (differs([](const RunSpec& other) { return other.all_reduce; })) {
      label += fmt::format(", all-reduce {}", run.all_reduce);
    }
    if (differs([](const RunSpec& other) { return other.all_gather; })) {
      label += fmt::format(", all-gather {}", run.all_gather);
    }
    if (differs([](const RunSpec& other) { return other.bucket_bytes; })) {
      label += ", " + bucket_label(run.bucket_bytes);
    }
    // Room for " (1000)"; the registries' names and values are ASCII.
    constexpr std::size_t kMaxStem = kMaxLabel - 7;
    const std::string mark = "…";
    const std::string stem = label.size() <= kMaxStem ? label : label.substr(0, kMaxStem - mark.size()) + mark;
    if (label.size() > kMaxLabel) label = stem;
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
    read_collectives(node, *algorithm, run, context);
    for (const ParameterSpec& parameter : algorithm->parameters)
      run.parameters[parameter.name] = read_parameter(node, parameter);
    check_parameter_names(node, *algorithm, context);
    runs.push_back(std::move(run));
  }
  if (runs.size() <= kMaxRuns) complete_labels(runs);
  return runs;
}

}  // namespace dadsim

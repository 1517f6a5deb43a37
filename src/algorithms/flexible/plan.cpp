#include "algorithms/flexible/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "algorithms/exact/local_gradient.hpp"
#include "algorithms/methods.hpp"
#include "models/network.hpp"
#include "support/pattern.hpp"

namespace dadsim::algorithms {
namespace {

/// Names in the order of Statistic.
constexpr std::array<const char*, 5> kStatistics = {"gradient", Dad::kName, Edad::kName, RankDad::kName, "none"};

/// Returns the network's numbers of the matrices that multiply rows.
std::vector<std::size_t> rows_matrices(const models::Network& network) {
  std::vector<std::size_t> numbers;
  for (std::size_t m = 0; m < network.layers(); ++m) {
    if (!network.layer(m).embedding) numbers.push_back(m);
  }
  return numbers;
}

bool shares_rows(const LayerPlan& plan) {
  return plan.statistic == Statistic::dad || plan.statistic == Statistic::edad;
}

/// Checks whether the Δ of layer l can be recomputed; none: no fault.
std::optional<RunFault> fault_of_edad(const std::vector<LayerPlan>& plan, const std::vector<std::string>& names,
                                      const std::vector<std::size_t>& matrices, const models::Network& network,
                                      std::size_t l) {
  const bool next_is_next = matrices[l + 1] == matrices[l] + 1;
  if (!next_is_next || !network.chained(matrices[l])) {
    return RunFault{plan[l].rule, fmt::format("the Δ of '{}' cannot be recomputed", names[l]),
                    fmt::format("set statistic=\"{}\" for this layer; {} needs the last layer, or a dense layer "
                                "followed by its activation and another dense layer",
                                Dad::kName, Edad::kName)};
  }
  if (!shares_rows(plan[l + 1])) {
    return RunFault{
        plan[l].rule,
        fmt::format("the Δ of '{}' is recomputed from the rows of '{}', which are not shared", names[l], names[l + 1]),
        fmt::format("set statistic=\"{0}\" or \"{1}\" for '{2}' too, or statistic=\"{0}\" for '{3}'", Dad::kName,
                    Edad::kName, names[l + 1], names[l])};
  }
  if (plan[l + 1].every != plan[l].every) {
    return RunFault{plan[l].rule,
                    fmt::format("the Δ of '{}' is recomputed from the rows of '{}', which are shared every {} steps",
                                names[l], names[l + 1], plan[l + 1].every),
                    fmt::format("every=\"{}\" for both", plan[l + 1].every)};
  }
  return {};
}

/// Checks the average of Δ; none: no fault.
std::optional<RunFault> fault_of_average(const spec::RunSpec& run, const std::vector<LayerPlan>& plan,
                                         const std::vector<std::string>& names, const models::Network& network) {
  const std::string& name = run.average_deltas_above;
  const std::optional<std::size_t> layer = averaged_layer(run, network);
  if (!layer) {
    return RunFault{RunFault::kAverageOfDeltas,
                    fmt::format("no layer with a matrix that multiplies rows is called '{}'", name),
                    fmt::format("one of {}", fmt::join(names, ", "))};
  }
  for (std::size_t l = 0; l <= *layer; ++l) {
    if (plan[l].statistic != Statistic::none) {
      return RunFault{
          RunFault::kAverageOfDeltas,
          fmt::format("'{}' is shared, but is at or below '{}', whose deltas are averaged", names[l], name),
          fmt::format(
              "add <share layers=\"{}\" statistic=\"none\"/>: layers at or below averaged deltas are not shared",
              names[l])};
    }
  }
  if (*layer + 1 == plan.size()) {
    return RunFault{RunFault::kAverageOfDeltas, fmt::format("there is no layer above '{}' to share", name),
                    "name a layer below the last"};
  }
  for (const spec::LayerShape& shape : network.shape().layers) {
    if (shape.kind == spec::LayerKind::recurrence || shape.kind == spec::LayerKind::attention) {
      return RunFault{RunFault::kAverageOfDeltas,
                      fmt::format("the deltas of '{}', a recurrent or attention layer, cannot be averaged", shape.name),
                      "use a network of dense layers and convolutions"};
    }
  }
  return {};
}

}  // namespace

const char* to_string(Statistic statistic) { return kStatistics.at(static_cast<std::size_t>(statistic)); }

Statistic statistic_of(const std::string& name) {
  const auto found = std::ranges::find(kStatistics, name);
  if (found == kStatistics.end()) throw std::logic_error("unknown statistic '" + name + "'");
  return static_cast<Statistic>(found - kStatistics.begin());
}

bool is_exact(Statistic statistic) { return statistic != Statistic::rank_dad && statistic != Statistic::none; }

std::vector<std::string> shared_layer_names(const models::Network& network) {
  std::vector<std::string> names;
  for (const spec::LayerShape& layer : network.shape().layers) {
    if (layer.has_outer_product()) names.push_back(layer.name);
  }
  return names;
}

std::vector<LayerPlan> plan_of(const spec::RunSpec& run, const models::Network& network) {
  std::vector<LayerPlan> plan;
  for (const std::string& name : shared_layer_names(network)) {
    const auto rule = std::ranges::find_if(run.share, [&](const auto& one) { return fits(one.layers, name); });
    if (rule == run.share.end()) {
      plan.push_back({FlexibleParameters::kDefault.of(run.parameters), 1, -1});
    } else {
      plan.push_back({statistic_of(rule->statistic), rule->every, rule - run.share.begin()});
    }
  }
  return plan;
}

std::optional<std::size_t> averaged_layer(const spec::RunSpec& run, const models::Network& network) {
  const std::vector<std::string> names = shared_layer_names(network);
  const auto found = std::ranges::find(names, run.average_deltas_above);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

RunFaults faults_of_share(const spec::RunSpec& run, const models::Network& network) {
  RunFaults faults;
  if (FlexibleParameters::kPolicy.of(run.parameters) != Policy::rules) {
    for (std::size_t i = 0; i < run.share.size(); ++i) {
      faults.push_back(
          {static_cast<std::ptrdiff_t>(i),
           fmt::format("needs policy=\"rules\", not \"{}\"", run.parameters.at(FlexibleParameters::kPolicy.name)),
           "remove it, or set policy=\"rules\""});
    }
    if (!run.average_deltas_above.empty()) {
      faults.push_back(
          {RunFault::kAverageOfDeltas,
           fmt::format("needs policy=\"rules\", not \"{}\"", run.parameters.at(FlexibleParameters::kPolicy.name)),
           "remove it, or set policy=\"rules\""});
    }
    return faults;
  }
  const std::vector<std::string> names = shared_layer_names(network);
  const std::vector<LayerPlan> plan = plan_of(run, network);
  for (std::size_t i = 0; i < run.share.size(); ++i) {
    const std::string& pattern = run.share[i].layers;
    const auto rule = static_cast<std::ptrdiff_t>(i);
    if (std::ranges::none_of(names, [&](const std::string& name) { return fits(pattern, name); })) {
      faults.push_back({rule, fmt::format("no layer with a matrix that multiplies rows is called '{}'", pattern),
                        fmt::format("use one of {}, or a pattern like fc*", fmt::join(names, ", "))});
    } else if (std::ranges::find(plan, rule, &LayerPlan::rule) == plan.end()) {
      faults.push_back({rule, fmt::format("has no effect: earlier rules already match every layer '{}'", pattern),
                        "put the special rule before the general one"});
    }
    if (run.share[i].statistic == to_string(Statistic::none) && run.share[i].every > 1) {
      faults.push_back({rule, "'every' needs a shared statistic", "remove it"});
    }
  }
  if (std::ranges::all_of(plan, [](const LayerPlan& one) { return one.statistic == Statistic::none; })) {
    faults.push_back({0, "no layer is shared", fmt::format("set algorithm=\"{}\"", no_sharing_method().name)});
  }
  if (!run.average_deltas_above.empty()) {
    if (auto fault = fault_of_average(run, plan, names, network)) faults.push_back(std::move(*fault));
  }
  const std::vector<std::size_t> matrices = rows_matrices(network);
  std::vector<std::ptrdiff_t> said;  // rules reported so far, to report each once
  for (std::size_t l = 0; l + 1 < plan.size(); ++l) {
    if (plan[l].statistic != Statistic::edad || std::ranges::find(said, plan[l].rule) != said.end()) continue;
    auto fault = fault_of_edad(plan, names, matrices, network, l);
    if (!fault) continue;
    said.push_back(plan[l].rule);
    faults.push_back(std::move(*fault));
  }
  return faults;
}

}  // namespace dadsim::algorithms

#include "study/setting/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/recent_weights.hpp"
#include "estimate/memory.hpp"
#include "protocols/registry.hpp"
#include "spec/model_shape.hpp"
#include "support/human.hpp"
#include "support/parallel.hpp"

namespace dadsim::study {
namespace {

double models_held(const spec::RunSpec& run, double sites, bool fails) {
  const methods::MethodInfo* info = protocols::find_method(run.algorithm);
  if (info == nullptr || !info->event_driven()) return 0;
  return info->models_held ? info->models_held(run.parameters, sites, fails) : 1;
}

}  // namespace

double host_bytes_of(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::SampleShape& sample) {
  constexpr double kFloat = 4;  // bytes
  spec::ModelShape shape;
  try {
    shape = spec::model_shape(scenario.model, sample);
  } catch (const spec::ModelMistake&) {
    return 0;
  }
  double parameters = 0;
  double outputs = 0;
  for (const spec::LayerShape& layer : shape.layers) {
    parameters += static_cast<double>(layer.parameters);
    outputs += layer.outputs_per_sample;
  }
  const methods::MethodInfo* info = protocols::find_method(run.algorithm);
  const bool own = info != nullptr &&
                   (info->sharing == methods::Sharing::no_sharing || info->sharing == methods::Sharing::own_weights);
  const double networks = own ? static_cast<double>(scenario.workers.size()) : 1;
  constexpr double kPerNetwork = 8000;  // bytes: what holds one together, however small it is
  const bool fails = !(run.conditions.failures_of(scenario.failures) == spec::FailureSpec{});
  const double held = models_held(run, static_cast<double>(scenario.workers.size()), fails);
  const double copies = 2 + estimate::optimizer_state_per_parameter(scenario.training.optimizer);
  // The weights between two epochs, where targets are looked for (algorithms/recent_weights.hpp).
  const double one_copy = kFloat * networks * parameters;
  const double between = scenario.training.evaluate_every > 0 || run.event_driven
                             ? 0
                             : one_copy * static_cast<double>(algorithms::RecentWeights::most_copies(one_copy));
  const auto samples =
      std::visit([](const auto& one) { return static_cast<double>(one.train + one.test); }, scenario.data.source);
  return networks * kPerNetwork + between +
         kFloat * ((networks * copies + held) * parameters + static_cast<double>(scenario.training.batch) * outputs +
                   samples * static_cast<double>(sample.size()));
}

std::optional<Fault> fault_of_host_memory(const scenario::Scenario& scenario, const spec::SampleShape& sample,
                                          double limit) {
  if (!(limit > 0)) return {};
  const auto fault = [&](const std::string& who, double bytes) {
    return Fault{fmt::format("learning {} takes {} of this machine's memory at least, which has {}", who,
                             human_bytes(bytes), human_bytes(limit)),
                 "fewer units or sites, a smaller batch, or a machine with more (docs/command-line.md)"};
  };
  std::vector<std::pair<double, std::string>> needs;
  for (const spec::RunSpec& run : scenario.runs)
    needs.emplace_back(host_bytes_of(scenario, run, sample), fmt::format("'{}'", run.label));
  if (needs.empty()) needs.emplace_back(host_bytes_of(scenario, {}, sample), "one such network");
  std::ranges::stable_sort(needs, std::greater(), [](const auto& one) { return one.first; });
  needs.resize(std::min(needs.size(), std::max<std::size_t>(1, thread_limit())));
  double sum = 0;
  std::string labels;
  for (const auto& [bytes, label] : needs) {
    sum += bytes;
    labels += (labels.empty() ? "" : " beside ") + label;
    if (sum > limit) return fault(labels, sum);
  }
  return {};
}

}  // namespace dadsim::study

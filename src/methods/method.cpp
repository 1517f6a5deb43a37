#include "methods/method.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "methods/divides_step.hpp"

namespace dadsim::methods {

spec::RunSpec run_of(const MethodInfo& info, const spec::ParameterValues& given) {
  spec::RunSpec run;
  run.algorithm = run.label = info.name;
  run.parameters = default_parameters(info.parameters);
  for (const auto& [name, value] : given) run.parameters[name] = value;
  return run;
}

std::string objective_in_words(const MethodInfo& info, const spec::RunSpec& run, const spec::TrainingSpec& training) {
  constexpr const char* kSamples = "the mean over samples";
  constexpr const char* kSites = "the mean over sites";
  if (run.weights == spec::SiteWeights::samples) return kSamples;
  if (run.weights == spec::SiteWeights::uniform) return kSites;
  switch (info.objective) {
    case Objective::rows:
      return training.batches == spec::TrainingSpec::Batches::equal ? kSites : kSamples;
    case Objective::samples:
      return kSamples;
    case Objective::arrivals:
      return "the mean over sites, each as often as it sends";
  }
  return kSamples;
}

std::string why_no_weights(const MethodInfo& info) {
  if (info.one_objective != nullptr) return info.one_objective;
  if (info.sharing == Sharing::pooled) return "the samples of all sites are in one place";
  if (info.sharing == Sharing::no_sharing) return "every site trains for itself";
  if (info.applies_signs) return "sites apply signs, whose size does not depend on the weight of a site";
  return {};
}

bool may_divide_sequences(const MethodInfo& info, const spec::RunSpec& run) {
  return run.compress == spec::CompressSpec{} && (info.sends_sums(run) || info.sums_gradients(run));
}

spec::Sharding most_sharding(const MethodInfo& info, const spec::RunSpec& run) {
  if (!may_divide_sequences(info, run)) return spec::Sharding::none;
  return info.sums_gradients(run) ? spec::Sharding::parameters : spec::Sharding::optimizer;
}

bool divides_step(const MethodInfo& info, const spec::RunSpec& run, const spec::ParallelismSpec& how) {
  if (!run.communicates) return true;
  const bool weight_gradients_apart =
      how.order == spec::PipelineOrder::zero_bubble || how.order == spec::PipelineOrder::dualpipe_v ||
      how.tensor_overlap != spec::TensorOverlap::none || how.offload != spec::Offload::none;
  return !run.decentralised && run.exchange == spec::ExchangeMode::peer &&
         (how.context == 1 || may_divide_sequences(info, run)) && (!weight_gradients_apart || info.sends_gradients);
}

RunFaults faults_of(const MethodInfo& info, const RunFacts& facts) {
  RunFaults faults = info.check ? info.check(facts) : RunFaults{};
  const std::string no_weights = why_no_weights(info);
  if (facts.run.weights != spec::SiteWeights::published && !no_weights.empty()) {
    faults.push_back(Fault{
        fmt::format("weights=\"{}\" has no effect on '{}': {}", to_string(facts.run.weights), info.name, no_weights),
        "remove it"});
  }
  const spec::AbsenceSpec& absence = facts.run.absence;
  const std::string no_chances = info.sharing == Sharing::own_weights ? "each site takes its own step" : no_weights;
  if (absence.goes_without() && absence.estimate == spec::AbsenceSpec::Estimate::unbiased && !no_chances.empty()) {
    faults.push_back(Fault{fmt::format("absent-weights=\"unbiased\" has no effect on '{}': {}", info.name, no_chances),
                           "set absent-weights=\"present\""});
  }
  return faults;
}

bool has_own_layers(const MethodInfo& info, const spec::RunSpec& run) {
  return std::ranges::any_of(info.statistics, [&](const LayerStatistic& one) {
    return one.own_layers && std::ranges::find(run.share, one.name, &spec::ShareRule::statistic) != run.share.end();
  });
}

bool is_lossy(const MethodInfo& info, const std::string& statistic) {
  const auto found = std::ranges::find(info.statistics, statistic, &LayerStatistic::name);
  return found != info.statistics.end() && !found->exact;
}

}  // namespace dadsim::methods

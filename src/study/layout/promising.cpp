#include "study/layout/promising.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace dadsim::study {
namespace {

constexpr double kOfQuickest = 0.4;    // of what is simulated: the quickest by the closed form
constexpr double kOfKinds = 0.3;       // the quickest of each kind
constexpr std::size_t kOfOneKind = 3;  // of the quickest
constexpr std::size_t kOfFront = 4;    // of the front of time against memory, beside the quickest

/// Of the front of time against memory by the closed form, the quickest first.
std::vector<std::size_t> front_by_estimate(const std::vector<LayoutCandidate>& candidates,
                                           const std::vector<std::size_t>& fitting) {
  std::vector<std::size_t> front;
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : fitting) {
    if (candidates[i].bytes >= least) continue;
    least = candidates[i].bytes;
    front.push_back(i);
  }
  return front;
}

}  // namespace

EstimateCorrection::Kind EstimateCorrection::kind_of(const report::Layout& layout) {
  const spec::ParallelismSpec& how = layout.how;
  return {how.tensor, how.context, how.pipeline, how.experts, how.sharding, how.sharding_group};
}

EstimateCorrection::EstimateCorrection(const std::vector<report::LayoutTrial>& trials) {
  if (trials.empty()) return;
  of_all_ = std::numeric_limits<double>::infinity();
  for (const report::LayoutTrial& trial : trials) {
    const double factor = trial.simulated->step_seconds / trial.estimate.total();
    const auto [at, fresh] = by_kind_.try_emplace(kind_of(trial.layout), factor);
    if (!fresh) at->second = std::min(at->second, factor);
    of_all_ = std::min(of_all_, factor);
  }
}

bool EstimateCorrection::knows(const report::Layout& layout) const { return by_kind_.contains(kind_of(layout)); }

double EstimateCorrection::factor(const report::Layout& layout) const {
  const auto known = by_kind_.find(kind_of(layout));
  return known == by_kind_.end() ? of_all_ : known->second;
}

std::vector<std::size_t> most_promising(const std::vector<LayoutCandidate>& candidates,
                                        const std::vector<std::size_t>& fitting, std::size_t most) {
  std::vector<std::size_t> picked;
  const auto pick = [&](std::size_t i) {
    if (!candidates[i].simulated && std::ranges::find(picked, i) == picked.end()) picked.push_back(i);
  };
  const auto count = [&](double share) { return static_cast<std::size_t>(share * static_cast<double>(most)); };
  std::map<EstimateCorrection::Kind, std::size_t> of_kind;
  for (const std::size_t i : fitting) {
    if (picked.size() >= std::max<std::size_t>(1, count(kOfQuickest))) break;
    if (of_kind[EstimateCorrection::kind_of(candidates[i].layout)]++ < kOfOneKind) pick(i);
  }
  std::set<EstimateCorrection::Kind> kinds;
  for (const std::size_t i : fitting) {
    const bool fresh = kinds.insert(EstimateCorrection::kind_of(candidates[i].layout)).second;
    if (fresh && picked.size() < count(kOfQuickest + kOfKinds)) pick(i);
  }
  const std::vector<std::size_t> front = front_by_estimate(candidates, fitting);
  for (std::size_t k = 1; k <= kOfFront && front.size() > 1 && picked.size() < most; ++k)
    pick(front[k * (front.size() - 1) / kOfFront]);
  return picked;
}

std::vector<std::size_t> still_promising(const std::vector<LayoutCandidate>& candidates,
                                         const std::vector<std::size_t>& fitting,
                                         const std::vector<report::LayoutTrial>& trials, std::size_t most) {
  const EstimateCorrection correction(trials);
  double best = std::numeric_limits<double>::infinity();
  for (const report::LayoutTrial& trial : trials) best = std::min(best, trial.simulated->step_seconds);
  std::vector<std::pair<double, std::size_t>> hopes;
  for (const std::size_t i : fitting) {
    if (candidates[i].simulated) continue;
    const double seconds = candidates[i].estimate.total() * correction.factor(candidates[i].layout);
    if (seconds < best) hopes.emplace_back(seconds, i);
  }
  std::ranges::sort(hopes);
  std::vector<std::size_t> picked;
  for (const auto& [seconds, i] : hopes) {
    if (picked.size() < most) picked.push_back(i);
  }
  return picked;
}

}  // namespace dadsim::study

#include "algorithms/private/privacy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "estimate/privacy.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {
namespace {
constexpr spec::RealParameter kClip{"clip", 1e-9, 1e30, "1",
                                    "clipping norm C: largest norm of the gradient of an example"};
constexpr spec::RealParameter kNoiseMultiplier{
    "noise-multiplier", 0, 1e6, "1",
    "noise multiplier σ: standard deviation of the noise ÷ C; 0: no noise; not used with epsilon"};
constexpr spec::RealParameter kEpsilon{
    "epsilon", 0, 1e6, "0", "privacy budget ε for all steps of the run, which sets σ; 0: noise-multiplier sets σ"};
constexpr spec::RealParameter kDelta{"delta", 1e-300, 0.5, "1e-5", "δ of the (ε, δ) guarantee"};
constexpr auto kNoiseBy = spec::choice<NoiseBy>(
    "noise", {{"local", NoiseBy::sites_together}, {"central", NoiseBy::aggregator}, {"per-site", NoiseBy::each_site}},
    "local: every site adds a part of the noise, and the sum has all of it; central: the aggregator adds the noise to "
    "the sum; per-site: every site adds the whole noise to its own messages");

std::string whom_it_protects_from(NoiseBy noise, std::size_t sites, bool sites_change) {
  switch (noise) {
    case NoiseBy::sites_together:
      if (sites_change) {
        return "the sites present add equal parts of the noise; ε holds if the parts of each sum stay hidden (secure "
               "aggregation)";
      }
      return sites == 1 ? "one site adds all of the noise"
                        : fmt::format(
                              "each site adds 1/{} of the noise's variance; ε holds if the parts of each sum "
                              "stay hidden (secure aggregation)",
                              sites);
    case NoiseBy::aggregator:
      return "the aggregator adds the noise; ε holds towards all but the aggregator";
    case NoiseBy::each_site:
      return "each site adds all of the noise; ε holds for every message of a site";
  }
  throw std::logic_error("unknown source of noise");
}

/// Largest and smallest ε spent at a site, with the sites' numbers.
struct Spent {
  double most = 0, least = 0;
  std::size_t who_most = 0, who_least = 0;
};

std::int64_t steps_of(const RunContext& run, std::size_t site) {
  return run.begun.empty() ? run.steps : run.begun[site];
}

/// Returns the ε spent per site, which depends on the site's own steps alone: a sample is used only at its own site.
Spent spent_by_sites(const RunContext& run, double sigma, double delta) {
  std::map<std::pair<double, std::int64_t>, double> known;  // by rate and steps, since most sites are alike
  Spent spent;
  for (std::size_t site = 0; site < std::max<std::size_t>(1, run.rates.size()); ++site) {
    const double rate = run.rates.empty() ? run.sampling_rate : run.rates[site];
    const std::int64_t steps = steps_of(run, site);
    const auto [at, is_new] = known.try_emplace({rate, steps}, 0);
    if (is_new) at->second = estimate::epsilon_spent({rate, sigma, steps}, delta);
    if (site == 0 || at->second > spent.most) {
      spent.most = at->second;
      spent.who_most = site;
    }
    if (site == 0 || at->second < spent.least) {
      spent.least = at->second;
      spent.who_least = site;
    }
  }
  return spent;
}

/// Returns the remark about a run whose steps sites may miss.
std::string who_was_there(const RunContext& run, const Spent& spent) {
  if (run.begun.empty()) return {};
  return fmt::format(
      "; site {} spent most, in {} steps (failed ones included); site {} began {} steps and spent {:.3g}; sums are "
      "divided by the batch of the sites present",
      spent.who_most + 1, steps_of(run, spent.who_most), spent.who_least + 1, steps_of(run, spent.who_least),
      spent.least);
}

std::string privacy_remark(const RunFacts& facts) {
  const PrivacyOptions options = privacy_options(facts.run.parameters);
  double sigma = options.noise_multiplier;
  if (facts.stand_in && (sigma > 0 || options.epsilon > 0)) {
    return "the spent ε is not known: it depends on the examples, batch and steps of a site, which a dry run does "
           "not have";
  }
  if (options.epsilon > 0) {
    // Uses the σ of the planned steps; fewer steps may have been carried out.
    sigma = noise_multiplier_of(options, facts.planned.value());
  }
  if (sigma == 0)
    return fmt::format("not private: gradients of examples are clipped to {:g}, no noise is added", options.clip);
  const RunContext& run = facts.taken.value();
  const Spent spent = spent_by_sites(run, sigma, options.delta);
  return fmt::format(
      "spent ε = {:.3g} at δ = {:g} in {} steps, each with a share q = {:.4g} of the examples, gradients of examples "
      "clipped to {:g} and noise of multiplier σ = {:.4g}; {}{}{}",
      spent.most, options.delta, run.steps, run.sampling_rate, options.clip, sigma,
      whom_it_protects_from(options.noise, facts.sites, !run.begun.empty()), who_was_there(run, spent),
      run.sampled ? ""
                  : "; ε assumes random examples in every step, but here they are shuffled (customary, not proved): "
                    "<training batches=\"poisson\"> draws them at random");
}

std::optional<methods::PrivacySpent> privacy_spent(const RunFacts& facts) {
  const PrivacyOptions options = privacy_options(facts.run.parameters);
  if (facts.stand_in || !facts.taken || !facts.planned) return {};
  const double sigma = options.epsilon > 0 ? noise_multiplier_of(options, *facts.planned) : options.noise_multiplier;
  if (sigma == 0) return {};
  return methods::PrivacySpent{.epsilon = spent_by_sites(*facts.taken, sigma, options.delta).most,
                               .delta = options.delta,
                               .messages = options.noise == NoiseBy::each_site || facts.sites == 1,
                               .sums_of_sites = options.noise != NoiseBy::aggregator};
}

RunFaults privacy_faults(const RunFacts& facts) {
  RunFaults faults;
  const PrivacyOptions options = privacy_options(facts.run.parameters);
  if (options.noise == NoiseBy::aggregator && facts.run.exchange != spec::ExchangeMode::aggregator) {
    faults.push_back(Fault{"noise=\"central\" needs an aggregator",
                           "set exchange=\"aggregator\", or noise=\"local\" or \"per-site\""});
  }
  if (const std::optional<models::Network> network = network_of(facts)) {
    if (std::optional<Fault> fault = fault_of_example_gradients(*network)) faults.push_back(std::move(*fault));
  }
  if (options.epsilon > 0 && options.noise_multiplier != PrivacyOptions().noise_multiplier) {
    faults.push_back(Fault{
        fmt::format("noise-multiplier=\"{:g}\" conflicts with epsilon, which sets the noise", options.noise_multiplier),
        "set epsilon=\"0\", or remove noise-multiplier"});
  }
  if (options.epsilon == 0 && options.noise_multiplier == 0 && options.delta != PrivacyOptions().delta) {
    faults.push_back(
        Fault{fmt::format("delta=\"{:g}\" needs noise", options.delta), "set noise-multiplier=\"1\", or remove delta"});
  }
  if (options.epsilon > 0 && facts.planned && facts.planned->steps > 0) {
    try {
      noise_multiplier_of(options, *facts.planned);
    } catch (const std::invalid_argument& error) {
      faults.push_back(
          Fault{fmt::format("epsilon=\"{:g}\" in {} steps: {}", options.epsilon, facts.planned->steps, error.what()),
                "use a larger epsilon, or fewer steps"});
    }
  }
  return faults;
}

}  // namespace

/// Reports a network with layers that have no rows of A and Δ, and so no gradient per example.
std::optional<Fault> fault_of_example_gradients(const models::Network& network) {
  const std::string remedy = "use a network of only dense, convolutional and recurrent layers";
  if (network.has_batch_statistics()) {
    return Fault{"batch norms mix examples, so the gradient of a single example is not known", remedy};
  }
  if (!network.parameters().vectors.empty()) {
    return not_built("the gradients of norms, positions and class tokens are not clipped per example", remedy);
  }
  for (std::size_t l = 0; l < network.layers(); ++l) {
    if (network.layer(l).embedding) return not_built("the gradients of embeddings are not clipped per example", remedy);
  }
  return {};
}

std::vector<spec::ParameterSpec> privacy_parameters() { return {kClip, kNoiseMultiplier, kEpsilon, kDelta, kNoiseBy}; }

PrivacyOptions privacy_options(const spec::ParameterValues& values) {
  return {.clip = kClip.of(values),
          .noise_multiplier = kNoiseMultiplier.of(values),
          .epsilon = kEpsilon.of(values),
          .delta = kDelta.of(values),
          .noise = kNoiseBy.of(values)};
}

double noise_multiplier_of(const PrivacyOptions& options, const RunContext& run) {
  if (!(options.epsilon > 0)) return options.noise_multiplier;
  if (run.steps < 1) throw std::logic_error("the noise for an ε needs the number of steps of the run");
  return estimate::noise_multiplier_for(options.epsilon, options.delta, run.sampling_rate, run.steps);
}

SynchronousMethod as_private(SynchronousMethod info) {
  info.family = "private";
  info.perturbs = true;
  info.one_objective = "its noise is calibrated to sums in which every sample has the same weight";
  std::vector<spec::ParameterSpec> parameters = privacy_parameters();
  parameters.insert(parameters.end(), info.parameters.begin(), info.parameters.end());
  info.parameters = std::move(parameters);
  info.lossless.insert({{"clip", "1e30"}, {"noise-multiplier", "0"}});
  info.remark = privacy_remark;
  info.privacy = privacy_spent;
  info.check = [own = std::move(info.check)](const RunFacts& facts) {
    RunFaults faults = privacy_faults(facts);
    if (!own) return faults;
    for (RunFault& fault : own(facts)) faults.push_back(std::move(fault));
    return faults;
  };
  info.asks_for_plan = [](const spec::ParameterValues& values) { return privacy_options(values).epsilon > 0; };
  // Excludes <compress> unless each site adds the full noise: rounding before the sum distorts Gaussian shares of the
  // noise, and lengthens clipped gradients. Messages that are private by themselves remain private.
  info.compresses = [](const spec::ParameterValues& values) {
    return privacy_options(values).noise == NoiseBy::each_site;
  };
  return info;
}

}  // namespace dadsim::algorithms

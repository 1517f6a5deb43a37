#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "algorithms/algorithm.hpp"
#include "algorithms/private/privacy.hpp"
#include "estimate/privacy.hpp"
#include "models/network.hpp"
#include "protocols/federated/dp_fed_avg.hpp"
#include "protocols/federated/dp_fed_avg_parameters.hpp"
#include "protocols/federated/federated_rounds.hpp"

namespace dadsim::protocols {
namespace {

RunFaults faults_of_privacy(const RunFacts& facts) {
  const spec::ParameterValues& values = facts.run.parameters;
  RunFaults faults = FederatedRounds::faults_of_parameters(values);
  const algorithms::NoiseBy noise = kUpdateNoiseBy.of(values);
  const bool of_samples = kLevel.of(values) == HiddenLevel::sample;
  if (of_samples && noise != algorithms::NoiseBy::each_site) {
    faults.push_back(Fault{"level=\"sample\": clients add the noise of their samples in every step that they train",
                           "noise=\"per-site\", or level=\"client\""});
  }
  if (kDropOuts.of(values) > 0 && noise != algorithms::NoiseBy::sites_together) {
    faults.push_back(Fault{"drop-outs means nothing where no client's noise is missed", "noise=\"local\""});
  }
  if (const std::optional<models::Network> network = algorithms::network_of(facts)) {
    if (of_samples) {
      if (std::optional<Fault> fault = algorithms::fault_of_example_gradients(*network))
        faults.push_back(std::move(*fault));
    } else if (network->has_batch_statistics()) {
      faults.push_back(
          Fault{"the running statistics of batch norms are sent beside the weights, unclipped and without "
                "noise",
                "a network without batch norms, e.g. with layer norms"});
    }
  }
  if (const double epsilon = kUpdateEpsilon.of(values); epsilon > 0) {
    if (const double sigma = kUpdateNoise.of(values); sigma != algorithms::PrivacyOptions().noise_multiplier) {
      faults.push_back(Fault{
          fmt::format("noise-multiplier=\"{:g}\" means nothing beside epsilon, from which the noise follows", sigma),
          "epsilon=\"0\", or no noise-multiplier"});
    }
    try {
      const bool by_chance = !of_samples && noise == algorithms::NoiseBy::aggregator;
      estimate::noise_multiplier_for(epsilon, kUpdateDelta.of(values), by_chance ? kChance.of(values) : 1, 1);
    } catch (const std::invalid_argument& error) {
      faults.push_back(Fault{fmt::format("epsilon=\"{:g}\": {}", epsilon, error.what()), "a larger epsilon"});
    }
  }
  return faults;
}

}  // namespace

EventDrivenMethod dp_fed_avg_method() {
  std::vector<spec::ParameterSpec> parameters = {kLevel,       kClipOfUpdates, kUpdateNoise, kUpdateEpsilon,
                                                 kUpdateDelta, kUpdateNoiseBy, kDropOuts};
  for (spec::ParameterSpec& one : FederatedRounds::common_parameters()) {
    if (one.name == FederatedRounds::kOverSelection.name) continue;  // the denominator is fixed
    parameters.push_back(one.name == kChance.name ? spec::ParameterSpec(kChance) : std::move(one));
  }
  for (spec::ParameterSpec& one : SecureAggregation::parameters()) parameters.push_back(std::move(one));
  return {
      {.name = "dp-fedavg",
       .description = "Federated averaging with clipped updates of clients drawn by chance, and Gaussian noise, so "
                      "that the model tells little of any one client, or of any one sample.",
       .source = "McMahan, Ramage, Talwar, Zhang, Learning Differentially Private Recurrent Language Models, ICLR "
                 "2018, arXiv 1710.06963; Geyer, Klein, Nabi, arXiv 1712.07557; noise of clients that drop out: "
                 "Kairouz, Liu, Steinke, arXiv 2102.06387",
       .payload = "d down and d up, per client and round",
       .family = "private",
       .formula = "u_k = (y_k − x) min(1, C / ‖y_k − x‖)   for every client k of S_t, which each joins with chance "
                  "q\n"
                  "x ← x + (Σ_{S_t} w_k u_k + N(0, (σ C max w)² I)) / (q Σ_all w)",
       .compute = "the norm of an update, and normally distributed numbers: d at the server, or at each client",
       .checks = "without noise and clipping, with every client in every round, it is fedavg to the bit\n"
                 "the variance of what the server adds, and of what clients add together with some dropped out, "
                 "is that which the accountant is told\n"
                 "ε of clients against an own sum over whole orders (RDP of the sampled Gaussian)",
       .on_failure = "a client that fails is left out of the round, and the denominator stays; with noise=\"local\" "
                     "a round to which too few come for its noise releases nothing",
       .parameters = std::move(parameters),
       .sharing = Sharing::event_driven,
       // What is rounded before all noise is in it has another distribution, and may be longer than C.
       .compresses =
           [](const spec::ParameterValues& values) {
             return kUpdateNoiseBy.of(values) == algorithms::NoiseBy::each_site;
           },
       .check = faults_of_privacy,
       .objective = methods::Objective::samples,
       .perturbs = true,
       .lossless = {{"clip", "1e30"}, {"noise-multiplier", "0"}},
       .models_held = FederatedRounds::models_held()},
      make_dp_fed_avg};
}

}  // namespace dadsim::protocols

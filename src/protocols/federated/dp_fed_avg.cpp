
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/bernoulli_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "algorithms/algorithm.hpp"
#include "algorithms/private/privacy.hpp"
#include "estimate/privacy.hpp"
#include "models/network.hpp"
#include "protocols/federated/client_privacy.hpp"
#include "protocols/federated/federated_rounds.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {
namespace {

using algorithms::NoiseBy;

/// Unit of privacy: the noise hides whether one client, or one sample, took part.
enum class HiddenLevel : std::uint8_t { client, sample };

constexpr auto kLevel = spec::choice<HiddenLevel>(
    "level", {{"client", HiddenLevel::client}, {"sample", HiddenLevel::sample}},
    "client: hide the presence of a client with all its samples; sample: hide a sample (with noise=\"per-site\")");
constexpr spec::RealParameter kClipOfUpdates{
    "clip", 1e-9, 1e30, "1",
    "clipping norm C: largest norm of a client's update (level=\"sample\": of a sample's gradient)"};
constexpr spec::RealParameter kUpdateNoise{
    "noise-multiplier", 0, 1e6, "1",
    "noise multiplier σ: standard deviation of the noise ÷ C; 0: no noise; not used with epsilon"};
constexpr spec::RealParameter kUpdateEpsilon{
    "epsilon", 0, 1e6, "0", "privacy budget ε for all rounds of the run, which sets σ; 0: noise-multiplier sets σ"};
constexpr spec::RealParameter kUpdateDelta{"delta", 1e-300, 0.5, "1e-5", "δ of the (ε, δ) guarantee"};
constexpr auto kUpdateNoiseBy = spec::choice<NoiseBy>(
    "noise", {{"central", NoiseBy::aggregator}, {"local", NoiseBy::sites_together}, {"per-site", NoiseBy::each_site}},
    "central: the server adds the noise to the sum; local: every client adds a part, and the sum has all of the noise; "
    "per-site: every client adds the whole noise to its own messages");
constexpr spec::RealParameter kDropOuts{
    "drop-outs", 0, 0.95, "0",
    "noise=\"local\": share of a round's clients that may drop out; if more drop out, the round releases nothing"};
constexpr spec::RealParameter kChance{
    "fraction", 1e-4, 1, "1",
    "probability q that a client joins a round, independent of other clients (Poisson sampling)"};

using Level = HiddenLevel;

/// Flops per number to add noise: forty for a normal number (algorithms/private/noisy_sum.cpp), and one to add it.
constexpr double kNoiseFlops = 41;
/// Flops per number to clip a row: a square, its addition to the sum, and a product.
constexpr double kClipFlops = 3;

/// Returns the number of the `asked` clients that must answer for the sum to hold all its noise.
std::size_t needed_of(std::size_t asked, double drop_outs) {
  const double needed = std::ceil((1 - drop_outs) * static_cast<double>(asked) - 1e-9);
  return std::max<std::size_t>(1, static_cast<std::size_t>(needed));
}

void add_noise(std::vector<float>& numbers, std::size_t count, double deviation, std::uint64_t seed,
               std::uint32_t worker, std::uint32_t round) {
  RandomStream random(seed, Purpose::privacy_noise, worker, round);
  boost::random::normal_distribution<float> normal(0.0F, static_cast<float>(deviation));
  for (std::size_t k = 0; k < count; ++k) numbers[k] += normal(random);
}

class DpFedAvg final : public FederatedRounds {
 public:
  explicit DpFedAvg(const Setting& setting)
      : FederatedRounds(setting, true),
        level_(setting.value(kLevel)),
        noise_(setting.value(kUpdateNoiseBy)),
        clip_(setting.value(kClipOfUpdates)),
        chance_(setting.value(kChance)),
        rounds_(planned_rounds()),
        privacy_(setting.sites, setting.value(kUpdateDelta)) {
    for (std::size_t client = 0; client < setting.sites; ++client) {
      all_weights_ += weight_of(client);
      largest_weight_ = std::max(largest_weight_, weight_of(client));
    }
    sigma_ = setting.value(kUpdateNoise);
    if (const double epsilon = setting.value(kUpdateEpsilon); epsilon > 0)
      sigma_ = estimate::noise_multiplier_for(epsilon, [this](double sigma) { return planned_epsilon(sigma); });
    const bool by_clients = level_ == Level::client && noise_ != NoiseBy::aggregator && sigma_ > 0;
    clip_work_ = setting.sizing.per_parameter(step::Role::workers, kClipFlops + (by_clients ? kNoiseFlops : 0), 3);
    step_noise_work_ = setting.sizing.per_parameter(step::Role::workers, kNoiseFlops, 2);
    server_noise_work_ = setting.sizing.per_parameter(step::Role::aggregator, kNoiseFlops, 2);
  }

  void end() override {
    ProtocolLog& log = setting().log;
    const ClientPrivacy::OrderRange spent = privacy_.range();
    log.remarks.push_back(remark(spent));
    if (sigma_ == 0) return;
    log.privacy = methods::PrivacySpent{.epsilon = spent.most.epsilon,
                                        .delta = privacy_.delta(),
                                        .messages = noise_ == NoiseBy::each_site,
                                        .sums_of_sites = noise_ != NoiseBy::aggregator};
  }

 protected:
  // ---- who is asked ----

  std::vector<std::size_t> choose(std::int64_t round) override {
    std::vector<std::size_t> chosen;
    const boost::random::bernoulli_distribution<double> joins(chance_);
    for (std::size_t client = 0; client < setting().sites; ++client) {
      if (!pool().is_reachable(client)) continue;
      // A busy client is charged too, because being busy may reveal the rounds that it was drawn for.
      if (noise_ == NoiseBy::aggregator) privacy_.add(client, chance_, sigma_);
      if (!pool().is_free(client)) continue;
      RandomStream random(setting().seed(), Purpose::participation, static_cast<std::uint32_t>(client) + 1,
                          static_cast<std::uint32_t>(round));
      if (chance_ == 1 || joins(random)) chosen.push_back(client);
    }
    return chosen;
  }
  void about_to_ask(std::int64_t round, const std::vector<std::size_t>& chosen) override {
    asked_[round] = chosen.size();
    present_ = round;
  }
  bool is_last(std::int64_t round) const override { return round >= rounds_; }

  /// A round without clients releases noise alone if the server adds it, so that the absence of clients stays hidden.
  bool suffices(std::int64_t round, const std::vector<Update>& updates) override {
    if (level_ == Level::client && noise_ == NoiseBy::aggregator) return true;
    if (updates.empty()) return false;
    if (level_ == Level::sample || noise_ == NoiseBy::each_site) return true;
    const std::size_t needed = needed_of(asked_.at(round), setting().value(kDropOuts));
    if (updates.size() < needed) {
      setting().log.facts["rounds without enough noise"] += 1;
      return false;
    }
    const double sigma = sigma_ * std::sqrt(static_cast<double>(updates.size()) / static_cast<double>(needed));
    for (const Update& update : updates) privacy_.add(update.client, 1, sigma);
    return true;
  }

  // ---- clients ----

  Value train(const ClientOrder& order) override {
    if (level_ == Level::client) return FederatedRounds::train(order);
    if (sigma_ > 0) {
      const auto samples = samples_of(order.client);
      const double rate = learning().batches(SiteBatches::How::passes, order.client).expected() / samples;
      privacy_.add(order.client, rate_of_drawn(rate, samples), sigma_, order.steps);
    }
    return learning().train(order.model, {.site = order.client,
                                          .first = order.first,
                                          .steps = order.steps,
                                          .schedule_step = order.schedule_step,
                                          .data_version = order.data_version,
                                          .per_sample = LocalTraining::PerSample{clip_, sigma_}});
  }

  Value released(const ClientOrder& order, const Value& difference) override {
    if (level_ == Level::sample) return difference;
    double deviation = 0;  // standard deviation of the noise added to the difference
    if (noise_ == NoiseBy::each_site) {
      deviation = sigma_ * clip_;
      if (sigma_ > 0) privacy_.add(order.client, 1, sigma_);
    } else if (noise_ == NoiseBy::sites_together) {
      const auto needed = static_cast<double>(needed_of(asked_.at(order.number), setting().value(kDropOuts)));
      deviation = sigma_ * clip_ * largest_weight_ / (weight_of(order.client) * std::sqrt(needed));
    }
    const auto client = static_cast<std::uint32_t>(order.client);
    const auto round = static_cast<std::uint32_t>(order.number);
    return learning().history().make(
        fmt::format("clip {} noise {} of {} in {}", clip_, deviation, client, round), {difference},
        [clip = clip_, deviation, client, round, count = learning().parameters(),
         seed = setting().seed()](world::History::Inputs in) {
          Datum result = *in[0];
          double square = 0;
          for (std::size_t k = 0; k < count; ++k)
            square += static_cast<double>(result.numbers[k]) * static_cast<double>(result.numbers[k]);
          const double length = std::sqrt(square);
          if (!std::isfinite(length)) {
            std::fill_n(result.numbers.begin(), count, 0.0F);
          } else if (length > clip) {
            const auto factor = static_cast<float>(clip / length);
            for (std::size_t k = 0; k < count; ++k) result.numbers[k] *= factor;
          }
          if (deviation > 0) add_noise(result.numbers, count, deviation, seed, client, round);
          return result;
        });
  }

  Work work_per_order() const override {
    const Work own = FederatedRounds::work_per_order();
    return level_ == Level::client ? own + clip_work_ : own;
  }
  Work work_per_step() const override {
    return level_ == Level::sample && sigma_ > 0 ? step_noise_work_ : FederatedRounds::work_per_step();
  }

  // ---- the server ----

  Value aggregate(const Value& model, const std::vector<Update>& updates) override {
    if (level_ == Level::sample) return FederatedRounds::aggregate(model, updates);
    const double denominator = chance_ * all_weights_;
    Value sum = updates.empty() ? model : learning().difference(model, mean(updates, 0, denominator));
    if (noise_ != NoiseBy::aggregator || sigma_ == 0) return sum;
    const double deviation = sigma_ * clip_ * largest_weight_ / denominator;
    const auto server = static_cast<std::uint32_t>(setting().sites);
    const auto round = static_cast<std::uint32_t>(present_);
    return learning().history().make(fmt::format("noise {} of the server in {}", deviation, round), {sum},
                                     [deviation, server, round, count = learning().parameters(),
                                      seed = setting().seed()](world::History::Inputs in) {
                                       Datum result = *in[0];
                                       add_noise(result.numbers, count, deviation, seed, server, round);
                                       return result;
                                     });
  }
  Work aggregation_work(std::size_t updates) const override {
    Work work = updates == 0 ? Work{} : FederatedRounds::aggregation_work(updates);
    if (level_ == Level::client && noise_ == NoiseBy::aggregator && sigma_ > 0) work = work + server_noise_work_;
    return work;
  }

 private:
  /// Returns an upper bound of the probability that a sample is in a batch, if empty batches are drawn again.
  static double rate_of_drawn(double rate, double samples) {
    return std::min(1.0, rate / (1 - std::pow(1 - rate, samples)));
  }

  /// Returns the `rounds` parameter. If that is 0, returns the rounds that use the budget's samples on average.
  std::int64_t planned_rounds() const {
    if (const std::int64_t rounds = setting().value(kRounds); rounds > 0) return rounds;
    double per_round = 0;
    for (std::size_t client = 0; client < setting().sites; ++client) {
      const SiteBatches batches = learning().batches(SiteBatches::How::passes, client);
      per_round += static_cast<double>(steps_of(client)) * batches.expected();
    }
    const double wanted = setting().training().epochs * samples() / (chance_ * per_round);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(wanted - 1e-9)));
  }

  /// Returns the largest ε of any client that can be reached in all rounds. It is asked in all of them; with
  /// noise="central", with chance q in each.
  double planned_epsilon(double sigma) const {
    const double delta = privacy_.delta();
    if (level_ == Level::client)
      return estimate::epsilon_spent({noise_ == NoiseBy::aggregator ? chance_ : 1, sigma, rounds_}, delta);
    double most = 0;
    for (std::size_t client = 0; client < setting().sites; ++client) {
      const SiteBatches batches = learning().batches(SiteBatches::How::passes, client);
      const double rate = rate_of_drawn(batches.expected() / samples_of(client), samples_of(client));
      most = std::max(most, estimate::epsilon_spent({rate, sigma, rounds_ * steps_of(client)}, delta));
    }
    return most;
  }

  std::string remark(const ClientPrivacy::OrderRange& spent) const {
    const bool of_clients = level_ == Level::client;
    const char* what = of_clients ? "updates of clients" : "gradients of samples";
    if (sigma_ == 0) return fmt::format("not private: {} are clipped to {:g}, no noise is added", what, clip_);
    const auto times = [&](std::int64_t count) {
      if (!of_clients) return fmt::format("{} steps", count);
      switch (noise_) {
        case NoiseBy::aggregator:
          return fmt::format("{} rounds that could select it", count);
        case NoiseBy::sites_together:
          return fmt::format("{} sums that contain its update", count);
        case NoiseBy::each_site:
          return fmt::format("{} messages", count);
      }
      throw std::logic_error("unknown source of noise");
    };
    std::string text = fmt::format(
        "spent ε = {:.3g} at δ = {:g} per hidden {}, by client {} in {}; least by client {}, {:.3g} in {}; {} "
        "clipped to {:g}, noise of multiplier σ = {:.4g}",
        spent.most.epsilon, privacy_.delta(), of_clients ? "client" : "sample", spent.most.client + 1,
        times(spent.most.times), spent.least.client + 1, spent.least.epsilon, times(spent.least.times), what, clip_,
        sigma_);
    if (!of_clients) {
      text += "; each client trains by DP-SGD: ε holds for every message of a client";
      if (setting().training().batches != spec::TrainingSpec::Batches::poisson) {
        text +=
            "; ε assumes random samples in every step, but here they are shuffled (customary, not proved): <training "
            "batches=\"poisson\"> draws them at random";
      }
      return text;
    }
    switch (noise_) {
      case NoiseBy::aggregator:
        return text + fmt::format(
                          "; a client joins a round with probability {:g}, and the server adds the noise: ε holds "
                          "towards all but the server",
                          chance_);
      case NoiseBy::sites_together:
        return text +
               fmt::format(
                   "; {}; the server knows the clients of a sum, so ε assumes that every client joins{}",
                   setting().value(kDropOuts) > 0
                       ? fmt::format("the noise of {:g} of a round's clients suffices, and more clients add more noise",
                                     1 - setting().value(kDropOuts))
                       : std::string("a round with a dropped client releases nothing"),
                   is_secure() ? ""
                               : "; ε assumes that the server sees only sums, not single updates: secure=\"yes\" adds "
                                 "the cost of hiding updates");
      case NoiseBy::each_site:
        return text + "; each client adds all of the noise; ε holds for every message of a client";
    }
    return text;
  }

  Level level_;
  NoiseBy noise_;
  double clip_;
  double chance_;
  double sigma_ = 0;
  double all_weights_ = 0, largest_weight_ = 0;
  std::int64_t rounds_;
  std::int64_t present_ = 0;                   ///< number of the current round
  std::map<std::int64_t, std::size_t> asked_;  ///< number of the current round
  ClientPrivacy privacy_;
  Work clip_work_, step_noise_work_, server_noise_work_;
};

RunFaults faults_of_privacy(const RunFacts& facts) {
  const spec::ParameterValues& values = facts.run.parameters;
  RunFaults faults = FederatedRounds::faults_of_parameters(values);
  const algorithms::NoiseBy noise = kUpdateNoiseBy.of(values);
  const bool of_samples = kLevel.of(values) == HiddenLevel::sample;
  if (of_samples && noise != algorithms::NoiseBy::each_site) {
    faults.push_back(Fault{"level=\"sample\" needs clients that add noise in every step",
                           "set noise=\"per-site\", or level=\"client\""});
  }
  if (kDropOuts.of(values) > 0 && noise != algorithms::NoiseBy::sites_together) {
    faults.push_back(Fault{"drop-outs needs noise=\"local\"", "set noise=\"local\", or remove drop-outs"});
  }
  if (const std::optional<models::Network> network = algorithms::network_of(facts)) {
    if (of_samples) {
      if (std::optional<Fault> fault = algorithms::fault_of_example_gradients(*network))
        faults.push_back(std::move(*fault));
    } else if (network->has_batch_statistics()) {
      faults.push_back(
          Fault{"the running statistics of batch norms are sent with the weights, unclipped and without "
                "noise",
                "use a network without batch norms, e.g. with layer norms"});
    }
  }
  if (const double epsilon = kUpdateEpsilon.of(values); epsilon > 0) {
    if (const double sigma = kUpdateNoise.of(values); sigma != algorithms::PrivacyOptions().noise_multiplier) {
      faults.push_back(
          Fault{fmt::format("noise-multiplier=\"{:g}\" conflicts with epsilon, which sets the noise", sigma),
                "set epsilon=\"0\", or remove noise-multiplier"});
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
/// Federated averaging whose model reveals little about a single client (McMahan, Ramage, Talwar, Zhang, Learning
/// Differentially Private Recurrent Language Models, ICLR 2018, arXiv 1710.06963, algorithm 1 with its estimator f_f;
/// Geyer, Klein, Nabi, arXiv 1712.07557), or about a single sample:
///     each client joins a round independently with chance q; their set S_t may be empty
///     client   u_k = (y_k − x) min(1, C ÷ ‖y_k − x‖)                       over the whole model
///     server   x ← x + (Σ_{S_t} w_k u_k + N(0, (σ C max w)² I)) ÷ (q Σ_all w)
/// The denominator counts all clients, not only those that join: with |S_t| instead, one client could move the mean by
/// more than C ÷ (q N). The weight w_k is the client's number of samples, or equal for all; weights are public.
///
/// The parameter `noise` determines the adversary of ε, and the mechanisms that a client is charged for:
///     central    The trusted server adds the noise, and it alone knows the clients of a round. A client is charged the
///                sampled Gaussian with chance q for each round in which it could be reached.
///     local      Each client asked adds N(0, σ²C² max w² ÷ (m w_k²)). Of n clients, m = ⌈(1 − drop-outs) n⌉ must
///                answer for the sum to hold all the noise; a round with fewer answers releases nothing. The server
///                sees sums and knows their clients, so sampling does not reduce ε: a client is charged q = 1 for each
///                sum that it is in, with the noise of the a clients that answered, σ √(a ÷ m).
///     per-site   Each client adds N(0, σ²C²) to its messages, and is charged q = 1 for each message sent.
/// With level="sample" clients train by DP-SGD (algorithms/private/dp_sgd.hpp), so all their messages are private
/// already. The server takes the mean of the answers, and a sample is charged the steps of its own client alone.

EventDrivenMethod dp_fed_avg_method() {
  std::vector<spec::ParameterSpec> parameters = {kLevel,       kClipOfUpdates, kUpdateNoise, kUpdateEpsilon,
                                                 kUpdateDelta, kUpdateNoiseBy, kDropOuts};
  for (spec::ParameterSpec& one : FederatedRounds::common_parameters()) {
    if (one.name == FederatedRounds::kOverSelection.name) continue;  // has no effect, as the denominator is fixed
    parameters.push_back(one.name == kChance.name ? spec::ParameterSpec(kChance) : std::move(one));
  }
  return {{.name = "dp-fedavg",
           .family = "private",
           .parameters = joined({parameters, SecureAggregation::parameters()}),
           .sharing = Sharing::event_driven,
           // Rounding before all noise is added changes the distribution, and may raise the norm above C.
           .compresses =
               [](const spec::ParameterValues& values) {
                 return kUpdateNoiseBy.of(values) == algorithms::NoiseBy::each_site;
               },
           .check = faults_of_privacy,
           .objective = methods::Objective::samples,
           .perturbs = true,
           .lossless = {{"clip", "1e30"}, {"noise-multiplier", "0"}},
           .models_held = FederatedRounds::models_held()},
          [](const Setting& setting) { return std::make_unique<DpFedAvg>(setting); }};
}

}  // namespace dadsim::protocols

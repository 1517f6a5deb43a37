// Compares DP-FedAvg with its definition: results without noise, the variance of the noise, and participants' ε by a
// separate accountant.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimate/privacy.hpp"
#include "protocols/federated/client_privacy.hpp"
#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

/// Four clients with 12, 24, 40 and 84 samples.
SmallProblem unequal() { return unequal_problem({12, 24, 40, 84}); }

world::ClosedFormWorld four_clients() {
  return closed_form(4, [](world::Node node) { return 0.1 + 0.03 * static_cast<double>(node); },
                     {.latency = 0.01, .bandwidth = 1e6});
}

struct LearnedRun {
  Simulated simulated;
  std::vector<float> weights;
};

LearnedRun learned(const SmallProblem& small, const spec::RunSpec& run, const std::vector<Fate>& fates = {}) {
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = four_clients();
  LearnedRun result{simulate(world, small, learning, run, {}, fates), {}};
  result.weights = history.get(result.simulated.protocol_log.last)->numbers;
  return result;
}

const spec::ParameterValues kNoPrivacy{{"clip", "1e30"}, {"noise-multiplier", "0"}};

spec::ParameterValues with(spec::ParameterValues values, const spec::ParameterValues& more) {
  for (const auto& [name, value] : more) values[name] = value;
  return values;
}

TEST(DpFedAvg, WithoutNoiseAndClippingIsFedAvgToTheBit) {
  for (const spec::SiteWeights weights :
       {spec::SiteWeights::published, spec::SiteWeights::samples, spec::SiteWeights::uniform}) {
    spec::RunSpec plain = run_of("fedavg", {{"rounds", "3"}});
    plain.weights = weights;
    const LearnedRun average = learned(unequal(), plain);
    for (const char* noise : {"central", "local", "per-site"}) {
      spec::RunSpec run = run_of("dp-fedavg", with(kNoPrivacy, {{"rounds", "3"}, {"noise", noise}}));
      run.weights = weights;
      EXPECT_EQ(learned(unequal(), run).weights, average.weights) << noise;
    }
  }
}

TEST(DpFedAvg, OfSamplesWithoutNoiseAndClippingIsFedAvgUpToRounding) {
  // Every client has a multiple of the batch size, so all batches have the expected size.
  SmallProblem even = unequal_problem({12, 24, 48, 84});
  even.training.batch = 12;
  const LearnedRun a = learned(even, run_of("fedavg", {{"rounds", "2"}}));
  const LearnedRun b = learned(
      even, run_of("dp-fedavg", with(kNoPrivacy, {{"rounds", "2"}, {"level", "sample"}, {"noise", "per-site"}})));
  for (std::size_t k = 0; k < a.weights.size(); ++k) EXPECT_NEAR(a.weights[k], b.weights[k], 1e-6);
}

/// At a learning rate of 0, clients send nothing but noise.
struct Noise {
  double variance = 0, expected_error = 0;
};
Noise noise_of(const spec::ParameterValues& given, spec::SiteWeights weights = spec::SiteWeights::published,
               const std::vector<Fate>& fates = {}) {
  SmallProblem small = unequal();
  small.training.optimizer.learning_rate = 1e-30;
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = four_clients();
  spec::RunSpec run = run_of("dp-fedavg", given);
  run.weights = weights;
  const Simulated simulated = simulate(world, small, learning, run, {}, fates);
  const std::vector<float> first = history.get(learning.initial())->numbers;
  const std::vector<float> last = history.get(simulated.protocol_log.last)->numbers;
  double squares = 0;
  for (std::size_t k = 0; k < first.size(); ++k) squares += std::pow(static_cast<double>(last[k] - first[k]), 2);
  const auto count = static_cast<double>(first.size());
  return {squares / count, std::sqrt(2 / count)};
}

TEST(DpFedAvg, NoiseHasTheVarianceThatTheAccountantIsTold) {
  constexpr double kSigma = 2, kClip = 0.25;
  const auto given = [](const char* noise, const char* more = "drop-outs", const char* value = "0") {
    return spec::ParameterValues{
        {"rounds", "1"}, {"clip", "0.25"}, {"noise-multiplier", "2"}, {"noise", noise}, {more, value}};
  };
  const auto near = [](const Noise& noise, double deviation, const std::string& what) {
    EXPECT_NEAR(noise.variance, deviation * deviation, 5 * noise.expected_error * deviation * deviation) << what;
  };
  const double largest = 84.0 / 160;  // samples of the largest client ÷ all samples
  near(noise_of(given("central")), kSigma * kClip * largest, "central, by samples");
  near(noise_of(given("central"), spec::SiteWeights::uniform), kSigma * kClip / 4, "central, all alike");
  near(noise_of(given("local")), kSigma * kClip * largest, "local, by samples");
  near(noise_of(given("local"), spec::SiteWeights::uniform), kSigma * kClip / 4, "local, all alike");
  // The noise of three clients would suffice, but four add noise.
  near(noise_of(given("local", "drop-outs", "0.25"), spec::SiteWeights::uniform),
       kSigma * kClip / 4 * std::sqrt(4.0 / 3), "local, one more than is needed");
  near(noise_of(given("per-site"), spec::SiteWeights::uniform), kSigma * kClip / 4 * 2, "per site");
  // A client that goes down in the round takes its share of the noise with it. The remaining shares just suffice.
  near(noise_of(given("local", "drop-outs", "0.25"), spec::SiteWeights::uniform, {{0.15, 2, false}}),
       kSigma * kClip / 4, "local, with a client gone");
}

TEST(DpFedAvg, ARoundThatMoreDropOutOfReleasesNothing) {
  const std::vector<Fate> gone{{0.15, 2, false}};
  const spec::ParameterValues given{{"rounds", "1"}, {"noise", "local"}, {"clip", "0.25"}};
  const Noise none = noise_of(given, spec::SiteWeights::published, gone);
  EXPECT_EQ(none.variance, 0);
  const LearnedRun run = learned(unequal(), run_of("dp-fedavg", given), gone);
  EXPECT_EQ(run.simulated.protocol_log.facts.at("rounds without enough noise"), 1);
  EXPECT_EQ(run.simulated.protocol_log.updates, 0);
  EXPECT_EQ(run.simulated.protocol_log.privacy->epsilon, 0);
  EXPECT_GT(run.simulated.protocol_log.wasted_bytes, 0);
  // The server adds its noise whichever clients drop out.
  const LearnedRun central = learned(unequal(), run_of("dp-fedavg", with(given, {{"noise", "central"}})), gone);
  EXPECT_EQ(central.simulated.protocol_log.updates, 1);
}

TEST(DpFedAvg, NoClientMovesTheSumByMoreThanItsClip) {
  SmallProblem small = unequal();
  small.training.optimizer.learning_rate = 50;  // updates are far longer than C
  const spec::ParameterValues given{{"rounds", "1"}, {"clip", "0.125"}, {"noise-multiplier", "0"}};
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = four_clients();
  spec::RunSpec run = run_of("dp-fedavg", given);
  run.weights = spec::SiteWeights::uniform;
  const Simulated simulated = simulate(world, small, learning, run);
  const std::vector<float> first = history.get(learning.initial())->numbers;
  const std::vector<float> last = history.get(simulated.protocol_log.last)->numbers;
  double square = 0;
  for (std::size_t k = 0; k < first.size(); ++k) square += std::pow(static_cast<double>(last[k] - first[k]), 2);
  EXPECT_LE(std::sqrt(square), 0.125 * (1 + 1e-5));
  EXPECT_GT(std::sqrt(square), 0.125 / 4);
}

/// Computes the RDP of the sampled Gaussian mechanism at whole orders by its formula (Mironov, Talwar, Zhang, arXiv
/// 1908.10530, section 3.3), and converts it by Canonne, Kamath and Steinke. Shares no code with the accountant.
double own_epsilon(double q, double sigma, double rounds, double delta, bool older_conversion = false) {
  double least = std::numeric_limits<double>::infinity();
  for (int order = 2; order <= 256; ++order) {
    long double sum = 0;
    for (int k = 0; k <= order; ++k) {
      const long double log_term =
          std::lgammal(order + 1.0L) - std::lgammal(k + 1.0L) - std::lgammal(order - k + 1.0L) +
          (q < 1 ? static_cast<long double>(order - k) * std::log1p(-static_cast<long double>(q)) : 0.0L) +
          static_cast<long double>(k) * std::log(static_cast<long double>(q)) +
          static_cast<long double>(k) * (k - 1) / (2.0L * sigma * sigma);
      if (q == 1 && k < order) continue;
      sum += std::exp(log_term);
    }
    const double divergence = static_cast<double>(std::log(sum)) / (order - 1);
    const double newer = std::log1p(-1.0 / order) - (std::log(delta) + std::log(order)) / (order - 1);
    const double epsilon = rounds * divergence + (older_conversion ? -std::log(delta) / (order - 1) : newer);
    least = std::min(least, epsilon);
  }
  return least;
}

TEST(DpFedAvg, SpendsWhatAnAccountantOfItsOwnSays) {
  // At client level, whole orders alone give at most 1 % more than fractional orders.
  struct Case {
    double q, sigma;
    int rounds;
    double printed;  ///< published ε; 0: none
  };
  for (const Case& c : {Case{1, 1, 1, 4.753}, {1, 5, 100, 10.802}, {0.1, 1, 100, 7.973}, {0.1, 2, 100, 2.587}}) {
    const double own = own_epsilon(c.q, c.sigma, c.rounds, 1e-5);
    const double spent = estimate::epsilon_spent({c.q, c.sigma, c.rounds}, 1e-5);
    EXPECT_NEAR(own, c.printed, 1e-3);
    EXPECT_LE(spent, own + 1e-9);
    EXPECT_NEAR(spent, own, 0.01 * own);
  }
  // McMahan et al. (arXiv 1710.06963) print (4.634, 1e-9) for 763,430 users, of which 5,000 are expected in each of
  // 5,000 rounds, and z = 1. They use whole orders and the older conversion.
  const double printed = own_epsilon(5000.0 / 763430, 1, 5000, 1e-9, true);
  EXPECT_NEAR(printed, 4.634, 5e-4);
  const double spent = estimate::epsilon_spent({5000.0 / 763430, 1, 5000}, 1e-9, estimate::Conversion::classic);
  EXPECT_LE(spent, printed);
  EXPECT_NEAR(spent, printed, 0.01 * printed);
}

// A round in which a client could not be asked costs this client nothing. Other rounds cost the sampled Gaussian,
// whether the client was drawn or not.
TEST(DpFedAvg, TheServersNoiseIsChargedForRoundsThatAClientCouldBeAskedIn) {
  // The third client is down from the middle of the second of ten rounds.
  const LearnedRun run =
      learned(unequal(),
              run_of("dp-fedavg", {{"rounds", "10"}, {"fraction", "0.5"}, {"noise-multiplier", "2"}, {"minimum", "0"}}),
              {{0.45, 2, false}});
  const protocols::ProtocolLog& log = run.simulated.protocol_log;
  ASSERT_TRUE(log.privacy);
  EXPECT_NEAR(log.privacy->epsilon, estimate::epsilon_spent({0.5, 2, 10}, 1e-5), 1e-9) << "one that was always there";
  EXPECT_FALSE(log.privacy->messages);
  EXPECT_FALSE(log.privacy->sums_of_sites);
  ASSERT_EQ(log.remarks.size(), 1U);
  EXPECT_NE(log.remarks[0].find("least by client 3"), std::string::npos) << log.remarks[0];
  EXPECT_EQ(log.updates, 10) << "a round of nobody releases noise";
}

// The server sees sums and knows the clients that it asked. Each sum with a client's update costs this client the
// Gaussian mechanism without sampling.
TEST(DpFedAvg, NoiseOfClientsIsChargedForTheSumsThatAClientIsIn) {
  const LearnedRun run = learned(
      unequal(),
      run_of("dp-fedavg", {{"rounds", "8"}, {"fraction", "0.5"}, {"noise-multiplier", "4"}, {"noise", "local"}}));
  const protocols::ProtocolLog& log = run.simulated.protocol_log;
  const std::int64_t most = *std::ranges::max_element(log.took_part);
  EXPECT_LT(most, 8);
  EXPECT_NEAR(log.privacy->epsilon, own_epsilon(1, 4, static_cast<double>(most), 1e-5), 0.02 * log.privacy->epsilon);
  EXPECT_TRUE(log.privacy->sums_of_sites);
  // More noise than required counts: four clients add noise where three suffice.
  const LearnedRun more = learned(
      unequal(),
      run_of("dp-fedavg", {{"rounds", "8"}, {"noise-multiplier", "4"}, {"noise", "local"}, {"drop-outs", "0.25"}}));
  EXPECT_NEAR(more.simulated.protocol_log.privacy->epsilon,
              estimate::epsilon_spent({1, 4 * std::sqrt(4.0 / 3), 8}, 1e-5), 1e-9);
}

TEST(DpFedAvg, SpendsNoMoreThanIsAskedFor) {
  for (const char* noise : {"central", "local", "per-site"}) {
    for (const char* fraction : {"1", "0.5"}) {
      const LearnedRun run =
          learned(unequal(),
                  run_of("dp-fedavg", {{"epsilon", "3"}, {"rounds", "6"}, {"fraction", fraction}, {"noise", noise}}));
      EXPECT_LE(run.simulated.protocol_log.privacy->epsilon, 3) << noise;
      if (std::string(fraction) != "1") continue;
      EXPECT_NEAR(run.simulated.protocol_log.privacy->epsilon, 3, 1e-3) << noise;
    }
  }
  SmallProblem small = unequal();
  small.training.batches = spec::TrainingSpec::Batches::poisson;
  const LearnedRun of_samples = learned(
      small, run_of("dp-fedavg", {{"epsilon", "3"}, {"rounds", "3"}, {"level", "sample"}, {"noise", "per-site"}}));
  EXPECT_NEAR(of_samples.simulated.protocol_log.privacy->epsilon, 3, 1e-3);
  EXPECT_TRUE(of_samples.simulated.protocol_log.privacy->messages);
}

// Samples join batches at random with probability q, and an empty batch is drawn again. A sample is then in a batch
// with probability q ÷ (1 − (1 − q)ⁿ), which matters for small batches.
TEST(DpFedAvg, OfSamplesIsChargedForTheBatchesThatAreDrawnAgain) {
  for (const std::int64_t batch : {1, 3, 12}) {
    SmallProblem small = unequal();
    small.training.batches = spec::TrainingSpec::Batches::poisson;
    small.training.batch = batch;
    const LearnedRun run = learned(
        small,
        run_of("dp-fedavg", {{"noise-multiplier", "2"}, {"rounds", "2"}, {"level", "sample"}, {"noise", "per-site"}}));
    double most = 0;
    for (const double samples : {12.0, 24.0, 40.0, 84.0}) {
      const double steps = std::ceil(samples / static_cast<double>(batch));  // steps per pass, and per round
      const double q = 1 / steps;
      const double drawn = q / (1 - std::pow(1 - q, samples));
      most = std::max(most, own_epsilon(std::min(1.0, drawn), 2, 2 * steps, 1e-5));
    }
    EXPECT_NEAR(run.simulated.protocol_log.privacy->epsilon, most, 0.01 * most) << batch;
  }
}

TEST(DpFedAvg, RefusesNoiseOfItsOwnBesideEpsilon) {
  const methods::MethodInfo& info = *protocols::find_method("dp-fedavg");
  const auto faults = [&](const spec::ParameterValues& given) {
    const spec::RunSpec run = run_of("dp-fedavg", given);
    return methods::faults_of(info, {run});
  };
  const methods::RunFaults both = faults({{"epsilon", "3"}, {"noise-multiplier", "0.5"}});
  ASSERT_EQ(both.size(), 1U);
  EXPECT_NE(both[0].what.find("noise-multiplier=\"0.5\" conflicts with epsilon"), std::string::npos) << both[0].what;
  EXPECT_EQ(both[0].remedy, "set epsilon=\"0\", or remove noise-multiplier");
  EXPECT_TRUE(faults({{"epsilon", "0"}, {"noise-multiplier", "0.5"}}).empty());
  EXPECT_TRUE(faults({{"epsilon", "3"}}).empty());
}

TEST(ClientPrivacy, AddsMechanismsOneAfterTheOther) {
  protocols::ClientPrivacy privacy(3, 1e-5);
  privacy.add(0, 0.1, 2, 50);
  privacy.add(0, 0.1, 2, 50);
  privacy.add(1, 1, 5, 10);
  privacy.add(1, 1, 10, 4);
  const protocols::ClientPrivacy::OrderRange range = privacy.range();
  EXPECT_EQ(range.least.client, 2U);
  EXPECT_EQ(range.least.epsilon, 0);
  // Gaussian mechanisms without sampling compose into one, whose 1/σ² is the sum of theirs.
  const double together = 1 / std::sqrt(10 / 25.0 + 4 / 100.0);
  EXPECT_EQ(range.most.client, 1U);
  EXPECT_EQ(range.most.times, 14);
  EXPECT_NEAR(range.most.epsilon, estimate::epsilon_spent({1, together, 1}, 1e-5), 1e-9);
}

}  // namespace
}  // namespace dadsim::test

// Compares methods with their recursions on sites of different sizes and minima. With equal sites, weights would not
// change a mean, and at a minimum no rate has an effect.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

struct Site {
  std::int64_t samples = 0;
  Quadratics::Site loss;
};

constexpr double kRate = 0.1;
constexpr double kStart = 10;

std::vector<std::int64_t> samples_of(const std::vector<Site>& sites) {
  std::vector<std::int64_t> samples;
  for (const Site& site : sites) samples.push_back(site.samples);
  return samples;
}

double all_samples(const std::vector<Site>& sites) {
  double all = 0;
  for (const Site& site : sites) all += static_cast<double>(site.samples);
  return all;
}

Simulated simulated(const std::vector<Site>& sites, const spec::RunSpec& run, const spec::ScheduleSpec& schedule = {}) {
  SmallProblem small = unequal_problem(samples_of(sites));
  small.training.schedule = schedule;
  History history(1, nullptr);
  std::vector<Quadratics::Site> losses;
  for (const Site& site : sites) losses.push_back(site.loss);
  Quadratics learning(small.problem(), history, losses, kStart);
  auto world = closed_form(sites.size(), [](world::Node) { return 1; });
  return simulate(world, small, learning, run);
}

void expect_model(const Simulated& simulated, std::size_t version, double x) {
  EXPECT_NEAR(simulated.qualities.at(version)[1], x, 2e-5 * std::max(1.0, std::abs(x))) << version;
}

/// Returns x after this many steps of gradient descent at the constant rate.
double descended(const Quadratics::Site& loss, double x, int steps) {
  return loss.minimum + (x - loss.minimum) * std::pow(1 - kRate * loss.curvature, steps);
}

// All sites have multiples of ten samples, the batch size, so every local step uses ten.
const std::vector<Site> kFour = {{50, {1, 0}}, {10, {4, 10}}, {30, {0.5, -6}}, {20, {2, 3}}};

/// Compares every model with SCAFFOLD's recursion (arXiv 1910.06378, algorithm 1, option II), using the clients drawn
/// in each round, and weights n_i instead of 1.
void expect_scaffold(const std::string& server_rate, bool falling_rate) {
  constexpr std::size_t kRounds = 12;
  constexpr std::int64_t kSteps = 4;
  // The rate falls by a tenth per step of synchronous training, in which all sites take part.
  spec::ScheduleSpec schedule;
  if (falling_rate) {
    schedule.kind = spec::ScheduleSpec::Kind::steps;
    schedule.factor = 0.9;
    for (std::int64_t epoch = 1; epoch < 50; ++epoch) schedule.milestones.push_back(epoch);
  }
  const Simulated found = simulated(kFour,
                                    run_of("scaffold", {{"rounds", std::to_string(kRounds)},
                                                        {"fraction", "0.5"},
                                                        {"local-steps", std::to_string(kSteps)},
                                                        {"server-rate", server_rate}}),
                                    schedule);
  std::map<std::int64_t, std::set<std::size_t>> drawn;
  for (const auto& part : found.protocol_log.parts) drawn[part.round].insert(static_cast<std::size_t>(part.client));
  const double all = all_samples(kFour);
  double x = kStart;
  double c = 0;
  double trained = 0;
  std::vector<double> own(kFour.size(), 0.0);
  for (std::size_t round = 1; round <= kRounds; ++round) {
    const std::set<std::size_t>& clients = drawn.at(static_cast<std::int64_t>(round));
    ASSERT_EQ(clients.size(), 2U);
    const double first = falling_rate ? std::floor(trained / all + 1e-6) : 0;
    double of_round = 0;
    for (const std::size_t i : clients) of_round += static_cast<double>(kFour[i].samples);
    double moved = 0;
    double changed = 0;
    for (const std::size_t i : clients) {
      const auto& [samples, loss] = kFour[i];
      double y = x;
      double rates = 0;
      for (std::int64_t k = 0; k < kSteps; ++k) {
        const double rate = kRate * (falling_rate ? std::pow(0.9, first + static_cast<double>(k)) : 1);
        y -= rate * (loss.curvature * (y - loss.minimum) - own[i] + c);
        rates += rate;
      }
      const double control = own[i] - c + (x - y) / rates;
      moved += static_cast<double>(samples) / of_round * (x - y);
      changed += static_cast<double>(samples) / all * (control - own[i]);
      own[i] = control;
      trained += 10.0 * kSteps;
    }
    x -= std::stod(server_rate) * moved;
    c += changed;
    expect_model(found, round, x);
  }
}

TEST(UnequalSites, ScaffoldsControlIsTheMeanOverAllSites) { expect_scaffold("1", false); }

TEST(UnequalSites, ScaffoldsServerHasARate) { expect_scaffold("0.6", false); }

TEST(UnequalSites, ScaffoldDividesByTheSumOfTheRatesOfARound) { expect_scaffold("1", true); }

// Batches and weights are proportional to the sites' samples.
TEST(UnequalSites, LocalSgdTakesTheMeanOfSamples) {
  const std::vector<Site> sites = {{30, {1, 1}}, {10, {2, 13}}};
  const Simulated found = simulated(sites, run_of("local-sgd", {{"rounds", "10"}, {"period", "4"}}));
  double x = kStart;
  for (std::size_t round = 0; round <= 10; ++round) {
    expect_model(found, round, x);
    x = 0.75 * descended(sites[0].loss, x, 4) + 0.25 * descended(sites[1].loss, x, 4);
  }
}

TEST(UnequalSites, DiLoCoTakesTheMeanOfSamples) {
  const std::vector<Site> sites = {{30, {1, 1}}, {10, {2, 13}}};
  const Simulated found = simulated(sites, run_of("diloco", {{"rounds", "10"}, {"period", "3"}}));
  double x = kStart;
  double v = 0;
  for (std::size_t round = 0; round <= 10; ++round) {
    expect_model(found, round, x);
    const double delta = x - 0.75 * descended(sites[0].loss, x, 3) - 0.25 * descended(sites[1].loss, x, 3);
    v = 0.9 * v + delta;
    x -= 0.7 * (delta + 0.9 * v);
  }
}

// A worker's next Δ starts from the θ that it received, not from the mix of θ with its own weights.
TEST(UnequalSites, StreamingDiLoCosBaseIsWhatTheServerSent) {
  const std::vector<Site> sites = {{30, {1, 1}}, {10, {2, 13}}};
  constexpr std::int64_t kPeriod = 4;
  constexpr double kAlpha = 0.3;
  for (const std::int64_t delay : {0, 1, 3}) {
    const Simulated found = simulated(sites, run_of("streaming-diloco", {{"rounds", "8"},
                                                                         {"period", std::to_string(kPeriod)},
                                                                         {"fragments", "1"},
                                                                         {"delay", std::to_string(delay)},
                                                                         {"alpha", std::to_string(kAlpha)},
                                                                         {"outer-rate", "0.7"},
                                                                         {"outer-gradients", "compress"}}));
    const double shares[] = {0.75, 0.25};
    double theta = kStart;
    double v = 0;
    double own[] = {kStart, kStart};
    double base = kStart;
    expect_model(found, 0, theta);
    std::size_t version = 0;
    std::int64_t due = -1;
    const auto take_in = [&] {
      for (double& weights : own) weights = kAlpha * weights + (1 - kAlpha) * theta;
      base = theta;
      due = -1;
    };
    for (std::int64_t step = 1; step <= 8 * kPeriod; ++step) {
      for (std::size_t i = 0; i < 2; ++i) own[i] = descended(sites[i].loss, own[i], 1);
      if (due == step) take_in();
      if (step % kPeriod != 0) continue;
      const double delta = shares[0] * (base - own[0]) + shares[1] * (base - own[1]);
      v = 0.9 * v + delta;
      theta -= 0.7 * (delta + 0.9 * v);
      expect_model(found, ++version, theta);
      due = step + delay;
      if (delay == 0) take_in();
    }
    EXPECT_EQ(version, found.qualities.size() - 1) << delay;
  }
}

// A group's model is weighted by its samples. Groups take two rounds each before their models are averaged.
TEST(UnequalSites, HierFedAvgWeighsGroupsBySamples) {
  const Simulated found = simulated(
      kFour, run_of("hierfavg", {{"rounds", "6"}, {"groups", "2"}, {"edge-rounds", "2"}, {"local-steps", "3"}}));
  double x = kStart;
  for (std::size_t round = 0; round <= 6; ++round) {
    expect_model(found, round, x);
    double next = 0;
    for (const std::size_t first : {0U, 2U}) {
      const Site& a = kFour[first];
      const Site& b = kFour[first + 1];
      const auto of_group = static_cast<double>(a.samples + b.samples);
      double group = x;
      for (int edge_round = 0; edge_round < 2; ++edge_round) {
        group = (static_cast<double>(a.samples) * descended(a.loss, group, 3) +
                 static_cast<double>(b.samples) * descended(b.loss, group, 3)) /
                of_group;
      }
      next += of_group / all_samples(kFour) * group;
    }
    x = next;
  }
}

TEST(UnequalSites, FedAvgTakesTheMeanOfSamples) {
  const Simulated found = simulated(kFour, run_of("fedavg", {{"rounds", "6"}, {"local-steps", "3"}}));
  double x = kStart;
  for (std::size_t round = 0; round <= 6; ++round) {
    expect_model(found, round, x);
    double next = 0;
    for (const Site& site : kFour) {
      next += static_cast<double>(site.samples) / all_samples(kFour) * descended(site.loss, x, 3);
    }
    x = next;
  }
}

}  // namespace
}  // namespace dadsim::test

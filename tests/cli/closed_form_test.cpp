// Compares the simulated step time of every algorithm, on a star without contention, with a closed form. Sending b
// bytes takes b/B, and they arrive a latency α later. Sends return at once. Messages of a connection follow one another
// without waiting for α, so a stream of messages pays α once. In a ring, a worker sends again only after it has
// received, so every round takes α + b/B. Computations run in order, and a collective starts once its data exist.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/one_step.hpp"
#include "sim/star.hpp"

namespace dadsim::cli {
namespace {

using test::OneStep;
using test::Star;
using test::TemporaryFile;

constexpr double kPeak = 2e9;     // flop/s
constexpr double kMemory = 4e8;   // byte/s
constexpr double kLaunch = 3e-5;  // seconds per kernel
constexpr std::size_t kSites = 4;
constexpr double kRows = 8;
constexpr double kAllRows = kRows * kSites;
const std::vector<double> kWidths{30, 24, 16, 10};  // units of layers without biases
const Star kStar{.workers = kSites, .rate = 2e6, .latency = 0.002};

double p(std::size_t l) { return kWidths[l]; }
double q(std::size_t l) { return kWidths[l + 1]; }
constexpr std::size_t kLayers = 3;

/// Returns the roofline time of a product.
double product(double flops, double floats, double launches) {
  return launches * kLaunch + std::max(flops / kPeak, 4 * floats / kMemory);
}
double pass(double flops, double floats, double launches) {
  return launches * kLaunch + std::max(flops / (kPeak / 2), 4 * floats / kMemory);
}

double forward(std::size_t l) {
  return product(2 * kRows * p(l) * q(l), kRows * p(l) + p(l) * q(l) + 2 * kRows * q(l), 2);
}
double loss() { return pass(5 * kRows * q(kLayers - 1), 4 * kRows * q(kLayers - 1), 3); }
double backpropagate(std::size_t l, double rows) {
  return l == 0 ? 0 : product(2 * rows * p(l) * q(l), 2 * rows * q(l) + p(l) * q(l) + 2 * rows * p(l), 2);
}
double weight_gradient(std::size_t l, double rows) {
  return product(2 * rows * p(l) * q(l), rows * (p(l) + q(l)) + p(l) * q(l), 1);
}
double add(std::size_t l) { return pass(kSites * p(l) * q(l), (kSites + 1) * p(l) * q(l), 1); }

/// Returns the time of power iterations on factors of a p × q gradient of `rows` rows, with `rank` components and the
/// cheaper of two methods.
double factorise(std::size_t l, double rows, double rank, double iterations, bool fused = false) {
  const double launches = 2 + rank * (fused ? 1 : 6 * iterations + 6);
  const double orthogonal = 4 * (iterations + 2) * rank * rank * q(l);
  const double gram_flops = 2 * rows * rows * (p(l) + q(l)) + 4 * iterations * rank * rows * q(l) +
                            2 * rank * rows * (p(l) + q(l)) + orthogonal;
  const double gram_floats = rows * p(l) + 2 * rows * q(l) + 2 * iterations * rank * rows * q(l) +
                             rank * rows * (p(l) + q(l)) + rank * (p(l) + q(l));
  const double explicit_flops = 2 * rows * p(l) * q(l) + 2 * q(l) * q(l) * p(l) + 2 * iterations * rank * q(l) * q(l) +
                                2 * rank * p(l) * q(l) + orthogonal;
  const double explicit_floats = rows * (p(l) + q(l)) + 2 * p(l) * q(l) + q(l) * q(l) +
                                 iterations * rank * q(l) * q(l) + rank * p(l) * q(l) + rank * (p(l) + q(l));
  return gram_flops <= explicit_flops ? product(gram_flops, gram_floats, launches)
                                      : product(explicit_flops, explicit_floats, launches);
}
double product_of_factors(std::size_t l, double rank) {
  return product(2 * rank * p(l) * q(l), rank * (p(l) + q(l)) + p(l) * q(l), 1);
}

double forward_pass() {
  double time = loss();
  for (std::size_t l = 0; l < kLayers; ++l) time += forward(l);
  return time;
}

/// Times of a layer in the order of its step: computing before the message, the message, and so on.
struct LayerTimes {
  double before = 0;     ///< seconds of computing until the data to send exist
  double up = 0;         ///< floats to the aggregator
  double aggregate = 0;  ///< seconds of computing at the aggregator
  double down = 0;       ///< floats to every worker
  double meanwhile = 0;  ///< seconds of computing at the worker after it has sent
  double after = 0;      ///< seconds of computing after the broadcast has arrived
};

/// Returns the step time, with layers from last to first, each part starting when its inputs exist. Bytes occupy the
/// connection to or from the aggregator while they are sent, and arrive a latency later.
double star_step(const std::vector<LayerTimes>& layers) {
  const auto transfer = [](double floats) { return 4 * floats / kStar.rate; };
  double compute = forward_pass();
  double up = 0;
  double aggregator = 0;
  double down = 0;
  std::vector<double> arrived;
  for (const LayerTimes& layer : layers) {
    compute += layer.before;
    up = std::max(compute, up) + transfer(layer.up);
    aggregator = std::max(up + kStar.latency, aggregator) + layer.aggregate;
    down = std::max(aggregator, down) + transfer(layer.down);
    arrived.push_back(down + kStar.latency);
    compute += layer.meanwhile;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) compute = std::max(compute, arrived[i]) + layers[i].after;
  return compute;
}

std::vector<LayerTimes> from_last(const std::function<LayerTimes(std::size_t layer)>& times) {
  std::vector<LayerTimes> layers;
  for (std::size_t l = kLayers; l-- > 0;) layers.push_back(times(l));
  return layers;
}

double simulated(const std::string& algorithm, spec::ExchangeMode mode, const spec::ParameterValues& parameters = {}) {
  OneStep::Setup setup;
  setup.widths.clear();
  for (const double width : kWidths) setup.widths.push_back(static_cast<std::int64_t>(width));
  setup.bias = false;
  setup.rows.assign(kSites, static_cast<std::int32_t>(kRows));
  setup.exchange = mode;
  setup.parameters = parameters;
  const OneStep step(algorithm, setup);
  std::vector<schedule::Schedule> schedules{schedule::instantiate(step.structure, step.sizes, step.shape, step.shape)};
  for (schedule::Task& task : schedules[0].tasks) {
    auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    // Peers use rings for reductions and gathers, where `auto` would choose other algorithms for such small vectors.
    if (collective != nullptr && mode == spec::ExchangeMode::peer) collective->algorithm = "ring";
  }
  const TemporaryFile platform(kStar.xml());
  sim::Cluster cluster = test::cluster_on(platform.path(), kSites);
  const spec::DeviceSpec device{.name = "test",
                                .description = "",
                                .peak_flops = kPeak,
                                .memory_bandwidth = kMemory,
                                .matrix_efficiency = 1,
                                .memory_efficiency = 1,
                                .launch_overhead = kLaunch,
                                .source = ""};
  cluster.devices.assign(kSites, device);
  cluster.aggregator_device = device;
  return time_schedules(cluster, schedules).steps.at(0).seconds;
}

void expect_close(double measured, double closed_form) { EXPECT_NEAR(measured / closed_form, 1.0, 1e-3); }

TEST(ClosedForm, GradientSharing) {
  expect_close(simulated("gradient-sharing", spec::ExchangeMode::aggregator), star_step(from_last([](std::size_t l) {
                 return LayerTimes{.before = weight_gradient(l, kRows),
                                   .up = p(l) * q(l),
                                   .aggregate = add(l),
                                   .down = p(l) * q(l),
                                   .meanwhile = backpropagate(l, kRows),
                                   .after = 0};
               })));
}

TEST(ClosedForm, Dad) {
  expect_close(simulated("dad", spec::ExchangeMode::aggregator), star_step(from_last([](std::size_t l) {
                 return LayerTimes{.before = 0,
                                   .up = kRows * (p(l) + q(l)),
                                   .aggregate = 0,
                                   .down = kAllRows * (p(l) + q(l)),
                                   .meanwhile = backpropagate(l, kRows),
                                   .after = weight_gradient(l, kAllRows)};
               })));
}

TEST(ClosedForm, Edad) {
  expect_close(simulated("edad", spec::ExchangeMode::aggregator), star_step(from_last([](std::size_t l) {
                 const double width = p(l) + (l + 1 == kLayers ? q(l) : 0);
                 return LayerTimes{.before = 0,
                                   .up = kRows * width,
                                   .aggregate = 0,
                                   .down = kAllRows * width,
                                   .meanwhile = 0,
                                   .after = weight_gradient(l, kAllRows) + backpropagate(l, kAllRows)};
               })));
}

TEST(ClosedForm, RankDad) {
  constexpr double kRank = 3;
  constexpr double kIterations = 4;
  const spec::ParameterValues two_way{{"cap", "3"}, {"iterations", "4"}, {"tolerance", "0"}};
  spec::ParameterValues one_way = two_way;
  one_way["mode"] = "one-way";
  spec::ParameterValues in_fewer_launches = two_way;
  in_fewer_launches["kernels"] = "fused";
  for (const spec::ParameterValues& parameters : {two_way, one_way, in_fewer_launches}) {
    const bool twice = !parameters.contains("mode"), fused = parameters.contains("kernels");
    expect_close(simulated("rank-dad", spec::ExchangeMode::aggregator, parameters),
                 star_step(from_last([&](std::size_t l) {
                   const double down_rank = twice ? kRank : kSites * kRank;
                   return LayerTimes{.before = factorise(l, kRows, kRank, kIterations, fused),
                                     .up = kRank * (p(l) + q(l)),
                                     .aggregate = twice ? factorise(l, kSites * kRank, kRank, kIterations, fused) : 0,
                                     .down = down_rank * (p(l) + q(l)),
                                     .meanwhile = backpropagate(l, kRows),
                                     .after = product_of_factors(l, down_rank)};
                 })));
  }
}

TEST(ClosedForm, ReferenceEndsOnlyCompute) {
  const auto alone = [](double rows_share) {
    double time = 0;
    const double rows = kRows * rows_share;
    for (std::size_t l = 0; l < kLayers; ++l) {
      time += product(2 * rows * p(l) * q(l), rows * p(l) + p(l) * q(l) + 2 * rows * q(l), 2);
      time += weight_gradient(l, rows) + backpropagate(l, rows);
    }
    return time + pass(5 * rows * q(kLayers - 1), 4 * rows * q(kLayers - 1), 3);
  };
  expect_close(simulated("pooled", spec::ExchangeMode::aggregator), alone(kSites));
  expect_close(simulated("no-sharing", spec::ExchangeMode::aggregator), alone(1));
}

/// Returns the step time with rings over the workers, whose messages cross two links; one layer follows the other.
double ring_step(const std::vector<LayerTimes>& layers, const std::function<double(double floats)>& ring) {
  double compute = forward_pass();
  double lane = 0;
  std::vector<double> done;
  for (const LayerTimes& layer : layers) {
    compute += layer.before;
    lane = std::max(compute, lane) + ring(layer.up);
    done.push_back(lane);
    compute += layer.meanwhile;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) compute = std::max(compute, done[i]) + layers[i].after;
  return compute;
}

TEST(ClosedForm, PeersInARing) {
  const auto all_reduce = [](double floats) { return 2 * (kSites - 1) * kStar.between(4 * floats / kSites); };
  const auto all_gather = [](double floats) { return (kSites - 1) * kStar.between(4 * floats); };
  expect_close(simulated("gradient-sharing", spec::ExchangeMode::peer),
               ring_step(from_last([](std::size_t l) {
                           return LayerTimes{.before = weight_gradient(l, kRows),
                                             .up = p(l) * q(l),
                                             .aggregate = 0,
                                             .down = 0,
                                             .meanwhile = backpropagate(l, kRows),
                                             .after = 0};
                         }),
                         all_reduce));
  expect_close(simulated("dad", spec::ExchangeMode::peer), ring_step(from_last([](std::size_t l) {
                                                                       return LayerTimes{
                                                                           .before = 0,
                                                                           .up = kRows * (p(l) + q(l)),
                                                                           .aggregate = 0,
                                                                           .down = 0,
                                                                           .meanwhile = backpropagate(l, kRows),
                                                                           .after = weight_gradient(l, kAllRows)};
                                                                     }),
                                                                     all_gather));
  expect_close(simulated("rank-dad", spec::ExchangeMode::peer,
                         {{"padding", "none"}, {"cap", "3"}, {"iterations", "4"}, {"tolerance", "0"}}),
               ring_step(from_last([](std::size_t l) {
                           return LayerTimes{.before = factorise(l, kRows, 3, 4),
                                             .up = 3 * (p(l) + q(l)),
                                             .aggregate = 0,
                                             .down = 0,
                                             .meanwhile = backpropagate(l, kRows),
                                             .after = factorise(l, kSites * 3, 3, 4) + product_of_factors(l, 3)};
                         }),
                         all_gather));
}

}  // namespace
}  // namespace dadsim::cli

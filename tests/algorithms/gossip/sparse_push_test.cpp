// Tests Sparse-Push in double precision on quadratics that differ between sites: the cost of sparsity, too large a
// gamma, and the final average.
#include "algorithms/gossip/sparse_push.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "algorithms/gossip/consensus.hpp"

namespace dadsim::algorithms {
namespace {

using test::Numbers;

/// Losses F_i(z) = ½ ‖z − b_i‖² with normal b_i; their common minimum is the mean of the b_i.
struct Quadratics {
  Numbers b;
  models::MatrixOf<double> minimum;

  Quadratics(Eigen::Index size, std::uint64_t seed) : b(test::normal_numbers(8, 1, size, seed)) {
    minimum = test::mean_of(b);
  }
};

struct Distances {
  double of_sites, of_merged;  ///< squared distances to the minimum: of the sites, and of their average
};

/// Runs Sparse-Push with replicas and k entries. With all entries and a gamma of 1, it equals SGP.
Distances push(const Quadratics& problem, const std::string& graph, Eigen::Index k, double gamma) {
  constexpr int kSteps = 4000;
  const Topology topology = test::topology(graph, 8);
  const Eigen::Index size = problem.minimum.size();
  Numbers x(8, models::MatrixOf<double>::Zero(1, size));
  Numbers known = x;
  Numbers w(8, models::MatrixOf<double>::Ones(1, 1));
  std::vector<double> least(8, 0.0);
  for (int t = 0; t < kSteps; ++t) {
    const Topology::MixingRound& round = topology.at(t);
    const double rate = 0.5 / (1 + t / 20.0);
    parallel_for(8, [&](std::size_t i) {
      x[i] -= rate * (x[i] / w[i](0) - problem.b[i]);
      const models::MatrixOf<double> news = x[i] - known[i];
      known[i] += k == size ? news : test::largest(news, k, least[i]);
    });
    const Numbers w_before = w;
    for (std::size_t i = 0; i < 8; ++i) {
      std::vector<gossip::Weighed<double>> others, of_w;
      for (const auto& entry : round.mixing.from[i]) {
        const auto j = static_cast<std::size_t>(entry.first);
        others.push_back({round.shares[j], &known[j]});
        of_w.push_back({round.shares[j], &w_before[j]});
      }
      const double given = round.shares[i] * static_cast<double>(round.graph->to[i].size());
      gossip::push(x[i], known[i], given, others, gamma);
      gossip::push(w[i], w_before[i], given, of_w, gamma);
    }
    if (!(test::spread(x) < 1e12)) return {1e300, 1e300};
  }
  Distances distances{0, (test::mean_of(x) - problem.minimum).squaredNorm()};
  for (std::size_t i = 0; i < 8; ++i) {
    distances.of_sites += (x[i] / w[i](0) - problem.minimum).squaredNorm() / 8;
  }
  std::printf("[ figure ] %s, %ld of %ld, gamma %g: sites %.3g, merged %.3g\n", graph.c_str(), static_cast<long>(k),
              static_cast<long>(size), gamma, distances.of_sites, distances.of_merged);
  return distances;
}

TEST(SparsePush, GammaByDefaultIsAFit) {
  // The default gamma is max(0.31 f^0.4, 2 f), here computed with Python: 0.0491 and 0.01956.
  using algorithms::SparsePush;
  EXPECT_NEAR(SparsePush::default_gamma(0.01, true), 0.0491, 5e-5);
  EXPECT_NEAR(SparsePush::default_gamma(0.001, true), 0.01956, 5e-6);
  EXPECT_DOUBLE_EQ(SparsePush::default_gamma(0.1, true), 0.2);
  EXPECT_EQ(SparsePush::default_gamma(0.7, true), 1);
  EXPECT_DOUBLE_EQ(SparsePush::default_gamma(0.01, false), 0.02);
}

TEST(SparsePush, GammaHasToGoWithTheFractionAndTheMergeUndoesWhatSparsityCosts) {
  const Quadratics problem(2000, 3);
  const double start = problem.minimum.squaredNorm();
  const Distances dense = push(problem, "directed", 2000, 1);
  EXPECT_LT(dense.of_sites, 0.03) << "1.5e-2 with other draws";
  EXPECT_LT(dense.of_merged, 1e-3 * dense.of_sites);

  const Distances tenth = push(problem, "directed", 200, 0.2);
  EXPECT_GT(tenth.of_sites, 10 * dense.of_sites) << "sparsity costs";
  EXPECT_LT(tenth.of_merged, 1e-2 * tenth.of_sites) << "and the average undoes it";

  const Distances hundredth = push(problem, "directed", 20, 0.02);
  EXPECT_GT(hundredth.of_sites, 10 * tenth.of_sites);
  EXPECT_LT(hundredth.of_merged, 1e-2 * hundredth.of_sites);
  EXPECT_LT(hundredth.of_sites, start) << "it learns";

  for (const double gamma : {0.2, 0.5}) {
    EXPECT_GT(push(problem, "directed", 20, gamma).of_sites, start) << "diverges with gamma " << gamma;
  }
}

}  // namespace
}  // namespace dadsim::algorithms

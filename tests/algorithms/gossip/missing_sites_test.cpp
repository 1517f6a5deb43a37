// Tests methods whose sites keep copies of their neighbours, while some sites miss steps. The sum over all sites is
// preserved, and sites converge once all are present.
#include <gtest/gtest.h>

#include <boost/random/bernoulli_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/gossip/sparse_push.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "models/data/generated.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

constexpr std::size_t kSome = 6;

/// Six sites with one to six digits each, and weights that are drawn independently; no learning takes place.
class Apart {
 public:
  Apart(const std::string& method, const spec::ParameterValues& parameters, const spec::CompressSpec& compress = {}) {
    data_.train = models::draw_digits(0, 21, 5);
    data_.test = models::draw_digits(21, 5, 5);
    data_.shape = {28, 28, 1};
    data_.classes = 10;
    std::int32_t first = 0;
    for (std::int32_t rows = 1; rows <= static_cast<std::int32_t>(kSome); first += rows++) {
      partition_.emplace_back(static_cast<std::size_t>(rows));
      std::iota(partition_.back().begin(), partition_.back().end(), first);
    }
    problem_.model.layers = {spec::DenseSpec{10, spec::Activation::identity, true}};
    problem_.training.batch = 21;
    problem_.training.epochs = 1e6;
    spec::RunSpec run = run_of(algorithm_registry().at(method), parameters);
    run.decentralised = true;
    run.exchange = spec::ExchangeMode::peer;
    run.compress = compress;
    step_ = std::make_unique<OwnWeightsStep>(problem_, run);
    algorithm_ = make_gossip(algorithm_registry().at(method), run);
    RandomStream random(7, Purpose::test);
    boost::random::normal_distribution<float> normal;
    Field x = step_->weights();
    for (auto& block : x) {
      for (models::Matrix& site : block) {
        for (float& value : site.reshaped()) value = normal(random);
      }
    }
    step_->set_weights(x);
  }

  OwnWeightsStep& step() { return *step_; }
  GossipAlgorithm& algorithm() { return *algorithm_; }

  /// Takes steps with a rate of 0. Each site is present with probability `chance`; 1: without attendance.
  void take(GossipAlgorithm& algorithm, std::int64_t steps, double chance, const std::function<void()>& look) {
    for (std::int64_t t = 0; t < steps; ++t, ++number_) {
      Attendees who{{}, kSome, {}};
      RandomStream random(3, Purpose::test, 1, static_cast<std::uint32_t>(number_));
      const boost::random::bernoulli_distribution<double> there(chance);
      Batch batch(kSome);
      for (std::size_t site = 0; site < kSome; ++site) {
        if (chance < 1 && !there(random)) continue;
        who.sites.push_back(static_cast<std::int32_t>(site));
        batch[site] = partition_[site];
      }
      if (who.sites.empty()) continue;
      step_->begin(number_, 0, batch, &who);
      algorithm.run(*step_);
      static_cast<void>(step_->recorder().take());
      look();
    }
  }

 private:
  models::Dataset data_;
  models::Partition partition_;
  LearningProblem problem_{data_, partition_, {}, {}, 5};
  std::unique_ptr<OwnWeightsStep> step_;
  std::unique_ptr<GossipAlgorithm> algorithm_;
  std::int64_t number_ = 0;
};

/// Returns Σ_i x_i of the matrix.
Eigen::ArrayXd sum_of(const Field& x) {
  Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(x[0][0].cols());
  for (const models::Matrix& site : x[0]) sum += site.row(0).transpose().array().cast<double>();
  return sum;
}

/// Returns Σ_i ‖x_i − x̄‖².
double apart(const Field& x) {
  const Eigen::ArrayXd mean = sum_of(x) / static_cast<double>(kSome);
  double sum = 0;
  for (const models::Matrix& site : x[0]) {
    sum += (site.row(0).transpose().array().cast<double>() - mean).square().sum();
  }
  return sum;
}

/// Returns W_ij among the sites present, per site by neighbour, computed independently of the tested mixing weights.
std::vector<std::map<std::size_t, float>> weights_among(OwnWeightsStep& step) {
  const auto& to = step.topology().at(0).graph->to;
  const auto degree = [&](std::size_t i) {
    return std::ranges::count_if(to[i], [&](std::int32_t j) { return step.is_there(static_cast<std::size_t>(j)); });
  };
  std::vector<std::map<std::size_t, float>> weights(kSome);
  for (std::size_t i = 0; i < kSome; ++i) {
    for (const std::int32_t neighbour : to[i]) {
      const auto j = static_cast<std::size_t>(neighbour);
      if (step.is_there(i) && step.is_there(j))
        weights[i][j] = 1.0F / (1.0F + static_cast<float>(std::max(degree(i), degree(j))));
    }
  }
  return weights;
}

void expect_near(const Field& x, const std::vector<models::Matrix>& expected, const std::string& what) {
  for (std::size_t i = 0; i < kSome; ++i)
    EXPECT_LT((x[0][i] - expected[i]).norm(), 1e-4F * expected[i].norm()) << what << ", site " << i;
}

spec::CompressSpec top_tenth() { return {.method = "top-k", .parameters = {{"fraction", "0.1"}}}; }

TEST(MissingSites, ChocoKeepsTheMeanWhoeverIsAwayAndComesTogether) {
  for (const char* graph : {"ring", "star"}) {
    Apart sites("choco-sgd", {{"graph", graph}, {"gamma", "0.1"}}, top_tenth());
    GossipAlgorithm& choco = sites.algorithm();
    const Eigen::ArrayXd before = sum_of(sites.step().weights());
    const double start = apart(sites.step().weights());
    const auto look = [&] {
      const Eigen::ArrayXd now = sum_of(sites.step().weights());
      ASSERT_LT((now - before).abs().maxCoeff(), 2e-4) << graph << ", step " << sites.step().number();
    };
    sites.take(choco, 5, 1, look);
    sites.take(choco, 300, 0.6, look);
    EXPECT_LT(apart(sites.step().weights()), 0.5 * start) << graph << ": they come nearer while some are away";
    sites.take(choco, 500, 1, look);
    EXPECT_LT(apart(sites.step().weights()), 1e-4 * start) << graph << ": and together once all are there";
  }
}

// Without compression, all neighbours know a site's weights, so a site moves by γ towards its neighbours' current
// weights.
TEST(Choco, MovesTowardsWhatNeighboursHaveWhereNothingIsLost) {
  Apart sites("choco-sgd", {{"graph", "star"}, {"gamma", "0.5"}});
  GossipAlgorithm& choco = sites.algorithm();
  for (int step = 0; step < 3; ++step) {
    const Field before = sites.step().weights();
    sites.take(choco, 1, 1, [] {});
    const Field after = sites.step().weights();
    for (std::size_t i = 0; i < kSome; ++i) {
      models::Matrix expected = before[0][i];
      for (const auto& [j, weight] : sites.step().round().mixing.from[i]) {
        expected += 0.5F * static_cast<float>(weight) * (before[0][static_cast<std::size_t>(j)] - before[0][i]);
      }
      EXPECT_LT((after[0][i] - expected).norm(), 1e-5F * expected.norm()) << "site " << i << ", step " << step;
    }
  }
}

// Messages sent while a neighbour is absent must not count as known to it. With one copy for all neighbours, this
// neighbour would be pulled towards numbers that it never received.
TEST(MissingSites, AnEdgeKeepsItsCopyWhileOneOfItsEndsIsAway) {
  Apart sites("choco-sgd", {{"graph", "complete"}, {"gamma", "0.5"}});
  GossipAlgorithm& choco = sites.algorithm();
  PublicCopies known;
  known.begin(sites.step(), sites.step().weights());
  EXPECT_FALSE(known.is_per_edge());
  sites.take(choco, 1, 0.5, [] {});
  const Field x = sites.step().weights();
  PublicCopies copies;
  copies.begin(sites.step(), x);
  ASSERT_TRUE(copies.is_per_edge()) << "a site missed this step";
  EXPECT_NE(copies.place(0, 1), copies.place(0, 2));
  copies.at(0, 0, 1).setZero();
  EXPECT_EQ(copies.at(0, 0, 2), x[0][0]);
  EXPECT_EQ(copies.at(0, 1, 0), x[0][1]);
}

// Computes the recursion with a copy per edge: values that i has sent to j, and values that j has received.
TEST(MissingSites, ChocoMovesByWhatEachEdgeHasSeen) {
  for (const char* graph : {"ring", "star", "complete"}) {
    Apart sites("choco-sgd", {{"graph", graph}, {"gamma", "0.4"}}, top_tenth());
    GossipAlgorithm& choco = sites.algorithm();
    std::vector<models::Matrix> x = sites.step().weights()[0];
    std::map<std::pair<std::size_t, std::size_t>, models::Matrix> told;  // values sent so far, by (from, to)
    for (int t = 0; t < 25; ++t) {
      sites.take(choco, 1, t < 3 ? 1 : 0.6, [&] {
        const std::vector<std::map<std::size_t, float>> weights = weights_among(sites.step());
        const std::vector<models::Matrix> before = x;
        for (std::size_t i = 0; i < kSome; ++i) {
          for (const auto& [j, weight] : weights[i]) {
            told.try_emplace({i, j}, before[i]);
            told.try_emplace({j, i}, before[j]);
            x[i] += 0.4F * weight * (told.at({j, i}) - told.at({i, j}));
          }
        }
        for (std::size_t i = 0; i < kSome; ++i) {
          for (const auto& [j, weight] : weights[i]) {
            const models::Matrix news = x[i] - told.at({i, j});
            std::vector<float> sizes(news.data(), news.data() + news.size());
            for (float& size : sizes) size = std::abs(size);
            const auto least = sizes.begin() + (news.size() + 9) / 10 - 1;
            std::nth_element(sizes.begin(), least, sizes.end(), std::greater<>());
            told.at({i, j}) += (news.array().abs() >= *least).select(news, 0.0F);
          }
        }
        expect_near(sites.step().weights(), x, std::string(graph) + ", step " + std::to_string(t));
      });
    }
  }
}

// D² with absent sites: φ = x + c, x ← (I + W)/2 φ with W of the sites present, c ← c + x − φ. An absent site keeps x
// and c.
TEST(MissingSites, D2MixesHalfwayAmongThoseThatAreThere) {
  for (const char* graph : {"complete", "ring", "star"}) {
    Apart sites("d2", {{"graph", graph}});
    GossipAlgorithm& d2 = sites.algorithm();
    std::vector<models::Matrix> x = sites.step().weights()[0];
    std::vector<models::Matrix> c(kSome, models::Matrix::Zero(1, x[0].cols()));
    for (int t = 0; t < 12; ++t) {
      sites.take(d2, 1, 0.6, [&] {
        // W of a ring of six has an eigenvalue of −1/3, so D² uses (I + W)/2 on this ring even if all sites are
        // present.
        const float scale = sites.step().everyone_is_there() && graph != std::string("ring") ? 1.0F : 0.5F;
        const std::vector<std::map<std::size_t, float>> weights = weights_among(sites.step());
        std::vector<models::Matrix> sent = x;
        for (std::size_t i = 0; i < kSome; ++i) {
          if (sites.step().is_there(i)) sent[i] += c[i];
        }
        x = sent;
        for (std::size_t i = 0; i < kSome; ++i) {
          for (const auto& [j, weight] : weights[i]) x[i] += scale * weight * (sent[j] - sent[i]);
          c[i] += x[i] - sent[i];
        }
        expect_near(sites.step().weights(), x, std::string(graph) + ", step " + std::to_string(t));
      });
    }
  }
}

TEST(MissingSites, SparsePushKeepsTheSumWhoeverIsAwayAndComesToTheMean) {
  for (const SparsePush::Form form : {SparsePush::Form::replicas, SparsePush::Form::shared_mask}) {
    for (const char* graph : {"exponential", "star"}) {
      const bool replicas = form == SparsePush::Form::replicas;
      Apart sites("sparse-push",
                  {{"graph", graph}, {"form", replicas ? "replicas" : "shared-mask"}, {"fraction", "0.1"}});
      SparsePush push({.form = form, .fraction = 0.1, .gamma = replicas ? 0.15 : 0, .dense_steps = 0, .merge = false});
      const Field first = sites.step().weights();
      const Eigen::ArrayXd before = sum_of(first);
      const double start = apart(first);
      const auto look = [&] {
        ASSERT_LT((sum_of(push.pushed()) - before).abs().maxCoeff(), 2e-4)
            << graph << (replicas ? ", replicas" : ", shared mask") << ", step " << sites.step().number();
      };
      sites.take(push, 5, 1, look);
      sites.take(push, 200, 0.6, look);
      sites.take(push, 500, 1, look);
      // Whichever sites were absent, z = x ÷ w converges to the mean of all initial values.
      double off = 0;
      const Field z_of = sites.step().weights();
      for (const models::Matrix& z : z_of[0]) {
        off += (z.row(0).transpose().array().cast<double>() - before / static_cast<double>(kSome)).square().sum();
      }
      EXPECT_LT(off, 1e-3 * start) << graph << (replicas ? ", replicas" : ", shared mask");
    }
  }
}

TEST(MissingSites, AtTheEndThoseThatAreThereAverageTheirModels) {
  Apart sites("sparse-push", {{"graph", "exponential"}});
  const Field before = sites.step().weights();
  Field x = before;
  Attendees some{{0, 2, 5}, kSome, {}};
  Batch batch(kSome);
  for (const std::int32_t site : some.sites) batch[static_cast<std::size_t>(site)] = {0};
  sites.step().begin(0, 0, batch, &some);
  sites.step().average(x);
  const models::Matrix mean = (before[0][0] + before[0][2] + before[0][5]) / 3.0F;
  for (const std::size_t site : {0U, 2U, 5U}) EXPECT_LT((x[0][site] - mean).cwiseAbs().maxCoeff(), 1e-6);
  for (const std::size_t site : {1U, 3U, 4U}) EXPECT_EQ(x[0][site], before[0][site]);
}

}  // namespace
}  // namespace dadsim::algorithms

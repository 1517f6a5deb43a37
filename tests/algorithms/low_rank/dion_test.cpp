// Compares Dion with its definition (arXiv 2504.05295), computed in double precision and with another
// orthonormalisation.
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <memory>

#include "algorithms/learn.hpp"
#include "algorithms/low_rank/orthonormal.hpp"
#include "algorithms/one_step.hpp"
#include "algorithms/pieces/subspace.hpp"
#include "algorithms/sign/several_steps.hpp"
#include "models/data/generated.hpp"

namespace dadsim::algorithms {
namespace {

using MatrixD = models::MatrixOf<double>;
using test::SeveralSteps;

std::unique_ptr<Algorithm> dion(const std::string& fraction, const std::string& columns = "normalised") {
  return make_algorithm(algorithm_registry().at("dion"), {{"fraction", fraction}, {"columns", columns}});
}

MatrixD drawn(Eigen::Index rows, Eigen::Index columns, std::size_t l) {
  models::Matrix basis = models::Matrix::Zero(rows, columns);
  draw_missing_columns(basis, SeveralSteps::kSeed, static_cast<std::uint32_t>(l), 0);
  return basis.cast<double>();
}

/// Computes the definition for one matrix, with one momentum per site.
class Definition {
 public:
  Definition(std::size_t sites, MatrixD q, double mu, bool orthogonal)
      : momenta_(sites), q_(std::move(q)), mu_(mu), orthogonal_(orthogonal) {}
  MatrixD step(const std::vector<std::int32_t>& who, const std::vector<double>& shares,
               const std::vector<MatrixD>& gradients) {
    MatrixD projected = MatrixD::Zero(gradients[0].rows(), q_.cols());
    for (std::size_t i = 0; i < who.size(); ++i) {
      MatrixD& momentum = momenta_[static_cast<std::size_t>(who[i])];
      momentum = momentum.size() == 0 ? gradients[i] : MatrixD(momentum + gradients[i]);
      projected += momentum * q_;
    }
    const MatrixD p = orthonormal(projected);
    MatrixD r = MatrixD::Zero(q_.rows(), q_.cols());
    for (const std::int32_t site : who) r += momenta_[static_cast<std::size_t>(site)].transpose() * p;
    for (std::size_t i = 0; i < who.size(); ++i)
      momenta_[static_cast<std::size_t>(who[i])] -= (1 - mu_) * shares[i] * p * r.transpose();
    q_ = orthogonal_ ? orthonormal(r) : MatrixD(r * r.colwise().norm().cwiseInverse().asDiagonal());
    return orthogonal_ ? signs_as(p, r) : MatrixD(p * q_.transpose());
  }

 private:
  /// Returns P Qᵀ, with columns of the orthonormal Q in the signs that Gram–Schmidt gives.
  MatrixD signs_as(const MatrixD& p, const MatrixD& r) {
    const MatrixD triangle = q_.transpose() * r;
    for (Eigen::Index k = 0; k < q_.cols(); ++k) {
      if (triangle(k, k) < 0) q_.col(k) *= -1;
    }
    return p * q_.transpose();
  }
  std::vector<MatrixD> momenta_;
  MatrixD q_;
  double mu_;
  bool orthogonal_;
};

void expect_the_definition(const std::string& columns, spec::ExchangeMode mode, const std::vector<Attendees>& who) {
  const std::vector<int> rows{9, 1, 3};
  const std::unique_ptr<Algorithm> algorithm = dion("0.25", columns);
  SeveralSteps steps(*algorithm, mode, rows);
  steps.rule.optimizer = {.kind = spec::OptimizerSpec::Kind::muon, .momentum = 0.8};
  std::vector<Definition> reference;
  for (int t = 0; t < 8; ++t) {
    const Attendees* attendees = who.empty() ? nullptr : &who[static_cast<std::size_t>(t) % who.size()];
    const TrainingStep& step = steps.next(attendees);
    std::vector<std::int32_t> present;
    double all = 0;
    for (std::size_t i = 0; i < step.sites(); ++i) {
      present.push_back(static_cast<std::int32_t>(step.among_all(i)));
      all += static_cast<double>(step.samples(i));
    }
    std::vector<double> shares;
    for (std::size_t i = 0; i < step.sites(); ++i) shares.push_back(static_cast<double>(step.samples(i)) / all);
    for (std::size_t l = 0; l < 2; ++l) {  // matrices of 20 × 12 and 9 × 20, both of rank 3
      if (t == 0) reference.emplace_back(3, drawn(step.weights(l).in(), 3, l), 0.8, columns == "orthonormal");
      std::vector<MatrixD> gradients;
      for (std::size_t i = 0; i < step.sites(); ++i) gradients.emplace_back(steps.of_site(i, l).weight.cast<double>());
      const MatrixD expected = reference[l].step(present, shares, gradients);
      const models::LayerGradient& given = step.gradient(l);
      EXPECT_TRUE(given.is_direction);
      EXPECT_LT((given.weight.cast<double>() - expected).norm(), 1e-4 * expected.norm()) << t << ' ' << l;
      EXPECT_LT((given.bias - steps.exact(l).bias).norm(), 1e-6 * steps.exact(l).bias.norm());
    }
    EXPECT_FALSE(step.gradient(2).is_direction) << "AdamW takes the last matrix";
    EXPECT_LT((step.gradient(2).weight - steps.exact(2).weight).norm(), 1e-6 * steps.exact(2).weight.norm());
  }
}

TEST(Dion, IsItsDefinition) {
  for (const char* columns : {"normalised", "orthonormal"}) {
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::peer, spec::ExchangeMode::aggregator}) {
      expect_the_definition(columns, mode, {});
    }
  }
}

TEST(Dion, ASiteThatIsAwayKeepsItsMomentum) {
  expect_the_definition("normalised", spec::ExchangeMode::peer,
                        {{{0, 1, 2}, 3, {}}, {{0, 2}, 3, {}}, {{1, 2}, 3, {}}, {{0, 1}, 3, {}}});
}

// With a constant gradient and full rank, P and Q become its singular vectors, so Dion steps like Muon.
TEST(Dion, AtFullRankStepsAlongTheSingularVectorsOfTheMomentum) {
  const std::unique_ptr<Algorithm> algorithm = dion("1");
  SeveralSteps steps(*algorithm, spec::ExchangeMode::peer, {29, 2, 12});
  steps.repeats = true;
  steps.rule.optimizer = {.kind = spec::OptimizerSpec::Kind::muon, .momentum = 0.95};
  for (int t = 0; t < 200; ++t) steps.next();
  TrainingStep& step = steps.next();
  for (std::size_t l = 0; l < 2; ++l) {
    const Eigen::MatrixXd gradient = steps.exact(l).weight.cast<double>();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(gradient, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Eigen::MatrixXd polar = svd.matrixU() * svd.matrixV().transpose();
    EXPECT_LT((step.gradient(l).weight.cast<double>() - polar).norm(), 1e-2 * polar.norm()) << l;
  }
  // Gradients are sent whole, since r (p + q) exceeds p q.
  EXPECT_EQ(step.exchange().uplink_bytes()[0], 4.0 * (240 + 180 + 45 + 34));
}

TEST(Dion, OrthonormalColumnsHaveSingularValuesOfOne) {
  for (const std::string columns : {"normalised", "orthonormal"}) {
    const std::unique_ptr<Algorithm> algorithm = dion("0.5", columns);
    SeveralSteps steps(*algorithm, spec::ExchangeMode::peer, {9, 1, 3});
    steps.rule.optimizer = {.kind = spec::OptimizerSpec::Kind::muon, .momentum = 0.95};
    for (int t = 0; t < 5; ++t) steps.next();
    const Eigen::MatrixXd direction = steps.next().gradient(0).weight.cast<double>();
    const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(direction).singularValues();
    if (columns == "orthonormal") {
      EXPECT_NEAR(values(0), 1, 1e-5);
      EXPECT_NEAR(values(5), 1, 1e-5);
    } else {
      EXPECT_GT(values(0), 1.001);
    }
    EXPECT_LT(values(6), 1e-5) << "rank 6 of 12";
  }
}

TEST(Dion, SendsTwoFactorsOfHiddenMatrices) {
  test::OneStep::Setup setup;  // a network of 12-20-9-5 units
  setup.rows = {6, 2};
  setup.parameters = {{"fraction", "0.25"}};
  const test::OneStep step("dion", setup);
  const double floats = 3 * (12 + 20) + 3 * (20 + 9) + 9 * 5 + (20 + 9 + 5);
  EXPECT_EQ(step.uplink_bytes, std::vector<double>(2, 4 * floats));
  EXPECT_EQ(step.recorded().over, step.uplink_bytes);
  const spec::ModelShape timed{"timed",
                               {spec::dense_shape("a", 100, 40, true), spec::dense_shape("b", 40, 30, false),
                                spec::dense_shape("c", 30, 7, false)}};
  EXPECT_EQ(step.recorded(timed).over[0], 4.0 * (10 * 140 + 40 + 8 * 70 + 210));
}

TEST(Dion, LearnsLikeMuon) {
  models::Dataset data;
  data.train = models::draw_digits(0, 600, 3);
  data.test = models::draw_digits(600, 200, 3);
  data.shape = {28, 28, 1};
  data.classes = 10;
  const models::Partition partition = split_over_sites(
      {.kind = spec::SplitSpec::Kind::dirichlet, .alpha = 0.5, .shards = 2, .sizes = {}}, data.train, 10, 4, 3);
  LearningProblem problem{data, partition, {}, {}, 3};
  problem.model.layers = {spec::DenseSpec{32, spec::Activation::relu, true},
                          spec::DenseSpec{10, spec::Activation::identity, true}};
  problem.training.batch = 10;
  problem.training.epochs = 6;
  problem.training.optimizer = {
      .kind = spec::OptimizerSpec::Kind::muon, .learning_rate = 0.02, .momentum = 0.9, .adam_rate = 3e-3};
  const auto accuracy = [&](const std::string& algorithm) {
    return learn(test::run_of(algorithm, spec::ExchangeMode::peer), problem).curve.back().accuracy;
  };
  const double muon = accuracy("gradient-sharing");
  EXPECT_GT(muon, 0.6);
  EXPECT_GT(accuracy("dion"), muon - 0.05);
}

}  // namespace
}  // namespace dadsim::algorithms

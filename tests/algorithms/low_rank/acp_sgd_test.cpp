// Compares ACP-SGD with its definition (arXiv 2306.08881), computed in double precision and with another
// orthonormalisation.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "algorithms/low_rank/orthonormal.hpp"
#include "algorithms/one_step.hpp"
#include "algorithms/pieces/subspace.hpp"
#include "algorithms/sign/several_steps.hpp"

namespace dadsim::algorithms {
namespace {

using MatrixD = models::MatrixOf<double>;
using test::SeveralSteps;

std::unique_ptr<Algorithm> acp_sgd(const std::string& rank, const std::string& least) {
  return make_algorithm(algorithm_registry().at("acp-sgd"), {{"rank", rank}, {"least-compression", least}});
}

MatrixD drawn(Eigen::Index rows, Eigen::Index columns, std::size_t l, std::uint32_t step) {
  models::Matrix basis = models::Matrix::Zero(rows, columns);
  draw_missing_columns(basis, SeveralSteps::kSeed, static_cast<std::uint32_t>(l), step);
  return basis.cast<double>();
}

/// Computes the definition for one matrix.
class Alternating {
 public:
  Alternating(std::size_t sites, MatrixD q) : errors(sites), q_(std::move(q)) {}
  /// `gradients`: one for each site in `who`.
  MatrixD step(int number, const std::vector<std::int32_t>& who, const std::vector<MatrixD>& gradients) {
    const bool even = number % 2 == 0;
    const MatrixD basis = orthonormal(even ? q_ : p_);
    MatrixD factor = MatrixD::Zero(even ? gradients[0].rows() : gradients[0].cols(), basis.cols());
    for (std::size_t i = 0; i < who.size(); ++i) {
      MatrixD& error = errors[static_cast<std::size_t>(who[i])];
      const MatrixD m = error.size() == 0 ? gradients[i] : MatrixD(gradients[i] + error);
      const MatrixD own = even ? MatrixD(m * basis) : MatrixD(m.transpose() * basis);
      error = even ? MatrixD(m - own * basis.transpose()) : MatrixD(m - basis * own.transpose());
      factor += own;
    }
    (even ? p_ : q_) = factor;
    (even ? q_ : p_) = basis;
    return p_ * q_.transpose();
  }
  std::vector<MatrixD> errors;

 private:
  MatrixD p_, q_;
};

double relative_error(const MatrixD& a, const MatrixD& b) { return (a - b).norm() / b.norm(); }

/// Compares steps with the definition, and the sum of applied updates and errors with the sum of all gradients.
void expect_the_definition(SeveralSteps& steps, const std::vector<Attendees>& who, int count) {
  std::vector<Alternating> reference;
  std::vector<MatrixD> applied(3), wanted(3);
  for (int t = 0; t < count; ++t) {
    const Attendees* attendees = who.empty() ? nullptr : &who[static_cast<std::size_t>(t) % who.size()];
    const TrainingStep& step = steps.next(attendees);
    std::vector<std::int32_t> present(step.sites());
    for (std::size_t i = 0; i < present.size(); ++i) present[i] = static_cast<std::int32_t>(step.among_all(i));
    for (std::size_t l = 0; l < 3; ++l) {
      if (t == 0) {
        reference.emplace_back(3, drawn(step.weights(l).in(), 2, l, 0));
        applied[l] = wanted[l] = MatrixD::Zero(step.weights(l).out(), step.weights(l).in());
      }
      std::vector<MatrixD> gradients;
      for (std::size_t i = 0; i < step.sites(); ++i) gradients.emplace_back(steps.of_site(i, l).weight.cast<double>());
      const MatrixD expected = reference[l].step(t, present, gradients);
      const MatrixD given = step.gradient(l).weight.cast<double>();
      EXPECT_LT(relative_error(given, expected), 2e-5) << "step " << t << ", matrix " << l;
      EXPECT_LT((step.gradient(l).bias - steps.exact(l).bias).norm(), 1e-6 * steps.exact(l).bias.norm());
      applied[l] += given;
      wanted[l] += steps.exact(l).weight.cast<double>();
      MatrixD left = MatrixD::Zero(given.rows(), given.cols());
      for (const MatrixD& error : reference[l].errors) {
        if (error.size() > 0) left += error;
      }
      EXPECT_GT(left.norm(), 1e-2 * wanted[l].norm()) << "something is always left out";
      EXPECT_LT(relative_error(applied[l] + left, wanted[l]), 2e-5) << "step " << t << ", matrix " << l;
    }
  }
}

TEST(AcpSgd, IsItsDefinitionAndLosesNothing) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::peer, spec::ExchangeMode::aggregator}) {
    const std::unique_ptr<Algorithm> algorithm = acp_sgd("2", "0");
    SeveralSteps steps(*algorithm, mode, {9, 1, 3});
    expect_the_definition(steps, {}, 8);
  }
}

TEST(AcpSgd, ASiteThatIsAwayKeepsItsError) {
  const std::unique_ptr<Algorithm> algorithm = acp_sgd("2", "0");
  SeveralSteps steps(*algorithm, spec::ExchangeMode::peer, {5, 2, 3});
  expect_the_definition(steps, {{{0, 1, 2}, 3, {}}, {{0, 2}, 3, {}}, {{1}, 3, {}}, {{1, 2}, 3, {}}, {{0, 1}, 3, {}}},
                        8);
}

// Two steps send the bytes of one PowerSGD step, half of them in each.
TEST(AcpSgd, SendsOneFactorInTurn) {
  const std::unique_ptr<Algorithm> algorithm = acp_sgd("2", "0");
  SeveralSteps steps(*algorithm, spec::ExchangeMode::peer, {5, 0, 3});  // a network of 12-20-9-5 units
  const double biases = 20 + 9 + 5;
  const double p = 2 * (20 + 9 + 5), q = 2 * (12 + 20 + 9);
  for (const double factor : {p, q, p, q}) {
    EXPECT_EQ(steps.next().exchange().uplink_bytes(), std::vector<double>(3, 4 * (factor + biases)));
  }
  test::OneStep::Setup setup;
  setup.parameters = {{"rank", "2"}, {"least-compression", "0"}};
  EXPECT_EQ(test::OneStep("power-sgd", setup).recorded().over[0], 4 * (p + q + biases));
  // Sizes the first step for a larger network.
  const spec::ModelShape timed{"timed", {spec::dense_shape("a", 100, 30, true), spec::dense_shape("b", 30, 7, false)}};
  EXPECT_EQ(test::OneStep("acp-sgd", setup).recorded(timed).over[0], 4.0 * (2 * 37 + 30));
}

// A basis of all inputs or of all outputs loses nothing. A basis of some inputs loses a part, which the next step
// restores, since its basis covers all outputs.
TEST(AcpSgd, ABasisOfAWholeSideLosesNothing) {
  const std::unique_ptr<Algorithm> algorithm = acp_sgd("64", "0");
  SeveralSteps steps(*algorithm, spec::ExchangeMode::peer, {19, 2, 12});
  steps.repeats = true;
  std::vector<MatrixD> before(3);
  for (int t = 0; t < 6; ++t) {
    const TrainingStep& step = steps.next();
    for (std::size_t l = 0; l < 3; ++l) {
      const MatrixD given = step.gradient(l).weight.cast<double>(), exact = steps.exact(l).weight.cast<double>();
      if (l == 0) {
        EXPECT_LT(relative_error(given, exact), 2e-5) << t << ": 12 inputs, 20 outputs";
      } else if (t % 2 == 0) {
        EXPECT_GT(relative_error(given, exact), 0.01) << t << ": fewer outputs than inputs";
      } else {
        EXPECT_LT(relative_error(before[l] + given, 2 * exact), 2e-5) << t << ' ' << l;
      }
      before[l] = given;
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms

// Compares RGP and LSG with their definitions: carriers, projections, masks and messages.
#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "algorithms/private/private_step.hpp"
#include "algorithms/private/rgp.hpp"

namespace dadsim::algorithms {
namespace {

using test::kAggregator;
using test::kPeer;
using test::OneStep;
using test::private_networks;
using test::PrivateNetwork;
using test::PrivateStep;

TEST(Carriers, ProjectOntoTheTangentSpace) {
  RandomStream random(4, Purpose::test);
  boost::random::normal_distribution<float> normal;
  const auto draw = [&](Eigen::Index rows, Eigen::Index columns) {
    models::Matrix matrix(rows, columns);
    for (float& x : matrix.reshaped()) x = normal(random);
    return matrix;
  };
  const Carriers carriers = carriers_of(draw(14, 23), 5, 1, 0, 0);
  EXPECT_LT((carriers.left.transpose() * carriers.left - models::Matrix::Identity(5, 5)).norm(), 1e-5F);
  EXPECT_LT((carriers.right.transpose() * carriers.right - models::Matrix::Identity(5, 5)).norm(), 1e-5F);
  const auto project = [&](const models::Matrix& g) {
    const models::Matrix left = g * carriers.right;
    const models::Matrix right = g.transpose() * carriers.left;
    return from_carriers(carriers, left, right);
  };
  const models::Matrix g = draw(14, 23);
  const models::Matrix once = project(g);
  // A projection that is applied twice changes nothing more. It is orthogonal: the remainder is orthogonal to every
  // tangent X Rᵀ + L Y.
  EXPECT_LT((project(once) - once).norm(), 1e-5F * once.norm());
  for (int i = 0; i < 10; ++i) {
    const models::Matrix tangent = draw(14, 5) * carriers.right.transpose() + carriers.left * draw(5, 23);
    EXPECT_LT((project(tangent) - tangent).norm(), 1e-5F * tangent.norm());
    EXPECT_NEAR((g - once).cwiseProduct(tangent).sum() / g.norm() / tangent.norm(), 0, 1e-6F);
  }
  EXPECT_GT((g - once).norm(), 0.1F * g.norm()) << "something is left out";
}

TEST(Carriers, FindWhatTheirTargetIsMadeOf) {
  // The target has rank 3 and noise of 1/50, so a single iteration finds its directions.
  RandomStream random(6, Purpose::test);
  boost::random::normal_distribution<float> normal;
  models::Matrix a(40, 3), b(3, 60), noise(40, 60);
  for (float& x : a.reshaped()) x = normal(random);
  for (float& x : b.reshaped()) x = normal(random);
  for (float& x : noise.reshaped()) x = 0.02F * normal(random);
  const models::Matrix signal = a * b;
  const Carriers carriers = carriers_of(signal + noise, 3, 1, 0, 0);
  EXPECT_LT((signal - carriers.left * (carriers.left.transpose() * signal)).norm(), 0.1F * signal.norm());
  EXPECT_LT((signal - signal * carriers.right * carriers.right.transpose()).norm(), 0.1F * signal.norm());
}

OneStep::Setup paper_sizes() {
  OneStep::Setup setup;
  setup.widths = {784, 512, 256, 10};
  setup.rows = {5, 3};
  return setup;
}

TEST(Rgp, WithoutClippingAndNoiseItIsTheProjectedGradient) {
  OneStep::Setup setup = paper_sizes();
  const OneStep exact("gradient-sharing", setup);
  setup.parameters = {{"clip", "1e30"}, {"noise-multiplier", "0"}};
  const OneStep step("rgp", setup);
  // In the first step, carriers come from the initial weights.
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{512, spec::Activation::relu, true},
                  spec::DenseSpec{256, spec::Activation::relu, true},
                  spec::DenseSpec{10, spec::Activation::identity, true}};
  const models::Network network(784, model, setup.seed);
  for (std::uint32_t l = 0; l < 3; ++l) {
    const models::Matrix& g = exact.gradient.matrices[l].weight;
    const models::Matrix& got = step.gradient.matrices[l].weight;
    if (l == 2) {
      EXPECT_LT((got - g).norm(), 1e-5F * g.norm()) << "10 × 256 with rank 10: left as it is";
      continue;
    }
    const Carriers c = carriers_of(network.layer(l).weight, 16, setup.seed, l, 0);
    const models::Matrix in = g * c.right * c.right.transpose();
    const models::Matrix expected = in + c.left * (c.left.transpose() * (g - in));
    EXPECT_LT((got - expected).norm(), 1e-5F * expected.norm());
    EXPECT_LT(got.norm(), 0.9F * g.norm()) << "something is left out";
    EXPECT_LT((step.gradient.matrices[l].bias - exact.gradient.matrices[l].bias).norm(), 1e-5F * g.norm());
  }
}

TEST(Rgp, TheUpdateIsThatSinceTheEndOfTheWarmUp) {
  // Two sites are unequal, and weights change between the steps, as they do in learning.
  PrivateStep step(private_networks()[0], {6, 2}, 1.0F);
  const SynchronousMethod& info = algorithm_registry().at("rgp");
  spec::ParameterValues values = default_parameters(info.parameters);
  values.insert_or_assign("rank", "3");
  values.insert_or_assign("warm-up", "2");
  values.insert_or_assign("clip", "1e30");
  values.insert_or_assign("noise-multiplier", "0");
  const std::unique_ptr<Algorithm> rgp = make_algorithm(info, values);
  const SynchronousMethod& sharing = algorithm_registry().at("gradient-sharing");
  const std::unique_ptr<Algorithm> exact = make_algorithm(sharing);
  RandomStream random(8, Purpose::test);
  boost::random::normal_distribution<float> normal;
  models::Matrix at_the_end;  // the matrix after the warm-up
  const auto direction = [](const models::Matrix& matrix) { return models::Matrix(matrix / matrix.norm()); };
  for (std::int64_t t = 0; t < 5; ++t) {
    for (float& x : step.network.layer(0).weight.reshaped()) x += 0.1F * normal(random);
    const models::Matrix weights = step.network.layer(0).weight;
    if (t == 2) at_the_end = weights;
    step.step.begin(t, step.samples, step.batch);
    run_step(sharing, *exact, step.step);
    const models::Matrix g = step.step.gradient(0).weight;
    step.step.begin(t, step.samples, step.batch);
    run_step(info, *rgp, step.step);
    const models::Matrix target = t <= 2 ? weights : models::Matrix(direction(weights) - direction(at_the_end));
    const Carriers c = carriers_of(target, 3, 5, 0, static_cast<std::uint32_t>(t));
    const models::Matrix in = g * c.right * c.right.transpose();
    const models::Matrix expected = in + c.left * (c.left.transpose() * (g - in));
    EXPECT_LT((step.step.gradient(0).weight - expected).norm(), 1e-4F * expected.norm()) << t;
  }
}

TEST(Private, HandsOverWhatItSays) {
  OneStep::Setup setup = paper_sizes();
  const double biases = 512 + 256 + 10;
  const double low = 16 * (784 + 512) + 16 * (512 + 256);
  for (const spec::ExchangeMode mode : {kAggregator, kPeer}) {
    setup.exchange = mode;
    setup.parameters = {};
    EXPECT_EQ(OneStep("dp-sgd", setup).uplink_bytes[0], 4 * (784 * 512 + 512 * 256 + 256 * 10 + biases));
    EXPECT_EQ(OneStep("rgp", setup).uplink_bytes[0], 4 * (low + 2560 + biases));
    setup.parameters = {{"density", "0.01"}};
    // Each of the three matrices is sent as ⌈207.36⌉, ⌈122.88⌉ and ⌈25.6⌉ numbers.
    EXPECT_EQ(OneStep("lsg", setup).uplink_bytes[0], 4 * (208 + 123 + 26 + biases));
    // In another network, carriers of rank 32 are no smaller than a 64 × 64 matrix, but those of rank 16 are.
    const spec::ModelShape timed{"timed",
                                 {spec::dense_shape("a", 64, 64, true), spec::dense_shape("b", 20, 30, false)}};
    EXPECT_EQ(OneStep("lsg", setup).recorded(timed).over[0], 4 * (21 + 64 + 6));
    setup.parameters = {};
    EXPECT_EQ(OneStep("rgp", setup).recorded(timed).over[0], 4 * (2048 + 64 + 600));
  }
}

TEST(Lsg, AddsNoiseToWhatItReleasesAlone) {
  for (const char* mask : {"magnitude", "random", "synflow"}) {
    PrivateStep step(private_networks()[0], {4, 6}, 1.0F);
    // One matrix of each kind: low rank if r (in + out) < in · out, else dense.
    const spec::ParameterValues given{{"density", "0.1"}, {"mask", mask}, {"rank", "2"}, {"noise-multiplier", "5"}};
    const models::Gradient noisy = step.run("lsg", given);
    // The 20 × 4 matrix with rank 2 has 48 carrier numbers. Five of them are released, each in a row of G_L Rᵀ or a
    // column of L G_Rᵀ.
    const models::Matrix& last = noisy.matrices[2].weight;
    const Eigen::JacobiSVD<models::Matrix> svd(last);
    Eigen::Index rank = 0;
    for (const float value : svd.singularValues()) rank += value > 1e-5F * svd.singularValues()(0) ? 1 : 0;
    EXPECT_LE(rank, 4) << mask;
    EXPECT_GT(last.norm(), 0);
  }
  // A matrix for which carriers do not help is sent dense, with as many non-zeros as were kept.
  OneStep::Setup setup;  // a network of 12-20-9-5 units
  setup.parameters = {{"density", "0.1"}, {"noise-multiplier", "1"}};
  const OneStep step("lsg", setup);
  EXPECT_EQ((step.gradient.matrices[0].weight.array() != 0).count(), 24);
  EXPECT_EQ((step.gradient.matrices[2].weight.array() != 0).count(), 5);
}

TEST(Lsg, KeepsTheLargestOfWhatWasAppliedBefore) {
  // Two steps without noise, on a network without carriers. The first mask is random, and the second selects the
  // entries that were largest in the first step. These are the entries that the first mask kept, so both masks are
  // equal.
  const PrivateNetwork of{
      "dense", {1, 1, 12}, {.name = "", .layers = {spec::DenseSpec{9, spec::Activation::identity, false}}}};
  PrivateStep step(of, {5, 3}, 1.0F);
  const SynchronousMethod& info = algorithm_registry().at("lsg");
  spec::ParameterValues values = default_parameters(info.parameters);
  values["noise-multiplier"] = "0";
  values["mask"] = "magnitude";
  const std::unique_ptr<Algorithm> instance = make_algorithm(info, values);
  std::vector<models::Matrix> applied;
  for (std::int64_t t = 0; t < 2; ++t) {
    step.step.begin(t, step.samples, step.batch);
    run_step(info, *instance, step.step);
    applied.push_back(step.step.gradient(0).weight);
  }
  EXPECT_EQ((applied[0].array() != 0).count(), 27);
  EXPECT_EQ((applied[0] - applied[1]).norm(), 0) << "weights have not moved";
  values["mask"] = "random";
  const std::unique_ptr<Algorithm> random = make_algorithm(info, values);
  step.step.begin(1, step.samples, step.batch);
  run_step(info, *random, step.step);
  EXPECT_GT((step.step.gradient(0).weight - applied[0]).norm(), 0);
}

}  // namespace
}  // namespace dadsim::algorithms

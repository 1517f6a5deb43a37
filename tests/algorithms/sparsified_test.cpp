// Tests sparsified gradients: the values that an Exchange sends, sums, and keeps over steps.
#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "algorithms/one_step.hpp"
#include "compress/largest_entries.hpp"
#include "compress/registry.hpp"
#include "models/optimizer.hpp"

namespace dadsim::algorithms {
namespace {

using test::OneStep;

spec::CompressSpec sparsified(const std::string& method, const spec::ParameterValues& chosen = {}, bool memory = true) {
  spec::CompressSpec compress{.method = method,
                              .parameters = default_parameters(compress::compressors().at(method).parameters),
                              .memory = memory};
  for (const auto& [name, value] : chosen) compress.parameters.at(name) = value;
  return compress;
}

/// Parameters that a network has in addition to its three matrices.
enum class Beside : std::uint8_t { nothing, biases, biases_and_norm };

spec::ModelSpec network_with(Beside beside) {
  const bool bias = beside != Beside::nothing;
  spec::ModelSpec model{.name = "", .layers = {spec::DenseSpec{20, spec::Activation::tanh, bias}}};
  if (beside == Beside::biases_and_norm) model.layers.emplace_back(spec::LayerNormSpec{});
  model.layers.emplace_back(spec::DenseSpec{9, spec::Activation::tanh, bias});
  model.layers.emplace_back(spec::DenseSpec{5, spec::Activation::identity, bias});
  return model;
}

/// Steps of gradient sharing at unequal sites, each with other samples, on a network that may learn.
class SharingSteps {
 public:
  SharingSteps(const spec::CompressSpec& compress, spec::ExchangeMode mode, std::vector<int> sites = {5, 2, 3},
               Beside beside = Beside::biases)
      : network_(12, network_with(beside), kSeed), sites_(std::move(sites)), step_(network_, mode, kSeed, compress) {
    RandomStream random(kSeed, Purpose::test);
    boost::random::normal_distribution<float> normal;
    samples_.features.resize(1000, 12);
    for (float& x : samples_.features.reshaped()) x = normal(random);
    // Features form five pairs, and the pair with the largest sum is the sample's class.
    for (Eigen::Index i = 0; i < samples_.features.rows(); ++i) {
      Eigen::Index label = 0;
      for (Eigen::Index k = 1; k < 5; ++k) {
        if (pair(i, k) > pair(i, label)) label = k;
      }
      samples_.labels.push_back(static_cast<std::int32_t>(label));
    }
  }

  TrainingStep& next() {
    std::vector<std::vector<std::int32_t>> batch;
    for (const int rows : sites_) {
      auto& site = batch.emplace_back();
      for (int i = 0; i < rows; ++i) site.push_back(next_sample_++ % 1000);
    }
    step_.begin(number_++, samples_, batch);
    algorithm_->run(step_);
    step_.finish();
    return step_;
  }

  /// Returns a layer's uncompressed gradient as one row: the matrix, then its biases.
  models::Matrix exact(std::size_t l) const {
    return row_of(models::weight_gradient<float>(step_.deltas(l), step_.inputs(l), step_.weights(l).bias.size() > 0));
  }
  models::Matrix applied(std::size_t l) const { return row_of(step_.gradient(l)); }
  static models::Matrix row_of(const models::LayerGradient& gradient) {
    models::Matrix row(1, gradient.weight.size() + gradient.bias.size());
    row.leftCols(gradient.weight.size()) = gradient.weight.reshaped<Eigen::RowMajor>().transpose();
    row.rightCols(gradient.bias.size()) = gradient.bias.transpose();
    return row;
  }

  models::Network& network() { return network_; }
  std::size_t sites() const { return sites_.size(); }

 private:
  float pair(Eigen::Index sample, Eigen::Index k) const {
    return samples_.features.row(sample).segment(2 * k, 2).sum();
  }

  static constexpr std::uint64_t kSeed = 11;
  models::Network network_;
  models::Samples samples_;
  std::vector<int> sites_;
  TrainingStep step_;
  std::unique_ptr<Algorithm> algorithm_ = make_algorithm(algorithm_registry().at("gradient-sharing"));
  std::int64_t number_ = 0;
  std::int32_t next_sample_ = 0;
};

constexpr std::size_t kLayers = 3;

/// Returns the matrices as one row, one after the other.
models::Matrix one_row(const std::vector<models::Matrix>& rows) {
  Eigen::Index numbers = 0;
  for (const models::Matrix& row : rows) numbers += row.size();
  models::Matrix all(1, numbers);
  Eigen::Index at = 0;
  for (const models::Matrix& row : rows) {
    all.middleCols(at, row.size()) = row;
    at += row.size();
  }
  return all;
}

models::Matrix of_all_layers(const std::function<models::Matrix(std::size_t l)>& of) {
  return one_row({of(0), of(1), of(2)});
}

models::Matrix with_zeros(const models::Matrix& row, Eigen::Index zeros) {
  return one_row({row, models::Matrix::Zero(1, zeros)});
}

/// Keeps the `kept` numbers of largest magnitude among the first `of` numbers of a row, a matrix; the biases after them
/// stay unchanged.
models::Matrix largest_of_matrix(models::Matrix row, Eigen::Index of, Eigen::Index kept) {
  models::Matrix matrix = row.leftCols(of);
  const compress::KeptEntries largest = compress::take_largest(matrix, kept);
  matrix.setZero();
  compress::add_kept(largest.values, largest.indices, matrix);
  row.leftCols(of) = matrix;
  return row;
}

// The sum of applied updates plus all sites' memories equals the sum of the gradients.
TEST(Sparsified, NothingIsLostThatIsRemembered) {
  for (const compress::CompressorInfo& info : compress::compressors().all()) {
    if (info.family != "sparsification" || !info.biased(default_parameters(info.parameters))) continue;
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      using Scope = spec::CompressSpec::Scope;
      for (const Scope scope : {Scope::layer, Scope::tensor, Scope::model}) {
        spec::CompressSpec compress = sparsified(info.name, {{"fraction", "0.02"}});
        if (info.has_momentum) compress.parameters["momentum"] = "0";
        compress.scope = scope;
        SharingSteps steps(compress, mode);
        models::MatrixOf<double> applied, wanted;
        for (int t = 0; t < 20; ++t) {
          TrainingStep& step = steps.next();
          const models::Matrix now = of_all_layers([&](std::size_t l) { return steps.applied(l); });
          if (t == 0) wanted = applied = models::MatrixOf<double>::Zero(1, now.size());
          applied += now.cast<double>();
          wanted += of_all_layers([&](std::size_t l) { return steps.exact(l); }).cast<double>();
          models::MatrixOf<double> held = models::MatrixOf<double>::Zero(1, now.size());
          for (std::size_t s = 0; s < steps.sites(); ++s) {
            // Matrices are summed from the last to the first. With scope="tensor" a matrix precedes its biases, which
            // are otherwise sent whole.
            const auto kept = [&](std::uint32_t n) {
              const models::Matrix& matrix = step.exchange().held(s, n);
              return models::Matrix(matrix.reshaped<Eigen::RowMajor>().transpose());
            };
            const auto of_layer = [&](std::size_t l) {
              return with_zeros(kept(static_cast<std::uint32_t>(2 - l)), step.weights(l).bias.size());
            };
            held += (scope == Scope::model   ? kept(0)
                     : scope == Scope::layer ? of_all_layers(of_layer)
                                             : one_row({kept(4), kept(5), kept(2), kept(3), kept(0), kept(1)}))
                        .cast<double>();
          }
          ASSERT_GT(held.norm(), 0.01 * wanted.norm()) << "something is always left out";
          ASSERT_LT((applied + held - wanted).norm(), 1e-6 * wanted.norm())
              << info.name << ' ' << to_string(mode) << ' ' << t;
        }
        EXPECT_GT(applied.norm(), 0.01 * wanted.norm()) << info.name;
      }
    }
  }
}

TEST(Sparsified, TheWholeModelSharesOneBudget) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    spec::CompressSpec compress = sparsified("top-k", {{"fraction", "0.1"}});
    SharingSteps by_layer(compress, mode, {10});
    compress.scope = spec::CompressSpec::Scope::model;
    SharingSteps of_model(compress, mode, {10});
    by_layer.next();
    TrainingStep& step = of_model.next();
    // The matrices have 12 · 20, 20 · 9 and 9 · 5 numbers, and biases.
    for (const auto& [l, of] : {std::pair<std::size_t, Eigen::Index>{0, 240}, {1, 180}, {2, 45}}) {
      const models::Matrix expected = largest_of_matrix(by_layer.exact(l), of, (of + 9) / 10);
      EXPECT_LT((by_layer.applied(l) - expected).norm(), 1e-6F * expected.norm()) << l;
    }
    models::Matrix gradient = of_all_layers([&](std::size_t l) { return of_model.exact(l); });
    const compress::KeptEntries largest = compress::take_largest(gradient, 50);  // ⌈0.1 · 499⌉ numbers
    models::Matrix expected = models::Matrix::Zero(1, gradient.size());
    compress::add_kept(largest.values, largest.indices, expected);
    const models::Matrix applied = of_all_layers([&](std::size_t l) { return of_model.applied(l); });
    EXPECT_LT((applied - expected).norm(), 1e-6F * expected.norm());
    EXPECT_EQ(step.exchange().uplink_bytes()[0], 8 * 50);
    // With one budget for the whole model, the last layer gets more than its share, since its gradient is the largest.
    EXPECT_GT((of_model.applied(2).array() != 0).count(), 5);
  }
}

// Methods that select numbers of a matrix send biases uncompressed, as PowerSGD and DGC do.
TEST(Sparsified, BiasesAreSummedAsTheyAre) {
  for (const compress::CompressorInfo& info : compress::compressors().all()) {
    EXPECT_EQ(info.leaves_biases, info.family == "sparsification") << info.name;
    if (info.family != "sparsification") continue;
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      SharingSteps steps(sparsified(info.name, {{"fraction", "0.02"}}, false), mode);
      const TrainingStep& step = steps.next();
      for (std::size_t l = 0; l < kLayers; ++l) {
        const models::Matrix exact = steps.exact(l);
        const Eigen::Index biases = step.gradient(l).bias.size();
        EXPECT_LT((step.gradient(l).bias.transpose() - exact.rightCols(biases)).norm(), 1e-6F * exact.norm());
        EXPECT_GT((step.gradient(l).weight.array() == 0).count(), 0) << info.name;
      }
    }
  }
}

/// Returns the gradient that site s alone would apply.
models::LayerGradient of_site(const TrainingStep& step, std::size_t s, std::size_t l) {
  return models::weight_gradient<float>(step.delta(s, l), step.input(s, l), true);
}

TEST(Sparsified, TensorsAreChosenOneByOneAndGoTogether) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    // Tensors have 12 · 20 and 20, 20 · 9 and 9, 9 · 5 and 5 numbers. Sites have 5, 2 and 3 samples.
    spec::CompressSpec compress = sparsified("random-k", {{"fraction", "0.1"}, {"whole-below", "9"}}, false);
    compress.scope = spec::CompressSpec::Scope::tensor;
    SharingSteps random(compress, mode);
    TrainingStep& step = random.next();
    const auto chosen = [](const auto& numbers) { return (numbers.array() != 0).count(); };
    for (const auto& [l, weights, biases] :
         {std::tuple<std::size_t, Eigen::Index, Eigen::Index>{0, 24, 2}, {1, 18, 9}, {2, 5, 5}}) {
      const models::LayerGradient exact = models::weight_gradient<float>(step.deltas(l), step.inputs(l), true);
      const models::LayerGradient& applied = step.gradient(l);
      EXPECT_EQ(chosen(applied.weight), weights) << l;
      EXPECT_EQ(chosen(applied.bias), biases) << l;
      const models::Matrix where = (applied.weight.array() != 0).cast<float>();
      EXPECT_LT((applied.weight - where.cwiseProduct(exact.weight)).norm(), 1e-6F * exact.weight.norm()) << l;
    }
    for (const double bytes : step.exchange().uplink_bytes()) EXPECT_EQ(bytes, 4 * (24 + 2 + 18 + 9 + 5 + 5));

    compress = sparsified("sign");
    compress.scope = spec::CompressSpec::Scope::tensor;
    SharingSteps signs(compress, mode);
    TrainingStep& signed_step = signs.next();
    // Each number takes one bit, in whole bytes per tensor, and each tensor a scale.
    for (const double bytes : signed_step.exchange().uplink_bytes()) {
      EXPECT_EQ(bytes, 6 * 4 + 30 + 3 + 23 + 2 + 6 + 1);
    }
    if (mode == spec::ExchangeMode::aggregator) continue;  // an aggregator compresses the sum once more
    for (std::size_t l = 0; l < kLayers; ++l) {
      models::Vector expected = models::Vector::Zero(signed_step.gradient(l).bias.size());
      models::Matrix of_weights = models::Matrix::Zero(expected.size(), signed_step.gradient(l).weight.cols());
      for (std::size_t s = 0; s < signs.sites(); ++s) {
        const models::LayerGradient own = of_site(signed_step, s, l);
        const auto sign = [](float x) { return x < 0 ? -1.0F : 1.0F; };
        expected += own.bias.cwiseAbs().mean() * own.bias.unaryExpr(sign);
        of_weights += own.weight.cwiseAbs().mean() * own.weight.unaryExpr(sign);
      }
      EXPECT_LT((signed_step.gradient(l).bias - expected).norm(), 1e-5F * expected.norm()) << l;
      EXPECT_LT((signed_step.gradient(l).weight - of_weights).norm(), 1e-5F * of_weights.norm()) << l;
    }
  }
}

TEST(Sparsified, TensorsOfAllLayersAreOneMessageOfWhateverIsTimed) {
  const spec::ModelShape timed{"timed", {spec::dense_shape("a", 100, 30, true), spec::dense_shape("b", 30, 40, false)}};
  for (const char* method : {"top-k", "random-block", "sign", "sidco", "qsgd"}) {
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      OneStep::Setup setup;
      setup.exchange = mode;
      setup.rows = {6, 1, 4};
      setup.compress = sparsified(method, {}, false);
      setup.compress.scope = spec::CompressSpec::Scope::tensor;
      const OneStep step("gradient-sharing", setup);
      EXPECT_EQ(step.recorded().over, step.uplink_bytes) << method;
      EXPECT_EQ(step.recorded().down, step.downlink_bytes) << method;
      const schedule::Schedule schedule = schedule::instantiate(step.structure, step.sizes, step.shape, timed, 1);
      int up = 0, down = 0;
      for (const schedule::Task& task : schedule.tasks) {
        const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
        if (collective == nullptr) continue;
        (collective->kind == step::CollectiveKind::broadcast ? down : up) += 1;
        EXPECT_EQ(task.layer, "b … a") << method;
      }
      EXPECT_EQ(up, 1) << method;
      EXPECT_EQ(down, mode == spec::ExchangeMode::aggregator ? 1 : 0) << method;
      // One layer has 3,000 weights and 30 biases, the other 1,200 weights and no biases.
      const std::map<std::string, double> bytes = {
          {"top-k", 8 * (30 + 1 + 12)}, {"random-block", 4 * (30 + 1 + 12)}, {"sign", 3 * 4 + 375 + 4 + 150}};
      if (bytes.contains(method)) {
        EXPECT_EQ(step.recorded(timed).over[0], bytes.at(method)) << method;
      }
    }
  }
}

TEST(Sparsified, TopKIsTheAlgorithmOfThatName) {
  OneStep::Setup setup;
  setup.rows = {5, 3, 6};
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    setup.exchange = mode;
    setup.compress = {};
    setup.parameters = {{"fraction", "0.07"}};
    const OneStep algorithm("top-k", setup);
    setup.parameters = {};
    setup.compress = sparsified("top-k", {{"fraction", "0.07"}});
    const OneStep compressed("gradient-sharing", setup);
    EXPECT_EQ(compressed.relative_difference(algorithm), 0);
    EXPECT_EQ(compressed.uplink_bytes, algorithm.uplink_bytes);
    EXPECT_EQ(compressed.downlink_bytes, algorithm.downlink_bytes);
  }
}

/// Returns the weights after some steps at one or several sites.
std::vector<models::Matrix> learned(const spec::CompressSpec& compress, double momentum, bool nesterov,
                                    std::vector<int> sites, Beside beside = Beside::biases_and_norm) {
  SharingSteps steps(compress, spec::ExchangeMode::peer, std::move(sites), beside);
  spec::OptimizerSpec optimizer;
  optimizer.kind = spec::OptimizerSpec::Kind::sgd;
  optimizer.momentum = momentum;
  optimizer.nesterov = nesterov;
  const auto sgd = models::make_optimizer(optimizer, steps.network());
  for (int t = 0; t < 25; ++t) sgd->update(steps.network(), steps.next().gradient(), 0.05);
  std::vector<models::Matrix> weights;
  for (std::size_t l = 0; l < kLayers; ++l) weights.push_back(steps.network().layer(l).weight);
  return weights;
}

TEST(Sparsified, DgcThatSendsAllIsMomentumSgd) {
  for (const char* nesterov : {"false", "true"}) {
    const spec::CompressSpec all =
        sparsified("dgc", {{"fraction", "1"}, {"warm-up-steps", "0"}, {"masking", "false"}, {"nesterov", nesterov}});
    const bool is_nesterov = std::string(nesterov) == "true";
    const std::vector<models::Matrix> alone = learned(all, 0, false, {6});
    const std::vector<models::Matrix> momentum = learned({}, 0.9, is_nesterov, {6});
    const std::vector<models::Matrix> of_sites = learned(all, 0, false, {4, 2, 3});
    const std::vector<models::Matrix> momentum_of_sites = learned({}, 0.9, is_nesterov, {4, 2, 3});
    const std::vector<models::Matrix> plain = learned({}, 0, false, {6});
    for (std::size_t l = 0; l < kLayers; ++l) {
      if (is_nesterov) {
        EXPECT_LT((alone[l] - momentum[l]).norm(), 1e-5F * momentum[l].norm());
      } else {
        EXPECT_TRUE(alone[l] == momentum[l]) << "to the bit";
      }
      EXPECT_LT((of_sites[l] - momentum_of_sites[l]).norm(), 1e-5F * momentum[l].norm());
      EXPECT_GT((plain[l] - momentum[l]).norm(), 1e-2F * momentum[l].norm()) << "momentum does something";
    }
  }
  // Momentum is masked wherever a number was sent: here in the whole matrix.
  const std::vector<models::Matrix> masked =
      learned(sparsified("dgc", {{"fraction", "1"}, {"warm-up-steps", "0"}}), 0, false, {6}, Beside::nothing);
  const std::vector<models::Matrix> plain = learned({}, 0, false, {6}, Beside::nothing);
  for (std::size_t l = 0; l < kLayers; ++l) EXPECT_TRUE(masked[l] == plain[l]) << "to the bit";
}

// Biases and norms are always sent and never masked. DGC applies u after u ← m u + g; with Nesterov's momentum, it
// applies u + g after u ← m (u + g).
TEST(Sparsified, DgcHasMomentumBesideMatricesToo) {
  for (const char* nesterov : {"false", "true"}) {
    for (const spec::ExchangeMode mode : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      for (const auto scope : {spec::CompressSpec::Scope::layer, spec::CompressSpec::Scope::model}) {
        spec::CompressSpec dgc = sparsified("dgc", {{"fraction", "0.02"}, {"nesterov", nesterov}});
        dgc.scope = scope;
        SharingSteps steps(dgc, mode, {5, 2, 3}, Beside::biases_and_norm);
        SharingSteps exact({}, mode, {5, 2, 3}, Beside::biases_and_norm);
        // The momenta are of the second matrix's biases, then of the norm. If all layers are one message, biases are
        // compressed with their matrix.
        std::vector<models::Vector> u;
        for (int t = 0; t < 8; ++t) {
          const auto beside = [](const TrainingStep& step) {
            std::vector<models::Vector> all = step.gradient().vectors;
            all.insert(all.begin(), step.gradient(1).bias);
            return all;
          };
          const std::vector<models::Vector> applied = beside(steps.next());
          const std::vector<models::Vector> g = beside(exact.next());
          ASSERT_GE(g.size(), 3U) << "biases, gains and shifts";
          u.resize(g.size());
          for (std::size_t v = 0; v < g.size(); ++v) {
            if (t == 0) u[v].setZero(g[v].size());
            const bool is_nesterov = std::string(nesterov) == "true";
            u[v] = is_nesterov ? (0.9F * (u[v] + g[v])).eval() : (0.9F * u[v] + g[v]).eval();
            if (v == 0 && scope == spec::CompressSpec::Scope::model) continue;
            const models::Vector wanted = is_nesterov ? (u[v] + g[v]).eval() : u[v];
            EXPECT_LT((applied[v] - wanted).norm(), 1e-5F * wanted.norm()) << nesterov << ' ' << t << ' ' << v;
          }
        }
      }
    }
  }
  // Without its memory, DGC is only a choice of numbers.
  SharingSteps without(sparsified("dgc", {}, false), spec::ExchangeMode::peer, {6}, Beside::biases_and_norm);
  SharingSteps exact({}, spec::ExchangeMode::peer, {6}, Beside::biases_and_norm);
  for (int t = 0; t < 3; ++t) {
    const TrainingStep& step = without.next();
    EXPECT_TRUE(step.gradient().vectors == exact.next().gradient().vectors);
  }
}

/// Returns the mean loss of the last hundred of 1,000 steps.
double loss_with(const spec::CompressSpec& compress, double rate, double momentum = 0, Beside beside = Beside::biases) {
  SharingSteps steps(compress, spec::ExchangeMode::peer, {10, 10, 10, 10}, beside);
  spec::OptimizerSpec optimizer;
  optimizer.kind = spec::OptimizerSpec::Kind::sgd;
  optimizer.momentum = momentum;
  const auto sgd = models::make_optimizer(optimizer, steps.network());
  double loss = 0;
  for (int t = 0; t < 1000; ++t) {
    const TrainingStep& step = steps.next();
    if (t >= 900) loss += step.loss() / 100;
    sgd->update(steps.network(), step.gradient(), rate);
  }
  return loss;
}

TEST(Sparsified, LearnsAsWithoutCompressionWhatItRemembers) {
  constexpr double kRate = 0.1;
  const double plain = loss_with({}, kRate);
  const double momentum = loss_with({}, kRate, 0.9);
  EXPECT_LT(momentum, 0.1 * plain);
  for (const char* name : {"top-k", "random-block", "sidco"}) {
    EXPECT_LT(loss_with(sparsified(name, {{"fraction", "0.02"}}), kRate), 1.1 * plain) << name;
    EXPECT_GT(loss_with(sparsified(name, {{"fraction", "0.02"}}, false), kRate), 3 * plain) << name;
  }
  // Masking discards the momentum of numbers that were sent. With 2 % of the numbers sent, this loses a part of the
  // gain.
  EXPECT_LT(loss_with(sparsified("dgc", {{"fraction", "0.02"}}), kRate), 0.2 * plain);
  EXPECT_LT(loss_with(sparsified("dgc", {{"fraction", "0.02"}, {"masking", "false"}}), kRate), 1.3 * momentum);
}

/// Returns the work of the first layer in one phase of one step.
step::Work charged(const OneStep& step, step::Phase phase) {
  step::Work sum;
  for (const step::Sweep& sweep : step.structure.sweeps) {
    for (const step::Group& group : sweep.groups) {
      if (group.layer != 0) continue;
      for (const step::Op& op : group.ops) {
        const auto* compute = std::get_if<step::ComputeOp>(&op.what);
        if (compute == nullptr || compute->phase != phase) continue;
        sum.flops += compute->branches[0].flops;
        sum.bytes_moved += compute->branches[0].bytes_moved;
      }
    }
  }
  return sum;
}

TEST(Sparsified, MemoryIsChargedAndListsAreAddedAsLists) {
  OneStep::Setup setup;
  setup.rows = {5, 3, 6};
  setup.exchange = spec::ExchangeMode::peer;
  setup.compress = sparsified("top-k", {{"fraction", "0.1"}}, false);
  const OneStep without("gradient-sharing", setup);
  setup.compress.memory = true;
  const OneStep with("gradient-sharing", setup);
  const step::Scope scope{&with.shape.layers[0], &with.sizes, 0};
  const double numbers = 240;  // numbers of a 12 × 20 matrix
  const double kept = 24;
  EXPECT_DOUBLE_EQ(charged(with, step::Phase::encode).bytes_moved.evaluate(scope) -
                       charged(without, step::Phase::encode).bytes_moved.evaluate(scope),
                   4 * (3 * numbers + kept));
  EXPECT_DOUBLE_EQ(charged(with, step::Phase::decode).bytes_moved.evaluate(scope), 4 * (numbers + 4 * 3 * kept));
  EXPECT_TRUE(charged(with, step::Phase::add).bytes_moved.is_zero());
  EXPECT_TRUE(charged(with, step::Phase::update).bytes_moved.is_zero());
  setup.compress = sparsified("dgc", {{"fraction", "0.1"}});
  const OneStep momentum("gradient-sharing", setup);
  EXPECT_DOUBLE_EQ(charged(momentum, step::Phase::update).bytes_moved.evaluate(scope), 4 * 3 * 20) << "of the biases";
}

}  // namespace
}  // namespace dadsim::algorithms

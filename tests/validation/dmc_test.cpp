// Compares distribution mismatch correction (src/models/distribution_correction.hpp) with running and batch statistics,
// per corruption, on a small network with batch norms. docs/drift.md has the table.
#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "models/data/corruption.hpp"
#include "models/distribution_correction.hpp"
#include "protocols/learning.hpp"
#include "support/random.hpp"

namespace dadsim::test {
namespace {

using models::Correction;

constexpr Eigen::Index kFeatures = 32;
constexpr std::int32_t kClasses = 10;

/// Returns samples from three clouds for each class, in 32 dimensions.
models::Samples clouds(Eigen::Index count, std::uint32_t stream) {
  constexpr Eigen::Index kClouds = 3;
  RandomStream places(11, Purpose::test, 0), random(11, Purpose::test, stream);
  boost::random::normal_distribution<double> normal;
  models::Matrix centres(kClouds * kClasses, kFeatures);
  for (Eigen::Index i = 0; i < centres.size(); ++i) centres.data()[i] = static_cast<float>(0.62 * normal(places));
  models::Samples samples;
  samples.features.resize(count, kFeatures);
  boost::random::uniform_int_distribution<Eigen::Index> any(0, kClouds * kClasses - 1);
  for (Eigen::Index row = 0; row < count; ++row) {
    const Eigen::Index cloud = any(random);
    samples.labels.push_back(static_cast<std::int32_t>(cloud / kClouds));
    for (Eigen::Index f = 0; f < kFeatures; ++f) {
      samples.features(row, f) = centres(cloud, f) + static_cast<float>(normal(random));
    }
  }
  return samples;
}

using Map = std::function<float(float value, Eigen::Index feature, RandomStream& random)>;

models::Samples mapped(const models::Samples& samples, const Map& map) {
  models::Samples result = samples;
  RandomStream random(12, Purpose::test, 77);
  for (Eigen::Index row = 0; row < result.features.rows(); ++row) {
    for (Eigen::Index f = 0; f < kFeatures; ++f) result.features(row, f) = map(samples.features(row, f), f, random);
  }
  return result;
}

models::Samples of_classes_below(const models::Samples& samples, std::int32_t classes) {
  models::Samples result;
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < samples.labels.size(); ++i) {
    if (samples.labels[i] >= classes) continue;
    rows.push_back(static_cast<Eigen::Index>(i));
    result.labels.push_back(samples.labels[i]);
  }
  result.features = samples.features(rows, Eigen::all);
  return result;
}

/// Accuracies in percent.
struct Row {
  double source, batch, norms, inputs, both;
};

Row row_of(const char* name, const models::Network& network, const models::SourceQuantiles& source,
           const models::Samples& samples, std::int64_t batch) {
  const auto accuracy = [&](Correction correction) {
    return 100 * models::evaluate_corrected(network, samples, batch, correction, source).accuracy;
  };
  const Row row{accuracy(Correction::source), accuracy(Correction::batch_statistics), accuracy(Correction::norms),
                accuracy(Correction::inputs), accuracy(Correction::inputs_and_norms)};
  std::printf("| %s | %lld | %.1f | %.1f | %.1f | %.1f | %.1f |\n", name, static_cast<long long>(batch), row.source,
              row.batch, row.norms, row.inputs, row.both);
  return row;
}

class DmcValidation : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    models::Dataset data;
    data.train = clouds(6000, 1);
    data.test = clouds(4000, 2);
    data.shape = {1, 1, kFeatures};
    data.classes = kClasses;
    data.name = "clouds";
    models::Partition partition(1);
    for (std::int32_t i = 0; i < 6000; ++i) partition[0].push_back(i);
    spec::ModelSpec model;
    for (int layer = 0; layer < 2; ++layer) {
      model.layers.push_back(spec::DenseSpec{.units = 64, .activation = spec::Activation::identity});
      model.layers.push_back(spec::BatchNormSpec{.activation = spec::Activation::relu});
    }
    model.layers.push_back(spec::DenseSpec{.units = kClasses});
    spec::TrainingSpec training;
    training.batch = 100;
    training.epochs = 12;
    training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 0.1};
    const algorithms::LearningProblem problem{data, partition, model, training, 3};
    world::History history(3, nullptr);
    protocols::Learning learning(problem, history);
    const world::Value trained = learning.train(learning.initial(), {.site = 0, .steps = 12 * 60});
    network_ = models::Network(data.shape, model, 3);
    models::set_flat_state(network_, history.get(trained)->numbers);
    source_ = models::source_quantiles(network_, data.train.features, 64);
    test_ = data.test;
  }

  static Row row_of(const char* name, const models::Samples& samples, std::int64_t batch) {
    return dadsim::test::row_of(name, network_, source_, samples, batch);
  }

  static models::Network network_;
  static models::SourceQuantiles source_;
  static models::Samples test_;
};
models::Network DmcValidation::network_;
models::SourceQuantiles DmcValidation::source_;
models::Samples DmcValidation::test_;

// An accuracy over 4,000 samples has a standard deviation of at most 0.8 points; differences on the same samples have
// less. Here, two points count as a difference.

TEST_F(DmcValidation, CleanDataAreLeftAsTheyAre) {
  const Row large = row_of("none", test_, 1000);
  EXPECT_GT(large.source, 75);
  for (const double other : {large.batch, large.norms, large.inputs, large.both}) EXPECT_NEAR(other, large.source, 2);
  row_of("none", test_, 128);
}

TEST_F(DmcValidation, SmallBatchesCostMoreThanTheyMend) {
  const Row small = row_of("none", test_, 16);
  EXPECT_LT(small.batch, small.source - 2);
  EXPECT_LT(small.norms, small.source - 2);
}

TEST_F(DmcValidation, GainsAndOffsetsOfFeaturesAreUndone) {
  RandomStream random(13, Purpose::test, 5);
  boost::random::normal_distribution<double> normal;
  std::vector<float> gains, offsets;
  for (Eigen::Index f = 0; f < kFeatures; ++f) {
    gains.push_back(static_cast<float>(std::exp(0.3 * normal(random))));
    offsets.push_back(static_cast<float>(1.5 * normal(random)));
  }
  const models::Samples shifted = mapped(test_, [&](float x, Eigen::Index f, RandomStream&) {
    return gains[static_cast<std::size_t>(f)] * x + offsets[static_cast<std::size_t>(f)];
  });
  const Row clean = row_of("none", test_, 1000), row = row_of("gain + offset", shifted, 1000);
  EXPECT_LT(row.source, clean.source - 20);
  EXPECT_GT(row.batch, row.source + 20);
  EXPECT_GT(row.norms, row.source + 20);
  EXPECT_NEAR(row.inputs, clean.inputs, 0.5) << "an affine map of a feature is undone to rounding";
  EXPECT_GT(row.inputs, row.batch);
  row_of("gain + offset", shifted, 128);
  row_of("gain + offset", shifted, 16);
}

TEST_F(DmcValidation, MonotoneMapsAreUndoneAtTheInputsAlone) {
  const models::Samples power =
      mapped(test_, [](float x, Eigen::Index, RandomStream&) { return std::copysign(std::pow(std::abs(x), 2.5F), x); });
  const models::Samples exponential =
      mapped(test_, [](float x, Eigen::Index, RandomStream&) { return std::exp(1.2F * x); });
  const Row clean = row_of("none", test_, 1000);
  const Row first = row_of("sign(x) abs(x)^2.5", power, 1000), second = row_of("exp(1.2 x)", exponential, 1000);
  for (const Row& row : {first, second}) {
    EXPECT_NEAR(row.inputs, clean.source, 2);
    EXPECT_GT(row.inputs, row.batch + 2);
    EXPECT_GT(row.inputs, row.norms + 2);
  }
  EXPECT_GT(second.batch, second.source + 2);
}

TEST_F(DmcValidation, ClippingIsMendedInPart) {
  const models::Samples clipped =
      mapped(test_, [](float x, Eigen::Index, RandomStream&) { return std::clamp(x, -0.4F, 0.4F); });
  const Row clean = row_of("none", test_, 1000), row = row_of("clip to 0.4", clipped, 1000);
  for (const double mended : {row.batch, row.norms, row.both}) {
    EXPECT_GT(mended, row.source - 1);
    EXPECT_LT(mended, clean.source - 2);
  }
}

TEST_F(DmcValidation, NoiseIsNot) {
  const models::Samples noisy = mapped(test_, [](float x, Eigen::Index, RandomStream& random) {
    return x + 1.2F * static_cast<float>(boost::random::normal_distribution<double>()(random));
  });
  const Row row = row_of("noise 1.2", noisy, 1000);
  for (const double other : {row.batch, row.norms, row.inputs, row.both}) EXPECT_NEAR(other, row.source, 3);
}

TEST_F(DmcValidation, OtherSharesOfTheClassesAreTakenForAnotherInstrument) {
  const models::Samples skewed = of_classes_below(test_, 3);
  const Row row = row_of("clean, 3 of 10 classes", skewed, 1000);
  EXPECT_LT(row.batch, row.source - 10);
  EXPECT_LT(row.norms, row.source - 10);
  EXPECT_LT(row.inputs, row.source - 2);
  row_of("clean, 3 of 10 classes", skewed, 128);
}

// ---- pictures, at every severity ----

TEST(DmcOnDigits, CorrectionsOfPicturesBySeverity) {
  spec::DataSpec digits;
  digits.source = spec::DigitsSource{.train = 6000, .test = 2000};
  const models::Dataset data = models::load_dataset(digits, 1);
  models::Partition partition(1);
  for (std::int32_t i = 0; i < 6000; ++i) partition[0].push_back(i);
  spec::ModelSpec model;
  for (int layer = 0; layer < 2; ++layer) {
    model.layers.push_back(spec::DenseSpec{.units = 64, .activation = spec::Activation::identity});
    model.layers.push_back(spec::BatchNormSpec{.activation = spec::Activation::relu});
  }
  model.layers.push_back(spec::DenseSpec{.units = kClasses});
  spec::TrainingSpec training;
  training.batch = 100;
  training.epochs = 10;
  training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 0.1};
  const algorithms::LearningProblem problem{data, partition, model, training, 3};
  world::History history(3, nullptr);
  protocols::Learning learning(problem, history);
  models::Network network(data.shape, model, 3);
  models::set_flat_state(network, history.get(learning.train(learning.initial(), {.site = 0, .steps = 600}))->numbers);
  const models::SourceQuantiles source = models::source_quantiles(network, data.train.features, 64);
  // Keeps only the rows that the expectations need. With DADSIM_ALL_DRAWN, prints the whole table of docs/drift.md.
  const bool all = std::getenv("DADSIM_ALL_DRAWN") != nullptr;
  const std::set<spec::Corruption> decides{spec::Corruption::gamma, spec::Corruption::exponential,
                                           spec::Corruption::gain_offset, spec::Corruption::contrast};
  std::map<std::string, std::vector<Row>> rows;
  for (const auto& [kind, kind_name] : names_of(spec::Corruption{})) {
    if (kind == spec::Corruption::none || (!all && !decides.contains(kind))) continue;
    for (std::int64_t severity = all ? 1 : spec::kMaxSeverity; severity <= spec::kMaxSeverity; severity += 2) {
      models::Samples samples = data.test;
      const models::Corrupter corrupt(kind, severity, data.shape, 1, 0);
      for (Eigen::Index i = 0; i < samples.size(); ++i) {
        corrupt(static_cast<std::uint32_t>(i), std::span<float>(samples.features.row(i).data(), 784));
      }
      const std::string name = std::string(kind_name) + " " + std::to_string(severity);
      rows[kind_name].push_back(row_of(name.c_str(), network, source, samples, 1000));
    }
  }
  const models::Samples& clean = data.test;
  models::Samples faded = clean;
  const models::Corrupter fade(spec::Corruption::contrast, 5, data.shape, 1, 0);
  for (Eigen::Index i = 0; i < faded.size(); ++i) {
    fade(static_cast<std::uint32_t>(i), std::span<float>(faded.features.row(i).data(), 784));
  }
  const Row plain = row_of("none", network, source, clean, 1000);
  row_of("none", network, source, clean, 128);
  const Row small = row_of("none", network, source, clean, 16);
  row_of("contrast 5", network, source, faded, 128);
  row_of("contrast 5", network, source, faded, 16);
  const Row skewed = row_of("none, 3 of 10 classes", network, source, of_classes_below(clean, 3), 1000);
  row_of("contrast 5, 3 of 10 classes", network, source, of_classes_below(faded, 3), 1000);
  EXPECT_GT(plain.source, 90);
  EXPECT_LT(small.norms, plain.source - 2);
  EXPECT_LT(skewed.batch, skewed.source - 2);
  EXPECT_LT(skewed.norms, skewed.source - 2);
  // Quantiles of the inputs undo severe corruptions that map each value monotonically.
  for (const char* monotone : {"gamma", "exponential", "gain-offset"}) {
    EXPECT_GT(rows[monotone].back().inputs, rows[monotone].back().source) << monotone;
  }
  // A change of contrast is one gain and one offset per picture, and changes a batch norm's inputs in the same way.
  EXPECT_GT(rows["contrast"].back().norms, rows["contrast"].back().source + 10);
  EXPECT_GT(rows["contrast"].back().batch, rows["contrast"].back().source + 10);
}

}  // namespace
}  // namespace dadsim::test

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "models/data/draw.hpp"
#include "models/data/generated.hpp"
#include "models/data/standardise.hpp"

namespace dadsim::models {
namespace {

constexpr std::int64_t kComponents = 4;       // components of the mixture
constexpr double kSpread = 1.0;               // standard deviation of the components' centres; 1 inside a component
constexpr std::int64_t kHidden = 24;          // units of the teacher
constexpr std::uint32_t kCalibration = 2000;  // samples that calibrate the scale of each output

/// Draws the features of a sample and computes its class.
class Teacher {
 public:
  Teacher(const spec::TabularSource& source, std::uint64_t seed)
      : seed_(seed), features_(source.features), classes_(source.classes) {
    RandomStream random(seed, Purpose::teacher);
    const auto fill = [&](std::vector<double>& values, std::int64_t count, double scale) {
      values.resize(static_cast<std::size_t>(count));
      for (double& value : values) value = scale * bell(random);
    };
    fill(centres_, kComponents * features_, kSpread);
    fill(first_, kHidden * features_, 1 / std::sqrt(static_cast<double>(features_)));
    fill(second_, classes_ * kHidden, 1.0);
    // Without calibration, a class with large outputs would take most of the samples.
    std::vector<ColumnMoments> moments(static_cast<std::size_t>(classes_));
    std::vector<float> sample(static_cast<std::size_t>(features_));
    for (std::uint32_t i = 0; i < kCalibration; ++i) {
      RandomStream stream(seed_, Purpose::teacher, i, 1);
      draw_features(stream, sample.data());
      const std::vector<double> outputs = outputs_of(sample.data());
      for (std::size_t c = 0; c < outputs.size(); ++c) moments[c].add(outputs[c]);
    }
    scales_ = std::move(moments);
  }

  void draw_features(RandomStream& random, float* values) const {
    const double* centre = centres_.data() + pick(random, kComponents) * features_;
    const double norm = 1 / std::sqrt(1 + kSpread * kSpread);
    for (std::int64_t f = 0; f < features_; ++f) values[f] = static_cast<float>(norm * (centre[f] + bell(random)));
  }

  std::int32_t class_of(const float* values) const {
    const std::vector<double> outputs = outputs_of(values);
    std::vector<float> scores(outputs.size());
    for (std::size_t c = 0; c < outputs.size(); ++c) scores[c] = scales_[c].standardise(outputs[c]);
    return static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin());
  }

 private:
  /// Returns V |W x|. The activation is even, because a linear classifier would learn most of an odd one.
  std::vector<double> outputs_of(const float* values) const {
    std::vector<double> hidden(kHidden);
    for (std::int64_t h = 0; h < kHidden; ++h) {
      double sum = 0;
      for (std::int64_t f = 0; f < features_; ++f)
        sum += first_[static_cast<std::size_t>(h * features_ + f)] * values[f];
      hidden[static_cast<std::size_t>(h)] = std::abs(sum);
    }
    std::vector<double> outputs(static_cast<std::size_t>(classes_));
    for (std::size_t i = 0; i < second_.size(); ++i) outputs[i / kHidden] += second_[i] * hidden[i % kHidden];
    return outputs;
  }

  std::uint64_t seed_;
  std::int64_t features_, classes_;
  std::vector<double> centres_;        ///< centres of the components, components × features
  std::vector<double> first_;          ///< W: hidden × features
  std::vector<double> second_;         ///< V: classes × hidden
  std::vector<ColumnMoments> scales_;  ///< scale of each output
};

}  // namespace

Samples draw_tabular(const spec::TabularSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  const Teacher teacher(source, seed);
  return draw_samples(first, count, source.features, 1, [&](std::uint32_t index, float* values, std::int32_t* label) {
    RandomStream random(seed, Purpose::tabular, index);
    teacher.draw_features(random, values);
    *label = teacher.class_of(values);
    if (uniform01(random) < source.noise) *label = pick(random, source.classes);
  });
}

}  // namespace dadsim::models

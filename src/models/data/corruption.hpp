#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spec/drift_specification.hpp"
#include "spec/sample_shape.hpp"
#include "support/random.hpp"

namespace dadsim::models {

/// Corruption of a site's samples by its instrument. In the spirit of MNIST-C (Mu & Gilmer, arXiv 1906.02337) and of
/// the corruptions of Hendrycks & Dietterich (arXiv 1903.12261): shared names mean the same kind of damage, but the
/// severities 1 … 5 are this program's own (x a value; in a picture 0 … 1 before and after):
///
///     noise        x + σ z, z standard normal for each value            σ = 0.08 0.12 0.18 0.26 0.38; not of a
///                                                                       picture: 0.2 0.4 0.6 0.9 1.2
///     gain-offset  e^(s z) x + ½ s z′, z and z′ per feature of the site s = 0.1 0.2 0.4 0.6 0.8
///     clip         min(x, c)                                            c = 0.8 0.6 0.4 0.25 0.15
///                  not of a picture: to −c … c                          c = 2 1.5 1 0.7 0.4
///     gamma        sign(x) |x|^γ                                        γ = 1.5 2 2.5 3 4
///     exponential  (e^(s x) − 1) ÷ s                                    s = 0.3 0.6 0.9 1.2 1.5
///                  of a picture ÷ (e^s − 1)                             s = 1 2 3 4 5
///     blur         Gaussian, standard deviation in pixels               0.5 0.75 1 1.5 2
///     contrast     towards the picture's mean m: m + c (x − m)          c = 0.75 0.5 0.4 0.3 0.15
///     zigzag       a bright line of eight turns across the picture      brightness 0.3 0.5 0.7 0.85 1
///     edges        (1 − w) x + w [slope > 0.3], slope of Sobel's        w = 0.2 0.4 0.6 0.8 1; edges stay as wide as
///                  operator ÷ 4                                         the operator makes them, unlike Canny's
///     glass-blur   each pixel changes places with one at most r away,   r = 1 1 2 2 3, times = 1 2 2 3 3
///                  several times, then blur of 0.4 pixels
///
/// Noise is nearly normal (Irwin–Hall, no far tails). The result depends only on the seed, the site and the sample.
/// Zeros after the end of a sequence stay zero. Several threads may call it.
class Corrupter {
 public:
  /// Throws InputError for samples of symbols, and for a picture corruption of samples that are not pictures.
  Corrupter(spec::Corruption kind, std::int64_t severity, const spec::SampleShape& shape, std::uint64_t seed,
            std::uint32_t site);
  /// `sample`: number of the sample, which selects its noise; `values`: shape.size() numbers.
  void operator()(std::uint32_t sample, std::span<float> values) const;

 private:
  double of(const double (&per_severity)[spec::kMaxSeverity]) const {
    return per_severity[static_cast<std::size_t>(severity_ - 1)];
  }
  void zigzag(RandomStream& random, std::span<float> values) const;
  void edges(std::span<float> values) const;
  void contrast(std::span<float> values) const;
  void glass(RandomStream& random, std::span<float> values) const;
  void blur(double deviation, std::span<float> values) const;

  spec::Corruption kind_;
  std::int64_t severity_;
  spec::SampleShape shape_;
  bool picture_;
  std::uint64_t seed_;
  std::uint32_t stream_;                ///< stream number of the random numbers
  std::vector<float> gains_, offsets_;  ///< gain and offset per value
};

/// Returns whether samples have both height and width above 1, like pictures.
inline bool is_picture(const spec::SampleShape& shape) { return shape.height > 1 && shape.width > 1; }

}  // namespace dadsim::models

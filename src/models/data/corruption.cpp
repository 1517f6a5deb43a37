#include "models/data/corruption.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/data/draw.hpp"
#include "models/data/site_shift.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {

using spec::Corruption;

Corrupter::Corrupter(Corruption kind, std::int64_t severity, const spec::SampleShape& shape, std::uint64_t seed,
                     std::uint32_t site)
    : kind_(kind),
      severity_(severity),
      shape_(shape),
      picture_(is_picture(shape)),
      seed_(seed),
      // Site numbers from 2²⁸ on would reuse random numbers; no scenario has that many sites.
      stream_(site * 16 + static_cast<std::uint32_t>(kind)) {
  if (severity < 1 || severity > spec::kMaxSeverity) throw std::logic_error("a severity is 1 to 5");
  if (kind == Corruption::none) return;
  if (shape.vocabulary > 0) {
    throw InputError(Diagnostic{"", 0, "a corruption needs numeric data, not symbols", "use numeric data"});
  }
  if (needs_picture(kind) && !picture_) {
    throw InputError(Diagnostic{"", 0,
                                std::string("corruption '") + to_string(kind) + "' needs samples that are images",
                                "use noise, gain-offset, clip, gamma or exponential"});
  }
  if (kind == Corruption::gain_offset) {
    const double deviation = of({0.1, 0.2, 0.4, 0.6, 0.8});
    RandomStream random(seed_, Purpose::drift, stream_);
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      gains_.push_back(static_cast<float>(std::exp(deviation * bell(random))));
      offsets_.push_back(static_cast<float>(0.5 * deviation * bell(random)));
    }
  }
}

void Corrupter::operator()(std::uint32_t sample, std::span<float> values) const {
  const auto used = values.first(static_cast<std::size_t>(used_values(shape_, values.data())));
  // Numbers drawn per site use step 0.
  RandomStream random(seed_, Purpose::drift, stream_, sample + 1);
  switch (kind_) {
    case Corruption::none:
      return;
    case Corruption::noise: {
      const double deviation = picture_ ? of({0.08, 0.12, 0.18, 0.26, 0.38}) : of({0.2, 0.4, 0.6, 0.9, 1.2});
      for (float& x : used) x += static_cast<float>(deviation * bell(random));
      break;
    }
    case Corruption::gain_offset:
      for (std::size_t i = 0; i < used.size(); ++i) used[i] = gains_[i] * used[i] + offsets_[i];
      break;
    case Corruption::clip: {
      const auto bound = static_cast<float>(picture_ ? of({0.8, 0.6, 0.4, 0.25, 0.15}) : of({2, 1.5, 1, 0.7, 0.4}));
      for (float& x : used) x = std::clamp(x, -bound, bound);
      break;
    }
    case Corruption::gamma: {
      const double power = of({1.5, 2, 2.5, 3, 4});
      for (float& x : used) x = static_cast<float>(std::copysign(std::pow(std::abs(x), power), x));
      break;
    }
    case Corruption::exponential: {
      const double s = picture_ ? of({1, 2, 3, 4, 5}) : of({0.3, 0.6, 0.9, 1.2, 1.5});
      const double whole = picture_ ? std::expm1(s) : s;
      for (float& x : used) x = static_cast<float>(std::expm1(s * x) / whole);
      break;
    }
    case Corruption::blur:
      blur(of({0.5, 0.75, 1, 1.5, 2}), values);
      break;
    case Corruption::contrast:
      contrast(values);
      break;
    case Corruption::zigzag:
      zigzag(random, values);
      break;
    case Corruption::edges:
      edges(values);
      break;
    case Corruption::glass_blur:
      glass(random, values);
      break;
  }
  if (!picture_) return;
  for (float& x : values) x = std::clamp(x, 0.0F, 1.0F);
}

void Corrupter::contrast(std::span<float> values) const {
  double mean = 0;
  for (const float x : values) mean += static_cast<double>(x) / static_cast<double>(values.size());
  const double factor = of({0.75, 0.5, 0.4, 0.3, 0.15});
  for (float& x : values) x = static_cast<float>(mean + factor * (x - mean));
}

void Corrupter::zigzag(RandomStream& random, std::span<float> values) const {
  constexpr int kTurns = 8;
  const double brightness = of({0.3, 0.5, 0.7, 0.85, 1});
  const auto height = static_cast<double>(shape_.height);
  const double middle = height * uniform(random, 0.35, 0.65);
  const double amplitude = height * uniform(random, 0.15, 0.3);
  const double phase = uniform(random, 0, 2);
  for (std::int64_t column = 0; column < shape_.width; ++column) {
    // A triangle wave of period 2 sets the line's slope.
    const double along = phase + kTurns * (static_cast<double>(column) + 0.5) / static_cast<double>(shape_.width);
    const double wave = 2 * std::abs(std::fmod(along, 2) - 1) - 1;
    const double at = middle + amplitude * wave;
    const double slope = 2 * amplitude * kTurns / static_cast<double>(shape_.width);
    for (std::int64_t row = 0; row < shape_.height; ++row) {
      const double distance = std::abs(static_cast<double>(row) + 0.5 - at) / std::sqrt(1 + slope * slope);
      const auto light = static_cast<float>(brightness * std::clamp(1.25 - distance, 0.0, 1.0));
      for (std::int64_t c = 0; c < shape_.channels; ++c) {
        float& x = values[static_cast<std::size_t>((row * shape_.width + column) * shape_.channels + c)];
        x = std::max(x, light);
      }
    }
  }
}

void Corrupter::edges(std::span<float> values) const {
  const auto weight = static_cast<float>(of({0.2, 0.4, 0.6, 0.8, 1}));
  const std::vector<float> before(values.begin(), values.end());
  const auto at = [&](std::int64_t row, std::int64_t column, std::int64_t c) {
    row = std::clamp<std::int64_t>(row, 0, shape_.height - 1);
    column = std::clamp<std::int64_t>(column, 0, shape_.width - 1);
    return before[static_cast<std::size_t>((row * shape_.width + column) * shape_.channels + c)];
  };
  for (std::int64_t row = 0; row < shape_.height; ++row) {
    for (std::int64_t column = 0; column < shape_.width; ++column) {
      for (std::int64_t c = 0; c < shape_.channels; ++c) {
        float across = 0, down = 0;
        for (std::int64_t k = -1; k <= 1; ++k) {
          const float share = k == 0 ? 2 : 1;
          across += share * (at(row + k, column + 1, c) - at(row + k, column - 1, c));
          down += share * (at(row + 1, column + k, c) - at(row - 1, column + k, c));
        }
        const float slope = std::sqrt(across * across + down * down) / 4;
        float& x = values[static_cast<std::size_t>((row * shape_.width + column) * shape_.channels + c)];
        x = (1 - weight) * x + weight * (slope > 0.3F ? 1.0F : 0.0F);
      }
    }
  }
}

void Corrupter::glass(RandomStream& random, std::span<float> values) const {
  const auto reach = static_cast<std::int64_t>(of({1, 1, 2, 2, 3}));
  const auto times = static_cast<int>(of({1, 2, 2, 3, 3}));
  for (int i = 0; i < times; ++i) {
    for (std::int64_t row = reach; row < shape_.height - reach; ++row) {
      for (std::int64_t column = reach; column < shape_.width - reach; ++column) {
        const std::int64_t other_row = row + pick(random, 2 * reach + 1) - reach;
        const std::int64_t other_column = column + pick(random, 2 * reach + 1) - reach;
        for (std::int64_t c = 0; c < shape_.channels; ++c) {
          std::swap(values[static_cast<std::size_t>((row * shape_.width + column) * shape_.channels + c)],
                    values[static_cast<std::size_t>((other_row * shape_.width + other_column) * shape_.channels + c)]);
        }
      }
    }
  }
  blur(0.4, values);
}

/// Blurs along rows, then along columns; pixels outside repeat the border.
void Corrupter::blur(double deviation, std::span<float> values) const {
  const auto reach = static_cast<std::int64_t>(std::ceil(3 * deviation));
  std::vector<double> kernel;
  double sum = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) {
    kernel.push_back(std::exp(-0.5 * static_cast<double>(k * k) / (deviation * deviation)));
    sum += kernel.back();
  }
  for (const bool along_rows : {true, false}) {
    const std::vector<float> before(values.begin(), values.end());
    for (std::int64_t row = 0; row < shape_.height; ++row) {
      for (std::int64_t column = 0; column < shape_.width; ++column) {
        for (std::int64_t c = 0; c < shape_.channels; ++c) {
          double mixed = 0;
          for (std::int64_t k = -reach; k <= reach; ++k) {
            const std::int64_t r = std::clamp<std::int64_t>(row + (along_rows ? 0 : k), 0, shape_.height - 1);
            const std::int64_t s = std::clamp<std::int64_t>(column + (along_rows ? k : 0), 0, shape_.width - 1);
            mixed +=
                kernel[static_cast<std::size_t>(k + reach)] / sum *
                static_cast<double>(before[static_cast<std::size_t>((r * shape_.width + s) * shape_.channels + c)]);
          }
          values[static_cast<std::size_t>((row * shape_.width + column) * shape_.channels + c)] =
              static_cast<float>(mixed);
        }
      }
    }
  }
}

}  // namespace dadsim::models

#include "models/data/site_shift.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "models/data/draw.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
std::int64_t used_values(const spec::SampleShape& shape, const float* values) {
  std::int64_t positions = shape.positions();
  if (shape.height > 1) return positions * shape.channels;
  const auto empty = [&](std::int64_t position) {
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      if (values[position * shape.channels + c] != 0) return false;
    }
    return true;
  };
  while (positions > 1 && empty(positions - 1)) --positions;
  return positions * shape.channels;
}

void apply_site_shift(Dataset& data, const Partition& partition, const spec::ShiftSpec& spec, std::uint64_t seed) {
  if (spec.none()) return;
  if (data.shape.vocabulary > 0) {
    throw InputError(Diagnostic{"", 0, "a shift between sites needs numeric data, not symbols", "use numeric data"});
  }
  const spec::SampleShape& shape = data.shape;
  parallel_for(partition.size(), [&](std::size_t site) {
    RandomStream random(seed, Purpose::site_shift, static_cast<std::uint32_t>(site));
    std::vector<double> gain(static_cast<std::size_t>(shape.channels));
    std::vector<double> offset(gain.size());
    for (double& value : gain) value = std::exp(spec.gain * bell(random));
    for (double& value : offset) value = spec.offset * bell(random);
    for (const std::int32_t sample : partition[site]) {
      // One stream per sample: the noise of a sample does not depend on other samples of the site.
      RandomStream noise(seed, Purpose::site_shift, static_cast<std::uint32_t>(sample), 1);
      float* values = data.train.features.row(sample).data();
      const std::int64_t used = used_values(shape, values);
      for (std::int64_t i = 0; i < used; ++i) {
        const auto channel = static_cast<std::size_t>(i % shape.channels);
        const double added = spec.noise > 0 ? spec.noise * bell(noise) : 0;
        values[i] = static_cast<float>(gain[channel] * values[i] + offset[channel] + added);
      }
    }
  });
}

}  // namespace dadsim::models

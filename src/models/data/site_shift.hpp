#pragma once

#include <cstdint>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// Returns the number of values that a sample uses: a sequence ends with the last position that has a value other than
/// 0. Other samples use all values.
std::int64_t used_values(const spec::SampleShape& shape, const float* values);

/// Shifts the training features of every site, x ↦ e^(gain·z) x + offset·z′ + noise·z″, as if each had its own
/// instrument: z and z′ are drawn per site and channel, z″ per value, all standard normal (without far tails). Zeros
/// after the end of a sequence stay, and so do held-back samples. Throws InputError for symbols, which cannot be
/// shifted.
void apply_site_shift(Dataset& data, const Partition& partition, const spec::ShiftSpec& spec, std::uint64_t seed);

}  // namespace dadsim::models

#pragma once

#include <cstdint>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// How many of a sample's values are used: a sequence ends with the last position that holds anything. Other samples
/// are whole.
std::int64_t used_values(const spec::SampleShape& shape, const float* values);

/// Makes the training features of every site differ, x ↦ e^(gain·z) x + offset·z′ + noise·z″, as if each had measured
/// with an instrument of its own: z and z′ are drawn per site and channel, z″ per value, all standard normal (up to the
/// tails). The zeros behind the end of a sequence stay, and so do the held-back samples. Throws InputError for symbols,
/// which cannot be shifted.
void apply_site_shift(Dataset& data, const Partition& partition, const spec::ShiftSpec& spec, std::uint64_t seed);

}  // namespace dadsim::models

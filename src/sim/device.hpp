#pragma once

#include <cstddef>
#include <vector>

#include "schedule/schedule.hpp"
#include "spec/device_specification.hpp"
#include "spec/layer_shape.hpp"
#include "support/registry.hpp"

namespace dadsim::sim {

/// The catalogue of devices, each with its source: sim/devices/devices.csv.
Registry<spec::DeviceSpec>& device_catalog();

/// Whether a layer takes fewer multiplications than its shape counts on this device: windows of 3 × 3 with a stride of
/// one by minimal filtering (Winograd).
bool filters_minimally(const spec::DeviceSpec& device, const spec::LayerShape& layer, spec::Precision precision);

/// Seconds of one computation by the roofline (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009), with the
/// part of `entry` of what differs from worker to worker:
///     launches × overhead + max(flops ÷ attainable rate, bytes ÷ (bandwidth × memory efficiency)),
/// times the slowdown of this one device. Products of matrices (forward, propagate and weight gradient of dense
/// layers, convolutions and attention) attain
///     peak × efficiency × W ÷ (W + peak × ramp),
/// with W flops per kernel; fewer rows than a tile has are filled up to one. Compression (factorise, merge) is thin
/// products: fp32 and the efficiency of dense layers, by the bandwidth as a rule. Everything else passes over memory;
/// its additions and multiplications are rarely fused: half of the fp32 peak. Throws std::logic_error for a device
/// without that precision, and for amounts that make no sense.
double seconds_on(const spec::DeviceSpec& device, const schedule::ComputeTask& task, std::size_t entry,
                  spec::Precision precision);

}  // namespace dadsim::sim

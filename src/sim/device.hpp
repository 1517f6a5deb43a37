#pragma once

#include <cstddef>

#include "schedule/schedule.hpp"
#include "spec/device_specification.hpp"
#include "spec/layer_shape.hpp"
#include "support/registry.hpp"

namespace dadsim::sim {

/// Returns the catalogue of devices, each with its source: sim/devices/devices.csv.
Registry<spec::DeviceSpec>& device_catalog();

/// Returns whether the device computes a layer with fewer multiplications than the layer's shape suggests: minimal
/// filtering (Winograd) for fp32 convolutions with 3 × 3 windows and a stride of one, if the device's `winograd_share`
/// is below 1.
bool filters_minimally(const spec::DeviceSpec& device, const spec::LayerShape& layer, spec::Precision precision);

/// Returns the seconds of one computation by the roofline (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009).
/// `entry` selects the worker's part of what differs from worker to worker:
///     launches × overhead + max(flops ÷ attainable rate, bytes ÷ (bandwidth × memory efficiency)),
/// times the slowdown of this device. Matrix products (forward, propagate and weight gradient of dense layers,
/// convolutions and attention, and the products of orthogonalisation) attain
///     peak × efficiency × W ÷ (W + peak × ramp),
/// with W flops per kernel; fewer rows than a tile has are padded to one tile. Compression (factorise, merge) consists
/// of thin products in fp32 with the efficiency of dense layers; bandwidth usually limits them. Everything else streams
/// over memory at half of the fp32 peak, since its additions and multiplications are rarely fused. Products and
/// attention whose kernels are measured (kernels.hpp) take the time of these kernels, plus the bytes of kernels before
/// and after. Recorded seconds are added. Throws std::logic_error if the device lacks the precision, or if an amount
/// makes no sense.
double seconds_on(const spec::DeviceSpec& device, const schedule::ComputeTask& task, std::size_t entry,
                  spec::Precision precision);

}  // namespace dadsim::sim

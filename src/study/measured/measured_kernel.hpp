#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "schedule/schedule.hpp"
#include "spec/device_specification.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

/// A kernel that was measured on one device.
struct MeasuredKernel {
  enum class Kind : std::uint8_t {
    product,    ///< m × n × k: m × k by k × n
    attention,  ///< fused attention forward, no mask: heads × positions × size of a head
    pass,       ///< bytes that are read and written
  };
  Kind kind = Kind::product;
  std::array<double, 3> sizes{};  ///< the numbers of its text; a pass has one
};

/// Reads "product 4096x11008x4096", "attention 64x8192x128" or "pass 1073741824"; none: another text.
std::optional<MeasuredKernel> parse_measured_kernel(const std::string& text);

/// Returns the kernel as a step of a single computation.
schedule::Schedule schedule_of(const MeasuredKernel& kernel, spec::Precision precision);

/// Returns the least seconds that the peaks and the bandwidth of the device allow.
double least_seconds(const MeasuredKernel& kernel, const spec::DeviceSpec& device, spec::Precision precision);

}  // namespace dadsim::study

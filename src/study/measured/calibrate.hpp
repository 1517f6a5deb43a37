#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "spec/device_specification.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

/// A kernel that was measured on one device.
struct MeasuredKernel {
  enum class Kind : std::uint8_t {
    product,    ///< m × n × k: m × k by k × n
    attention,  ///< fused attention forward without a mask, sizes: heads, positions, size of a head
    pass,       ///< pass over memory, size: bytes read and written
  };
  Kind kind = Kind::product;
  std::array<double, 3> sizes{};  ///< sizes, as in the kernel's name; a pass has one
};

/// Parses "product 4096x11008x4096", "attention 64x8192x128" or "pass 1073741824"; returns none for another text.
std::optional<MeasuredKernel> parse_measured_kernel(const std::string& text);

/// Returns the kernel as a step of a single computation.
schedule::Schedule schedule_of(const MeasuredKernel& kernel, spec::Precision precision);

/// Returns the least time of the kernel that the device's peaks and bandwidth allow, seconds.
double least_seconds(const MeasuredKernel& kernel, const spec::DeviceSpec& device, spec::Precision precision);

/// A measured step of one device, or a measured kernel.
struct MeasuredDeviceStep {
  std::string workload;    ///< name in the registry; of a kernel as in the file: "pass 1073741824"
  std::int64_t batch = 0;  ///< samples
  spec::Precision precision = spec::Precision::fp32;
  double seconds = 0;
  int line = 0;  ///< line of the file, from 1
  std::optional<MeasuredKernel> kernel = {};
};

/// Limits on the scatter of measurements, as shares: of the difference of two times of the same step, and of the time
/// by which a larger batch may be faster than a smaller one.
inline constexpr double kRepeatBound = 0.10;
inline constexpr double kBatchBound = 0.05;

/// Reads `text`, the contents of `file` (docs/calibrate.md). A header names the columns: workload, batch and time,
/// optionally precision and gpus; or kernel and time, optionally precision. Each further line is a measurement. Lines
/// that begin with # are comments. Throws InputError with all errors, including contradicting measurements.
std::vector<MeasuredDeviceStep> read_measurements(const std::string& file, const std::string& text);

/// A constant of a device after calibration.
struct CalibratedConstant {
  std::string name;     ///< "efficiency of convolution in fp16", "memory efficiency", "ramp", "launch overhead"
  double value = 0;     ///< share, or seconds
  bool fitted = false;  ///< false: the constant keeps the value of the base device
  bool in_seconds = false;
  /// Relative error of the constant if every measurement had an error of one per cent; NaN if nothing depends on the
  /// constant.
  double uncertainty = 0;
};

/// Result of a fit.
struct Calibration {
  spec::DeviceSpec device;
  std::vector<CalibratedConstant> constants;
  std::vector<double> seconds;  ///< per measurement: step time with these constants
  double spread = 0;            ///< root mean square of log(fitted ÷ measured)
  /// Ratio of the device's efficiency of products to the fitted one: trainings reach less than single kernels.
  double of_products = 1;
};

/// Largest relative error of an identified constant if every measurement has an error of one per cent.
inline constexpr double kIdentified = 0.10;
/// Largest deviation of a fitted step from the measured one, as a logarithm; larger than the roofline's own errors.
inline constexpr double kFitBound = 0.15;

/// Fits the identified constants of a device by least squares of the logarithms of the steps' times (Levenberg 1944,
/// Marquardt 1963, over the logarithms of the constants). First fits the efficiency of each kind of product in each
/// precision. Then adds memory, the ramp and the cost of a kernel one by one, while all fitted constants stay
/// identified. All other constants, peaks and bandwidths keep the value of `base`. Kernels may scatter around the fit;
/// steps may not. Throws InputError, with `file` and the lines, if measurements contradict each other or exceed the
/// peak.
Calibration calibrate(const spec::DeviceSpec& base, std::span<const MeasuredDeviceStep> measurements,
                      const std::string& file);

}  // namespace dadsim::study

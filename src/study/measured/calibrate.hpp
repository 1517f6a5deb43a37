#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spec/device_specification.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

/// A measured step of one device.
struct MeasuredDeviceStep {
  std::string workload;    ///< of the registry
  std::int64_t batch = 0;  ///< samples
  spec::Precision precision = spec::Precision::fp32;
  double seconds = 0;
  int line = 0;  ///< of the file, from 1
};

/// How far two times of the same step may lie apart, and by how much a larger batch may be quicker than a smaller one,
/// as shares: more is no scatter of measurements.
inline constexpr double kRepeatBound = 0.10;
inline constexpr double kBatchBound = 0.05;

/// Reads `text`, the content of `file` (docs/calibrate.md): a header that names the columns workload, batch and time,
/// and precision and gpus if they are wanted, then a measurement a line; lines that begin with # are remarks. Throws
/// InputError with everything that is wrong, measurements that contradict each other included.
std::vector<MeasuredDeviceStep> read_measurements(const std::string& file, const std::string& text);

/// A constant of a device after calibration.
struct CalibratedConstant {
  std::string name;     ///< "efficiency of convolution in fp16", "memory efficiency", "ramp", "launch overhead"
  double value = 0;     ///< share, or seconds
  bool fitted = false;  ///< else as it was before
  bool in_seconds = false;
  /// By how much it would be off, as a share, if every measurement were off by one per cent; not a number where nothing
  /// depends on it.
  double uncertainty = 0;
};

/// What a fit came to.
struct Calibration {
  spec::DeviceSpec device;
  std::vector<CalibratedConstant> constants;
  std::vector<double> seconds;  ///< per measurement: of a step with these constants
  double spread = 0;            ///< root mean square of log(fitted ÷ measured)
};

/// A constant counts as identified where measurements that are each off by one per cent leave it within this share.
inline constexpr double kIdentified = 0.10;
/// How far a fitted step may lie from the measured one, as a logarithm: more than the roofline's own errors.
inline constexpr double kFitBound = 0.15;

/// Fits what the measurements identify of a device's constants by least squares of the logarithms of the steps' times
/// (Levenberg 1944, Marquardt 1963, over the logarithms of the constants): first the efficiency of each kind of product
/// in each precision, then that of memory, the ramp and the cost of a kernel, one after the other as long as all that
/// are taken stay identified. The rest keeps the value that `base` has. Peaks and bandwidths are `base`'s. Throws
/// InputError, with `file` and the lines, where measurements contradict each other or ask for more than the peak.
Calibration calibrate(const spec::DeviceSpec& base, std::span<const MeasuredDeviceStep> measurements,
                      const std::string& file);

}  // namespace dadsim::study

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/language/catalog.hpp"
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
std::vector<MeasuredDeviceStep> read_measurements(const std::string& file, const std::string& text,
                                                  const scenario::Catalog& catalog);

}  // namespace dadsim::study

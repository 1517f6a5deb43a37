// Fuzzes files of measured steps, which `dadsim calibrate` reads.
#include <cmath>

#include "study/measured/calibrate.hpp"
#include "support/diagnostics.hpp"
#include "target.hpp"

using namespace dadsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const study::MeasuredDeviceStep& one :
         study::read_measurements("measurements.csv", std::string(fuzz::text_of(data, size)))) {
      fuzz::require(one.batch > 0 && one.line > 0, "batches and lines count from 1");
      fuzz::require(std::isfinite(one.seconds) && one.seconds > 0, "a step takes a time");
    }
  } catch (const InputError&) {
    return 0;
  }
  return 0;
}

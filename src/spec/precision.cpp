#include "spec/precision.hpp"

namespace dadsim::spec {

double bytes_per_element(Precision precision) { return has_master_copies(precision) ? 2.0 : 4.0; }

double operand_bytes(Precision precision) {
  switch (precision) {
    case Precision::fp8:
    case Precision::fp8_current:
      return 1;
    case Precision::fp8_block:
      return 1 + 4.0 / 128;
    case Precision::mxfp8:
      return 1 + 1.0 / 32;
    case Precision::nvfp4:
      return 0.5 + 1.0 / 16;
    default:
      return bytes_per_element(precision);
  }
}

bool has_master_copies(Precision precision) {
  return precision == Precision::fp16 || precision == Precision::bf16 || casts_operands(precision);
}

}  // namespace dadsim::spec

#include "spec/precision.hpp"

namespace dadsim::spec {

double bytes_per_element(Precision precision) { return has_master_copies(precision) ? 2.0 : 4.0; }

bool has_master_copies(Precision precision) {
  return precision == Precision::fp16 || precision == Precision::bf16 || precision == Precision::fp8;
}

}  // namespace dadsim::spec

#include "spec/precision.hpp"

#include <stdexcept>

namespace dadsim::spec {

const char* to_string(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::fp16:
      return "fp16";
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      return "fp8";
  }
  throw std::logic_error("unknown precision");
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const Precision precision : kPrecisions) {
    if (name == to_string(precision)) return precision;
  }
  return std::nullopt;
}

double bytes_per_element(Precision precision) { return has_master_copies(precision) ? 2.0 : 4.0; }

bool has_master_copies(Precision precision) {
  return precision == Precision::fp16 || precision == Precision::bf16 || precision == Precision::fp8;
}

}  // namespace dadsim::spec

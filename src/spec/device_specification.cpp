#include "spec/device_specification.hpp"

#include <stdexcept>

#include "spec/kernel_names.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::spec {

const std::vector<std::string>& kernel_families() {
  static const std::vector<std::string> kNames =
      FactTable(tables::kKernelNames, {"family", "devices", "date", "source"}).each([](const FactTable::Row& row) {
        return row.text("family");
      });
  return kNames;
}

double DeviceSpec::peak(Precision precision) const {
  switch (precision) {
    case Precision::fp32:
      return peak_flops;
    case Precision::tf32:
      return tf32_flops;
    case Precision::fp16:
      return fp16_flops;
    case Precision::bf16:
      return bf16_flops;
    case Precision::fp8:
    case Precision::fp8_current:
    case Precision::fp8_block:
      return fp8_flops;
    case Precision::mxfp8:
      return fp4_flops > 0 ? fp8_flops : 0;
    case Precision::nvfp4:
      return fp4_flops;
  }
  throw std::logic_error("unknown precision");
}

std::string DeviceSpec::precisions() const {
  std::vector<std::string> names;
  for (const Precision precision : kPrecisions) {
    const bool other_scales = is_fp8(precision) && precision != Precision::fp8;
    if (peak(precision) > 0 && !other_scales) names.emplace_back(to_string(precision));
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

double DeviceSpec::efficiency(LayerKind kind, Precision precision) const {
  const KindEfficiency* best = nullptr;
  for (const KindEfficiency& one : efficiencies) {
    if (one.kind != kind || (one.precision && *one.precision != precision)) continue;
    if (best == nullptr || one.precision) best = &one;
  }
  // Assumes the efficiency of fp8 for other formats with cast operands that have no entry of their own.
  const bool scaled = casts_operands(precision) && precision != Precision::fp8;
  if (scaled && (best == nullptr || !best->precision)) return efficiency(kind, Precision::fp8);
  return best == nullptr ? matrix_efficiency : best->share;
}

}  // namespace dadsim::spec

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "spec/names.hpp"
#include "spec/sweep_specification.hpp"

// A family of networks to learn, in order to measure how relative steps change with size.

namespace dadsim::spec {

/// Measure of size; relative steps are fitted against it.
enum class SizeKind : std::uint8_t {
  parameters,          ///< number of learned parameters
  rows_per_width,      ///< numbers in dAD's factors of all sites ÷ numbers in the gradient
  batch_per_critical,  ///< global batch ÷ critical batch
};
constexpr auto names_of(SizeKind) {
  using enum SizeKind;
  return std::to_array<Name<SizeKind>>(
      {{parameters, "parameters"}, {rows_per_width, "rows-per-width"}, {batch_per_critical, "batch-per-critical"}});
}

struct ScaleStudySpec {
  std::vector<SizeKind> against{SizeKind::parameters};
  double level = 0.9;         ///< confidence level of intervals
  std::int64_t hold_out = 1;  ///< number of largest sizes held out of the first fit as a test
  SweepSpec rungs;            ///< the sizes, as a grid over axes
};

}  // namespace dadsim::spec

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "spec/names.hpp"
#include "spec/sweep_specification.hpp"

// A family of networks that is learned to measure how relative steps change with size.

namespace dadsim::spec {

/// Measure of size against which relative steps are plotted.
enum class SizeKind : std::uint8_t {
  parameters,          ///< learned numbers
  rows_per_width,      ///< numbers in dAD's factors of all sites ÷ numbers in the gradient
  batch_per_critical,  ///< samples of all workers in a step ÷ the critical batch
};
constexpr auto names_of(SizeKind) {
  using enum SizeKind;
  return std::to_array<Name<SizeKind>>(
      {{parameters, "parameters"}, {rows_per_width, "rows-per-width"}, {batch_per_critical, "batch-per-critical"}});
}

struct ScaleStudySpec {
  std::vector<SizeKind> against{SizeKind::parameters};
  double level = 0.9;         ///< level of intervals
  std::int64_t hold_out = 1;  ///< number of largest sizes that the first fit leaves out as a test
  SweepSpec rungs;            ///< a grid over its axes
};

}  // namespace dadsim::spec

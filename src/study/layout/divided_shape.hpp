#pragma once

#include "report/layout/layout_report.hpp"
#include "spec/layer_shape.hpp"

namespace dadsim::study {

/// The network as a device of a layout has it before its layers are divided: sequences and experts are. Throws
/// std::invalid_argument, in words, where they cannot be divided so.
spec::ModelShape with_parts_of(const spec::ModelShape& whole, const report::Layout& layout);

}  // namespace dadsim::study

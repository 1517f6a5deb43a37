#pragma once

#include "report/layout/layout_report.hpp"

namespace dadsim::study {

/// A layout that may be simulated.
struct LayoutCandidate {
  report::Layout layout;
  report::StepParts estimate;  ///< by the closed form
  double bytes = 0;            ///< on the device that needs most
  bool simulated = false;
};

}  // namespace dadsim::study

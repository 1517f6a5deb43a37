#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/layout/layout_report.hpp"
#include "scenario/scenario.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

/// A layout with further settings of a framework.
struct Launch {
  report::Layout layout;
  std::optional<spec::Precision> precision = {};  ///< none: the file does not state it
  std::optional<bool> wide_gradients = {};        ///< sums 16-bit gradients in fp32; none: not stated
  std::int64_t bucket = 0;                        ///< bytes of gradients summed at once; 0: not stated
  std::int64_t devices_per_node = 1;

  std::int64_t devices() const { return layout.replicas * layout.how.devices(); }
};

/// Returns the launch of a scenario; buckets are those of the run with that label.
Launch launch_of(const scenario::Scenario& scenario, const std::string& run);

/// File for a framework, and the attributes without an argument in it: "tensor-overlap=backward".
struct WrittenLaunch {
  std::string text;
  std::vector<std::string> lacking;
};
WrittenLaunch write_launch(const std::string& framework, const Launch& launch);

/// Reads the file of a framework. `devices`: their number, if the file does not state it. Throws InputError.
Launch read_launch(const std::string& file, const std::string& framework, const std::string& text,
                   std::optional<std::int64_t> devices);

/// Returns assignments for --set that give a scenario the launch.
std::vector<std::string> assignments_of(const Launch& launch);

}  // namespace dadsim::study

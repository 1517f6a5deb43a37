#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/layout/layout_report.hpp"
#include "scenario/scenario.hpp"
#include "spec/precision.hpp"

namespace dadsim::study {

/// A layout with other settings of a training framework.
struct Launch {
  report::Layout layout;
  std::optional<spec::Precision> precision = {};  ///< none: the file does not state it
  std::optional<bool> wide_gradients = {};        ///< 16-bit gradients are summed in fp32; none: not stated
  std::int64_t bucket = 0;                        ///< bytes of a gradient bucket; 0: not stated
  std::int64_t devices_per_node = 1;

  std::int64_t devices() const { return layout.replicas * layout.how.devices(); }
};

/// Returns the launch settings of a scenario. `run`: label of the run that sets the buckets.
Launch launch_of(const scenario::Scenario& scenario, const std::string& run);

/// Launch file of a framework, and the attributes for which it has no argument ("tensor-overlap=backward").
struct WrittenLaunch {
  std::string text;
  std::vector<std::string> lacking;
};
WrittenLaunch write_launch(const std::string& framework, const Launch& launch);

/// Reads a launch file of a framework. `devices`: number of devices, if the file does not state it. Throws InputError.
Launch read_launch(const std::string& file, const std::string& framework, const std::string& text,
                   std::optional<std::int64_t> devices);

/// Returns assignments for --set that give a scenario the launch.
std::vector<std::string> assignments_of(const Launch& launch);

}  // namespace dadsim::study

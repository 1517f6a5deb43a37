#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "scenario/xml/findings.hpp"
#include "schedule/schedule.hpp"
#include "spec/layer_shape.hpp"

namespace dadsim::scenario {

/// A workload of the user's own.
struct OwnWorkload {
  spec::ModelShape shape;
  std::int64_t dataset_size = 0;  ///< samples per epoch; 0: not said
  /// A step that was recorded in the place of layers; null: layers.
  std::shared_ptr<const schedule::Schedule> recorded = nullptr;
};

/// Reads a workload from a file: XML (<workload> with <layer> inside, or <recorded-step>) or CSV (a heading, then a
/// line per layer). Everything wrong goes to `findings`, which are those of the file; nullopt then.
std::optional<OwnWorkload> read_workload_file(const std::string& path, Findings& findings);
/// The same of the content of a file; a CSV file gives the workload its name.
std::optional<OwnWorkload> read_workload(const std::string& content, const std::string& path, Findings& findings);

}  // namespace dadsim::scenario

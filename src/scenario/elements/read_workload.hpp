#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "scenario/xml/findings.hpp"
#include "schedule/schedule.hpp"
#include "spec/layer_shape.hpp"

namespace dadsim::scenario {

/// A workload from a user's file.
struct OwnWorkload {
  spec::ModelShape shape;
  std::int64_t dataset_size = 0;  ///< samples per epoch; 0: not given
  /// A recorded step in place of layers; null: layers.
  std::shared_ptr<const schedule::Schedule> recorded = nullptr;
};

/// Reads a workload from a file: XML (<workload> with <layer> inside, or <recorded-step>) or CSV (a heading, then a
/// line per layer). Errors go to `findings`, which belong to the file; returns nullopt then.
std::optional<OwnWorkload> read_workload_file(const std::string& path, Findings& findings);
/// Reads a workload from the contents of a file; a CSV file's name becomes the workload's name.
std::optional<OwnWorkload> read_workload(const std::string& content, const std::string& path, Findings& findings);

}  // namespace dadsim::scenario

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "study/diagnose/measurement.hpp"

namespace dadsim::study {

/// A published measurement of a training step: a line of a CSV file (docs/validate.md).
struct MeasuredJob {
  std::string file;
  int line = 0;  ///< line in the file, from 1
  std::string table, name;

  std::string scenario = {};               ///< path of its scenario file; empty: the members below describe the job
  std::vector<std::string> settings = {};  ///< settings of --set, "path=value"
  std::string platform = {};               ///< attributes of a <gpu-cluster>, a built-in platform, or a file
  std::int64_t gpus = 1;
  std::string device = {};
  std::map<std::string, std::string> timed_as = {};  ///< attributes of <timed-as> except the batch
  std::int64_t batch = 0;                            ///< batch of a device, or of the devices that share a replica
  std::string optimizer = {};

  MeasuredStep measured = {};  ///< exactly one figure is set
};

/// Reads `text`, the content of `file`: a header that names its columns, then one measurement per line; lines that
/// begin with # are remarks. Paths are relative to the file's folder. `optimizer` is the default for rows without one.
/// Throws InputError with all errors.
std::vector<MeasuredJob> read_measured_jobs(const std::string& file, std::string_view text,
                                            const std::string& optimizer = "adamw");

/// The built-in tables, in order.
const std::vector<MeasuredJob>& published_jobs();

/// Returns the text of a scenario for the step, with `batch` in place of the job's own batch. *Requires* a job without
/// a scenario file.
std::string scenario_text_of(const MeasuredJob& job, std::int64_t batch);

}  // namespace dadsim::study

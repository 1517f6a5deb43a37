#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/kineto.hpp"
#include "report/collective/collective_report.hpp"
#include "report/run/result.hpp"
#include "study/measured/collective_log.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// A collective that was measured by itself.
struct MeasuredCollective {
  double bytes = 0;  ///< as nccl-tests count them, over all ranks
  std::optional<double> seconds = {};
  std::optional<double> bus_bandwidth = {};  ///< byte/s, where the time is not known
};

/// One of the figures of a step.
struct MeasuredStep {
  std::int64_t devices = 0;  ///< that take it: the first so many of the scenario's; 0: all of them
  std::optional<double> step_seconds = {};
  std::optional<double> tokens_per_second = {};  ///< of all that take it
  std::optional<double> tokens_per_second_per_device = {};
  std::optional<double> samples_per_second = {};  ///< of all workers
  std::optional<double> utilisation = {};         ///< MFU, of 1
};

/// A step as it was simulated, and what its devices get done in it; not known where that is not.
struct StepWork {
  double seconds = 0;
  std::optional<double> tokens = {}, samples = {};
  std::optional<double> seconds_at_peak = {};  ///< of its flops: MFU × seconds
};
StepWork work_of_step(const report::RunResult& run);

/// What was measured: steps, of one or several numbers of devices, or collectives of one kind.
struct Measurement {
  std::string source;  ///< "--step", or the name of a log
  std::vector<MeasuredStep> steps = {};
  std::optional<formats::ProfiledStep> profile = {};
  std::vector<MeasuredCollective> collectives = {};
  report::Operation operation = report::Operation::all_reduce;  ///< that the collectives carry out
  std::size_t ranks = 0;                             ///< that take part in them, the first of the scenario's; 0: all
  std::optional<CollectiveLog> collective_log = {};  ///< of which they are still to be taken (take_collectives)
};

/// What a step took that so many devices take, by its figures and what is done in it. Throws InputError where it has no
/// figure, by the name of the `source`, or what is done is not known, by the place and with the remedy of `unknown`.
double seconds_of(const MeasuredStep& measured, std::int64_t devices, const StepWork& expected,
                  const Diagnostic& unknown, const std::string& source);

/// Takes the collectives out of the log, if there is one: of `operation`, or of the only one in it; among so many ranks
/// as the scenario has devices, else of as many of these as the log has; the sizes from 1 MiB on, at most four of them.
/// Returns what is to be told of the log. Throws InputError where it has none of these.
std::vector<Diagnostic> take_collectives(Measurement& measured, std::optional<report::Operation> operation,
                                         std::size_t devices);

}  // namespace dadsim::study

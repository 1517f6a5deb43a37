#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/bands.hpp"
#include "formats/kineto.hpp"
#include "report/collective/collective_report.hpp"
#include "report/run/result.hpp"
#include "study/measured/collective_log.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// A single measured collective.
struct MeasuredCollective {
  double bytes = 0;  ///< bytes over all ranks, as nccl-tests counts
  std::optional<double> seconds = {};
  std::optional<double> bus_bandwidth = {};  ///< byte/s; used if the time is unknown
};

/// Measured figures of a step.
struct MeasuredStep {
  std::int64_t devices = 0;  ///< number of devices used, the scenario's first ones; 0: all
  std::optional<double> step_seconds = {};
  std::optional<double> tokens_per_second = {};  ///< sum over these devices
  std::optional<double> tokens_per_second_per_device = {};
  std::optional<double> samples_per_second = {};  ///< sum over all workers
  std::optional<double> utilisation = {};         ///< MFU, as a share of 1
};

/// A simulated step and its work; unknown members are none.
struct StepWork {
  double seconds = 0;
  std::optional<double> tokens = {}, samples = {};
  std::optional<double> seconds_at_peak = {};  ///< seconds of its flops at peak: MFU × seconds
};
StepWork work_of_step(const report::RunResult& run);

/// Measured steps, on one or several numbers of devices, or collectives of one kind.
struct Measurement {
  std::string source;  ///< "--step", or the name of a log
  std::vector<MeasuredStep> steps = {};
  std::optional<formats::ProfiledStep> profile = {};
  std::vector<MeasuredCollective> collectives = {};
  report::Operation operation = report::Operation::all_reduce;  ///< kind of the measured collectives
  std::size_t ranks = 0;                             ///< number of ranks of the collectives, on the scenario's first
                                                     ///< devices; 0: all devices
  std::optional<CollectiveLog> collective_log = {};  ///< log to read collectives from (take_collectives)
};

/// Returns the measured seconds of a step on `devices` devices; converts rates by the work of `expected`. Throws
/// InputError if `measured` has no figure (naming `source`), or if the step's work is unknown (with the place and
/// remedy of `unknown`).
double seconds_of(const MeasuredStep& measured, std::int64_t devices, const StepWork& expected,
                  const Diagnostic& unknown, const std::string& source);

/// Reads the collectives from the log, if there is one: those of `operation`, or of the log's only operation. The
/// number of ranks is that of the scenario's devices, or the largest below it in the log. Keeps at most four sizes from
/// 1 MiB. Returns warnings about the log. Throws InputError if no collective fits.
std::vector<Diagnostic> take_collectives(Measurement& measured, std::optional<report::Operation> operation,
                                         std::size_t devices);

/// The speed at which workers compute, fitted to one measured step.
struct FittedSpeed {
  double speed = 1;                                ///< factor on every worker's computing speed
  double measured = 0, predicted = 0, fitted = 0;  ///< seconds of the step: measured, predicted, with fitted speed
  estimate::Band band = {}, own_band = {};         ///< factors: band without the fit, with the fit
};

/// Fits the speed of all workers of the scenario in `file` so that its first run takes the measured time per step.
/// Nothing is learned. Throws InputError if workers have speeds already, if most of the step is not computing, or if
/// messages alone take longer than the measurement.
FittedSpeed fit_speed(const std::string& file, const MeasuredStep& measured);

}  // namespace dadsim::study

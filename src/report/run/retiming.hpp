#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/words/statement.hpp"
#include "spec/names.hpp"

namespace dadsim::report {

/// Step times of runs on clusters that differ from the scenario's by factors, for a page with sliders. The times are
/// interpolated between timings of such clusters.
///
/// With x the base-2 logarithms of the factors and x_i those of the timed clusters, the logarithm of a step's time
/// relative to the scenario's own cluster is
///     f(x) = Σ_i w_i ‖M (x − x_i)‖³ + v_0 + Σ_k v_k x_k,   Σ_i w_i = 0, Σ_i w_i x_i = 0,
/// which is exact at every x_i and smooth between them (polyharmonic splines: Duchon 1977; Wendland, Scattered Data
/// Approximation, 2005, chapter 8). M shortens distances along which the time is nearly linear: if all parts of a step
/// take twice as long, so does the step, whatever else changes.
struct Retiming {
  struct Knob {
    enum class KnobKind : std::uint8_t { bandwidth, latency, speed };
    KnobKind what = KnobKind::bandwidth;
    std::string name;         ///< name of the knob: "bandwidth of hospital-#-up"
    std::string least, most;  ///< range of its values in the scenario, over all links that it changes: "10 Mbit/s"
    std::vector<std::string> links;  ///< links of the platform that the knob changes; for latencies all
  };
  std::vector<Knob> knobs;
  double reach = 0;                         ///< range of the knobs, −reach to +reach, as base-2 logarithms
  std::vector<std::vector<double>> points;  ///< x_i; the first point is 0, the scenario itself
  std::vector<std::string> kinds;           ///< kinds of bounds of a step: "bandwidth" …

  struct Run {
    std::size_t run = 0;                      ///< index of the run in the result
    std::vector<std::vector<double>> metric;  ///< M, row by row
    std::vector<double> weights;              ///< w_i, then v_0, v_1 …
    /// Share of the critical path per point and kind of bound, in whole hundredths.
    std::vector<std::vector<std::int32_t>> shares;
    double worst_error = 0;   ///< greatest |fitted ÷ timed − 1| over points left out of the fit
    double median_error = 0;  ///< median of |fitted ÷ timed − 1| over points left out of the fit
  };
  std::vector<Run> runs;
  std::int64_t held_out = 0;         ///< points left out of the fit
  std::optional<Statement> why_not;  ///< reason why `runs` is empty
};

constexpr auto names_of(Retiming::Knob::KnobKind) {
  using enum Retiming::Knob::KnobKind;
  return std::to_array<spec::Name<Retiming::Knob::KnobKind>>(
      {{bandwidth, "bandwidth"}, {latency, "latency"}, {speed, "speed"}});
}
using spec::to_string;

/// Returns M x.
std::vector<double> stretched(const std::vector<std::vector<double>>& metric, const std::vector<double>& x);

/// Returns the factor on the step time of run number `run` (in Retiming::runs), for these base-2 logarithms of factors,
/// one per knob.
double factor_at(const Retiming& retiming, std::size_t run, const std::vector<double>& at);

}  // namespace dadsim::report

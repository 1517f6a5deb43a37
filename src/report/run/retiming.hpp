#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/words/statement.hpp"

namespace dadsim::report {

/// The times of a run's steps on clusters that differ from the scenario's by factors, fitted to timings of such
/// clusters: for a page whose reader turns knobs.
///
/// With x the base-2 logarithms of the factors and x_i those of the timed clusters, the logarithm of a step's time by
/// that on the scenario's own cluster is
///     f(x) = Σ_i w_i ‖M (x − x_i)‖³ + v_0 + Σ_k v_k x_k,   Σ_i w_i = 0, Σ_i w_i x_i = 0,
/// which is exact at every x_i and smooth between them (polyharmonic splines: Duchon 1977; Wendland, Scattered Data
/// Approximation, 2005, chapter 8). M shortens distances along which the time is nearly linear: where all parts of a
/// step take twice as long, it takes twice as long, whatever else is turned.
struct Retiming {
  struct Knob {
    enum class What : std::uint8_t { bandwidth, latency, speed };
    What what = What::bandwidth;
    std::string name;                ///< "bandwidth of hospital-#-up"
    std::string least, most;         ///< what it is in the scenario, over all that it turns: "10 Mbit/s"
    std::vector<std::string> links;  ///< of the platform that it turns; all of them for latencies
  };
  std::vector<Knob> knobs;
  double reach = 0;                         ///< knobs go from −reach to +reach, base-2 logarithms
  std::vector<std::vector<double>> points;  ///< x_i, the first of them 0: the scenario itself
  std::vector<std::string> kinds;           ///< of what binds a step: "bandwidth" …

  struct Run {
    std::size_t run = 0;                      ///< of the result
    std::vector<std::vector<double>> metric;  ///< M, by rows
    std::vector<double> weights;              ///< w_i, then v_0, v_1 …
    /// Per point, per kind: its share of the critical path, whole hundredths.
    std::vector<std::vector<std::int32_t>> shares;
    double worst_error = 0;   ///< of points that nothing was fitted to: |fitted ÷ timed − 1|, the most
    double median_error = 0;  ///< the same, the median
  };
  std::vector<Run> runs;
  std::int64_t held_out = 0;         ///< points that nothing was fitted to
  std::optional<Statement> why_not;  ///< where there are no runs: why
};

/// M x.
std::vector<double> stretched(const std::vector<std::vector<double>>& metric, const std::vector<double>& x);

/// By how much longer a step of run number `run` (of Retiming::runs) takes, at these logarithms of factors, one a knob.
double factor_at(const Retiming& retiming, std::size_t run, const std::vector<double>& at);

/// Shares of the critical path by kind, 0…1: those of the nearest points, weighted by distance⁻⁴.
std::vector<double> shares_at(const Retiming& retiming, std::size_t run, const std::vector<double>& at);

std::string to_json(const Retiming& retiming);

}  // namespace dadsim::report

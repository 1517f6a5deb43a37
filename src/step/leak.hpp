#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "spec/names.hpp"
#include "spec/sample_shape.hpp"
#include "support/statement.hpp"

namespace dadsim::step {

/// Readers of messages: honest, with knowledge of the model and the algorithm, changing nothing (docs/leak.md).
enum class Adversary : std::uint8_t {
  aggregator,         ///< messages that sites send up
  site,               ///< another site: messages that it receives
  line,               ///< an eavesdropper on a site's unencrypted line: both directions
  secure_aggregator,  ///< an aggregator that sees only the sum, under secure aggregation
};
constexpr auto names_of(Adversary) {
  using enum Adversary;
  return std::to_array<spec::Name<Adversary>>(
      {{aggregator, "aggregator"}, {site, "site"}, {line, "line"}, {secure_aggregator, "secure-aggregator"}});
}
inline constexpr std::size_t kAdversaries = 4;
/// Returns the bit of an adversary in a set.
constexpr unsigned bit_of(Adversary adversary) { return 1U << static_cast<unsigned>(adversary); }

/// Knowledge of one adversary about one site, or about all of them, after the whole training. NaN: not measured.
struct LeakFigures {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double rows_handed_over = kUnknown;     ///< input rows contained in messages; a row counts each time
  double samples_handed_over = kUnknown;  ///< share of the site's samples with such a row
  double span_in = kUnknown;              ///< share of the batch's rows that messages span; mean over measured steps
  double span_out = kUnknown;     ///< share of the site's other rows that messages span; mean over measured steps
  double span_excess = kUnknown;  ///< (in − out) ÷ (1 − out), at least 0; rows handed over count as 1
  double best_sample_excess = kUnknown;  ///< excess of the best sample of the batch, against the best of the others
  double accumulated_excess = kUnknown;  ///< excess at each sample's best step; mean over samples
  double labels = kUnknown;              ///< share of the labels, or of presences of classes, inferred correctly
};

/// Progress after that many steps, or updates of the model.
struct LeakPoint {
  std::int64_t step = 0;
  double seconds = LeakFigures::kUnknown;  ///< simulated seconds, after the run has been timed
  double samples_handed_over = 0;
  double accumulated_excess = 0;
};

/// The image revealed best to an adversary in one step: the original, and the part revealed by messages (the mean of
/// its site and the projection of the rest onto their span). No linear reading of them comes nearer.
struct ShownImage {
  std::int64_t step = 0;  ///< from 1; in event-driven runs the number of its sender's message
  std::size_t site = 0;
  std::int32_t sample = 0;  ///< index among the training samples
  double share = 0;         ///< ‖(x − mean) P‖² ÷ ‖x − mean‖²
  spec::SampleShape shape;
  std::vector<float> original, shown;  ///< pixel by pixel
};

/// Knowledge of one adversary.
struct AdversaryLeak {
  Adversary adversary = Adversary::aggregator;
  LeakFigures all;                         ///< all sites together: rows added up, shares weighted by samples or steps
  std::vector<LeakFigures> sites;          ///< per observed site
  std::vector<LeakPoint> curve;            ///< progress of the same figures
  double epsilon = LeakFigures::kUnknown;  ///< ε of differential privacy, against this adversary; NaN: none
  double delta = LeakFigures::kUnknown;    ///< at which ε is spent
  std::optional<Statement> why_not = {};   ///< reason if spans were not measured, or not always
  /// Best image, if samples are images that the first matrix reads unchanged. For the page of a run: no store keeps it.
  std::optional<ShownImage> best_image = {};
};

/// Measured information in a run's messages about the input rows.
struct Leak {
  std::vector<AdversaryLeak> adversaries = {};
  std::int64_t every = 0;                  ///< steps between measurements of spans and labels
  std::int64_t measured = 0;               ///< number of measured steps
  std::vector<std::int32_t> sampled = {};  ///< the observed sites, of many; empty: all
  std::optional<Statement> why_not = {};   ///< reason if nothing was measured
};

}  // namespace dadsim::step

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

/// Who reads messages: honest, knows the model and the algorithm, alters nothing (docs/leak.md).
enum class Adversary : std::uint8_t {
  aggregator,         ///< what sites send up
  site,               ///< another site: what comes to it
  line,               ///< a listener on a site's line, which is not encrypted: both directions
  secure_aggregator,  ///< an aggregator that secure aggregation shows the sum alone
};
constexpr auto names_of(Adversary) {
  using enum Adversary;
  return std::to_array<spec::Name<Adversary>>(
      {{aggregator, "aggregator"}, {site, "site"}, {line, "line"}, {secure_aggregator, "secure-aggregator"}});
}
inline constexpr std::size_t kAdversaries = 4;
/// Of a set of them.
constexpr unsigned bit_of(Adversary adversary) { return 1U << static_cast<unsigned>(adversary); }

/// What one adversary got to know of one site, or of all of them, in the whole of training. What is no number was not
/// measured.
struct LeakFigures {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double rows_handed_over = kUnknown;     ///< input rows that stood in messages; a row counts each time
  double samples_handed_over = kUnknown;  ///< share of the site's samples of which one did
  double span_in = kUnknown;              ///< share of the batch's rows that messages span; mean over measured steps
  double span_out = kUnknown;             ///< the same of rows of the site that were not in the batch
  double span_excess = kUnknown;          ///< (in − out) ÷ (1 − out), at least 0; rows handed over count as 1
  double best_sample_excess = kUnknown;   ///< the same of the best sample of the batch, against the best of the others
  double accumulated_excess = kUnknown;   ///< the same of each sample's best step; mean over samples
  double labels = kUnknown;               ///< share of the labels, or of presences of classes, that are told right
};

/// How far it was after so many steps, or updates of the model.
struct LeakPoint {
  std::int64_t step = 0;
  double seconds = LeakFigures::kUnknown;  ///< simulated, once the run has been timed
  double samples_handed_over = 0;
  double accumulated_excess = 0;
};

/// The image of which an adversary was shown the largest share in one step: as it is, and as messages show it, the mean
/// of its site and the projection of the rest onto what they span. No linear reading of them comes nearer.
struct ShownImage {
  std::int64_t step = 0;  ///< from 1; of event-driven runs which message of its sender
  std::size_t site = 0;
  std::int32_t sample = 0;  ///< among those of training
  double share = 0;         ///< ‖(x − mean) P‖² ÷ ‖x − mean‖²
  spec::SampleShape shape;
  std::vector<float> original, shown;  ///< pixel by pixel
};

/// All that one adversary got to know.
struct AdversaryLeak {
  Adversary adversary = Adversary::aggregator;
  LeakFigures all;                         ///< of these sites: rows added up, shares by samples or steps
  std::vector<LeakFigures> sites;          ///< per site that was looked at
  std::vector<LeakPoint> curve;            ///< of the same
  double epsilon = LeakFigures::kUnknown;  ///< of differential privacy, towards this adversary; no number: none
  double delta = LeakFigures::kUnknown;    ///< at which it is spent
  std::optional<Statement> why_not = {};   ///< where spans were not measured, or not always
  /// Where samples are images and the first matrix reads them as they are. For the page of a run: no store keeps it.
  std::optional<ShownImage> best_image = {};
};

/// What the messages of a run reveal of the input rows, as far as it was measured.
struct Leak {
  std::vector<AdversaryLeak> adversaries = {};
  std::int64_t every = 0;                  ///< spans and labels were measured in every so many steps
  std::int64_t measured = 0;               ///< in how many
  std::vector<std::int32_t> sampled = {};  ///< the sites that were looked at, of many; empty: all were
  std::optional<Statement> why_not = {};   ///< where nothing was measured
};

}  // namespace dadsim::step

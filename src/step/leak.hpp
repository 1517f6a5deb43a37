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

/// Readers of messages. They are honest but curious: they know the model and the algorithm, and change nothing
/// (docs/leak.md).
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

/// Information of one adversary about one site, or about all sites, after the whole training. NaN: not measured.
struct LeakFigures {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  double rows_handed_over = kUnknown;     ///< number of input rows contained in messages, with repetitions
  double samples_handed_over = kUnknown;  ///< share of the site's samples with a row in messages
  double span_in = kUnknown;              ///< share of the batch's rows in the span of messages; mean over measured
                                          ///< steps
  double span_out = kUnknown;     ///< share of the site's other rows in the span of messages; mean over measured steps
  double span_excess = kUnknown;  ///< (span_in − span_out) ÷ (1 − span_out), at least 0; rows contained in messages
                                  ///< count as 1
  double best_sample_excess = kUnknown;  ///< excess of the best sample of the batch over the best other sample
  double accumulated_excess = kUnknown;  ///< excess at each sample's best step; mean over samples
  double labels = kUnknown;              ///< share of the labels, or of presences of classes, inferred correctly
};

/// Information after a number of steps, or of updates of the model.
struct LeakPoint {
  std::int64_t step = 0;
  double seconds = LeakFigures::kUnknown;  ///< simulated seconds, after the run has been timed
  double samples_handed_over = 0;
  double accumulated_excess = 0;
};

/// The image that messages of one step reveal best: the original, and its revealed part (the mean of its site, plus the
/// projection of the difference onto the messages' span). No linear reconstruction comes closer.
struct ShownImage {
  std::int64_t step = 0;  ///< step from 1; in event-driven runs the number of the sender's message
  std::size_t site = 0;
  std::int32_t sample = 0;  ///< index among the training samples
  double share = 0;         ///< revealed share, ‖(x − mean) P‖² ÷ ‖x − mean‖²
  spec::SampleShape shape;
  std::vector<float> original, shown;  ///< values pixel by pixel
};

/// Information of one adversary.
struct AdversaryLeak {
  Adversary adversary = Adversary::aggregator;
  LeakFigures all;                         ///< all sites together: sums of rows, and shares weighted by samples or
                                           ///< steps
  std::vector<LeakFigures> sites;          ///< information about each observed site
  std::vector<LeakPoint> curve;            ///< samples_handed_over and accumulated_excess during training
  double epsilon = LeakFigures::kUnknown;  ///< ε of differential privacy, against this adversary; NaN: none
  double delta = LeakFigures::kUnknown;    ///< δ of `epsilon`
  std::optional<Statement> why_not = {};   ///< reason if spans were not measured in some or all steps
  /// Best image, if the first matrix reads the images unchanged. Only for the page of a run; not stored.
  std::optional<ShownImage> best_image = {};
};

/// Measurements of the information about input rows in a run's messages.
struct Leak {
  std::vector<AdversaryLeak> adversaries = {};
  std::int64_t every = 0;                  ///< steps between measurements of spans and labels
  std::int64_t measured = 0;               ///< number of measured steps
  std::vector<std::int32_t> sampled = {};  ///< observed sites; empty: all
  std::optional<Statement> why_not = {};   ///< reason if nothing was measured
};

}  // namespace dadsim::step

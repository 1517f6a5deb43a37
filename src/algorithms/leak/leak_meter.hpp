#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/leak/known_of_site.hpp"
#include "algorithms/leak/sample_rows.hpp"
#include "algorithms/learning_problem.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// Measures what messages reveal (docs/leak.md): it holds the observed sites, the samples that their batches are
/// compared with, and each adversary's knowledge so far. ExchangeLeak feeds it the messages of steps,
/// protocols::MessageLeak those of event-driven runs.
class LeakMeter {
 public:
  static constexpr std::size_t kAll = step::kAdversaries;

  /// Starts without observed sites.
  LeakMeter(const LearningProblem& problem, const models::Network& network);

  const LearningProblem& problem() const { return problem_; }
  SampleRows& rows() { return rows_; }
  const SampleRows& rows() const { return rows_; }

  std::size_t sites() const { return problem_.partition.size(); }
  /// Observes a site. Observed sites are numbered in the order of these calls, by `s`.
  void look_at(std::size_t site);
  std::size_t looked_at() const { return sampled_.size(); }
  std::size_t number_of(std::size_t s) const { return static_cast<std::size_t>(sampled_[s]); }
  /// Returns the number of an observed site; −1: not observed.
  std::int32_t s_of(std::size_t site) const { return in_sample_[site]; }
  const std::vector<std::int32_t>& samples_of(std::size_t s) const { return problem_.partition[number_of(s)]; }
  /// Returns the position of a sample among those of its site.
  std::int32_t place_of(std::int32_t sample) const { return place_[static_cast<std::size_t>(sample)]; }
  std::vector<std::int32_t> labels_of(const std::vector<std::int32_t>& samples) const;

  /// Returns whether that adversary is one of the readers. `readers`: bits of step::Adversary.
  bool reads(unsigned readers, std::size_t adversary) const;
  KnownOfSite& known(std::size_t adversary, std::size_t s) { return known_[adversary][s]; }

  /// Measured samples of a site, and the samples that they are compared with.
  struct MeasuredBatch {
    std::size_t s = 0;
    std::int64_t number = 0;  ///< number of the step, or of the message in the sequence of its sender
    std::vector<std::int32_t> samples = {};
    ControlSamples control = {};
  };
  /// Draws the control samples, at most as many as `samples`. `samples`: those measured; `all`: those that the messages
  /// concern.
  MeasuredBatch batch_of(std::size_t s, std::int64_t number, std::vector<std::int32_t> samples,
                         const std::vector<std::int32_t>& all) const;
  /// Records that an adversary has read messages about a batch. Returns the position in the batch of an image that is
  /// revealed better than any before; the caller then sets the pixels of best_image().
  std::optional<std::size_t> read(std::size_t adversary, const MeasuredBatch& batch, KnownOfSite::Reading reading);
  step::ShownImage& best_image(std::size_t adversary) { return best_images_[adversary].value(); }

  /// Returns that adversary's knowledge after `step` steps or messages.
  step::LeakPoint point(std::size_t adversary, std::int64_t step) const { return point_of(known_[adversary], step); }
  std::vector<step::LeakPoint>& curve(std::size_t adversary) { return curves_[adversary]; }

  /// Returns the number of readings at all sites, and of messages that could not be read.
  std::pair<std::int64_t, std::int64_t> readings(std::size_t adversary) const;
  /// Returns a run's figures, except those of adversaries.
  step::Leak leak(std::int64_t every, std::int64_t measured) const;
  /// Returns the figures of an adversary. `sent`: messages of the first matrix existed. `counts`: all rows contained in
  /// messages were counted.
  step::AdversaryLeak told(std::size_t adversary, bool sent, bool counts) const;

 private:
  const LearningProblem problem_;
  SampleRows rows_;
  std::vector<std::int32_t> sampled_;                 ///< numbers of the observed sites in the run
  std::vector<std::int32_t> in_sample_;               ///< per site of the run: its number among observed sites
  std::vector<std::int32_t> place_;                   ///< per sample: its position at its site
  std::array<std::vector<KnownOfSite>, kAll> known_;  ///< per adversary and site
  std::array<std::vector<step::LeakPoint>, kAll> curves_;
  std::array<std::optional<step::ShownImage>, kAll> best_images_;
};

/// Returns whether numbers change little from message to message, as weights do, so that the change is analysed.
inline bool goes_on(const models::Matrix& change, const models::ConstBlock& sent) {
  constexpr float kLittle = 0.5F;
  return change.norm() < kLittle * sent.norm();
}

}  // namespace dadsim::algorithms

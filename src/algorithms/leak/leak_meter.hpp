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

/// The one meter of what messages reveal (docs/leak.md): the sites that are looked at, what a batch of theirs is
/// compared with, and what each adversary knows by all that has been read. Whoever sees decoded messages feeds it:
/// ExchangeLeak those of steps, protocols::MessageLeak those of event-driven runs.
class LeakMeter {
 public:
  static constexpr std::size_t kAll = step::kAdversaries;

  /// Looks at nobody yet.
  LeakMeter(const LearningProblem& problem, const models::Network& network);

  const LearningProblem& problem() const { return problem_; }
  SampleRows& rows() { return rows_; }
  const SampleRows& rows() const { return rows_; }

  std::size_t sites() const { return problem_.partition.size(); }
  /// Sites that are looked at are counted by `s` from here on.
  void look_at(std::size_t site);
  std::size_t looked_at() const { return sampled_.size(); }
  std::size_t number_of(std::size_t s) const { return static_cast<std::size_t>(sampled_[s]); }
  /// −1: it is not looked at.
  std::int32_t s_of(std::size_t site) const { return in_sample_[site]; }
  const std::vector<std::int32_t>& samples_of(std::size_t s) const { return problem_.partition[number_of(s)]; }
  /// Place of a sample among those of its site.
  std::int32_t place_of(std::int32_t sample) const { return place_[static_cast<std::size_t>(sample)]; }
  std::vector<std::int32_t> labels_of(const std::vector<std::int32_t>& samples) const;

  /// Whether that adversary is one of the readers. `readers`: bits of step::Adversary.
  bool reads(unsigned readers, std::size_t adversary) const;
  KnownOfSite& known(std::size_t adversary, std::size_t s) { return known_[adversary][s]; }

  /// Samples of a site that messages are read for, and those that they are compared with.
  struct MeasuredBatch {
    std::size_t s = 0;
    std::int64_t number = 0;  ///< of the step, or of the message among those of its sender
    std::vector<std::int32_t> samples = {};
    ControlSamples control = {};
  };
  /// `all`: those that messages are about, of which `samples` are measured; as many others at most.
  MeasuredBatch batch_of(std::size_t s, std::int64_t number, std::vector<std::int32_t> samples,
                         const std::vector<std::int32_t>& all) const;
  /// An adversary has read messages about a batch. Gives the place in it of a sample that is shown better than any
  /// before, as an image, whose pixels best_image() is to be given.
  std::optional<std::size_t> read(std::size_t adversary, const MeasuredBatch& batch, KnownOfSite::Reading reading);
  step::ShownImage& best_image(std::size_t adversary) { return best_images_[adversary].value(); }

  /// Knowledge of that adversary after so many steps or messages.
  step::LeakPoint point(std::size_t adversary, std::int64_t step) const { return point_of(known_[adversary], step); }
  std::vector<step::LeakPoint>& curve(std::size_t adversary) { return curves_[adversary]; }

  /// Readings of all sites, and times that there could be none.
  std::pair<std::int64_t, std::int64_t> readings(std::size_t adversary) const;
  /// Makes the figures of a run, with no adversary yet.
  step::Leak leak(std::int64_t every, std::int64_t measured) const;
  /// `sent`: messages of the first matrix were there. `counts`: rows that stand in them were counted in all.
  step::AdversaryLeak told(std::size_t adversary, bool sent, bool counts) const;

 private:
  const LearningProblem problem_;
  SampleRows rows_;
  std::vector<std::int32_t> sampled_;                 ///< numbers of the sites that are looked at
  std::vector<std::int32_t> in_sample_;               ///< per site
  std::vector<std::int32_t> place_;                   ///< per sample
  std::array<std::vector<KnownOfSite>, kAll> known_;  ///< per adversary and site
  std::array<std::vector<step::LeakPoint>, kAll> curves_;
  std::array<std::optional<step::ShownImage>, kAll> best_images_;
};

/// Whether numbers go on from message to message, as weights do, which change by little: their change is read then.
inline bool goes_on(const models::Matrix& change, const models::ConstBlock& sent) {
  constexpr float kLittle = 0.5F;
  return change.norm() < kLittle * sent.norm();
}

}  // namespace dadsim::algorithms

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "algorithms/leak/revealed_span.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// What one adversary knows of one site so far.
class KnownOfSite {
 public:
  explicit KnownOfSite(std::size_t samples) : handed_(samples, 0), best_(samples, -1.0F), control_(samples, -1.0F) {}

  std::size_t samples() const { return handed_.size(); }
  /// A row of that sample stood in a message.
  void hand_over(std::int32_t sample) {
    ++rows_;
    char& known = handed_.at(static_cast<std::size_t>(sample));
    if (known == 0) ++count_;
    known = 1;
  }
  /// It is not known which rows were handed over.
  void lose_count() { counts_ = false; }

  /// What messages spanned of a batch, and of as many samples that were not in it. `rows_handed`: share of the batch's
  /// rows that stood in them. Others: of the site, and behind them held-back ones.
  struct Reading {
    std::vector<std::int32_t> samples = {}, others = {}, held_back = {};
    std::vector<RevealedSpan::Energy> batch = {}, control = {};  ///< a sample each
    double rows_handed = 0;
  };
  void read(const Reading& reading);
  /// Messages were there of which nobody knows what they are of.
  void read_nothing() { ++unread_; }
  void tell_labels(double share);

  /// Readings, and times that there could be none.
  std::int64_t readings() const { return readings_; }
  std::int64_t unread() const { return unread_; }
  /// `ever_sent`: whether messages of the first matrix were there at all, so that what was not measured is not known.
  step::LeakFigures figures(bool ever_sent) const;
  double handed() const { return static_cast<double>(count_); }
  /// Data known so far; computed again after each read.
  double accumulated() const { return accumulated_ ? *accumulated_ : *(accumulated_ = work_out_accumulated()); }

 private:
  double work_out_accumulated() const;

  std::vector<char> handed_;
  std::int64_t rows_ = 0, count_ = 0;
  bool counts_ = true;
  std::vector<float> best_, control_;        ///< per sample, the largest share so far; −1: never measured
  std::map<std::int32_t, float> held_back_;  ///< the same of held-back samples
  double in_ = 0, out_ = 0, best_in_ = 0, best_out_ = 0, rows_handed_ = 0, labels_ = 0;
  std::int64_t readings_ = 0, unread_ = 0, controlled_ = 0, labelled_ = 0;
  mutable std::optional<double> accumulated_;
};

/// Progress over all sites.
step::LeakPoint point_of(const std::vector<KnownOfSite>& sites, std::int64_t step);

/// (in − out) ÷ (1 − out), from 0 to 1; 0 where the same is seen of anybody.
double excess(double in, double out);

/// Of all sites together, whose figures these are: rows are added up, shares are means by the samples of the sites.
step::LeakFigures of_all(const std::vector<step::LeakFigures>& sites, const std::vector<std::size_t>& samples);

}  // namespace dadsim::algorithms

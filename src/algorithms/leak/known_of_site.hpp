#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "algorithms/leak/revealed_span.hpp"
#include "step/leak.hpp"

namespace dadsim::algorithms {

/// Knowledge of one adversary about one site so far.
class KnownOfSite {
 public:
  explicit KnownOfSite(std::size_t samples) : handed_(samples, 0), best_(samples, -1.0F), control_(samples, -1.0F) {}

  std::size_t samples() const { return handed_.size(); }
  /// Records that a message contained a row of that sample.
  void hand_over(std::int32_t sample) {
    ++rows_;
    char& known = handed_.at(static_cast<std::size_t>(sample));
    if (known == 0) ++count_;
    known = 1;
  }
  /// Records that it is unknown which rows were revealed.
  void lose_count() { counts_ = false; }

  /// Result of reading messages: energies of a batch, and of as many samples outside it. `rows_handed`: share of the
  /// batch's rows contained in messages. `others`: other samples of the site; `control` lists these first, then
  /// held-back samples.
  struct Reading {
    std::vector<std::int32_t> samples = {}, others = {}, held_back = {};
    std::vector<RevealedSpan::Energy> batch = {}, control = {};  ///< one entry per sample
    double rows_handed = 0;
  };
  void read(const Reading& reading);
  /// Records messages that could not be read.
  void read_nothing() { ++unread_; }
  void tell_labels(double share);

  /// Returns the number of readings, or of messages that could not be read.
  std::int64_t readings() const { return readings_; }
  std::int64_t unread() const { return unread_; }
  /// Returns the figures of the site. `ever_sent`: messages of the first matrix existed, so that unmeasured figures are
  /// unknown rather than zero.
  step::LeakFigures figures(bool ever_sent) const;
  double handed() const { return static_cast<double>(count_); }
  /// Returns the amount of data known so far; recomputed after each read.
  double accumulated() const { return accumulated_ ? *accumulated_ : *(accumulated_ = work_out_accumulated()); }

 private:
  double work_out_accumulated() const;

  std::vector<char> handed_;
  std::int64_t rows_ = 0, count_ = 0;
  bool counts_ = true;
  std::vector<float> best_, control_;        ///< per sample, the largest share so far; −1: never measured
  std::map<std::int32_t, float> held_back_;  ///< largest share so far, by held-back sample
  double in_ = 0, out_ = 0, best_in_ = 0, best_out_ = 0, rows_handed_ = 0, labels_ = 0;
  std::int64_t readings_ = 0, unread_ = 0, controlled_ = 0, labelled_ = 0;
  mutable std::optional<double> accumulated_;
};

/// Returns the knowledge about all sites together, after `step` steps or messages.
step::LeakPoint point_of(const std::vector<KnownOfSite>& sites, std::int64_t step);

/// Returns (in − out) ÷ (1 − out), between 0 and 1; 0 if samples outside are revealed as much as those inside.
double excess(double in, double out);

/// Combines the figures of all sites: rows are added up, shares are means weighted by the sites' samples.
step::LeakFigures of_all(const std::vector<step::LeakFigures>& sites, const std::vector<std::size_t>& samples);

}  // namespace dadsim::algorithms

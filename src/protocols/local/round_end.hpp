#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/parameter.hpp"
#include "world/world.hpp"

namespace dadsim::protocols {

/// End of a round at a node that hears from all workers.
enum class When : std::uint8_t { barrier, quorum, asynchronous, window, overlap };

/// The choice `when`: decides from arrivals and the clock that a round is over, and what late answers count for.
class RoundEnd {
 public:
  static constexpr auto kWhen = spec::choice<When>(
      "when",
      {{"barrier", When::barrier},
       {"quorum", When::quorum},
       {"asynchronous", When::asynchronous},
       {"window", When::window},
       {"overlap", When::overlap}},
      "barrier: a round ends when all have answered; quorum: when enough have, after a grace, and later answers count "
      "in a later round; asynchronous: with every answer; window: after a time, and later answers do not count; "
      "overlap: as barrier, while workers take the steps of the next round");
  static constexpr spec::IntegerParameter kQuorum{"quorum", 1, 1e6, "1", "answers that a round waits for (quorum)"};
  static constexpr spec::RealParameter kGrace{"grace", 0, 1e9, "0",
                                              "seconds that a round then waits for more answers (quorum)"};
  static constexpr spec::RealParameter kWindow{"window", 1e-6, 1e9, "60", "seconds that a round lasts (window)"};
  static constexpr spec::RealParameter kStaleness{
      "staleness", 0, 100, "0", "a: a change from s rounds ago counts (1 + s)^-a times (quorum, asynchronous)"};
  static std::vector<spec::ParameterSpec> parameters() { return {kWhen, kQuorum, kGrace, kWindow, kStaleness}; }

  explicit RoundEnd(const spec::ParameterValues& values)
      : when_(kWhen.of(values)),
        quorum_(when_ == When::quorum ? static_cast<std::size_t>(kQuorum.of(values)) : 1),
        grace_(when_ == When::quorum ? kGrace.of(values) : 0),
        window_(kWindow.of(values)),
        exponent_(kStaleness.of(values)) {}

  When when() const { return when_; }
  /// Returns whether workers take their rounds at their own pace: their answers may be stale.
  bool at_own_pace() const { return when_ == When::quorum || when_ == When::asynchronous; }
  /// Begins a round at `now`, seconds.
  void begin(double now) { date_ = when_ == When::window ? now + window_ : world::kNever; }
  /// Returns whether the round is over, with so many answers and so many workers still at work on one.
  bool is_over(double now, std::size_t answered, std::size_t awaited) {
    if (awaited == 0 && when_ != When::window) return true;
    if (at_own_pace() && answered >= quorum_ && date_ == world::kNever) date_ = now + grace_;
    return now >= date_;
  }
  /// Returns the date at which the round ends without another answer, seconds; kNever if it waits for one.
  double date() const { return date_; }
  /// Returns the factor on a change from `rounds` rounds ago.
  double factor(std::int64_t rounds) const { return std::pow(1.0 + static_cast<double>(rounds), -exponent_); }

 private:
  When when_;
  std::size_t quorum_;
  double grace_, window_, exponent_;
  double date_ = world::kNever;
};

}  // namespace dadsim::protocols

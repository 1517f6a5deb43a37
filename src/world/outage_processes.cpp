#include "world/outage_processes.hpp"

#include <algorithm>
#include <boost/random/exponential_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>

namespace dadsim::world {
namespace {

using Change = OutageProcess::Change;

/// Weibull times of that mean: their scale is mean ÷ Γ(1 + 1/shape). With shape 1 they are exponential, and a power of
/// 1 need not be taken.
class WeibullTimes {
 public:
  WeibullTimes(double mean, double shape) : shape_(shape), scale_(mean / std::tgamma(1 + 1 / shape)) {}

  double draw(RandomStream& random) const {
    const double exponential = -std::log(1 - boost::random::uniform_01<>()(random));
    return scale_ * (shape_ == 1 ? exponential : std::pow(exponential, 1 / shape_));
  }

 private:
  double shape_, scale_;
};

double draw_exponential(double mean, RandomStream& random) {
  return boost::random::exponential_distribution<>(1 / mean)(random);
}

/// Up and down by turns, for times that are drawn.
class Alternating final : public OutageProcess {
 public:
  Alternating(WeibullTimes up, WeibullTimes down, double begins_up, const RandomStream& random)
      : times_up_(up), times_down_(down), probability_up_(begins_up), random_(random) {}

  bool begins_up() override {
    up_ = probability_up_ >= 1 || boost::random::uniform_01<>()(random_) < probability_up_;
    return up_;
  }
  std::optional<Change> next() override {
    at_ += (up_ ? times_up_ : times_down_).draw(random_);
    up_ = !up_;
    return Change{at_, up_};
  }

 private:
  WeibullTimes times_up_, times_down_;
  double probability_up_;
  RandomStream random_;
  double at_ = 0;
  bool up_ = true;
};

class Listed final : public OutageProcess {
 public:
  Listed(bool begins_up, std::vector<Change> changes) : begins_up_(begins_up), changes_(std::move(changes)) {}
  bool begins_up() override { return begins_up_; }
  std::optional<Change> next() override {
    if (reported_ == changes_.size()) return std::nullopt;
    return changes_[reported_++];
  }

 private:
  bool begins_up_;
  std::vector<Change> changes_;
  std::size_t reported_ = 0;
};

/// The changes of a list, again and again. Those that change nothing are not told.
class Repeated final : public OutageProcess {
 public:
  explicit Repeated(const spec::StateProfileSpec& spec) : period_(spec.period) {
    for (const spec::StateProfileSpec::Change& one : spec.changes) {
      // Of several at one date the last one holds.
      if (!changes_.empty() && changes_.back().at == one.at) changes_.pop_back();
      changes_.push_back({one.at, one.on});
    }
    // Where all say the same, nothing changes after the first time.
    never_ends_ =
        period_ > 0 && std::ranges::any_of(changes_, &Change::up) && !std::ranges::all_of(changes_, &Change::up);
  }

  bool begins_up() override {
    for (; next_ < changes_.size() && changes_[next_].at <= 0; ++next_) up_ = changes_[next_].up;
    return up_;
  }
  std::optional<Change> next() override {
    for (;;) {
      if (next_ == changes_.size()) {
        if (!never_ends_) return std::nullopt;
        next_ = 0;
        ++round_;
      }
      const Change& one = changes_[next_++];
      if (one.up == up_) continue;
      up_ = one.up;
      return Change{round_ * period_ + one.at, up_};
    }
  }

 private:
  std::vector<Change> changes_;
  double period_;
  bool never_ends_ = false;
  std::size_t next_ = 0;
  double round_ = 0;
  bool up_ = true;
};

/// Up within one window of every period.
class Diurnal final : public OutageProcess {
 public:
  Diurnal(double from, double length, double period) : from_(from), length_(length), period_(period) {}

  bool begins_up() override {
    // The window that began last, at or before 0.
    day_ = -std::ceil(from_ / period_);
    up_ = from_ + day_ * period_ + length_ > 0;
    return up_;
  }
  std::optional<Change> next() override {
    if (length_ >= period_) return std::nullopt;
    if (!up_) ++day_;
    up_ = !up_;
    return Change{from_ + day_ * period_ + (up_ ? 0 : length_), up_};
  }

 private:
  double from_, length_, period_;
  double day_ = 0;  ///< number of the window
  bool up_ = true;
};

}  // namespace

std::unique_ptr<OutageProcess> random_failures(const spec::RandomFailureSpec& spec, const RandomStream& random) {
  return std::make_unique<Alternating>(WeibullTimes(spec.mean_up, spec.shape), WeibullTimes(spec.mean_down, 1), 1,
                                       random);
}

std::unique_ptr<OutageProcess> listed_outage(const spec::OutageSpec& spec, double later) {
  const double from = spec.from + later;
  if (spec.every > 0) {
    spec::StateProfileSpec again;
    again.changes = {{from, false}, {from + spec.seconds, true}};
    again.period = spec.every;
    return std::make_unique<Repeated>(again);
  }
  std::vector<Change> changes;
  if (from > 0) changes.push_back({from, false});
  if (std::isfinite(spec.seconds)) changes.push_back({from + spec.seconds, true});
  return std::make_unique<Listed>(from > 0, std::move(changes));
}

std::unique_ptr<OutageProcess> listed_changes(std::vector<spec::AvailabilitySpec::Change> own) {
  std::vector<Change> changes;
  const bool begins_up = own.empty() || (own.front().at <= 0 ? own.front().on : !own.front().on);
  bool up = begins_up;
  for (const spec::AvailabilitySpec::Change& one : own) {
    if (one.on == up) continue;
    up = one.on;
    changes.push_back({one.at, up});
  }
  return std::make_unique<Listed>(begins_up, std::move(changes));
}

std::unique_ptr<OutageProcess> profile_changes(const spec::StateProfileSpec& spec) {
  return std::make_unique<Repeated>(spec);
}

std::unique_ptr<OutageProcess> diurnal(const spec::AvailabilitySpec& spec, RandomStream random) {
  double length = std::fmod(spec.until - spec.from, spec.period);
  if (length <= 0) length += spec.period;
  const double phase = spec.spread * (boost::random::uniform_01<>()(random) - 0.5);
  return std::make_unique<Diurnal>(spec.from + phase, length, spec.period);
}

std::unique_ptr<OutageProcess> sessions(const spec::AvailabilitySpec& spec, const RandomStream& random) {
  return std::make_unique<Alternating>(WeibullTimes(spec.on, spec.shape), WeibullTimes(spec.off, spec.shape),
                                       spec.on / (spec.on + spec.off), random);
}

std::optional<Change> DropOut::next() {
  if (!down_) return std::nullopt;
  down_ = false;
  return Change{down_at_ + draw_exponential(returns_, random_), true};
}

std::optional<double> DropOut::within(double now, double seconds) {
  boost::random::uniform_01<> uniform;
  const bool drops_out = uniform(random_) < probability_;
  const double part = uniform(random_);  // drawn always: one computation takes as many numbers as another
  if (!drops_out) return std::nullopt;
  down_ = true;
  down_at_ = now + part * seconds;
  return down_at_;
}

}  // namespace dadsim::world

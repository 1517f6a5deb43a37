#include "world/outage_rules.hpp"

#include <algorithm>
#include <boost/random/exponential_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "support/pattern.hpp"

namespace dadsim::world {
namespace {

using RuleChange = OutageProcess::RuleChange;

/// Draws Weibull times with a given mean: scale = mean ÷ Γ(1 + 1/shape). With shape 1 they are exponential, and no
/// power is needed.
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

/// Alternates between up and down, each for a random time.
class Alternating final : public OutageProcess {
 public:
  Alternating(WeibullTimes up, WeibullTimes down, double begins_up, const RandomStream& random)
      : times_up_(up), times_down_(down), probability_up_(begins_up), random_(random) {}

  bool begins_up() override {
    up_ = probability_up_ >= 1 || boost::random::uniform_01<>()(random_) < probability_up_;
    return up_;
  }
  std::optional<RuleChange> next() override {
    at_ += (up_ ? times_up_ : times_down_).draw(random_);
    up_ = !up_;
    return RuleChange{at_, up_};
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
  Listed(bool begins_up, std::vector<RuleChange> changes) : begins_up_(begins_up), changes_(std::move(changes)) {}
  bool begins_up() override { return begins_up_; }
  std::optional<RuleChange> next() override {
    if (reported_ == changes_.size()) return std::nullopt;
    return changes_[reported_++];
  }

 private:
  bool begins_up_;
  std::vector<RuleChange> changes_;
  std::size_t reported_ = 0;
};

/// Replays a list of changes, without those to the current state.
class Repeated final : public OutageProcess {
 public:
  explicit Repeated(const spec::StateProfileSpec& spec) : period_(spec.period) {
    for (const spec::StateProfileSpec::Change& one : spec.changes) {
      // The last of several changes at one date counts.
      if (!changes_.empty() && changes_.back().at == one.at) changes_.pop_back();
      changes_.push_back({one.at, one.on});
    }
    // If all changes have the same state, there is none after the first.
    never_ends_ = period_ > 0 && std::ranges::any_of(changes_, &RuleChange::up) &&
                  !std::ranges::all_of(changes_, &RuleChange::up);
  }

  bool begins_up() override {
    for (; next_ < changes_.size() && changes_[next_].at <= 0; ++next_) up_ = changes_[next_].up;
    return up_;
  }
  std::optional<RuleChange> next() override {
    for (;;) {
      if (next_ == changes_.size()) {
        if (!never_ends_) return std::nullopt;
        next_ = 0;
        ++round_;
      }
      const RuleChange& one = changes_[next_++];
      if (one.up == up_) continue;
      up_ = one.up;
      return RuleChange{round_ * period_ + one.at, up_};
    }
  }

 private:
  std::vector<RuleChange> changes_;
  double period_;
  bool never_ends_ = false;
  std::size_t next_ = 0;
  double round_ = 0;
  bool up_ = true;
};

/// Alternates: up during one window of every period, and down otherwise.
class Diurnal final : public OutageProcess {
 public:
  Diurnal(double from, double length, double period) : from_(from), length_(length), period_(period) {}

  bool begins_up() override {
    // Begins with the last window that starts at date 0 or earlier.
    day_ = -std::ceil(from_ / period_);
    up_ = from_ + day_ * period_ + length_ > 0;
    return up_;
  }
  std::optional<RuleChange> next() override {
    if (length_ >= period_) return std::nullopt;
    if (!up_) ++day_;
    up_ = !up_;
    return RuleChange{from_ + day_ * period_ + (up_ ? 0 : length_), up_};
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
  std::vector<RuleChange> changes;
  if (from > 0) changes.push_back({from, false});
  if (std::isfinite(spec.seconds)) changes.push_back({from + spec.seconds, true});
  return std::make_unique<Listed>(from > 0, std::move(changes));
}

std::unique_ptr<OutageProcess> listed_changes(std::vector<spec::AvailabilitySpec::Change> own) {
  std::vector<RuleChange> changes;
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

std::optional<RuleChange> DropOut::next() {
  if (!down_) return std::nullopt;
  down_ = false;
  return RuleChange{down_at_ + draw_exponential(returns_, random_), true};
}

std::optional<double> DropOut::within(double now, double seconds) {
  boost::random::uniform_01<> uniform;
  const bool drops_out = uniform(random_) < probability_;
  // Drawn in any case, so that every computation uses the same number of random numbers.
  const double part = uniform(random_);
  if (!drops_out) return std::nullopt;
  down_ = true;
  down_at_ = now + part * seconds;
  return down_at_;
}

namespace {

using spec::AvailabilitySpec;

/// Hosts that go up and down together.
struct Together {
  std::size_t first = 0;  ///< index of the first of these hosts, or of the link
  std::vector<std::size_t> all;
};

/// Returns the cluster nodes in the order of their first hosts, each with all its hosts.
std::vector<Together> nodes_that_fit(const OutageSubjects& subjects, const std::string& pattern) {
  std::vector<Together> found;
  std::map<std::string, std::size_t> number_of;
  for (std::size_t i = 0; i < subjects.on.size(); ++i) {
    if (!fits(pattern, subjects.on[i])) continue;
    const auto [position, added] = number_of.try_emplace(subjects.on[i], found.size());
    if (added) found.push_back({i, {}});
    found[position->second].all.push_back(i);
  }
  if (found.empty()) throw std::invalid_argument("no node with a worker or the aggregator is called '" + pattern + "'");
  return found;
}

std::vector<std::size_t> subjects_that_fit(const OutageSubjects& subjects, bool links, const std::string& pattern) {
  std::vector<std::size_t> found;
  const std::size_t behind = links ? subjects.names.size() : subjects.hosts;
  for (std::size_t i = links ? subjects.hosts : 0; i < behind; ++i) {
    if (fits(pattern, subjects.names[i])) found.push_back(i);
  }
  if (found.empty()) {
    throw std::invalid_argument(links ? "no link of the platform is called '" + pattern + "'"
                                      : "no host of a worker or of the aggregator is called '" + pattern + "'");
  }
  return found;
}

auto contents(const spec::RandomFailureSpec& one) {
  return std::tie(one.links, one.nodes, one.match, one.mean_up, one.shape, one.mean_down);
}
auto contents(const AvailabilitySpec& one) {
  return std::tie(one.by, one.hosts, one.from, one.until, one.spread, one.period, one.on, one.off, one.shape, one.file,
                  one.chance, one.drop_out, one.returns);
}

/// Sorts rules by their contents, so that the order of a scenario's elements has no effect.
template <class Rule>
std::vector<Rule> in_order(std::vector<Rule> rules) {
  std::ranges::stable_sort(rules, [](const Rule& a, const Rule& b) { return contents(a) < contents(b); });
  return rules;
}

}  // namespace

OutageSubjects::OutageSubjects(const Outages& outages) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < outages.hosts.size(); ++i) {
    const std::string& host = outages.hosts[i];
    const auto [position, added] = known.try_emplace(host, names.size());
    if (added) names.push_back(host);
    if (added && !outages.on.empty()) on.push_back(outages.on.at(i));
    of_node.push_back(position->second);
  }
  hosts = names.size();
  names.insert(names.end(), outages.links.begin(), outages.links.end());
}

std::vector<OutageRule> outage_rules(const Outages& outages, const OutageSubjects& subjects) {
  std::vector<OutageRule> rules;
  const auto stream = [&](std::size_t subject, std::size_t number) {
    constexpr std::uint32_t kLink = 0x80000000U;
    const auto of = static_cast<std::uint32_t>(subject < subjects.hosts ? subject : (subject - subjects.hosts) | kLink);
    return RandomStream(outages.seed, Purpose::outages, of, static_cast<std::uint32_t>(number));
  };
  // Counts the rules of a kind per host or link, so that the number of a rule does not depend on which hosts or links
  // other rules match.
  std::map<std::size_t, std::size_t> random_rules, availability_rules;
  const auto fit = [&](bool links, const std::string& pattern) { return subjects_that_fit(subjects, links, pattern); };
  const auto together = [&](const auto& one) {
    if (one.nodes) return nodes_that_fit(subjects, one.match);
    std::vector<Together> each;
    for (const std::size_t i : fit(one.links, one.match)) each.push_back({i, {i}});
    return each;
  };
  const auto of_hosts =
      static_cast<std::size_t>(std::ranges::count(outages.what.random, false, &spec::RandomFailureSpec::links));
  for (const spec::RandomFailureSpec& one : in_order(outages.what.random)) {
    // Hosts of a node use the same random numbers, and so go down and come up at the same dates.
    for (const Together& node : together(one)) {
      const std::size_t number = random_rules[node.first]++ + (one.links ? of_hosts : 0);
      for (const std::size_t i : node.all) rules.push_back({i, random_failures(one, stream(node.first, number))});
    }
  }
  for (const spec::OutageSpec& one : outages.what.outages) {
    double later = 0;
    for (const Together& node : together(one)) {
      for (const std::size_t i : node.all) rules.push_back({i, listed_outage(one, later)});
      later += one.stagger;
    }
  }
  for (const AvailabilitySpec& one : in_order(outages.what.availability)) {
    std::map<std::string, std::vector<AvailabilitySpec::Change>> changes;
    for (const AvailabilitySpec::Change& change : one.changes) changes[change.host].push_back(change);
    for (const std::size_t i : fit(false, one.hosts)) {
      const std::size_t number = outages.what.random.size() + outages.what.outages.size() + 2 * availability_rules[i]++;
      if (one.by == AvailabilitySpec::By::diurnal) rules.push_back({i, diurnal(one, stream(i, number))});
      if (one.by == AvailabilitySpec::By::sessions) rules.push_back({i, sessions(one, stream(i, number))});
      if (one.by == AvailabilitySpec::By::file) {
        rules.push_back({i, listed_changes(std::move(changes[subjects.names[i]]))});
      }
      if (one.drop_out == 0) continue;
      // Uses a separate random stream, so that drop-outs do not change the times of availability.
      auto drop_out = std::make_unique<DropOut>(one.drop_out, one.returns, stream(i, number + 1));
      DropOut* const decided = drop_out.get();
      rules.push_back({i, std::move(drop_out), decided});
    }
  }
  for (const spec::StateProfileSpec& one : outages.profiles) {
    const std::size_t behind = one.links ? subjects.names.size() : subjects.hosts;
    for (std::size_t i = one.links ? subjects.hosts : 0; i < behind; ++i) {
      if (subjects.names[i] == one.name) rules.push_back({i, profile_changes(one)});
    }
  }
  return rules;
}

}  // namespace dadsim::world

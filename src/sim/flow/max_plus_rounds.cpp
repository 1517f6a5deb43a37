#include "sim/flow/max_plus_rounds.hpp"

#include <bit>
#include <limits>

#include "sim/flow/hash_combine.hpp"

namespace dadsim::sim {
namespace {

constexpr double kSameStride = 1e-9;              // relative difference of equal delays per round
constexpr std::int64_t kGoneThrough = 2'000'000;  // largest messages × rounds of rings that are simulated individually
constexpr double kNever = -std::numeric_limits<double>::infinity();

std::uint64_t bits_of(const MaxPlusRounds::RoundMessage& message) {
  const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number); };
  return hash_combine(hash_combine(bits(message.before), bits(message.seconds)),
                      hash_combine(bits(message.after), bits(message.alone)));
}

}  // namespace

void MaxPlusRounds::begin(const collectives::Rounds& rounds) {
  *this = {};
  ranks_ = rounds.ranks();
  lanes_ = rounds.lanes();
  pace_ = rounds.pace();
  start_ = rounds.start_seconds();
}

void MaxPlusRounds::divide(std::vector<std::int32_t> class_of, std::vector<collectives::Rank> first) {
  class_of_ = std::move(class_of);
  first_ = std::move(first);
  ranks_of_.assign(first_.size(), 0);
  for (const std::int32_t of_rank : class_of_) ++ranks_of_[static_cast<std::size_t>(of_rank)];
}

void MaxPlusRounds::give_up() {
  full_ = true;
  messages_ = {};
  rounds_ = {};
}

void MaxPlusRounds::add_round(std::int64_t times) {
  if (!full_) rounds_.push_back({messages_.size(), times});
}

std::int32_t MaxPlusRounds::kind_of(const RoundMessage& message) {
  const auto [known, added] = kind_of_.try_emplace(bits_of(message), static_cast<std::int32_t>(kinds_.size()));
  if (added) kinds_.push_back(message);
  return *known;
}

void MaxPlusRounds::add(std::int32_t from, std::int32_t to, std::int32_t channel, const RoundMessage& message) {
  const auto places = static_cast<std::uint64_t>(ranks_) * static_cast<std::uint64_t>(lanes_);
  if (!full_ && ++all_ > kMostMessages) give_up();
  const std::uint64_t pair = static_cast<std::uint64_t>(from) * places + static_cast<std::uint64_t>(to);
  add_on(pair << collectives::Transfer::kChannelBits | static_cast<std::uint64_t>(channel), from, to, message);
}

void MaxPlusRounds::add_of_class(std::int32_t from, std::int32_t to, std::int32_t line, const RoundMessage& message) {
  add_on(static_cast<std::uint64_t>(line) << collectives::Transfer::kChannelBits, from, to, message);
}

void MaxPlusRounds::count_of_class(collectives::Rank rank) {
  all_ += ranks_of_[static_cast<std::size_t>(class_of_[static_cast<std::size_t>(rank)])];
  if (!full_ && all_ > kMostMessages) give_up();
}

void MaxPlusRounds::add_on(std::uint64_t key, std::int32_t from, std::int32_t to, const RoundMessage& message) {
  if (full_) return;
  std::int32_t line = 0;
  // Assigns separate lines to several messages of a pair in one round.
  for (;; ++key) {
    const auto [known, added] = line_of_.try_emplace(key, static_cast<std::int32_t>(used_in_.size()));
    if (added) used_in_.push_back(0);
    line = *known;
    if (std::exchange(used_in_[static_cast<std::size_t>(line)], rounds_.size()) != rounds_.size()) break;
  }
  messages_.push_back({from, to, line, kind_of(message)});
  rounds_.back().end = messages_.size();
}

void MaxPlusRounds::settle(const std::vector<double>& done) {
  if (full_) return;
  kind_of_.clear();
  line_of_.clear();
  messages_.shrink_to_fit();
  const std::vector<double> together(done.size(), 0);
  const std::vector<double> own = pass(together, false);
  const std::vector<double> alone = pass(together, true);
  for (std::size_t rank = 0; rank < done.size(); ++rank) correction_.push_back(done[rank] - own[rank]);
  seconds_ = *std::ranges::max_element(done);
  carried_ = class_of_.empty() ? 0 : static_cast<double>(all_);
  std::size_t first = 0;
  for (const SolvedRound& round : rounds_) {
    if (!class_of_.empty()) break;
    carried_ += static_cast<double>(round.times) * static_cast<double>(round.end - first);
    first = round.end;
  }
  saved_ = std::max(0.0, *std::ranges::max_element(own) - *std::ranges::max_element(alone));
  known_ = true;
}

bool MaxPlusRounds::holds_for(const std::vector<double>& dates) const {
  for (std::size_t rank = 0; rank < class_of_.size(); ++rank) {
    const collectives::Rank first = first_[static_cast<std::size_t>(class_of_[rank])];
    if (dates[rank] != dates[static_cast<std::size_t>(first)]) return false;
  }
  return true;
}

void MaxPlusRounds::enter(std::vector<double>& dates) const {
  const std::vector<double> done = pass(dates, false);
  for (std::size_t rank = 0; rank < dates.size(); ++rank) {
    dates[rank] = std::max(dates[rank], done[rank] + correction_[rank]);
  }
}

/// Advances ranks through the rounds of the system.
class MaxPlusRounds::RoundPassage {
 public:
  RoundPassage(const MaxPlusRounds& of, std::vector<double> dates, bool alone)
      : of_(of), alone_(alone), now_(std::move(dates)), free_(of.used_in_.size(), kNever) {
    if (of.pace_.in_flight > 1) through_.assign(static_cast<std::size_t>(of.pace_.in_flight), now_);
  }

  std::vector<double>& now() { return now_; }

  void go_through(std::span<const MatrixEntry> messages, std::int64_t times) {
    if (times > 1 && through_.empty() && std::ssize(messages) * times > kGoneThrough &&
        of_.in_single_file(messages, now_.size())) {
      return around_rings(messages, times);
    }
    double slowest = 0;
    for (const MatrixEntry& message : messages) slowest = std::max(slowest, seconds_of(kind(message)));
    std::int64_t alike = 0;  // number of consecutive rounds that delay all ranks equally
    double stride = 0;
    for (std::int64_t i = 0; i < times; ++i) {
      one_round(messages);
      if (times - i < 4) continue;
      double least = std::numeric_limits<double>::infinity();
      double most = 0;
      for (std::size_t place = 0; place < now_.size(); ++place) {
        const double later = now_[place] - before_[place];
        least = std::min(least, later);
        most = std::max(most, later);
      }
      const bool even = most - least <= kSameStride * most && slowest <= most * (1 + kSameStride);
      alike = even && most - stride <= kSameStride * most && stride - most <= kSameStride * most ? alike + 1 : 0;
      stride = most;
      if (alike <= std::max<std::int64_t>(1, of_.pace_.in_flight)) continue;
      skip(messages, times - i - 1, stride);
      return;
    }
  }

 private:
  const RoundMessage& kind(const MatrixEntry& message) const {
    return of_.kinds_[static_cast<std::size_t>(message.kind)];
  }
  double seconds_of(const RoundMessage& kind) const { return alone_ ? kind.alone : kind.seconds; }

  void one_round(std::span<const MatrixEntry> messages) {
    const bool part_begins = of_.pace_.part > 0 && number_ % of_.pace_.part == 0;
    std::vector<double>* own =
        through_.empty() ? nullptr : &through_[static_cast<std::size_t>(number_) % through_.size()];
    before_ = now_;
    const std::vector<double>& entered = own == nullptr || part_begins ? before_ : *own;
    for (const MatrixEntry& message : messages) {
      const RoundMessage& takes = kind(message);
      const double sent = entered[static_cast<std::size_t>(message.from)];
      double& free = free_[static_cast<std::size_t>(message.line)];
      const double begins = sent <= free ? free : sent + takes.before;
      free = begins + seconds_of(takes);
      double& date = now_[static_cast<std::size_t>(message.to)];
      date = std::max(date, free + takes.after);
    }
    if (own != nullptr) *own = now_;
    ++number_;
  }

  void skip(std::span<const MatrixEntry> messages, std::int64_t rounds, double stride) {
    const double later = static_cast<double>(rounds) * stride;
    for (double& date : now_) date += later;
    for (std::vector<double>& dates : through_) {
      for (double& date : dates) date += later;
    }
    for (const MatrixEntry& message : messages) free_[static_cast<std::size_t>(message.line)] += later;
    number_ += rounds;
  }

  /// Times rings as RankDates::around_rings does, for ranks that begin at different dates. A rank's last round ends
  /// with the latest of all chains of causes. A chain begins with a rank, moves along the ring by some pairs, and stays
  /// on the slowest pair in all other rounds. It may go around the ring more than once.
  void around_rings(std::span<const MatrixEntry> messages, std::int64_t times) {
    std::vector<const MatrixEntry*> out(now_.size());
    for (const MatrixEntry& message : messages) out[static_cast<std::size_t>(message.from)] = &message;
    std::vector<bool> seen(now_.size());
    for (std::size_t first = 0; first < now_.size(); ++first) {
      if (seen[first] || out[first] == nullptr) continue;
      std::vector<std::size_t> ring;  // places of the ring, in order
      for (std::size_t place = first; !seen[place]; place = static_cast<std::size_t>(out[place]->to)) {
        seen[place] = true;
        ring.push_back(place);
      }
      around(ring, out, times);
    }
    number_ += times;
  }

  void around(const std::vector<std::size_t>& ring, const std::vector<const MatrixEntry*>& out, std::int64_t times) {
    const auto size = std::ssize(ring);
    double slowest = 0;
    for (const std::size_t place : ring) slowest = std::max(slowest, seconds_of(kind(*out[place])));
    // Sums the gains of moving to the next pair instead of staying on the slowest one, for two turns.
    std::vector<double> sum{0};
    for (std::int64_t i = 0; i < 2 * size; ++i) {
      const RoundMessage& takes = kind(*out[ring[static_cast<std::size_t>(i % size)]]);
      sum.push_back(sum.back() + takes.before + seconds_of(takes) + takes.after - slowest);
    }
    const double whole = sum[static_cast<std::size_t>(size)];
    const std::int64_t turns = whole > 0 ? times / size : 0;
    std::vector<double> done(ring.size(), kNever);
    // Adds chains of 1 … `longest` pairs to `whole_turns` whole turns, as many as fit.
    const auto chains = [&](std::int64_t longest, std::int64_t whole_turns) {
      if (longest < 1 || whole_turns < 0) return;
      const double more = static_cast<double>(times) * slowest + static_cast<double>(whole_turns) * whole;
      std::vector<std::int64_t> latest;  // candidates for the beginning of a chain, with falling gains, at most
                                         // `longest` back
      std::size_t head = 0;
      const auto gain = [&](std::int64_t place) {
        return now_[ring[static_cast<std::size_t>(place % size)]] - sum[static_cast<std::size_t>(place)];
      };
      for (std::int64_t end = 1; end <= 2 * size; ++end) {
        while (latest.size() > head && gain(latest.back()) <= gain(end - 1)) latest.pop_back();
        latest.push_back(end - 1);
        head = std::min(head, latest.size() - 1);
        while (latest[head] < end - longest) ++head;
        if (end <= size) continue;
        double& date = done[static_cast<std::size_t>(end % size)];
        date = std::max(date, gain(latest[head]) + sum[static_cast<std::size_t>(end)] + more);
      }
    };
    const std::int64_t left = times - turns * size;
    chains(std::min(left, size), turns);
    chains(size, turns - 1);
    for (std::int64_t i = 0; i < size; ++i) {
      double& date = now_[ring[static_cast<std::size_t>(i)]];
      date = std::max(date, done[static_cast<std::size_t>(i)]);
    }
  }

  const MaxPlusRounds& of_;
  bool alone_;
  std::vector<double> now_, before_;          ///< dates of each place at the end of the last round, and of the round
                                              ///< before it
  std::vector<std::vector<double>> through_;  ///< dates of the last rounds, one entry per round that may be in flight;
                                              ///< empty: one round
  std::vector<double> free_;                  ///< date at which the last transfer ends, per line
  std::int64_t number_ = 0;                   ///< number of the present round
};

std::vector<double> MaxPlusRounds::pass(const std::vector<double>& dates, bool alone) const {
  const auto lanes = static_cast<std::size_t>(lanes_);
  const bool divided = !class_of_.empty();
  std::vector<double> places((divided ? first_.size() : dates.size()) * lanes);
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = dates[divided ? static_cast<std::size_t>(first_[i / lanes]) : i / lanes] + start_;
  }
  RoundPassage passage(*this, std::move(places), alone);
  std::size_t first = 0;
  for (const SolvedRound& round : rounds_) {
    passage.go_through(std::span(messages_).subspan(first, round.end - first), round.times);
    first = round.end;
  }
  std::vector<double> done(divided ? first_.size() : dates.size(), kNever);
  const std::vector<double>& through = passage.now();
  for (std::size_t i = 0; i < through.size(); ++i) done[i / lanes] = std::max(done[i / lanes], through[i]);
  if (!divided) return done;
  std::vector<double> of_ranks;
  of_ranks.reserve(dates.size());
  for (const std::int32_t of_rank : class_of_) of_ranks.push_back(done[static_cast<std::size_t>(of_rank)]);
  return of_ranks;
}

bool MaxPlusRounds::in_single_file(std::span<const MatrixEntry> messages, std::size_t places) const {
  if (messages.size() > places) return false;
  std::vector<bool> sends(places);
  std::vector<bool> receives(places);
  for (const MatrixEntry& message : messages) {
    const auto from = static_cast<std::size_t>(message.from);
    const auto to = static_cast<std::size_t>(message.to);
    if (sends[from] || receives[to]) return false;
    sends[from] = receives[to] = true;
  }
  return sends == receives;  // true: the pairs form closed rings
}

}  // namespace dadsim::sim

#include "sim/step/flow_overlaps.hpp"

#include <algorithm>
#include <utility>

namespace dadsim::sim {
namespace {

constexpr double kLeast = 0.5;       // of a link that one gets beside another
constexpr double kMostLonger = 7.0;  // than it takes alone: by more is not looked ahead

/// How much longer it takes to send all the time at this share of a link, where another one takes a share and leaves at
/// least `fair` of it.
double longer_by(double share, double others_share, double fair) {
  return share / std::min(share, std::max(1 - others_share, fair)) - 1;
}

/// The first of what is sorted that does not begin before `date`, as std::ranges::lower_bound has it, looked for from
/// where the last one was found: dates go up, mostly by little.
template <class Sorted, class Begin>
std::size_t first_from(const Sorted& sorted, double date, std::size_t near, const Begin& begin) {
  std::size_t low = std::min(near, sorted.size());
  std::size_t high = low;
  for (std::size_t step = 1; high < sorted.size() && begin(sorted[high]) < date; step *= 2) {
    low = high + 1;
    high = std::min(sorted.size(), high + step);
  }
  if (low == high) {
    for (std::size_t step = 1; low > 0 && begin(sorted[low - 1]) >= date; step *= 2) {
      high = low - 1;
      low = high > step ? high - step : 0;
    }
  }
  const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(low);
  const auto to = sorted.begin() + static_cast<std::ptrdiff_t>(high);
  const auto is_before = [&](const auto& one) { return begin(one) < date; };
  return static_cast<std::size_t>(std::partition_point(from, to, is_before) - sorted.begin());
}

}  // namespace

void FlowOverlaps::begin() {
  collectives_.clear();
  users_.clear();
  is_again_ = false;
}

void FlowOverlaps::begin_again() {
  for (Collective& one : collectives_) {
    one.expected.clear();
    one.expected_begins.clear();
    for (std::size_t which = 0; which < one.in_order.size(); ++which) {
      one.expected.push_back({one.in_order[which], which});
      one.expected_begins.push_back(one.in_order[which].begin);
    }
    std::ranges::stable_sort(one.expected, {}, [](const Expected& known) { return known.span.begin; });
  }
  is_again_ = true;
  repeat();
}

void FlowOverlaps::repeat(SharedLinks sharing) {
  sharing_ = sharing;
  forget_spans();
}

void FlowOverlaps::forget_spans() {
  for (Collective& one : collectives_) {
    one.spans.clear();
    one.in_order.clear();
    one.last_end = 0;
    one.late = 0;
    one.near_span = one.near_expected = 0;
  }
}

std::size_t FlowOverlaps::add(const std::vector<std::pair<std::int32_t, LinkLoad>>& loads, double seconds,
                              MessagesOn messages_on, std::int64_t in_flight) {
  const std::size_t number = collectives_.size();
  collectives_.emplace_back().messages_on = std::move(messages_on);
  collectives_.back().in_flight = static_cast<double>(in_flight);
  for (const auto& [index, load] : loads) {
    const NetworkLink& link = network_.link(index);
    if (!link.shared || !(load.wire > 0) || !(seconds > 0)) continue;
    const double share = std::min(1.0, load.wire / link.bandwidth / seconds);
    std::vector<User>& users = users_[index];
    for (const User& user : users) {
      meet(index, number, share, user);
      meet(index, user.number, user.share, {number, share});
    }
    users.push_back({number, share});
  }
  return number;
}

void FlowOverlaps::meet(std::int32_t link, std::size_t number, double share, const User& user) {
  if (share + user.share <= 1) return;
  std::vector<Other>& others = collectives_[number].others;
  auto known = std::ranges::find(others, user.number, &Other::number);
  if (known == others.end()) known = others.insert(known, {.number = user.number});
  Other& other = *known;
  other.pace = std::min(other.pace, std::max(1 - user.share, kLeast) / share);
  Collective& own = collectives_[number];
  const Collective& others_own = collectives_[user.number];
  const double messages = own.messages_on(link);
  const double others_messages = others_own.messages_on(link);
  const double fair = messages / (messages + others_messages);
  other.holds_up = std::max(other.holds_up, longer_by(user.share, share, 1 - fair));
  const double many = messages * own.in_flight;
  other.least = std::max(other.least, longer_by(share, user.share, many / (many + others_messages)));
  const double others_many = others_messages * others_own.in_flight;
  const double left = std::max(1 - user.share, messages / (messages + others_many));
  own.most += std::max(0.0, share * (1 / left - 1) - other.most);
  other.most = std::max(other.most, share * (1 / left - 1));
  if (other.link < 0) other.link = link;
  const double longer = longer_by(share, user.share, fair);
  if (longer <= other.longer) return;
  own.longer += longer - other.longer;
  other.longer = longer;
  other.link = link;
}

/// When another one is on its way that has occurred since `begin`, or is expected to.
void FlowOverlaps::add_beside(Collective& of, const Other& other, double begin, double until) {
  if (of.last_end > begin) {
    std::size_t i = of.near_span =
        first_from(of.spans, until, of.near_span, [](const Span& span) { return span.begin; });
    while (i > 0 && of.spans[--i].end > begin) beside_.push_back({of.spans[i], &other});
  }
  const std::size_t occurred = of.in_order.size();
  if (occurred >= of.expected.size()) return;
  std::size_t i = of.near_expected = first_from(of.expected, until - of.late, of.near_expected,
                                                [](const Expected& known) { return known.span.begin; });
  while (i > 0 && of.expected[--i].span.end + of.late > begin) {
    const Expected& known = of.expected[i];
    if (known.which >= occurred) beside_.push_back({{known.span.begin + of.late, known.span.end + of.late}, &other});
  }
}

/// Of the occurrence at hand: the others on one link add up, and the tightest link counts.
double FlowOverlaps::pace_beside(const std::vector<std::size_t>& there, double& holds_up) {
  double pace = 1;
  longer_on_.clear();
  for (const std::size_t i : there) {
    const Other& other = *beside_[i].other;
    holds_up += other.holds_up;
    if (!is_again_) {
      pace = std::min(pace, other.pace);
      continue;
    }
    const double longer = sharing_ == SharedLinks::expected ? other.longer
                          : sharing_ == SharedLinks::least  ? other.least
                                                            : std::max(other.longer, other.most);
    const auto known = std::ranges::find(longer_on_, other.link, &std::pair<std::int32_t, double>::first);
    if (known == longer_on_.end()) {
      longer_on_.emplace_back(other.link, longer);
    } else {
      known->second += longer;
    }
  }
  for (const auto& [link, longer] : longer_on_) pace = std::min(pace, 1 / (1 + longer));
  return pace;
}

/// A collective that takes `seconds` where it is alone, from `begin` on, beside those of `beside_`: from one beginning
/// or end of another to the next, at the pace of the tightest.
FlowOverlaps::Occurrence FlowOverlaps::go_on_beside(double begin, double seconds) {
  dates_.clear();
  order_.clear();
  for (std::size_t i = 0; i < beside_.size(); ++i) {
    const Span& span = beside_[i].span;
    if (span.begin > begin) dates_.push_back(span.begin);
    dates_.push_back(span.end);
    order_.push_back(i);
  }
  std::ranges::sort(dates_);
  std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return beside_[i].span.begin; });
  there_.clear();
  std::size_t next_there = 0;
  double now = begin;
  double left = seconds;
  Occurrence occurrence;
  for (const double date : dates_) {
    if (date <= now) continue;
    while (next_there < order_.size() && beside_[order_[next_there]].span.begin <= now) {
      const std::size_t i = order_[next_there++];
      there_.insert(std::ranges::upper_bound(there_, i), i);
    }
    std::erase_if(there_, [&](std::size_t i) { return beside_[i].span.end <= now; });
    double holds_up = 0;
    const double pace = pace_beside(there_, holds_up);
    const double next = std::min(date, now + left / pace);
    left -= (next - now) * pace;
    occurrence.overlooked += (next - now) * holds_up;
    now = next;
    if (next < date) {
      left = 0;
      break;
    }
  }
  occurrence.seconds = now + left - begin;
  return occurrence;
}

FlowOverlaps::Occurrence FlowOverlaps::occur(std::size_t number, double begin, double seconds) {
  Collective& own = collectives_[number];
  beside_.clear();
  const double longer = sharing_ == SharedLinks::most ? own.most : own.longer;
  const double until = begin + seconds * (is_again_ ? 1 + std::min(longer, kMostLonger) : 1 / kLeast);
  for (const Other& other : own.others) add_beside(collectives_[other.number], other, begin, until);
  Occurrence occurrence = beside_.empty() ? Occurrence{.seconds = seconds} : go_on_beside(begin, seconds);
  const std::size_t which = own.in_order.size();
  if (which < own.expected_begins.size()) {
    own.late = begin - own.expected_begins[which];
    occurrence.overlooked = 0;
  }
  const Span span{begin, begin + occurrence.seconds};
  own.in_order.push_back(span);
  own.last_end = std::max(own.last_end, span.end);
  if (own.spans.empty() || own.spans.back().begin <= begin) {
    own.spans.push_back(span);
  } else {
    own.spans.insert(std::ranges::upper_bound(own.spans, begin, {}, &Span::begin), span);
  }
  return occurrence;
}

}  // namespace dadsim::sim

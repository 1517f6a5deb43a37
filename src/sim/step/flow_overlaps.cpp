#include "sim/step/flow_overlaps.hpp"

#include <algorithm>
#include <utility>

namespace dadsim::sim {
namespace {

constexpr double kLeast = 0.5;       // of a link that one gets beside another
constexpr double kMostLonger = 7.0;  // than it takes alone: by more is not looked ahead

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
  forget_spans();
}

void FlowOverlaps::repeat() { forget_spans(); }

void FlowOverlaps::forget_spans() {
  for (Collective& one : collectives_) {
    one.spans.clear();
    one.in_order.clear();
    one.last_end = 0;
    one.late = 0;
  }
}

std::size_t FlowOverlaps::add(const std::vector<std::pair<std::int32_t, LinkLoad>>& loads, double seconds,
                              MessagesOn messages_on) {
  const std::size_t number = collectives_.size();
  collectives_.emplace_back().messages_on = std::move(messages_on);
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
  other.beyond = std::max(other.beyond, std::min(share, std::max(1 - user.share, kLeast)) + user.share - 1);
  const double own_messages = collectives_[number].messages_on(link);
  const double fair = own_messages / (own_messages + collectives_[user.number].messages_on(link));
  const double longer = share / std::min(share, std::max(1 - user.share, fair)) - 1;
  if (longer <= other.longer) return;
  collectives_[number].longer += longer - other.longer;
  other.longer = longer;
  other.link = link;
}

/// When another one is on its way that has occurred since `begin`, or is expected to.
void FlowOverlaps::add_beside(const Collective& of, const Other& other, double begin, double until) {
  if (of.last_end > begin) {
    auto span = std::ranges::lower_bound(of.spans, until, {}, &Span::begin);
    while (span != of.spans.begin() && (--span)->end > begin) beside_.push_back({*span, &other});
  }
  const std::size_t occurred = of.in_order.size();
  if (occurred >= of.expected.size()) return;
  auto next = std::ranges::lower_bound(of.expected, until - of.late, {},
                                       [](const Expected& known) { return known.span.begin; });
  while (next != of.expected.begin() && (--next)->span.end + of.late > begin) {
    if (next->which >= occurred) beside_.push_back({{next->span.begin + of.late, next->span.end + of.late}, &other});
  }
}

/// Of the occurrence at hand: the others on one link add up, and the tightest link counts.
double FlowOverlaps::pace_at(double date, double& beyond) const {
  double pace = 1;
  const auto is_there = [date](const Beside& one) { return one.span.begin <= date && one.span.end > date; };
  for (const Beside& one : beside_) {
    if (!is_there(one)) continue;
    beyond += one.other->beyond;
    double own = one.other->pace;
    if (is_again_) {
      double longer = 0;
      for (const Beside& also : beside_) {
        if (also.other->link == one.other->link && is_there(also)) longer += also.other->longer;
      }
      own = 1 / (1 + longer);
    }
    pace = std::min(pace, own);
  }
  return pace;
}

FlowOverlaps::Occurrence FlowOverlaps::occur(std::size_t number, double begin, double seconds) {
  Collective& own = collectives_[number];
  beside_.clear();
  const double until = begin + seconds * (is_again_ ? 1 + std::min(own.longer, kMostLonger) : 1 / kLeast);
  for (const Other& other : own.others) add_beside(collectives_[other.number], other, begin, until);
  const std::vector<Beside>& beside = beside_;
  // From one beginning or end of another to the next, at the pace of the tightest.
  std::vector<double> dates;
  for (const Beside& one : beside) {
    if (one.span.begin > begin) dates.push_back(one.span.begin);
    dates.push_back(one.span.end);
  }
  std::ranges::sort(dates);
  double now = begin;
  double left = seconds;
  Occurrence occurrence;
  for (const double date : dates) {
    if (date <= now) continue;
    double beyond = 0;
    const double pace = pace_at(now, beyond);
    const double next = std::min(date, now + left / pace);
    left -= (next - now) * pace;
    occurrence.overlooked += (next - now) * beyond;
    now = next;
    if (next < date) {
      left = 0;
      break;
    }
  }
  occurrence.seconds = beside.empty() ? seconds : now + left - begin;
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

#include "sim/step/flow_overlaps.hpp"

#include <algorithm>

namespace dadsim::sim {
namespace {

constexpr double kLeast = 0.5;  // of a link that one gets beside another

}  // namespace

std::size_t FlowOverlaps::add(const std::vector<std::pair<std::int32_t, LinkLoad>>& loads, double seconds) {
  const std::size_t number = collectives_.size();
  collectives_.emplace_back();
  for (const auto& [index, load] : loads) {
    const NetworkLink& link = network_.link(index);
    if (!link.shared || !(load.wire > 0) || !(seconds > 0)) continue;
    const double share = std::min(1.0, load.wire / link.bandwidth / seconds);
    std::vector<User>& users = users_[index];
    for (const User& user : users) {
      meet(number, share, user);
      meet(user.number, user.share, {number, share});
    }
    users.push_back({number, share});
  }
  return number;
}

void FlowOverlaps::meet(std::size_t number, double share, const User& user) {
  if (share + user.share <= 1) return;
  Other& other = collectives_[number].others[user.number];
  other.pace = std::min(other.pace, std::max(1 - user.share, kLeast) / share);
  other.beyond = std::max(other.beyond, std::min(share, std::max(1 - user.share, kLeast)) + user.share - 1);
}

FlowOverlaps::Occurrence FlowOverlaps::occur(std::size_t number, double begin, double seconds) {
  struct Beside {
    Span span;
    const Other* other;
  };
  Collective& own = collectives_[number];
  std::vector<Beside> beside;
  for (const auto& [of, other] : own.others) {
    const std::vector<Span>& spans = collectives_[of].spans;
    auto span = std::ranges::lower_bound(spans, begin + seconds / kLeast, {}, &Span::begin);
    while (span != spans.begin() && (--span)->end > begin) beside.push_back({*span, &other});
  }
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
    double pace = 1;
    double beyond = 0;
    for (const Beside& one : beside) {
      if (one.span.begin > now || one.span.end <= now) continue;
      pace = std::min(pace, one.other->pace);
      beyond += one.other->beyond;
    }
    const double until = std::min(date, now + left / pace);
    left -= (until - now) * pace;
    occurrence.overlooked += (until - now) * beyond;
    now = until;
    if (until < date) {
      left = 0;
      break;
    }
  }
  occurrence.seconds = beside.empty() ? seconds : now + left - begin;
  const Span span{begin, begin + occurrence.seconds};
  if (own.spans.empty() || own.spans.back().begin <= begin) {
    own.spans.push_back(span);
  } else {
    own.spans.insert(std::ranges::upper_bound(own.spans, begin, {}, &Span::begin), span);
  }
  return occurrence;
}

}  // namespace dadsim::sim

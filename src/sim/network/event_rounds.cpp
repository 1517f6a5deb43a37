#include "sim/network/event_rounds.hpp"

#include <algorithm>
#include <cmath>

#include "sim/network/flow_events.hpp"

namespace dadsim::sim {
namespace {

constexpr double kSameDates = 1e-12;  // seconds, as events count as one

}  // namespace

bool EventRounds::again(const collectives::Rounds& rounds, std::vector<double>& dates) const {
  if (known_ != &rounds || !is_last_) return false;
  const double begin = *std::ranges::min_element(dates);
  const auto is_same = [&](double date, double before) { return std::abs(date - begin - before) < kSameDates; };
  if (!std::ranges::equal(dates, begun_, is_same)) return false;
  for (std::size_t rank = 0; rank < dates.size(); ++rank) dates[rank] = begin + rounds.start_seconds() + ended_[rank];
  return true;
}

bool EventRounds::may_lose(const collectives::Rounds& rounds) const {
  return !FlowEvents::serves(ranks_.network) &&
         (rounds.pace().handshake != collectives::Pace::Handshake::eager ||
          MessageGraph(rounds, ranks_.routes(), ranks_.network, ranks_.hosts).may_lose());
}

Refused EventRounds::run(const collectives::Rounds& rounds, std::vector<double>& dates, FlowAccount& account,
                         MaxPlusRounds* solved) {
  if (known_ != &rounds && may_lose(rounds)) {
    return FlowRefusal{"several lines may bring more to a link of TCP than it takes away, and packets be lost"};
  }
  for (double& date : dates) date += rounds.start_seconds();
  const double begin = *std::ranges::min_element(dates);
  if (known_ != &rounds || (classes_ && !classes_->hold_for(dates))) {
    classes_.reset();
    if (ranks_.by_classes && rounds.pace().handshake == collectives::Pace::Handshake::eager) {
      MessageGraph graph(rounds, ranks_.routes(), ranks_.network, ranks_.hosts);
      classes_ = graph.classes(dates, solved != nullptr);
    }
  }
  FlowEvents events(ranks_.network, ranks_.hosts);
  if (solved != nullptr) events.take_down();
  known_ = nullptr;
  begun_ = dates;
  if (Refused refused = events.run(rounds, dates, classes_ ? &*classes_ : nullptr)) return refused;
  if (solved != nullptr) events.describe(*solved);
  ended_ = dates;
  for (double& date : begun_) date -= begin;
  for (double& date : ended_) date -= begin;
  account.set(events.spent(), events.loads());
  known_ = &rounds;
  is_last_ = true;
  return {};
}

}  // namespace dadsim::sim

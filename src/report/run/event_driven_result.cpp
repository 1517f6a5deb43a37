#include <cmath>

#include "report/run/result.hpp"
#include "report/run/sum_over.hpp"

namespace dadsim::report {
namespace {

using NodeUse = step::EventLog::NodeUse;

/// Returns the sum over all nodes.
template <class Number>
Number sum_of(const step::EventLog& log, Number NodeUse::*what) {
  return sum_over(log, log.nodes.size(), what);
}

}  // namespace

double EventDrivenResult::wasted_seconds() const {
  return participation.wasted_seconds + sum_of(log, &NodeUse::cut_short);
}
double EventDrivenResult::wasted_bytes() const { return participation.wasted_bytes + bytes_lost(); }
double EventDrivenResult::lost_work() const { return participation.lost_work + sum_of(log, &NodeUse::lost_work); }
std::int64_t EventDrivenResult::restored() const { return participation.restored + sum_of(log, &NodeUse::restored); }
std::int64_t EventDrivenResult::outages() const { return sum_of(log, &NodeUse::outages); }
double EventDrivenResult::bytes_sent() const { return sum_of(log, &NodeUse::sent); }
double EventDrivenResult::bytes_received() const { return sum_of(log, &NodeUse::received); }
double EventDrivenResult::bytes_lost() const { return sum_of(log, &NodeUse::lost); }
double EventDrivenResult::busy_seconds() const { return sum_over(log, workers, &NodeUse::busy); }
double EventDrivenResult::down_seconds() const { return sum_over(log, workers, &NodeUse::down); }
double EventDrivenResult::idle_seconds() const {
  const double all = static_cast<double>(workers) * log.seconds;
  const double idle = all - busy_seconds() - down_seconds();
  constexpr double kRounding = 1e-9;
  return idle < 0 && idle > -kRounding * all ? 0 : idle;
}

double EventDrivenResult::taking_part() const {
  const double mean = participation.mean_at_work(log.seconds, static_cast<double>(workers));
  constexpr double kRounding = 1e-9;  // tolerance, as a share of sums of dates
  return std::abs(mean - std::round(mean)) < kRounding * mean ? std::round(mean) : mean;
}

double EventDrivenResult::rounds_per_hour() const {
  constexpr double kSecondsPerHour = 3600;
  return static_cast<double>(participation.updates) / log.seconds * kSecondsPerHour;
}

std::vector<EventDrivenResult::Worker> EventDrivenResult::per_worker() const {
  std::vector<Worker> all(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    const NodeUse& use = log.nodes[i];
    all[i] = {.busy = use.busy, .down = use.down, .sent = use.sent, .received = use.received};
    if (i < participation.took_part.size()) all[i].used = participation.took_part[i];
  }
  using Part = step::Participation::Part;
  for (const Part& part : participation.parts) {
    if (part.client < 0 || static_cast<std::size_t>(part.client) >= workers) continue;
    Worker& worker = all[static_cast<std::size_t>(part.client)];
    worker.late += part.end == Part::End::late ? 1 : 0;
    worker.failed += part.end == Part::End::failed ? 1 : 0;
  }
  return all;
}

}  // namespace dadsim::report

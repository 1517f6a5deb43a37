#include "study/absence/absence_log.hpp"

#include <algorithm>
#include <utility>

namespace dadsim::study {
namespace {

using NodeUse = step::EventLog::NodeUse;

void add_to(std::vector<double>& sum, const std::vector<double>& more, double share) {
  if (sum.size() < more.size()) sum.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += share * more[i];
}

using Outage = step::EventLog::Outage;

/// Outages of a site: one where those of its devices overlap, and from the end of a step on that was taken all the
/// same.
std::vector<Outage> of_sites(std::vector<Outage> outages,
                             const std::vector<std::vector<std::pair<double, double>>>& outlasted) {
  for (Outage& one : outages) {
    for (const auto& [begin, end] : outlasted[static_cast<std::size_t>(one.node)]) {
      if (begin <= one.begin && one.begin < end) one.begin = std::min(end, one.end);
    }
  }
  std::ranges::stable_sort(outages, {}, [](const Outage& one) { return std::pair{one.node, one.begin}; });
  std::vector<Outage> merged;
  for (const Outage& one : outages) {
    if (merged.empty() || merged.back().node != one.node || merged.back().end < one.begin) {
      merged.push_back(one);
    } else {
      merged.back().end = std::max(merged.back().end, one.end);
    }
  }
  std::ranges::stable_sort(merged, {}, &Outage::end);
  return merged;
}

double at(const std::vector<double>& values, std::size_t place) { return place < values.size() ? values[place] : 0; }

}  // namespace

AbsenceLog::AbsenceLog(std::size_t sites, std::vector<std::size_t> site_of)
    : begun(sites, 0), sites_(sites), site_of_(std::move(site_of)), nodes_(site_of_.size()), outlasted_(sites + 1) {
  participation.took_part.assign(sites, 0);
}

void AbsenceLog::add(const step::StepTiming& timing, double share, bool arrives) {
  before_.seconds += share * timing.seconds;
  add_to(before_.bytes_sent, timing.bytes_sent, share);
  if (arrives) add_to(before_.bytes_received, timing.bytes_received, share);
  add_to(before_.busy_seconds, timing.busy_seconds, share);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    NodeUse& use = nodes_[node];
    use.sent += share * at(timing.bytes_sent, node);
    (arrives ? use.received : use.lost) += share * at(arrives ? timing.bytes_received : timing.bytes_sent, node);
    use.busy += share * at(timing.busy_seconds, node);
  }
}

void AbsenceLog::waste(const step::StepTiming& timing, double share) {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    nodes_[node].cut_short += share * at(timing.busy_seconds, node);
  }
}

step::StepTiming AbsenceLog::step(const std::vector<std::int32_t>& of, const std::vector<std::int64_t>& rows,
                                  const step::StepTiming& timing, double now) {
  step::StepTiming whole = timing;
  const step::StepTiming before = std::exchange(before_, {});
  whole.seconds += before.seconds;
  whole.exposed_seconds += before.seconds;
  whole.waiting_seconds += before.seconds;
  add_to(whole.bytes_sent, before.bytes_sent, 1);
  add_to(whole.bytes_received, before.bytes_received, 1);
  add_to(whole.busy_seconds, before.busy_seconds, 1);
  for (step::Bound& bound : whole.bounds) bound.share = whole.seconds > 0 ? bound.seconds / whole.seconds : 0;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    nodes_[node].sent += at(timing.bytes_sent, node);
    nodes_[node].received += at(timing.bytes_received, node);
    nodes_[node].busy += at(timing.busy_seconds, node);
  }
  ++participation.updates;
  participation.asked += static_cast<std::int64_t>(of.size());
  participation.answered += static_cast<std::int64_t>(of.size());
  note(of, now - timing.seconds, now, step::Participation::Part::End::used);
  if (participation.first_update_at < 0) participation.first_update_at = now;
  for (const std::int32_t number : of) {
    const auto site = static_cast<std::size_t>(number);
    ++participation.took_part[site];
    participation.samples += static_cast<double>(rows[site]);
  }
  if (of.size() < sites_) participation.facts["steps that sites were missing from"] += 1;
  return whole;
}

void AbsenceLog::broken_off(const std::vector<std::int32_t>& of, double begin, double end) {
  participation.asked += static_cast<std::int64_t>(of.size());
  participation.failed += static_cast<std::int64_t>(of.size());
  participation.facts["steps that an outage broke off"] += 1;
  note(of, begin, end, step::Participation::Part::End::failed);
}

void AbsenceLog::note(const std::vector<std::int32_t>& of, double begin, double end,
                      step::Participation::Part::End how) {
  for (const std::int32_t site : of) ++begun[static_cast<std::size_t>(site)];
  const bool taken = how == step::Participation::Part::End::used;
  const std::int64_t number = participation.updates + (taken ? 0 : 1);  // the one that it was to be
  for (const std::int32_t site : of) {
    if (participation.parts.size() >= step::Participation::kMostParts) return;
    participation.parts.push_back({number, site, begin, end, how});
  }
}

void AbsenceLog::write_checkpoint(double seconds, step::StepTiming& step) {
  step.seconds += seconds;
  step.exposed_seconds += seconds;
  for (NodeUse& use : nodes_) use.checkpointing += seconds;
}

void AbsenceLog::outlast(const std::vector<std::int32_t>& of, double begin, double end) {
  for (const std::int32_t site : of) outlasted_[static_cast<std::size_t>(site)].emplace_back(begin, end);
  outlasted_.back().emplace_back(begin, end);
}

report::EventDrivenResult AbsenceLog::result(double end, const world::OutageCalendar& calendar,
                                             std::vector<std::string> hosts) const {
  step::EventLog log;
  log.seconds = end;
  log.link_outages = calendar.link_outages();
  log.events = participation.updates;
  log.outages = calendar.outages_until(end);
  log.nodes.resize(hosts.size());
  // A site of several devices is told of as one node.
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (site_of_[node] >= log.nodes.size()) continue;
    NodeUse& sum = log.nodes[site_of_[node]];
    const NodeUse& one = nodes_[node];
    const auto devices = static_cast<double>(std::ranges::count(site_of_, site_of_[node]));
    sum.sent += one.sent;
    sum.received += one.received;
    sum.lost += one.lost;
    sum.busy += one.busy / devices;
    sum.cut_short += one.cut_short / devices;
    sum.checkpointing += one.checkpointing / devices;
  }
  for (step::EventLog::Outage& outage : log.outages)
    outage.node = static_cast<std::int32_t>(site_of_[static_cast<std::size_t>(outage.node)]);
  log.outages = of_sites(std::move(log.outages), outlasted_);
  for (const step::EventLog::Outage& outage : log.outages) {
    if (static_cast<std::size_t>(outage.node) >= log.nodes.size()) continue;
    NodeUse& use = log.nodes[static_cast<std::size_t>(outage.node)];
    use.down += outage.end - outage.begin;
    ++use.outages;
  }
  return {.participation = participation, .log = std::move(log), .hosts = std::move(hosts), .workers = sites_};
}

}  // namespace dadsim::study

#include "study/absence/absence_clock.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dadsim::study {

Connectivity::Connectivity(const std::vector<sim::RouteLink>& routes,
                           const std::vector<std::vector<std::string>>& hosts, const std::string& server,
                           const std::vector<std::string>& links)
    : cut_(hosts.size()) {
  std::map<std::string, std::size_t> number;
  for (std::size_t link = 0; link < links.size(); ++link) number[links[link]] = link;
  std::map<std::pair<std::string, std::string>, Links> between;
  for (const sim::RouteLink& of : routes) {
    const auto found = number.find(of.link);
    if (found != number.end()) between[{of.from, of.to}].push_back(found->second);
  }
  const auto add_both_ways = [&](const std::string& a, const std::string& b, Links& into) {
    for (const Links& one : {between[{a, b}], between[{b, a}]}) into.insert(into.end(), one.begin(), one.end());
  };
  for (std::size_t site = 0; site < hosts.size(); ++site) {
    for (std::size_t i = 0; i < hosts[site].size(); ++i) {
      for (std::size_t j = i + 1; j < hosts[site].size(); ++j)
        add_both_ways(hosts[site][i], hosts[site][j], cut_[site]);
      if (!server.empty()) add_both_ways(hosts[site][i], server, cut_[site]);
    }
  }
  if (!server.empty()) return;
  pairs_.resize(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    for (std::size_t j = i + 1; j < hosts.size(); ++j) {
      Links& both = pairs_[i].emplace_back();
      for (std::size_t device = 0; device < hosts[i].size(); ++device)
        add_both_ways(hosts[i][device], hosts[j][device], both);
    }
  }
}

bool Connectivity::is_up(const world::OutageCalendar& calendar, const Links& links) {
  return std::ranges::all_of(links, [&](std::size_t link) { return calendar.link_is_up(link); });
}

std::vector<bool> Connectivity::reached(const world::OutageCalendar& calendar,
                                        const std::vector<bool>& candidates) const {
  std::vector<bool> reached = candidates;
  for (std::size_t site = 0; site < cut_.size(); ++site) {
    reached[site] = reached[site] && is_up(calendar, cut_[site]);
  }
  if (pairs_.empty()) return reached;
  const std::size_t sites = cut_.size();
  std::vector<std::vector<bool>> meet(sites, std::vector<bool>(sites, false));
  std::vector<std::size_t> peers(sites, 0), order;
  for (std::size_t i = 0; i < sites; ++i) {
    if (!reached[i]) continue;
    order.push_back(i);
    for (std::size_t j = i + 1; j < sites; ++j) {
      if (!reached[j] || !is_up(calendar, pairs_[i][j - i - 1])) continue;
      meet[i][j] = meet[j][i] = true;
      ++peers[i], ++peers[j];
    }
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return peers[a] > peers[b]; });
  std::vector<std::size_t> group;
  for (const std::size_t site : order) {
    if (std::ranges::all_of(group, [&](std::size_t other) { return meet[site][other]; })) group.push_back(site);
  }
  reached.assign(sites, false);
  for (const std::size_t site : group) reached[site] = true;
  return reached;
}

namespace {

using NodeUse = step::EventLog::NodeUse;

void add_to(std::vector<double>& sum, const std::vector<double>& more, double share) {
  if (sum.size() < more.size()) sum.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += share * more[i];
}

using Outage = step::EventLog::Outage;

/// Merges overlapping outages of a site's devices. If an outage began during a completed step, its beginning is moved
/// to the end of that step.
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
  const std::int64_t number = participation.updates + (taken ? 0 : 1);  // number of the step that was due
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
  // Reports a site of several devices as one node.
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

namespace {

/// Longest time without a step, seconds. The run then ends, as an event-driven run does (docs/failures.md).
constexpr double kMostWithoutStep = 90 * 86400.0;
/// Largest number of tries of one step. No try succeeds if outages come more often than a step takes, and each try is
/// simulated. With this limit, a step that succeeds one time in 300 fails in one run of 28.
constexpr std::int64_t kMostTries = 1'000;
/// Largest number of outages and repairs during the wait for one step. If hosts and links fail more often, the step
/// never ends.
constexpr std::int64_t kMostChanges = 1'000'000;

/// Translates the scenario's absence settings (wait for all sites, wait for some time, go on at once) to the rules of
/// the clock.
world::ParticipationClock::Rules rules_of(const AbsenceClock::AbsenceSetting& setting) {
  const spec::AbsenceSpec& absence = setting.absence;
  const bool retries = absence.does == spec::AbsenceSpec::Does::retry;
  return {.sites = setting.sites,
          .seed = setting.seed,
          .chances = setting.chances,
          .deadline = !absence.goes_without() ? world::kNever
                      : retries               ? absence.patience
                                              : 0,
          .counts_presence = setting.has_dates};
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

AbsenceClock::AbsenceClock(AbsenceSetting setting, world::OutageCalendar& calendar, Connectivity connectivity)
    : setting_(std::move(setting)),
      clock_(rules_of(setting_)),
      log_(setting_.sites, setting_.site_of),
      calendar_(calendar),
      connectivity_(std::move(connectivity)),
      has_model_(setting_.sites, true),
      on_disk_(setting_.sites, true),
      seen_down_(setting_.sites, 0) {}

// ---- who is there ----

std::vector<bool> AbsenceClock::there() const {
  std::vector<bool> up(setting_.sites, true);
  for (std::size_t node = 0; node < nodes(); ++node) {
    const std::size_t site = setting_.site_of[node];
    if (site < setting_.sites && !calendar_.is_up(node)) up[site] = false;
  }
  return connectivity_.reached(calendar_, up);
}

bool AbsenceClock::all_here(const Sites& sites) const {
  if (!server_is_up()) return false;
  const std::vector<bool> here = there();
  return std::ranges::all_of(sites, [&](std::int32_t site) { return here[static_cast<std::size_t>(site)]; });
}

AbsenceClock::Sites AbsenceClock::everyone() const {
  Sites all(setting_.sites);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void AbsenceClock::catch_up() {
  while (calendar_.next_change() <= now_) calendar_.take_next_change();
}

/// Marks the sites whose hosts went down since the last call: their memory is lost.
void AbsenceClock::notice_losses() {
  std::vector<std::int64_t> down(setting_.sites, 0);
  for (std::size_t node = 0; node < nodes(); ++node) {
    if (setting_.site_of[node] < setting_.sites) down[setting_.site_of[node]] += calendar_.went_down(node);
  }
  for (std::size_t site = 0; site < setting_.sites; ++site) {
    if (down[site] == seen_down_[site]) continue;
    has_model_[site] = false;
    to_restore_ = true;
  }
  seen_down_ = std::move(down);
}

// ---- time ----

void AbsenceClock::wait_until(double date) {
  log_.wait(date - now_);
  now_ = date;
  catch_up();
}

/// Returns true if a node that every step needs is down forever.
bool AbsenceClock::is_in_vain() const {
  for (std::size_t node = 0; node < nodes(); ++node) {
    if (!calendar_.is_gone(node)) continue;
    const std::size_t site = setting_.site_of[node];
    if (site == setting_.sites ? setting_.server : !goes_without()) return true;
  }
  return false;
}

void AbsenceClock::wait_for_change(const std::string& what) {
  const double next = is_in_vain() ? std::numeric_limits<double>::infinity() : calendar_.next_change();
  const bool too_often = ++changes_waited_ > kMostChanges;
  if (std::isfinite(next) && next - progress_at_ <= kMostWithoutStep && !too_often)
    return wait_until(std::max(now_, next));
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> missing;
  const std::vector<bool> here = there();
  for (std::size_t site = 0; site < setting_.sites; ++site) {
    if (!here[site] && site < setting_.names.size()) missing.push_back(setting_.names[site]);
  }
  if (!server_is_up() && setting_.sites < setting_.names.size()) missing.push_back(setting_.names[setting_.sites]);
  const std::size_t more = missing.size() > kMostNamed ? missing.size() - kMostNamed : 0;
  missing.resize(missing.size() - more);
  throw NobodyComes(fmt::format("step {} waits {}, and {} {}{}", log_.participation.updates + 1, what,
                                fmt::join(missing, ", "), more > 0 ? fmt::format("and {} more ", more) : "",
                                !std::isfinite(next) ? std::string("will not come back")
                                : too_often
                                    ? fmt::format("stayed away while hosts and links changed {} times", kMostChanges)
                                    : std::string("stays away for 90 days")));
}

/// Returns the date before `end` at which the first of these sites, or the aggregator, is lost; none if all stay.
std::optional<double> AbsenceClock::broken_off(double end, const Sites& sites) {
  while (calendar_.next_change() < end) {
    const double date = calendar_.next_change();
    calendar_.take_next_change();
    if (!all_here(sites)) return std::max(now_, date);
  }
  return std::nullopt;
}

/// Ends the current work at `date`, without a result. Returns false.
bool AbsenceClock::interrupt(const step::StepTiming& timing, double date) {
  const double share = timing.seconds > 0 ? (date - now_) / timing.seconds : 0;
  log_.add(timing, share, false);
  log_.waste(timing, share);
  now_ = date;
  return false;
}

/// Carries out work of all these sites before the next step. Returns false if an outage interrupts it.
bool AbsenceClock::passes(const step::StepTiming& timing, const Sites& sites, bool worth_something) {
  const double end = now_ + timing.seconds;
  if (const std::optional<double> date = broken_off(end, sites)) return interrupt(timing, *date);
  log_.add(timing, 1, true);
  if (!worth_something) log_.waste(timing, 1);
  now_ = end;
  return true;
}

// ---- before a step ----

/// Sends the model to those of the sites that lack it, because they missed a step or lost their memory. Returns false
/// if an outage interrupts the transfer, or if no site present has the model.
bool AbsenceClock::bring_up_to_date(const Sites& sites) {
  if (!setting_.common_model) return true;
  const auto holds = [&](const std::vector<bool>& model, std::int32_t site) {
    return bool{model[static_cast<std::size_t>(site)]};
  };
  if (!setting_.server && std::ranges::none_of(sites, [&](std::int32_t site) { return holds(has_model_, site); })) {
    bool any = false;
    for (const std::int32_t site : sites) {
      if (!holds(on_disk_, site)) continue;
      has_model_[static_cast<std::size_t>(site)] = any = true;
    }
    if (!any) {
      wait_for_change("for a site that has the model");
      return false;
    }
  }
  Sites lacking;
  std::int32_t from = -1;
  for (const std::int32_t site : sites) {
    if (!holds(has_model_, site)) {
      lacking.push_back(site);
    } else if (!setting_.server && from < 0) {
      from = site;
    }
  }
  if (lacking.empty()) return true;
  const step::StepTiming timing = setting_.hand_over(from, lacking, now_);
  Sites involved = lacking;
  if (from >= 0) involved.push_back(from);
  if (!passes(timing, involved, true)) {
    ++log_.participation.retried;
    return false;
  }
  for (const std::int32_t site : lacking) {
    has_model_[static_cast<std::size_t>(site)] = on_disk_[static_cast<std::size_t>(site)] = true;
  }
  log_.participation.facts["times that a site was handed the model"] += static_cast<double>(lacking.size());
  log_.participation.facts["bytes of models that sites were handed"] += sum_of(timing.bytes_received);
  return true;
}

/// Restores all sites from the last checkpoint and repeats the steps since then. Returns false if an outage interrupts
/// it.
bool AbsenceClock::restore() {
  step::StepTiming reading;
  reading.seconds = setting_.checkpoints.restore;
  const Sites all = everyone();
  if (!passes(reading, all, true)) return false;
  ++log_.participation.restored;
  for (const step::StepTiming& again : since_checkpoint_) {
    if (!passes(again, all, false)) return false;
    log_.participation.lost_work += again.seconds;
    log_.participation.wasted_bytes += sum_of(again.bytes_received);
  }
  to_restore_ = false;
  has_model_.assign(setting_.sites, true);
  return true;
}

/// Returns the expected timing of the step: from the setting, or that of the last step of the same sites, or that of
/// the last step without nodes of absent sites; none before the first step.
std::optional<step::StepTiming> AbsenceClock::foreseen(std::int64_t number, const Sites& sites) const {
  std::optional<step::StepTiming> like;
  if (setting_.foresee) like = setting_.foresee(number, sites, now_);
  if (like) return like;
  if (const auto same = last_of_.find(sites); same != last_of_.end()) return same->second;
  like = last_;
  for (std::size_t node = 0; like && node < nodes(); ++node) {
    const std::size_t site = setting_.site_of[node];
    if (site == setting_.sites || std::ranges::binary_search(sites, static_cast<std::int32_t>(site))) continue;
    for (std::vector<double>* values : {&like->bytes_sent, &like->bytes_received, &like->busy_seconds}) {
      if (node < values->size()) (*values)[node] = 0;
    }
  }
  return like;
}

/// Plays the outages until the expected end of the step. Returns true if none breaks the step off; otherwise ends the
/// step there, without a result.
bool AbsenceClock::goes_through(std::int64_t number, const Sites& sites) {
  const std::optional<step::StepTiming> like = foreseen(number, sites);
  if (!like) return true;
  for (std::size_t node = 0; node < nodes(); ++node) {
    const auto site = static_cast<std::int32_t>(setting_.site_of[node]);
    if (like->compute_seconds > 0 && std::ranges::binary_search(sites, site)) {
      calendar_.compute(node, now_, like->compute_seconds);
    }
  }
  const std::optional<double> date = broken_off(now_ + like->seconds, sites);
  if (!date) return true;
  log_.broken_off(sites, now_, *date);
  return interrupt(*like, *date);
}

algorithms::Attendance::Present AbsenceClock::next(std::int64_t number, const std::vector<std::int64_t>& rows) {
  double pause = 1;  // seconds
  clock_.begin(now_);
  std::int64_t tries = 0;
  const auto has_rows = [&](std::int32_t site) { return rows[static_cast<std::size_t>(site)] > 0; };
  for (;;) {
    if (most_begun_ && *std::ranges::max_element(begun()) >= *most_begun_) return {};
    catch_up();
    notice_losses();
    if (!server_is_up()) {
      wait_for_change("for the aggregator");
      continue;
    }
    const std::vector<bool> is_here = there();
    Sites here;
    for (const std::int32_t site : everyone()) {
      if (is_here[static_cast<std::size_t>(site)]) here.push_back(site);
    }
    if (!clock_.is_over(now_, here.size(), setting_.sites - here.size())) {
      if (clock_.has_deadline()) {
        ++log_.participation.retried;
        wait_until(now_ + std::min(pause, clock_.date(here.size()) - now_));
        pause *= 2;
      } else {
        wait_for_change("for all sites");
      }
      continue;
    }
    if (std::ranges::none_of(here, has_rows)) {
      wait_for_change("for a site that has samples");
      continue;
    }
    const Sites who = clock_.draw_each(number, here, has_rows);
    const bool restarts = to_restore_ && setting_.absence.does == spec::AbsenceSpec::Does::restart;
    if (!(restarts ? restore() : bring_up_to_date(who)) || !goes_through(number, who)) {
      if (++tries < kMostTries) continue;
      throw NobodyComes(
          fmt::format("step {} has been broken off {} times: the step takes longer than the time between outages",
                      log_.participation.updates + 1, kMostTries));
    }
    const bool unbiased = goes_without() && setting_.absence.estimate == spec::AbsenceSpec::Estimate::unbiased;
    algorithms::Attendance::Present present{who, {}};
    if (unbiased) present.chances = clock_.chances_of(who, here, has_rows);
    for (std::size_t site = 0; site < setting_.sites; ++site) clock_.note(site, is_here[site]);
    return present;
  }
}

// ---- after a step ----

step::StepTiming AbsenceClock::took(const Sites& sites, const std::vector<std::int64_t>& rows,
                                    const step::StepTiming& timing) {
  const double begin = std::exchange(now_, now_ + timing.seconds);
  if (calendar_.next_change() < now_) log_.outlast(sites, begin, now_);
  step::StepTiming whole = log_.step(sites, rows, timing, now_);
  has_model_.assign(setting_.sites, !setting_.common_model);
  on_disk_.assign(setting_.sites, !setting_.common_model);
  for (const std::int32_t site : sites) {
    has_model_[static_cast<std::size_t>(site)] = on_disk_[static_cast<std::size_t>(site)] = true;
  }
  last_of_[sites] = timing;
  last_ = timing;
  progress_at_ = now_;
  changes_waited_ = 0;
  if (setting_.absence.does != spec::AbsenceSpec::Does::restart) return whole;
  since_checkpoint_.push_back(timing);
  computed_ += timing.compute_seconds;
  if (computed_ < setting_.checkpoints.every) return whole;
  computed_ = 0;
  since_checkpoint_.clear();
  now_ += setting_.checkpoints.write;
  log_.write_checkpoint(setting_.checkpoints.write, whole);
  return whole;
}

report::EventDrivenResult AbsenceClock::result(std::vector<std::string> hosts) {
  catch_up();
  return log_.result(now_, calendar_, std::move(hosts));
}

}  // namespace dadsim::study

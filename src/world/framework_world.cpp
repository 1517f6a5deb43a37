#include "world/framework_world.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::world {

FrameworkWorld::FrameworkWorld(World& inner, spec::FrameworkSpec framework, std::size_t nodes, Node server,
                               double model_bytes)
    : inner_(inner), framework_(std::move(framework)), server_(server), model_bytes_(model_bytes) {
  stations_.resize(nodes + 1);
  if (server >= 0) stations_[static_cast<std::size_t>(server)].cores = static_cast<double>(framework_.server_cores);
}

// ---- what a stage takes ----

double FrameworkWorld::work_of(const FrameworkMessage& message, Stage stage) const {
  const auto seconds = [&](double rate) { return rate > 0 ? message.bytes / rate : 0; };
  const auto at = [&](Node node, double of_server, double of_client) {
    return node == server_ ? seconds(of_server) : seconds(of_client) + seconds(framework_.copy);
  };
  switch (stage) {
    case Stage::packs:
      return at(message.from, framework_.server_serialise, framework_.serialise);
    case Stage::unpacks:
      return at(message.to, framework_.server_deserialise, framework_.deserialise);
    case Stage::is_summed:
      return message.to == server_ ? seconds(framework_.aggregate) : 0;
    case Stage::waits:
    case Stage::travels:
      break;
  }
  return 0;
}

FrameworkWorld::Station& FrameworkWorld::station_of(const FrameworkMessage& message, Stage stage) {
  if (stage == Stage::is_summed) return stations_.back();
  return stations_[static_cast<std::size_t>(stage == Stage::packs ? message.from : message.to)];
}

/// Returns the date at which a message sent now leaves. Models leave once the round has begun, one client after the
/// other. A message for a client leaves at the client's next poll. The clients' polls are spread evenly over the
/// interval (multiples of the golden ratio, modulo one).
double FrameworkWorld::departure(Node from, Node to, double bytes) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  double date = now();
  if (from != server_) return date;
  if (bytes >= model_bytes_ / 2 && bytes > 0) {
    if (handing_out_since_ != date) {
      handing_out_since_ = date;
      handed_out_ = 0;
    }
    date += framework_.round + framework_.per_client * static_cast<double>(++handed_out_);
  }
  if (framework_.polling > 0) {
    const double phase = std::fmod(kGoldenRatio * static_cast<double>(to + 1), 1.0);
    const double asked = std::ceil(date / framework_.polling - phase) + phase;
    date = std::max(date, asked * framework_.polling);
  }
  return date;
}

// ---- processors ----

void FrameworkWorld::advance(Station& station) const {
  const double passed = now() - station.at;
  station.at = now();
  if (station.jobs.empty()) return;
  station.busy += passed;
  station.v += passed * std::min(1.0, station.cores / static_cast<double>(station.jobs.size()));
}

void FrameworkWorld::arm(Station& station) {
  if (station.alarm != 0) {
    inner_.cancel(station.alarm);
    station_at_.erase(station.alarm);
    station.alarm = 0;
  }
  if (station.jobs.empty()) return;
  const double rate = std::min(1.0, station.cores / static_cast<double>(station.jobs.size()));
  station.alarm = inner_.timer(std::max(0.0, (station.jobs.begin()->first - station.v) / rate));
  station_at_[station.alarm] = static_cast<std::size_t>(&station - stations_.data());
}

void FrameworkWorld::add(Station& station, Activity id, double work) {
  advance(station);
  station.jobs.emplace(station.v + work, id);
  arm(station);
}

/// Ends the jobs that are done when the alarm fires.
void FrameworkWorld::ring(Station& station) {
  constexpr double kRounding = 1e-12;  // relative difference of end times below which jobs end together
  station.alarm = 0;
  advance(station);
  station.v = std::max(station.v, station.jobs.begin()->first);
  std::vector<Activity> done;
  while (!station.jobs.empty() && station.jobs.begin()->first <= station.v * (1 + kRounding)) {
    done.push_back(station.jobs.begin()->second);
    station.jobs.erase(station.jobs.begin());
  }
  arm(station);
  for (const Activity id : done) stage_done(id);
}

double FrameworkWorld::busy(Node node) const {
  const auto of = [&](Station station) {  // a copy, advanced to the current date
    advance(station);
    return station.busy;
  };
  const double packing = of(stations_[static_cast<std::size_t>(node)]);
  return node == server_ ? packing + of(stations_.back()) : packing;
}

// ---- messages ----

/// Returns true if the connection of a pair has been idle for so long that it was closed. The sender learns this by
/// losing its message; its next message opens a new connection.
bool FrameworkWorld::is_cut(Node from, Node to) {
  if (framework_.idle_cut <= 0 || from == to) return false;
  const auto used = used_at_.find(std::minmax(from, to));
  const auto is_busy = [&](Node one, Node other) {
    const auto waiting = order_.find({one, other});
    return waiting != order_.end() && !waiting->second.empty();
  };
  const bool lost =
      used != used_at_.end() && now() - used->second > framework_.idle_cut && !is_busy(from, to) && !is_busy(to, from);
  if (lost)
    used_at_.erase(used);
  else
    used_at_[std::minmax(from, to)] = now();
  return lost;
}

Activity FrameworkWorld::send(Node from, Node to, double bytes) {
  const Activity id = --last_;
  const bool lost = is_cut(from, to);
  FrameworkMessage& message = messages_[id] = {.from = from, .to = to, .bytes = bytes};
  order_[{from, to}].push_back(id);
  message.streams = framework_.streams;
  if (lost) {
    ++cut_;
    end(id, true);
    return id;
  }
  const double date = departure(from, to, bytes);
  if (from == to || !is_up(from) || date <= now()) {
    begin(id, from == to || !is_up(from) ? Stage::travels : Stage::packs);
    return id;
  }
  message.inner = inner_.timer(date - now());
  message_of_[message.inner] = id;
  return id;
}

Activity FrameworkWorld::collective(const Collective& what, CollectiveTraffic& traffic) {
  const Activity activity = inner_.collective(what, traffic);
  const auto seconds = [](double bytes, double rate) { return rate > 0 ? bytes / rate : 0; };
  for (std::size_t i = 0; i < what.nodes.size(); ++i) {
    stations_[static_cast<std::size_t>(what.nodes[i])].busy += seconds(traffic.sent[i], framework_.serialise) +
                                                               seconds(traffic.received[i], framework_.deserialise) +
                                                               seconds(what.bytes, framework_.copy);
  }
  return activity;
}

void FrameworkWorld::begin(Activity id, Stage stage) {
  FrameworkMessage& message = messages_.at(id);
  message.stage = stage;
  const auto travel = [&] {
    message.inner = inner_.send(message.from, message.to, message.bytes);
    message_of_[message.inner] = id;
  };
  if (message.streams && stage == Stage::packs) {
    travel();
    message.open = 1;
    for (const Stage beside : {Stage::packs, Stage::unpacks, Stage::is_summed}) {
      const double work = work_of(message, beside);
      if (work <= 0) continue;
      ++message.open;
      add(station_of(message, beside), id, work);
    }
    return;
  }
  if (stage == Stage::travels) return travel();
  const double work = message.from == message.to ? 0 : work_of(message, stage);
  if (work <= 0) return stage_done(id);
  add(station_of(message, stage), id, work);
}

void FrameworkWorld::stage_done(Activity id) {
  FrameworkMessage& message = messages_.at(id);
  if (message.open > 0) {
    if (--message.open == 0) end(id, false);
    return;
  }
  if (message.stage == Stage::is_summed) return end(id, false);
  begin(id, static_cast<Stage>(static_cast<int>(message.stage) + 1));
}

/// Removes a message that has no further stage.
void FrameworkWorld::forget(Activity id) {
  const FrameworkMessage& message = messages_.at(id);
  if (message.inner != 0) {
    inner_.cancel(message.inner);
    message_of_.erase(message.inner);
  }
  for (Station* station : {&stations_[static_cast<std::size_t>(message.from)],
                           &stations_[static_cast<std::size_t>(message.to)], &stations_.back()}) {
    const auto is_own = [&](const auto& job) { return job.second == id; };
    if (std::ranges::none_of(station->jobs, is_own)) continue;
    advance(*station);
    std::erase_if(station->jobs, is_own);
    arm(*station);
  }
  const std::pair pair(message.from, message.to);
  std::erase(order_[pair], id);
  messages_.erase(id);
  release(pair);
}

/// Delivers the messages of a pair that are complete, in order, up to the first incomplete one.
void FrameworkWorld::release(const std::pair<Node, Node>& pair) {
  std::deque<Activity>& waiting = order_[pair];
  while (!waiting.empty() && messages_.at(waiting.front()).done) {
    posted_.push_back({.kind = Event::Kind::done, .activity = waiting.front(), .at = now()});
    messages_.erase(waiting.front());
    waiting.pop_front();
  }
}

void FrameworkWorld::end(Activity id, bool failed) {
  FrameworkMessage& message = messages_.at(id);
  if (failed) {
    posted_.push_back({.kind = Event::Kind::failed, .activity = id, .at = now()});
    return forget(id);
  }
  if (framework_.idle_cut > 0 && message.from != message.to) used_at_[std::minmax(message.from, message.to)] = now();
  message.done = true;
  release({message.from, message.to});
}

void FrameworkWorld::cancel(Activity activity) {
  if (activity > 0) return inner_.cancel(activity);
  if (messages_.contains(activity)) forget(activity);
  std::erase_if(posted_, [&](const Event& event) { return event.activity == activity; });
}

/// Drops messages from or to the node that wait, or are packed, unpacked or summed. The inner World handles messages in
/// transit.
void FrameworkWorld::went_down(Node node) {
  std::vector<Activity> lost;
  for (const auto& [id, message] : messages_) {
    const bool is_here = message.from == node || message.to == node;
    const bool travels = message.open > 0 ? message.inner != 0 : message.stage == Stage::travels;
    if (is_here && !travels) lost.push_back(id);
  }
  for (const Activity id : lost) end(id, true);
}

std::optional<Event> FrameworkWorld::next() {
  for (;;) {
    if (!posted_.empty()) {
      const Event event = posted_.front();
      posted_.pop_front();
      return event;
    }
    const std::optional<Event> event = inner_.next();
    if (!event) return std::nullopt;
    if (event->kind == Event::Kind::host_down) went_down(event->node);
    if (event->kind == Event::Kind::host_down || event->kind == Event::Kind::host_up) return event;
    if (const auto station = station_at_.find(event->activity); station != station_at_.end()) {
      const std::size_t which = station->second;
      station_at_.erase(station);
      ring(stations_[which]);
      continue;
    }
    const auto found = message_of_.find(event->activity);
    if (found == message_of_.end()) return event;
    const Activity id = found->second;
    message_of_.erase(found);
    FrameworkMessage& message = messages_.at(id);
    message.inner = 0;
    if (event->kind == Event::Kind::failed) {
      end(id, true);
    } else if (message.stage == Stage::waits) {
      begin(id, is_up(message.from) ? Stage::packs : Stage::travels);
    } else {
      stage_done(id);
    }
  }
}

}  // namespace dadsim::world

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <simgrid/kernel/Timer.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "sim/child/loaded_cluster.hpp"
#include "sim/child/timing_messages.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/network/network_use.hpp"
#include "sim/platform.hpp"
#include "sim/process/child_process.hpp"
#include "sim/process/clock.hpp"
#include "sim/process/simgrid_output.hpp"
#include "sim/simulator.hpp"
#include "sim/step/compute_time.hpp"
#include "sim/step/jitter.hpp"
#include "sim/world.hpp"
#include "step/step.hpp"
#include "step/timing_bytes.hpp"
#include "support/diagnostics.hpp"
#include "support/pattern.hpp"
#include "support/wire.hpp"
#include "world/event_bytes.hpp"
#include "world/world.hpp"

namespace dadsim::sim {
namespace {

using world::Activity;
using world::Event;
using world::Node;
using world::Work;

/// Times collectives of some nodes of a cluster by time_collectives, each as if its nodes were alone on the network at
/// its beginning. Equal collectives are timed once. For a set of nodes, the first collective is on cold connections.
class NodeCollectives {
 public:
  explicit NodeCollectives(const Cluster& cluster) : cluster_(cluster) {}

  struct TimedCollective {
    double seconds = 0;
    world::CollectiveTraffic traffic;
  };
  TimedCollective time(const world::Collective& what);
  /// Adds the messages and the loads of links of all calls of time(), in a run of `seconds`.
  void add_use(double seconds, step::NetworkUse& use) const;
  /// Returns whether a link that fits `pattern` is on a route between two of the nodes. With very many nodes, every
  /// link counts as such.
  bool cross(const std::vector<world::Node>& nodes, const std::string& pattern);

 private:
  using Key = std::tuple<std::vector<world::Node>, step::CollectiveKind, double, std::string>;
  std::vector<std::string> hosts_of(const std::vector<world::Node>& nodes) const;

  const Cluster cluster_;
  double messages_ = 0;
  std::map<std::string, step::LinkUse> carried_;  ///< in all calls of time(), by link; busy_share is in seconds
  std::map<Key, TimedCollectives> known_;         ///< one collective each
  std::set<std::vector<world::Node>> warm_;       ///< sets of nodes whose connections are warm
  std::map<std::vector<world::Node>, std::set<std::string>> links_;
};

std::vector<std::string> NodeCollectives::hosts_of(const std::vector<Node>& nodes) const {
  std::vector<std::string> hosts;
  for (const Node node : nodes) {
    const auto i = static_cast<std::size_t>(node);
    hosts.push_back(i < cluster_.hosts.size() ? cluster_.hosts[i] : cluster_.aggregator_host);
  }
  return hosts;
}

NodeCollectives::TimedCollective NodeCollectives::time(const world::Collective& what) {
  const auto [known, added] = known_.try_emplace({what.nodes, what.kind, what.bytes, what.algorithm});
  if (added) {
    Cluster ranks = cluster_;
    ranks.hosts = hosts_of(what.nodes);
    ranks.devices.clear();
    ranks.numbers.clear();
    for (const Node node : what.nodes) {
      const auto i = static_cast<std::size_t>(node);
      ranks.devices.push_back(i < cluster_.devices.size() ? cluster_.devices[i] : cluster_.aggregator_device);
    }
    ranks.aggregator_host.clear();
    ranks.causes = false;
    CollectiveJob job{.request = {}, .algorithm = what.algorithm, .traffic = true};
    job.request.kind = what.kind;
    const std::string& usual = cluster_.framework.all_reduce;
    if (what.kind == step::CollectiveKind::all_reduce && what.algorithm == "auto" && !usual.empty())
      job.algorithm = usual;
    job.request.bytes = {what.bytes};
    known->second = time_collectives(ranks, std::span(&job, 1));
  }
  const CollectiveTiming& timing = known->second.timings.at(0);
  messages_ += timing.messages;
  for (const step::LinkUse& one : known->second.network.link_use) {
    const auto [carried, is_first] = carried_.try_emplace(one.link, one);
    if (is_first) carried->second.bytes_per_step = carried->second.busy_share = 0;
    carried->second.bytes_per_step += one.bytes_per_step;
    carried->second.busy_share += one.busy_share * timing.seconds;
  }
  const bool cold = warm_.insert(what.nodes).second;
  return {cold ? timing.cold_seconds : timing.seconds, {timing.sent, timing.received}};
}

void NodeCollectives::add_use(double seconds, step::NetworkUse& use) const {
  use.messages += messages_;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < use.link_use.size(); ++i) places[use.link_use[i].link] = i;
  for (const auto& [name, carried] : carried_) {
    const auto [place, added] = places.try_emplace(name, use.link_use.size());
    if (added) {
      use.link_use.push_back(carried);
      use.link_use.back().bytes_per_step = use.link_use.back().busy_share = 0;
      ++use.links_used;
    }
    use.link_use[place->second].bytes_per_step += carried.bytes_per_step;
    if (seconds > 0) use.link_use[place->second].busy_share += carried.busy_share / seconds;
  }
  keep_busiest(use.link_use);
}

bool NodeCollectives::cross(const std::vector<Node>& nodes, const std::string& pattern) {
  constexpr std::size_t kMostNodes = 100;  // largest number of nodes whose routes are looked up
  if (nodes.size() > kMostNodes) return true;
  const auto [known, added] = links_.try_emplace(nodes);
  if (added) {
    for (const RouteLink& link : platform_routes(cluster_.platform, hosts_of(nodes))) known->second.insert(link.link);
  }
  return std::ranges::any_of(known->second, [&](const std::string& name) { return fits(pattern, name); });
}

/// Orders of the parent to the World: the first byte of each order in a message. Orders are sent in batches. The child
/// executes a batch, simulates until an event occurs, and answers with the events.
enum class Order : std::uint8_t {
  compute,  ///< followed by activity, node, seconds
  send,     ///< followed by activity, from, to, bytes
  timer,    ///< followed by activity, seconds
  cancel,   ///< followed by activity
  host,     ///< followed by node, up
  link,     ///< followed by name, up
  links,    ///< requests the names of the links; alone in its batch
  finish,   ///< ends the simulation; answered with the description of the network
};
constexpr Order last_of(Order /*type*/) { return Order::finish; }

/// Topic of an answer of the child: its first byte.
enum class OrderAnswer : std::uint8_t {
  events,   ///< followed by a count; then kind, activity, node and date of each event
  links,    ///< followed by a count; then the names
  network,  ///< followed by the description; the last answer
  failure,  ///< followed by the text of an error; the last answer
};
constexpr OrderAnswer last_of(OrderAnswer /*type*/) { return OrderAnswer::failure; }

/// Returns whether LinkSharing should share the links instead of SimGrid. Results are equal if all lines are TCP,
/// nothing varies and there is no other traffic. LinkSharing is faster for a federation of very many sites, since
/// SimGrid examines all transfers whenever one begins or ends.
bool is_large_federation(const Cluster& cluster, const Interconnect& network) {
  constexpr std::size_t kMany = 256;  // least nodes of a federation that counts as large
  if (cluster.hosts.size() < kMany || network.varies() || !cluster.platform.background.empty()) return false;
  const auto* federation = std::get_if<spec::FederationSpec>(&cluster.platform.what);
  if (federation == nullptr) return false;
  const auto is_tcp = [](const spec::LinkSpec& link) {
    return !(link.bandwidth > 0) || link.transport == spec::Transport::tcp;
  };
  const auto are_tcp = [&](const spec::FederationSpec::Sites& sites) { return is_tcp(sites.up) && is_tcp(sites.down); };
  return is_tcp(federation->hub_up) && is_tcp(federation->hub_down) && std::ranges::all_of(federation->sites, are_tcp);
}

/// Serves a SimulatedWorld in the child: executes orders until the last.
void serve_world(const Cluster& cluster, const MessageSink& sink, const MessageSource& source);

using simgrid::kernel::timer::Timer;

class WorldServer {
 public:
  WorldServer(LoadedCluster& loaded, const MessageSink& sink, const MessageSource& source)
      : loaded_(loaded),
        network_(*loaded.network),
        connections_(*loaded.connections),
        sink_(sink),
        source_(source),
        graph_(now()),
        up_(loaded.nodes.hosts.size(), true),
        at_node_(loaded.nodes.hosts.size()),
        senders_(loaded.nodes.hosts.size()) {
    connections_.on_arrival([this](const Message& message, double date, const Holdup&, Outbox&) {
      const auto activity = Activity{message.operation};
      graph_.end(message.event, date);
      const auto found = underway_.find(activity);
      if (found == underway_.end()) return;
      if (date <= now()) {
        done(activity);
      } else {
        found->second.timer = Timer::set(date, [this, activity] { done(activity); });
      }
    });
  }

  /// Serves the parent, in the driver's actor.
  void serve() {
    for (;;) {
      if (!carry_out(source_.next())) break;
      if (std::exchange(answered_, false)) continue;
      while (events_.empty()) {
        waits_ = true;
        wake_->acquire();
      }
      WireWriter message;
      message << OrderAnswer::events << now() << events_;
      events_.clear();
      sink_.send(message.bytes());
    }
    step::NetworkUse use;
    use.fidelity = "message";
    describe_links(network_, use);
    LinkUseCount count;
    count.add(network_.take_loads(), now(), 1);
    count.describe(network_, use);
    use.messages = static_cast<double>(connections_.messages());
    WireWriter message;
    message << OrderAnswer::network << use;
    sink_.send(message.bytes());
  }

 private:
  struct OrderUnderway {
    Node from = -1, to = -1;  ///< nodes of the activity; equal for a computation, −1 for a timer
    bool message = false;
    Timer* timer = nullptr;  ///< timer that ends the activity
    sg4::ActorPtr actor{};   ///< actor that computes, if speeds change over time
  };
  /// An actor that sends from a host. SimGrid takes the host of the actor that puts a message as its sender.
  struct Sender {
    sg4::SemaphorePtr wake;  ///< null until first used
    std::vector<Message> waiting;
    Outbox outbox;
  };

  /// Executes a batch of orders. Returns false after the last.
  bool carry_out(const std::string& batch) {
    WireReader order(batch);
    std::uint64_t count = 0;
    order >> count;
    for (; count > 0; --count) {
      const auto what = order.read<Order>();
      Activity activity = 0;
      Node from = 0;
      Node to = 0;
      double amount = 0;
      bool up = false;
      std::string name;
      switch (what) {
        case Order::compute:
          order >> activity >> from >> amount;
          compute(activity, from, amount);
          break;
        case Order::send:
          order >> activity >> from >> to >> amount;
          send(activity, from, to, amount);
          break;
        case Order::timer:
          order >> activity >> amount;
          at_date(activity, now() + amount, {});
          break;
        case Order::cancel:
          order >> activity;
          cancel(activity);
          break;
        case Order::host:
          order >> from >> up;
          set_host(from, up);
          break;
        case Order::link:
          order >> name >> up;
          set_link(name, up);
          break;
        case Order::links:
          tell_links();
          break;
        case Order::finish:
          return false;
      }
    }
    return true;
  }

  // ---- events to report ----

  void tell(Event::Kind kind, Activity activity, Node node = -1) {
    events_.push_back({.kind = kind, .activity = activity, .node = node, .at = now()});
    if (std::exchange(waits_, false)) wake_->release();
  }
  void done(Activity activity) {
    forget(activity);
    tell(Event::Kind::done, activity);
  }
  void failed(Activity activity) {
    forget(activity);
    tell(Event::Kind::failed, activity);
  }

  // ---- activities under way ----

  OrderUnderway& remember(Activity activity, OrderUnderway one) {
    if (one.from >= 0) at_node_[index(one.from)].insert(activity);
    if (one.to >= 0) at_node_[index(one.to)].insert(activity);
    return underway_[activity] = std::move(one);
  }
  void forget(Activity activity) {
    const auto found = underway_.find(activity);
    if (found == underway_.end()) return;
    if (found->second.from >= 0) at_node_[index(found->second.from)].erase(activity);
    if (found->second.to >= 0) at_node_[index(found->second.to)].erase(activity);
    underway_.erase(found);
  }
  /// Ends an activity early, as failed.
  void cut_off(Activity activity) {
    const OrderUnderway& one = underway_.at(activity);
    if (one.timer != nullptr) one.timer->remove();
    const sg4::ActorPtr actor = one.actor;
    failed(activity);
    if (actor) actor->kill();  // other actors may act before this returns
  }

  // ---- orders ----

  void at_date(Activity activity, double date, OrderUnderway one) {
    OrderUnderway& own = remember(activity, std::move(one));
    if (date <= now()) {
      done(activity);
    } else {
      own.timer = Timer::set(date, [this, activity] { done(activity); });
    }
  }

  void compute(Activity activity, Node node, double seconds) {
    OrderUnderway one{.from = node, .to = node};
    if (!is_up(node)) {
      failed(activity);
    } else if (!network_.varies()) {
      at_date(activity, now() + seconds, one);
    } else {
      sg4::Host* host = loaded_.nodes.hosts[index(node)];
      remember(activity, one);
      const sg4::ActorPtr actor = compat::add_actor("computing", host, [this, activity, host, seconds] {
        sg4::this_actor::execute(seconds * host->get_speed());
        done(activity);
      });
      if (const auto found = underway_.find(activity); found != underway_.end()) found->second.actor = actor;
    }
  }

  void send(Activity activity, Node from, Node to, double bytes) {
    if (!is_up(from) || !is_up(to)) {
      failed(activity);
      return;
    }
    if (from == to) {
      at_date(activity, now(), {});
      return;
    }
    const std::int32_t path = network_.path(loaded_.nodes.hosts[index(from)], loaded_.nodes.hosts[index(to)]);
    if (!links_down_.empty() && crosses(path, links_down_)) {
      failed(activity);
      return;
    }
    remember(activity, {.from = from, .to = to, .message = true});
    connections_.open(from, to);
    const Message message{
        .operation = static_cast<std::int32_t>(activity), .from = from, .to = to, .bytes = bytes, .ready = now()};
    if (network_[path].use.transport == spec::Transport::tcp) {
      hand_over(message, tcp_outbox_);
    } else {
      by_host_of(message);
    }
  }

  void hand_over(const Message& message, Outbox& outbox) {
    if (connections_.rendezvous()) {
      connections_.post(message.from, message.to, now());
      if (!underway_.contains(message.operation)) return;  // other actors have ended the activity meanwhile
    }
    connections_.send(message, graph_, EventGraph::kStart, outbox);
  }

  void by_host_of(const Message& message) {
    Sender& sender = senders_[index(message.from)];
    sender.waiting.push_back(message);
    if (!sender.wake) {
      sender.wake = sg4::Semaphore::create(0);
      compat::add_actor("sender", loaded_.nodes.hosts[index(message.from)], [this, &sender] {
        guarded([&] {
          for (;;) {
            sender.wake->acquire();
            for (const Message& one : std::exchange(sender.waiting, {})) {
              if (underway_.contains(one.operation)) hand_over(one, sender.outbox);
            }
          }
        });
      })->daemonize();
    }
    sender.wake->release();
  }

  void cancel(Activity activity) {
    const auto found = underway_.find(activity);
    if (found == underway_.end()) {
      std::erase_if(events_, [activity](const Event& event) { return event.activity == activity; });
      return;
    }
    const OrderUnderway one = found->second;
    if (one.timer != nullptr) one.timer->remove();
    forget(activity);
    if (one.actor) one.actor->kill();
    if (one.message && one.timer == nullptr) reset(one.from, one.to);
  }

  /// Resets a connection: its messages fail, including those in flight.
  void reset(Node from, Node to) {
    const bool fewer_there = at_node_[index(to)].size() < at_node_[index(from)].size();
    const std::set<Activity>& some = at_node_[index(fewer_there ? to : from)];
    std::vector<Activity> lost;
    std::ranges::copy_if(some, std::back_inserter(lost), [&](Activity activity) {
      const OrderUnderway& one = underway_.at(activity);
      return one.message && one.from == from && one.to == to;
    });
    // Makes all messages fail first, because other actors act while the connection is cut off.
    for (const Activity activity : lost) cut_off(activity);
    connections_.reset(from, to);
  }

  void set_host(Node node, bool up) {
    if (is_up(node) == up) return;
    up_[index(node)] = up;
    tell(up ? Event::Kind::host_up : Event::Kind::host_down, 0, node);
    if (up) return;
    const std::vector<Activity> lost(at_node_[index(node)].begin(), at_node_[index(node)].end());
    for (const Activity activity : lost) {
      if (underway_.contains(activity)) cut_off(activity);
    }
    for (const Node peer : connections_.connected(node)) {
      connections_.reset(node, peer);
      connections_.reset(peer, node);
    }
  }

  void set_link(const std::string& pattern, bool up) {
    const std::set<std::string> names = links_that_fit(pattern);
    if (names.empty()) fail(fmt::format("there is no link '{}' in the platform", pattern));
    if (up) {
      for (const std::string& name : names) links_down_.erase(name);
      return;
    }
    std::set<std::pair<Node, Node>> cut;
    for (const auto& [activity, one] : underway_) {
      if (!one.message) continue;
      const std::int32_t path = network_.path(loaded_.nodes.hosts[index(one.from)], loaded_.nodes.hosts[index(one.to)]);
      if (crosses(path, names)) cut.emplace(one.from, one.to);
    }
    links_down_.insert(names.begin(), names.end());
    for (const auto& [from, to] : cut) reset(from, to);
  }

  void tell_links() {
    std::vector<std::string> names;
    for (const sg4::Link* link : loaded_.engine->get_all_links()) names.push_back(link->get_name());
    std::ranges::sort(names);
    WireWriter message;
    message << OrderAnswer::links << names;
    sink_.send(message.bytes());
    answered_ = true;
  }

  std::set<std::string> links_that_fit(const std::string& pattern) const {
    std::set<std::string> names;
    if (pattern.find('*') == std::string::npos) {
      if (sg4::Link::by_name_or_null(pattern) != nullptr) names.insert(pattern);
      return names;
    }
    for (const sg4::Link* link : loaded_.engine->get_all_links()) {
      if (fits(pattern, link->get_name())) names.insert(link->get_name());
    }
    return names;
  }

  bool crosses(std::int32_t path, const std::set<std::string>& names) const {
    return std::ranges::any_of(network_[path].links,
                               [&](std::int32_t link) { return names.contains(network_.link(link).name); });
  }

  [[noreturn]] void fail(const std::string& words) const {
    WireWriter message;
    message << OrderAnswer::failure << words;
    sink_.send(message.bytes());
    std::_Exit(1);
  }

  static std::size_t index(Node node) { return static_cast<std::size_t>(node); }
  bool is_up(Node node) const { return up_[index(node)]; }

  LoadedCluster& loaded_;
  Interconnect& network_;
  Connections& connections_;
  const MessageSink& sink_;
  const MessageSource& source_;
  EventGraph graph_;
  std::vector<bool> up_;
  std::set<std::string> links_down_;
  std::unordered_map<Activity, OrderUnderway> underway_;
  std::vector<std::set<Activity>> at_node_;  ///< activities of each node: at the node, from it or to it
  std::vector<Sender> senders_;              ///< sender of each node
  Outbox tcp_outbox_;                        ///< passed to TCP connections, which do not use it
  std::vector<Event> events_;
  bool waits_ = false;
  bool answered_ = false;  ///< true: the batch has been answered
  sg4::SemaphorePtr wake_ = sg4::Semaphore::create(0);
};

void serve_world(const Cluster& cluster, const MessageSink& sink, const MessageSource& source) {
  LoadedCluster loaded(cluster, sink);
  loaded.connections->number_aggregator(static_cast<std::int32_t>(loaded.nodes.workers),
                                        static_cast<std::int32_t>(loaded.nodes.workers));
  if (is_large_federation(cluster, *loaded.network)) loaded.connections->share_by_ourselves();
  loaded.act(sink, [&] {
    start_background(cluster.platform, *loaded.engine);
    WorldServer(loaded, sink, source).serve();
  });
}

/// Seconds of the nodes' computations, by device.
class NodeSpeeds {
 public:
  explicit NodeSpeeds(const Cluster& cluster)
      : jitter_(cluster.network.jitter, cluster.seed, cluster.hosts.size() + 1),
        jitters_(!(cluster.network.jitter == spec::JitterSpec{})) {
    for (const spec::DeviceSpec& device : cluster.devices) add(device);
    if (!cluster.aggregator_host.empty()) add(cluster.aggregator_device);
  }

  double seconds(Node node, const Work& work) {
    double seconds = work.seconds;
    for (const Work::Piece& piece : work.pieces) seconds += piece.times * seconds_of(node, piece);
    seconds *= slowdown_.at(static_cast<std::size_t>(node));
    return (jitters_ ? seconds * mean_slowdown(node, work) : seconds) + work.group_seconds;
  }

  std::size_t nodes() const { return slowdown_.size(); }

 private:
  /// Adds a node's device. Each kind of device is computed and stored once, because there may be 100,000 devices.
  void add(const spec::DeviceSpec& device) {
    auto kind = std::ranges::find(kinds_, device.name, &spec::DeviceSpec::name);
    if (kind == kinds_.end()) {
      kind = kinds_.insert(kinds_.end(), device);
      kind->slowdown = 1;
    }
    kind_.push_back(static_cast<std::size_t>(kind - kinds_.begin()));
    slowdown_.push_back(device.slowdown);
  }

  double seconds_of(Node node, const Work::Piece& piece) {
    const std::size_t kind = kind_.at(static_cast<std::size_t>(node));
    const spec::DeviceSpec& device = kinds_[kind];
    const auto [position, added] =
        known_.try_emplace({piece.schedule.get(), kind, piece.entry, piece.first, piece.behind}, 0.0);
    if (!added) return position->second;
    kept_.push_back(piece.schedule);  // keeps the schedule alive, so that no other schedule gets its address
    for (std::size_t i = piece.first; i < piece.behind; ++i) {
      const auto* task = std::get_if<schedule::ComputeTask>(&piece.schedule->tasks.at(i).what);
      if (task == nullptr || task->who != piece.who) continue;
      position->second += seconds_in_schedule(device, *piece.schedule, *task, piece.entry);
    }
    return position->second;
  }

  /// Returns the mean slowdown over the work's steps, each of which has a separate factor.
  double mean_slowdown(Node node, const Work& work) const {
    const std::int64_t first = std::max<std::int64_t>(0, work.step);
    double sum = 0;
    for (std::int64_t step = first; step < first + work.steps; ++step) {
      sum += jitter_.of(static_cast<std::size_t>(node), static_cast<std::size_t>(step));
    }
    return sum / static_cast<double>(work.steps);
  }

  std::vector<spec::DeviceSpec> kinds_;  ///< kinds of device at nominal speed
  std::vector<std::size_t> kind_;        ///< kind of each node's device
  std::vector<double> slowdown_;         ///< slowdown of each node
  Jitter jitter_;
  bool jitters_;
  std::map<std::tuple<const schedule::Schedule*, std::size_t, std::size_t, std::size_t, std::size_t>, double> known_;
  std::vector<std::shared_ptr<const schedule::Schedule>> kept_;
};

class ServedWorld final : public SimulatedWorld {
 public:
  explicit ServedWorld(const Cluster& cluster)
      : speeds_(cluster),
        collectives_(cluster),
        up_(speeds_.nodes(), true),
        child_(
            [&cluster](const MessageSink& sink, const MessageSource& source) { serve_world(cluster, sink, source); }) {}

  Activity compute(Node node, const Work& work) override {
    orders_ << Order::compute << begin() << node << speeds_.seconds(node, work);
    return last_;
  }
  Activity send(Node from, Node to, double bytes) override {
    orders_ << Order::send << begin() << from << to << bytes;
    return last_;
  }
  Activity collective(const world::Collective& what, world::CollectiveTraffic& traffic) override {
    NodeCollectives::TimedCollective timed = collectives_.time(what);
    traffic = std::move(timed.traffic);
    const Activity activity = timer(timed.seconds);
    among_[activity] = what.nodes;
    const auto is_cut = [&](const std::string& link) { return collectives_.cross(what.nodes, link); };
    if (!std::ranges::all_of(what.nodes, [this](Node node) { return is_up(node); }) ||
        std::ranges::any_of(links_down_, is_cut)) {
      cut_off(activity);
    }
    return activity;
  }
  Activity timer(double seconds) override {
    orders_ << Order::timer << begin() << seconds;
    return last_;
  }
  void cancel(Activity activity) override {
    // Drops events of the activity that have already been reported.
    std::erase_if(events_, [&](const Event& event) { return event.activity == activity; });
    orders_ << Order::cancel << activity;
    ++ordered_;
    if (underway_ > 0) --underway_;
  }
  void set_host(Node node, bool up) override {
    orders_ << Order::host << node << up;
    ++ordered_;
    if (up_[static_cast<std::size_t>(node)] != up) ++reported_;
    up_[static_cast<std::size_t>(node)] = up;
  }
  void set_link(const std::string& link, bool up) override {
    orders_ << Order::link << link << up;
    ++ordered_;
    if (up) {
      links_down_.erase(link);
      return;
    }
    links_down_.insert(link);
    cut_off_where([&](const std::vector<Node>& nodes) { return collectives_.cross(nodes, link); });
  }

  bool is_up(Node node) const override { return up_[static_cast<std::size_t>(node)]; }
  double seconds_of(Node node, const Work& work) override { return speeds_.seconds(node, work); }

  std::optional<Event> next() override {
    if (events_.empty()) {
      if (underway_ == 0 && reported_ == 0) return std::nullopt;
      ask();
    }
    const Event event = events_.front();
    events_.pop_front();
    if (event.kind == Event::Kind::done || event.kind == Event::Kind::failed) {
      --underway_;
      among_.erase(event.activity);
    } else {
      --reported_;
    }
    now_ = event.at;
    if (event.kind == Event::Kind::host_down) {
      cut_off_where(
          [&](const std::vector<Node>& nodes) { return std::ranges::find(nodes, event.node) != nodes.end(); });
    }
    return event;
  }
  double now() const override { return now_; }

  std::vector<std::string> links() override {
    if (ordered_ > 0 || last_ > 0) throw std::logic_error("links() must be called first");
    orders_ << Order::links;
    ++ordered_;
    post();
    const std::string answer = receive();
    WireReader message(answer);
    static_cast<void>(message.read<OrderAnswer>());
    return message.read<std::vector<std::string>>();
  }

  step::NetworkUse finish() override {
    orders_ << Order::finish;
    ++ordered_;
    post();
    for (;;) {
      const std::string answer = receive();
      WireReader message(answer);
      if (message.read<OrderAnswer>() != OrderAnswer::network) continue;
      auto use = message.read<step::NetworkUse>();
      collectives_.add_use(now_, use);
      return use;
    }
  }

 private:
  /// Makes a collective fail; the failure is the next event.
  void cut_off(Activity activity) {
    cancel(activity);
    among_.erase(activity);
    ++underway_;
    events_.push_front({.kind = Event::Kind::failed, .activity = activity, .at = now_});
  }
  void cut_off_where(const auto& is_cut) {
    std::vector<Activity> lost;
    for (const auto& [activity, nodes] : among_) {
      if (is_cut(nodes)) lost.push_back(activity);
    }
    for (const Activity activity : lost) cut_off(activity);
  }

  Activity begin() {
    ++underway_;
    ++ordered_;
    return ++last_;
  }

  void post() {
    WireWriter batch;
    batch << ordered_;
    child_.send(batch.bytes() + orders_.bytes());
    orders_ = {};
    ordered_ = 0;
  }

  void ask() {
    post();
    const std::string answer = receive();
    WireReader message(answer);
    static_cast<void>(message.read<OrderAnswer>());
    static_cast<void>(message.read<double>());  // skips the clock value
    for (const Event& event : message.read<std::vector<Event>>()) events_.push_back(event);
  }

  std::string receive() {
    std::optional<std::string> answer = child_.next();
    std::string failure;
    if (answer) {
      WireReader message(*answer), of_cluster(*answer);
      // Reads errors of loading the cluster, which have the form of the timing child's: their topic is a number that no
      // answer has.
      if (of_cluster.read<TimingTopic>() == TimingTopic::failure) {
        of_cluster >> failure;
      } else if (message.read<OrderAnswer>() == OrderAnswer::failure) {
        message >> failure;
      } else {
        return *std::move(answer);
      }
    }
    const ChildOutcome outcome = child_.end();
    failure = failure_of(outcome, std::move(failure));
    if (failure.empty()) failure = "it " + (outcome.complete() ? "ended too soon" : outcome.description());
    throw SimulationError(fmt::format("the simulation failed after {} s of simulated time: {}", now_, failure));
  }

  NodeSpeeds speeds_;
  NodeCollectives collectives_;
  std::map<Activity, std::vector<Node>> among_;  ///< nodes of the collectives in progress
  std::set<std::string> links_down_;             ///< names or patterns of the links that are down
  std::vector<bool> up_;
  ChildProcess child_;
  WireWriter orders_;
  std::uint64_t ordered_ = 0;
  Activity last_ = 0;
  std::int64_t underway_ = 0;  ///< number of activities whose event has not been returned
  std::int64_t reported_ = 0;  ///< number of changes of hosts, each of which has one event
  std::deque<Event> events_;   ///< received events
  double now_ = 0;
};

}  // namespace

std::unique_ptr<SimulatedWorld> simulate_world(const Cluster& cluster) {
  if (cluster.devices.size() != cluster.hosts.size()) {
    throw SimulationError(fmt::format("every worker needs a host and a device, but there are {} hosts and {} devices",
                                      cluster.hosts.size(), cluster.devices.size()));
  }
  return std::make_unique<ServedWorld>(cluster);
}

}  // namespace dadsim::sim

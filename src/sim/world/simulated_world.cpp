#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/child/timing_messages.hpp"
#include "sim/process/failed_child.hpp"
#include "sim/step/compute_time.hpp"
#include "sim/step/jitter.hpp"
#include "sim/world.hpp"
#include "sim/world/orders.hpp"
#include "sim/world/world_server.hpp"
#include "step/timing_bytes.hpp"
#include "support/wire.hpp"
#include "world/event_bytes.hpp"

namespace dadsim::sim {
namespace {

using world::Activity;
using world::Event;
using world::Node;
using world::Work;

/// Seconds of what nodes compute.
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
    return jitters_ ? seconds * mean_slowdown(node, work) : seconds;
  }

  std::size_t nodes() const { return slowdown_.size(); }

 private:
  /// What a kind of device takes is worked out once for all of them, and kept once: there may be 100,000.
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
    kept_.push_back(piece.schedule);  // so that no other comes to lie in its place
    for (std::size_t i = piece.first; i < piece.behind; ++i) {
      const auto* task = std::get_if<schedule::ComputeTask>(&piece.schedule->tasks.at(i).what);
      if (task == nullptr || task->who != piece.who) continue;
      position->second += seconds_in_schedule(device, *piece.schedule, *task, piece.entry);
    }
    return position->second;
  }

  /// Over the steps of the work; each has a factor of its own.
  double mean_slowdown(Node node, const Work& work) const {
    const std::int64_t first = std::max<std::int64_t>(0, work.step);
    double sum = 0;
    for (std::int64_t step = first; step < first + work.steps; ++step) {
      sum += jitter_.of(static_cast<std::size_t>(node), static_cast<std::size_t>(step));
    }
    return sum / static_cast<double>(work.steps);
  }

  std::vector<spec::DeviceSpec> kinds_;  ///< as fast as they are in general
  std::vector<std::size_t> kind_;        ///< per node
  std::vector<double> slowdown_;         ///< per node
  Jitter jitter_;
  bool jitters_;
  std::map<std::tuple<const schedule::Schedule*, std::size_t, std::size_t, std::size_t, std::size_t>, double> known_;
  std::vector<std::shared_ptr<const schedule::Schedule>> kept_;
};

class ServedWorld final : public SimulatedWorld {
 public:
  explicit ServedWorld(const Cluster& cluster)
      : speeds_(cluster),
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
  Activity timer(double seconds) override {
    orders_ << Order::timer << begin() << seconds;
    return last_;
  }
  void cancel(Activity activity) override {
    // What has been told already may lie here.
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
    } else {
      --reported_;
    }
    now_ = event.at;
    return event;
  }
  double now() const override { return now_; }

  std::vector<std::string> links() override {
    if (ordered_ > 0 || last_ > 0) throw std::logic_error("links are asked for first");
    orders_ << Order::links;
    ++ordered_;
    post();
    const std::string answer = receive();
    WireReader message(answer);
    static_cast<void>(message.read<Answer>());
    return message.read<std::vector<std::string>>();
  }

  step::NetworkUse finish() override {
    orders_ << Order::finish;
    ++ordered_;
    post();
    for (;;) {
      const std::string answer = receive();
      WireReader message(answer);
      if (message.read<Answer>() == Answer::network) return message.read<step::NetworkUse>();
    }
  }

 private:
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
    static_cast<void>(message.read<Answer>());
    static_cast<void>(message.read<double>());  // the clock
    for (const Event& event : message.read<std::vector<Event>>()) events_.push_back(event);
  }

  std::string receive() {
    std::optional<std::string> answer = child_.next();
    std::string failure;
    if (answer) {
      WireReader message(*answer), of_cluster(*answer);
      // Who loads the cluster tells of what fails there as the child that times does, by a number that no answer has.
      if (of_cluster.read<TimingTopic>() == TimingTopic::failure) {
        of_cluster >> failure;
      } else if (message.read<Answer>() == Answer::failure) {
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
  std::vector<bool> up_;
  ChildProcess child_;
  WireWriter orders_;
  std::uint64_t ordered_ = 0;
  Activity last_ = 0;
  std::int64_t underway_ = 0;  ///< activities of which no event was taken
  std::int64_t reported_ = 0;  ///< changes of hosts, of which there is an event each
  std::deque<Event> events_;   ///< those that are here
  double now_ = 0;
};

}  // namespace

std::unique_ptr<SimulatedWorld> simulate_world(const Cluster& cluster) {
  if (cluster.devices.size() != cluster.hosts.size()) {
    throw SimulationError(fmt::format("{} hosts and {} devices; every worker needs one of each", cluster.hosts.size(),
                                      cluster.devices.size()));
  }
  return std::make_unique<ServedWorld>(cluster);
}

}  // namespace dadsim::sim

#include "sim/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <variant>

#include "sim/child/loaded_cluster.hpp"
#include "sim/child/timing_messages.hpp"
#include "sim/network/rank_layout.hpp"
#include "sim/platform.hpp"
#include "sim/process/simgrid_output.hpp"
#include "sim/step/collective_choice.hpp"
#include "sim/step/collective_layouts.hpp"
#include "sim/step/collective_requests.hpp"
#include "sim/step/compute_time.hpp"
#include "sim/step/step_semantics.hpp"
#include "support/human.hpp"

namespace dadsim::sim {
namespace {

using step::StepOperations;

struct TooMany {};

std::string name_of(const schedule::Task& task, const char* what, const std::string& how = {}) {
  std::string name = task.layer.empty() ? std::string(what) : fmt::format("{} {}", task.layer, what);
  if (!how.empty()) name += fmt::format(" ({})", how);
  return name;
}

/// Writes the operations of every node, one task after the other.
class OperationWriter {
 public:
  OperationWriter(const schedule::Schedule& schedule, const collectives::RankLayout& layout, const Nodes& cluster)
      : schedule_(schedule),
        parts_(schedule, cluster.workers),
        layouts_(schedule, layout),
        measured_(cluster.devices, schedule) {
    result_.workers = schedule.workers;
    result_.nodes.resize(parts_.nodes());
    streams_.resize(parts_.nodes());
    lines_.resize(parts_.nodes() * parts_.lines());
    copies_.resize(parts_.nodes());
    through_.resize(schedule.tasks.size());
    for (std::size_t node = 0; node < parts_.nodes(); ++node) {
      result_.nodes[node].host = cluster.hosts[parts_.host_index(node)]->get_name();
    }
  }

  StepOperations write() {
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const schedule::Task& task = schedule_.tasks[i];
      result_.tasks.emplace_back();
      if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) {
        write_computation(i, *compute);
      } else if (const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what)) {
        write_collective(i, *collective);
      } else {
        write_wait(i, std::get<schedule::WaitTask>(task.what));
      }
    }
    return std::move(result_);
  }

 private:
  using Operations = std::vector<std::int32_t>;

  std::int32_t add(std::size_t node, StepOperations::Operation operation) {
    if (++count_ > kMostOperations) throw TooMany();
    std::vector<StepOperations::Operation>& all = result_.nodes[node].operations;
    all.push_back(std::move(operation));
    return static_cast<std::int32_t>(all.size() - 1);
  }

  void write_computation(std::size_t i, const schedule::ComputeTask& compute) {
    const schedule::Task& task = schedule_.tasks[i];
    result_.tasks[i].name = name_of(task, to_string(compute.phase));
    for (std::size_t node = 0; node < parts_.nodes(); ++node) {
      if (!parts_.concerns(task, node)) continue;
      const double seconds = measured_.seconds(parts_.host_index(node), compute, parts_.entry(node));
      StepOperations::Operation operation;
      operation.task = static_cast<std::int32_t>(i);
      operation.seconds = seconds;
      operation.after = streams_[node];
      if (compute.copy == schedule::HostCopy::none) {
        streams_[node] = {add(node, std::move(operation))};
      } else {
        write_copy(node, compute.copy, std::move(operation));
      }
    }
  }

  /// Writes a copy between device and host, in parallel with the compute stream. It waits for the last copy in the same
  /// direction. A copy back also waits for the copies to the host.
  void write_copy(std::size_t node, schedule::HostCopy copy, StepOperations::Operation operation) {
    auto& [there, back, launched] = copies_[node];
    const bool leaves = copy == schedule::HostCopy::to_host || copy == schedule::HostCopy::wait_to_host;
    const bool launches = copy == schedule::HostCopy::launch || copy == schedule::HostCopy::wait_launch;
    Operations& line = leaves ? there : launches ? launched : back;
    operation.after.insert(operation.after.end(), line.begin(), line.end());
    if (copy == schedule::HostCopy::from_host)
      operation.after.insert(operation.after.end(), there.begin(), there.end());
    const bool waits = copy == schedule::HostCopy::wait_to_host || copy == schedule::HostCopy::wait_from_host ||
                       copy == schedule::HostCopy::wait_launch;
    if (waits) operation.kind = StepOperations::Kind::meet;
    (waits ? streams_[node] : line) = {add(node, std::move(operation))};
  }

  void write_collective(std::size_t i, const schedule::CollectiveTask& collective) {
    const schedule::Task& task = schedule_.tasks[i];
    StepOperations::Task& written = result_.tasks[i];
    written.name =
        name_of(task, to_string(collective.kind), step::is_star(collective.kind) ? "" : collective.algorithm);
    written.collective = true;
    written.kind = collective.kind;
    const std::shared_ptr<const CollectiveLayout> laid_out = layouts_.of(task);
    const collectives::Rounds& rounds = *laid_out->rounds;
    for (const collectives::RankGroup& group : laid_out->groups) {
      if (!step::is_star(collective.kind)) written.groups.emplace_back(group.ranks.begin(), group.ranks.end());
    }
    through_[i].assign(parts_.nodes(), -1);
    for (std::size_t node = 0; node < parts_.nodes(); ++node) {
      if (laid_out->group_of[node] < 0) continue;
      write_part(i, node, rounds, parts_.issues(task, node) ? uplink_bytes(collective, node) : 0);
    }
    tags_ += static_cast<std::int32_t>(rounds.count());
  }

  double uplink_bytes(const schedule::CollectiveTask& collective, std::size_t node) const {
    return collective.kind == step::CollectiveKind::broadcast ? collective.bytes[0]
                                                              : collective.bytes[parts_.entry(node)];
  }

  /// Writes a node's rounds of a collective. With n rounds in flight, a node enters round r once it has finished round
  /// r − n. The last operation waits for all messages that the node has sent and received.
  void write_part(std::size_t i, std::size_t node, const collectives::Rounds& rounds, double bytes) {
    const schedule::Task& task = schedule_.tasks[i];
    const auto number = static_cast<std::int32_t>(i);
    StepOperations::Part part;
    part.task = number;
    part.bytes = bytes;
    // Begins for a node that only receives at the start. Other nodes begin when they reach the collective, after the
    // previous one on its line.
    std::int32_t& line = lines_[node * parts_.lines() + line_of(task)];
    if (parts_.issues(task, node)) {
      part.after = streams_[node];
      if (line > 0) part.after.push_back(line - 1);
    }
    part.first = static_cast<std::int32_t>(result_.nodes[node].operations.size());
    std::vector<std::int32_t> met;  // operation that ends a round, for each round with messages
    Operations all;
    std::vector<collectives::Transfer> sends, receives;
    const auto in_flight = static_cast<std::size_t>(std::max<std::int64_t>(1, rounds.pace().in_flight));
    const auto rank = static_cast<collectives::Rank>(node);
    for (std::int64_t round = 0; round < rounds.count(); ++round) {
      sends.clear();
      receives.clear();
      rounds.sends(rank, round, sends);
      rounds.receives(rank, round, receives);
      if (sends.empty() && receives.empty()) continue;
      const Operations before = met.size() < in_flight ? part.after : Operations{met[met.size() - in_flight]};
      Operations of_round;
      const auto message = [&](StepOperations::Kind kind, const collectives::Transfer& transfer) {
        StepOperations::Operation operation;
        operation.kind = kind;
        operation.task = number;
        operation.bytes = transfer.bytes;
        operation.peer = transfer.peer;
        operation.tag = tags_ + static_cast<std::int32_t>(round);
        if (kind == StepOperations::Kind::send) operation.after = before;
        of_round.push_back(add(node, std::move(operation)));
      };
      for (const collectives::Transfer& transfer : receives) message(StepOperations::Kind::receive, transfer);
      for (const collectives::Transfer& transfer : sends) message(StepOperations::Kind::send, transfer);
      // Waits for earlier operations at a node that only receives; a sender has already done so.
      if (sends.empty()) of_round.insert(of_round.end(), before.begin(), before.end());
      met.push_back(add(node, {.kind = StepOperations::Kind::meet, .task = number, .after = std::move(of_round)}));
    }
    const std::size_t last_ones = std::min(met.size(), in_flight);
    all.assign(met.end() - static_cast<std::ptrdiff_t>(last_ones), met.end());
    if (all.empty()) all = part.after;
    part.last = add(node, {.kind = StepOperations::Kind::meet, .task = number, .after = std::move(all)});
    through_[i][node] = part.last;
    if (parts_.issues(task, node)) line = part.last + 1;
    result_.nodes[node].parts.push_back(std::move(part));
  }

  void write_wait(std::size_t i, const schedule::WaitTask& wait) {
    const schedule::Task& task = schedule_.tasks[i];
    const auto collective = static_cast<std::size_t>(wait.collective);
    result_.tasks[i].name = "wait for " + result_.tasks[collective].name;
    for (std::size_t node = 0; node < parts_.nodes(); ++node) {
      if (!parts_.concerns(task, node) || through_[collective][node] < 0) continue;
      Operations after = streams_[node];
      after.push_back(through_[collective][node]);
      streams_[node] = {add(
          node, {.kind = StepOperations::Kind::meet, .task = static_cast<std::int32_t>(i), .after = std::move(after)})};
    }
  }

  std::size_t line_of(const schedule::Task& task) const { return parts_.lines() == 1 ? 0 : Parts::line_of(task); }

  const schedule::Schedule& schedule_;
  Parts parts_;
  CollectiveLayouts layouts_;
  ComputeTime measured_;
  StepOperations result_;
  std::vector<Operations> streams_;  ///< last operations of the compute stream, per node
  struct OfHost {
    Operations there, back, launched;  ///< last copies to the host, last copies from the host, and last launches
  };
  std::vector<OfHost> copies_;                      ///< last copies of each node
  std::vector<std::int32_t> lines_;                 ///< end of the last collective + 1, per node and line; 0: none
  std::vector<std::vector<std::int32_t>> through_;  ///< end of a collective, per task and node; −1: the node takes no
                                                    ///< part
  std::int32_t tags_ = 0;
  std::size_t count_ = 0;
};

void tell(const StepOperations& operations, const MessageSink& sink) {
  WireWriter message = about(TimingTopic::network);
  message << operations;
  sink.send(message.bytes());
}

[[noreturn]] void write_operations(const Cluster& cluster, const schedule::Schedule& asked, const MessageSink& sink) {
  LoadedCluster loaded(cluster, sink);
  loaded.act(sink, [&] {
    const auto& hosts = loaded.nodes.hosts;
    const std::vector<simgrid::s4u::Host*> workers(hosts.begin(),
                                                   hosts.begin() + static_cast<std::ptrdiff_t>(loaded.nodes.workers));
    const collectives::RankLayout layout =
        workers_meet(std::span(&asked, 1), nullptr)
            ? rank_layout(workers, *loaded.network, std::span(loaded.nodes.devices).first(workers.size()))
            : ranks_apart(workers.size());
    step::NetworkUse use;
    schedule::Schedule settled = asked;
    CollectiveChoices choices(layout, use, hosts, loaded.network.get());
    choices.settle(settled);
    try {
      tell(OperationWriter(settled, layout, loaded.nodes).write(), sink);
    } catch (const TooMany&) {
      tell({}, sink);
    }
  });
}

}  // namespace

step::StepOperations operations_of(const Cluster& cluster, const schedule::Schedule& schedule) {
  std::string failure;
  std::optional<StepOperations> operations;
  const auto on_message = [&](std::string_view bytes) {
    WireReader message(bytes);
    if (topic_of(message, failure)) message >> operations.emplace();
  };
  const ChildOutcome outcome =
      run_in_child([&](const MessageSink& sink) { write_operations(cluster, schedule, sink); }, on_message);
  if (operations && operations->nodes.empty()) {
    throw InputError({"", 0, fmt::format("the step has more than {} operations", human_count(kMostOperations)),
                      "use fewer workers, or collectives with fewer messages"});
  }
  if (operations && outcome.complete()) return std::move(*operations);
  failure = failure_of(outcome, std::move(failure));
  throw SimulationError(failure.empty() ? "the platform could not be loaded: the process " + outcome.description()
                                        : failure);
}

std::optional<collectives::RankLayout> ranks_on(const spec::PlatformSpec& platform,
                                                const std::vector<std::string>& hosts) {
  std::map<std::string, std::pair<std::int32_t, std::int64_t>> place_of;  // node of each host; index of the host
  for (const PlatformHost& host : platform_hosts(platform))
    place_of.try_emplace(host.name, host.node, static_cast<std::int64_t>(place_of.size()));
  collectives::RankLayout layout;
  std::vector<std::int64_t> numbers;
  std::map<std::int32_t, std::int32_t> number_of;  // numbers of the nodes in order of first appearance, without gaps
  for (const std::string& host : hosts) {
    const auto found = place_of.find(host);
    if (found == place_of.end()) return std::nullopt;
    const auto next = static_cast<std::int32_t>(number_of.size());
    layout.node_of.push_back(number_of.try_emplace(found->second.first, next).first->second);
    numbers.push_back(found->second.second);
  }
  const auto* cluster = std::get_if<spec::GpuClusterSpec>(&platform.what);
  if (cluster != nullptr) layout.torus = collectives::grid_within(torus_of_chips(*cluster), numbers);
  return layout;
}

std::optional<Fault> fault_of_collectives(const schedule::Schedule& schedule, const collectives::RankLayout& devices) {
  std::set<std::tuple<step::CollectiveKind, std::int32_t, std::string>> seen;
  BesideKernels beside(schedule);
  for (const schedule::Task& task : schedule.tasks) {
    const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    // Passes over collectives that are not among replicas: if a group cannot use the named algorithm, the library
    // chooses another.
    if (collective == nullptr || collective->among != schedule::Among::replicas) continue;
    if (collective->algorithm == "auto" || collective->algorithm == "best") continue;
    if (!seen.emplace(collective->kind, task.stage, collective->algorithm).second) continue;
    for (const Request& request : requests_of(task, schedule, devices, beside)) {
      if (std::optional<Fault> fault = fault_of(request.collective, request.algorithm, request.layout)) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace dadsim::sim

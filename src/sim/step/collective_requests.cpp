#include "sim/step/collective_requests.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <variant>

#include "spec/expert_parallel.hpp"
#include "spec/precision.hpp"

namespace dadsim::sim {
namespace {

/// Returns a request among the workers of a schedule whose replicas are single devices.
Request among_all(const schedule::CollectiveTask& task, const collectives::RankLayout& workers, BesideKernels& beside) {
  Request request;
  request.collective.kind = task.kind;
  request.collective.beside_kernels = beside.include(task);
  request.layout = workers;
  request.algorithm = task.algorithm;
  const auto count = static_cast<std::size_t>(workers.ranks());
  const bool star = is_star(task.kind);
  if (star) {
    request.algorithm = "flat";
    request.collective.root = workers.ranks();
    request.layout.node_of.push_back(
        workers.node_of.empty() ? 0 : *std::max_element(workers.node_of.begin(), workers.node_of.end()) + 1);
  }
  if (task.neighbours != nullptr) request.collective.neighbours = task.neighbours->to;
  const bool one_value = task.kind == step::CollectiveKind::broadcast || task.kind == step::CollectiveKind::all_reduce;
  bool equal = true;
  for (std::size_t worker = 1; !one_value && worker < count; ++worker)
    equal = equal && task.bytes[worker] == task.bytes[0];
  if (one_value || equal) {
    request.collective.bytes = {task.bytes[0]};
  } else {
    for (std::size_t worker = 0; worker < count; ++worker) request.collective.bytes.push_back(task.bytes[worker]);
    if (star) request.collective.bytes.push_back(0);  // bytes that the aggregator contributes
  }
  request.groups.resize(1);
  request.groups.front().resize(request.layout.node_of.size());
  std::iota(request.groups.front().begin(), request.groups.front().end(), 0);
  return request;
}

/// Collects the groups of a schedule whose replicas have several devices.
class Groups {
 public:
  Groups(const schedule::CollectiveTask& task, const collectives::RankLayout& devices, bool beside_kernels)
      : task_(task), devices_(devices), beside_kernels_(beside_kernels) {}

  /// Adds a group. `bytes`: contributed by each rank; or one value for all.
  void add(std::vector<collectives::Rank> ranks, std::vector<double> bytes) {
    // Numbers nodes in order of first appearance, without gaps.
    std::vector<std::int32_t> node_of;
    std::unordered_map<std::int32_t, std::int32_t> number_of;
    for (const collectives::Rank rank : ranks) {
      const std::int32_t node = devices_.node_of.at(static_cast<std::size_t>(rank));
      node_of.push_back(number_of.try_emplace(node, static_cast<std::int32_t>(number_of.size())).first->second);
    }
    const auto [place, added] = known_.try_emplace({bytes, node_of}, requests_.size());
    if (added) {
      Request& request = requests_.emplace_back();
      request.collective.kind = task_.kind;
      request.collective.beside_kernels = beside_kernels_;
      if (task_.row_experts > 0) {
        const double sent = spec::bytes_sent_once(static_cast<std::int32_t>(ranks.size()),
                                                  static_cast<std::int32_t>(number_of.size()), task_.row_experts);
        for (double& one : bytes) one *= sent;
      }
      request.collective.bytes = std::move(bytes);
      if (task_.neighbours != nullptr) request.collective.neighbours = task_.neighbours->to;
      request.algorithm = task_.algorithm;
      request.layout = of_group(ranks, std::move(node_of));
    }
    requests_[place->second].groups.push_back(std::move(ranks));
  }

  std::vector<Request> take() { return std::move(requests_); }

 private:
  /// Returns the layout of a group's ranks on the devices' nodes, with the adapters that these ranks use.
  collectives::RankLayout of_group(const std::vector<collectives::Rank>& ranks,
                                   std::vector<std::int32_t> node_of) const {
    collectives::RankLayout layout = devices_;
    layout.node_of = std::move(node_of);
    layout.rail_of.clear();
    layout.ring_order.clear();
    layout.torus =
        collectives::grid_within({devices_.torus.begin(), devices_.torus.end()}, {ranks.begin(), ranks.end()});
    std::set<std::int32_t> rails;
    for (std::size_t i = 0; i < ranks.size() && !devices_.rail_of.empty(); ++i) {
      layout.rail_of.push_back(devices_.rail_of.at(static_cast<std::size_t>(ranks[i])));
      if (layout.node_of[i] == 0) rails.insert(layout.rail_of.back());
    }
    if (!rails.empty()) layout.rails = static_cast<collectives::Rank>(rails.size());
    return layout;
  }

  const schedule::CollectiveTask& task_;
  const collectives::RankLayout& devices_;
  bool beside_kernels_;
  std::map<std::pair<std::vector<double>, std::vector<std::int32_t>>, std::size_t> known_;
  std::vector<Request> requests_;
};

/// Positions of a group's devices within a stage: `size` devices, `step` apart, in ranges of size × step.
struct Stride {
  std::int32_t size = 1;
  std::int32_t step = 1;
  bool begins_at(std::int32_t device) const { return device % (size * step) < step; }
};

Stride stride_of(schedule::Among among, const schedule::Schedule& schedule, std::int32_t of_stage) {
  const std::int32_t of_replica = schedule.tensor * schedule.context;
  switch (among) {
    case schedule::Among::replicas:  // includes devices with parts of one sequence, whose gradients are summed together
      return {of_stage / schedule.tensor, schedule.tensor};
    case schedule::Among::tensor:
      return {schedule.tensor, 1};
    case schedule::Among::context:
      return {schedule.context, schedule.tensor};
    case schedule::Among::shard_group:
      return {schedule.shard_group, of_replica};
    case schedule::Among::shard_copies:
      return {of_stage / of_replica / schedule.shard_group, of_replica * schedule.shard_group};
    case schedule::Among::experts:
      return {schedule.experts, schedule.expert_tensor};
    case schedule::Among::expert_copies:
      return {of_stage / (schedule.experts * schedule.expert_tensor), schedule.experts * schedule.expert_tensor};
    case schedule::Among::stages:
      break;
  }
  throw std::logic_error("a stage_send has no groups");
}

}  // namespace

bool BesideKernels::include(const schedule::CollectiveTask& collective) {
  using enum schedule::Among;
  const bool held = schedule_.precision == spec::Precision::bf16 || spec::casts_operands(schedule_.precision);
  const bool divided = (collective.among == replicas && collective.kind != step::CollectiveKind::all_reduce) ||
                       collective.among == shard_group || collective.among == shard_copies ||
                       collective.among == expert_copies;
  if (!held || !divided) return false;
  if (!std::exchange(found_, true)) find();
  return std::ranges::any_of(beside_, [&](const auto* other) { return *other == collective; });
}

/// Finds the collectives between which and the wait for which devices of their stage compute.
void BesideKernels::find() {
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  const std::size_t tasks = schedule_.tasks.size();
  std::vector<std::size_t> waited(tasks, kNever);  // first wait for each collective
  std::map<std::int32_t, std::size_t> computed;    // next computation, by stage
  std::size_t of_any = kNever;                     // next computation of any stage
  for (std::size_t i = tasks; i-- > 0;) {
    const schedule::Task& task = schedule_.tasks[i];
    if (const auto* wait = std::get_if<schedule::WaitTask>(&task.what)) {
      waited[static_cast<std::size_t>(wait->collective)] = i;
    } else if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) {
      if (compute->who == step::Role::workers) computed[task.stage] = of_any = i;
    } else {
      const auto next = [&](std::int32_t stage) {
        const auto known = computed.find(stage);
        return known == computed.end() ? kNever : known->second;
      };
      const bool every = task.stage == schedule::kEveryStage;
      if ((every ? of_any : std::min(next(task.stage), next(schedule::kEveryStage))) < waited[i])
        beside_.push_back(&std::get<schedule::CollectiveTask>(task.what));
    }
  }
}

std::vector<Request> requests_of(const schedule::Task& task, const schedule::Schedule& schedule,
                                 const collectives::RankLayout& devices, BesideKernels& beside) {
  const auto& collective = std::get<schedule::CollectiveTask>(task.what);
  if (schedule.devices() * schedule.experts == 1 && schedule.shard_group == 0)
    return {among_all(collective, devices, beside)};
  const std::int32_t of_replica = schedule.tensor * schedule.context;
  const auto replicas = static_cast<std::int32_t>(schedule.replicas());
  const std::int32_t of_stage = of_replica * replicas;
  const auto bytes = [&](std::int32_t replica) { return collective.bytes[static_cast<std::size_t>(replica)]; };
  Groups groups(collective, devices, beside.include(collective));
  if (collective.among == schedule::Among::stages) {
    for (std::int32_t device = 0; device < of_stage; ++device) {
      groups.add({device + of_stage * task.stage, device + of_stage * collective.to_stage},
                 {bytes(device / of_replica)});
    }
    return groups.take();
  }
  std::vector<double> of_replicas{bytes(0)};
  if (!collective.bytes.is_uniform() && collective.kind != step::CollectiveKind::all_reduce) {
    for (std::int32_t replica = 1; replica < replicas; ++replica) of_replicas.push_back(bytes(replica));
  }
  const Stride stride = stride_of(collective.among, schedule, of_stage);
  const bool one_each = collective.among == schedule::Among::replicas && schedule.context == 1;
  const bool every = task.stage == schedule::kEveryStage;
  for (std::int32_t stage = every ? 0 : task.stage; stage < (every ? schedule.pipeline : task.stage + 1); ++stage) {
    for (std::int32_t first = 0; first < of_stage; ++first) {
      if (!stride.begins_at(first)) continue;
      std::vector<collectives::Rank> ranks;
      for (std::int32_t i = 0; i < stride.size; ++i) ranks.push_back(of_stage * stage + first + i * stride.step);
      groups.add(std::move(ranks), one_each ? of_replicas : std::vector<double>{bytes(first / of_replica)});
    }
  }
  return groups.take();
}

std::vector<collectives::RankGroup> lay_out(const std::vector<Request>& requests) {
  std::vector<collectives::RankGroup> groups;
  for (const Request& request : requests) {
    const std::shared_ptr<const collectives::Rounds> rounds =
        request.collective.kind == step::CollectiveKind::stage_send
            ? collectives::one_message(request.collective.bytes.front())
            : lay_out(request.collective, request.algorithm, request.layout);
    for (const std::vector<collectives::Rank>& ranks : request.groups) groups.push_back({rounds, ranks});
  }
  return groups;
}

std::shared_ptr<const collectives::Rounds> as_one(std::vector<collectives::RankGroup> groups, std::size_t nodes) {
  const auto in_place = [](const std::vector<collectives::Rank>& ranks) {
    return std::ranges::is_sorted(ranks) && ranks.front() == 0 && ranks.back() + 1 == std::ssize(ranks);
  };
  if (groups.size() == 1 && in_place(groups.front().ranks)) return groups.front().rounds;
  return collectives::in_groups(std::move(groups), static_cast<collectives::Rank>(nodes));
}

}  // namespace dadsim::sim

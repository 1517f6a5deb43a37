#include "sim/step/collective_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <variant>

#include "collectives/traffic.hpp"
#include "sim/step/best_collective.hpp"

namespace dadsim::sim {

namespace {

/// Returns the algorithm chosen for `auto`. Groups may be placed on nodes in different ways, and not every algorithm
/// supports all of them. The first choice of any group that supports all groups is taken. An algorithm named for a
/// run's workers may not support the groups of a stage's devices (`hierarchical` inside one node): these use the
/// library's choice.
std::string settle_algorithm(std::vector<Request>& requests, schedule::Among among) {
  const std::string& asked = requests.front().algorithm;
  const bool serves = among == schedule::Among::replicas || among == schedule::Among::stages ||
                      std::ranges::none_of(requests, [&](const Request& request) {
                        return fault_of(request.collective, asked, request.layout).has_value();
                      });
  if (asked != "auto" && serves) return asked;
  std::vector<std::string> choices;
  for (const Request& request : requests) {
    const std::string choice = choose_collective(request.collective, request.layout);
    if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(choice);
  }
  if (choices.size() > 1) choices.emplace_back("ring");  // "ring" supports any ranks
  for (const std::string& choice : choices) {
    for (Request& request : requests) request.algorithm = choice;
    if (choices.size() == 1) return choice;
    const bool serves_all = std::ranges::all_of(requests, [&](const Request& request) {
      return request.collective.kind == step::CollectiveKind::stage_send ||
             !fault_of(request.collective, choice, request.layout);
    });
    if (serves_all) return choice;
  }
  throw std::logic_error("no algorithm serves all groups");
}

}  // namespace

collectives::RankLayout first_ranks(const collectives::RankLayout& layout, std::size_t workers) {
  collectives::RankLayout result = layout;
  result.node_of.resize(workers);
  std::vector<std::int64_t> numbers(workers);
  std::iota(numbers.begin(), numbers.end(), 0);
  result.torus = collectives::grid_within({layout.torus.begin(), layout.torus.end()}, numbers);
  std::erase_if(result.ring_order, [workers](collectives::Rank rank) { return std::cmp_greater_equal(rank, workers); });
  if (!result.rail_of.empty()) result.rail_of.resize(workers);
  return result;
}

bool workers_meet(std::span<const schedule::Schedule> schedules, const schedule::StepKinds* kinds) {
  if (kinds != nullptr) {
    return std::ranges::any_of(kinds->kinds(),
                               [](const schedule::StepKinds::Kind& kind) { return !kind.elsewhere.empty(); });
  }
  return std::ranges::any_of(schedules, [](const schedule::Schedule& schedule) {
    return std::ranges::any_of(schedule.tasks, [](const schedule::Task& task) {
      const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
      return collective != nullptr && !is_star(collective->kind);
    });
  });
}

collectives::RankLayout ranks_apart(std::size_t ranks) {
  collectives::RankLayout layout;
  for (std::size_t rank = 0; rank < ranks; ++rank) layout.node_of.push_back(static_cast<std::int32_t>(rank));
  return layout;
}

double CollectiveChoices::settle(schedule::Schedule& schedule) {
  double messages = 0;
  const collectives::RankLayout layout = first_ranks(layout_, schedule.workers);
  BesideKernels beside(schedule);
  PerCollective<Chosen> known;
  for (schedule::Task& task : schedule.tasks) {
    auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    const Chosen& chosen = choose(task, schedule, layout, beside, known);
    collective->algorithm = chosen.algorithm;
    messages += chosen.messages;
  }
  return messages;
}

schedule::Traffic CollectiveChoices::traffic_elsewhere(const schedule::StepKinds::Kind& kind,
                                                       const schedule::Schedule& schedule) {
  const std::size_t nodes = kind.star_traffic.sent.size();
  const collectives::RankLayout layout = first_ranks(layout_, schedule.workers);
  BesideKernels beside(schedule);
  PerCollective<Chosen> known;
  schedule::Traffic traffic{std::vector<double>(nodes), std::vector<double>(nodes)};
  for (const std::size_t task : kind.elsewhere) {
    add_traffic(*choose(schedule.tasks[task], schedule, layout, beside, known).rounds, traffic.sent, traffic.received);
  }
  return traffic;
}

void CollectiveChoices::note(const schedule::StepKinds::Kind& kind) {
  for (const schedule::StepKinds::Collective& one : kind.at_star) note(to_string(one.kind), "flat", one.bytes);
}

double CollectiveChoices::messages_of(const collectives::Rounds& rounds) {
  double messages = 0;
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    double of_round = 0;
    for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
      transfers.clear();
      rounds.sends(rank, phase.first, transfers);
      of_round += static_cast<double>(transfers.size());
    }
    messages += static_cast<double>(phase.rounds) * of_round;
  }
  return messages;
}

void CollectiveChoices::note(std::string_view kind, std::string_view algorithm, double bytes) {
  auto found = std::ranges::find_if(use_.collectives,
                                    [&](const auto& one) { return one.kind == kind && one.algorithm == algorithm; });
  if (found == use_.collectives.end()) {
    found =
        use_.collectives.insert(use_.collectives.end(), {std::string(kind), std::string(algorithm), bytes, bytes, 0});
  }
  found->least_bytes = std::min(found->least_bytes, bytes);
  found->most_bytes = std::max(found->most_bytes, bytes);
  ++found->count;
}

CollectiveChoices::Chosen& CollectiveChoices::choose(const schedule::Task& task, const schedule::Schedule& schedule,
                                                     const collectives::RankLayout& layout, BesideKernels& beside,
                                                     PerCollective<Chosen>& known) {
  const step::CollectiveKind kind = std::get<schedule::CollectiveTask>(task.what).kind;
  Chosen* chosen = known.find(task);
  if (chosen == nullptr) {
    std::vector<Request> requests = requests_of(task, schedule, layout, beside);
    Chosen made;
    if (!of_peers_.empty() && kind == step::CollectiveKind::all_reduce && requests.front().algorithm == "auto" &&
        std::get<schedule::CollectiveTask>(task.what).among == schedule::Among::replicas) {
      for (Request& request : requests) request.algorithm = of_peers_;
    }
    if (network_ != nullptr && is_compared(requests.front(), hosts_)) {
      made.algorithm = best_collective(requests, hosts_, *network_).algorithm;
      for (Request& request : requests) request.algorithm = made.algorithm;
    } else {
      const bool by_library = requests.front().algorithm == "auto";
      made.algorithm = settle_algorithm(requests, std::get<schedule::CollectiveTask>(task.what).among);
      for (Request& request : requests) request.algorithm = made.algorithm;
      if (by_library) keep_largest(requests.front());
    }
    for (const Request& request : requests) {
      made.bytes = std::max(made.bytes, *std::ranges::max_element(request.collective.bytes));
    }
    std::vector<collectives::RankGroup> groups = lay_out(requests);
    std::unordered_map<const collectives::Rounds*, double> messages;
    for (const collectives::RankGroup& group : groups) {
      const auto [of_rounds, added] = messages.try_emplace(group.rounds.get(), 0);
      if (added) of_rounds->second = messages_of(*group.rounds);
      made.messages += of_rounds->second;
    }
    made.rounds = as_one(std::move(groups), schedule.workers + (schedule.uses_aggregator ? 1 : 0));
    chosen = &known.add(task, std::move(made));
  }
  note(to_string(kind), chosen->algorithm, chosen->bytes);
  return *chosen;
}

void CollectiveChoices::keep_largest(const Request& request) {
  constexpr std::size_t kRanks = 64;  // largest number of ranks; one examined algorithm takes as long as several
                                      // simulations by flow
                                      // of it by flow
  const std::size_t ranks = request.groups.front().size();
  if (network_ == nullptr || ranks < 2 || ranks > kRanks) return;
  const auto bytes = [](const Request& one) { return *std::ranges::max_element(one.collective.bytes); };
  const auto [known, added] =
      largest_.try_emplace({std::string(to_string(request.collective.kind)), request.algorithm}, request);
  if (!added && bytes(request) > bytes(known->second)) known->second = request;
}

void CollectiveChoices::note_quicker() {
  for (const auto& one_of_each : largest_) {
    const auto& name = one_of_each.first;
    const Request& request = one_of_each.second;
    const auto noted = std::ranges::find_if(
        use_.collectives, [&](const auto& one) { return std::pair(one.kind, one.algorithm) == name; });
    if (noted == use_.collectives.end()) continue;
    std::vector<simgrid::s4u::Host*> own;
    for (const collectives::Rank rank : request.groups.front())
      own.push_back(hosts_.at(static_cast<std::size_t>(rank)));
    noted->quicker = quicker_of_library(request.collective, request.algorithm, request.layout, own, *network_);
  }
}

}  // namespace dadsim::sim

#include "sim/step/collective_choice.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "collectives/traffic.hpp"

namespace dadsim::sim {

collectives::RankLayout first_ranks(const collectives::RankLayout& layout, std::size_t workers) {
  collectives::RankLayout result = layout;
  result.node_of.resize(workers);
  return result;
}

bool workers_meet(std::span<const step::Schedule> schedules, const step::StepKinds* kinds) {
  if (kinds != nullptr) {
    return std::ranges::any_of(kinds->kinds(),
                               [](const step::StepKinds::Kind& kind) { return !kind.elsewhere.empty(); });
  }
  return std::ranges::any_of(schedules, [](const step::Schedule& schedule) {
    return std::ranges::any_of(schedule.tasks, [](const step::Task& task) {
      const auto* collective = std::get_if<step::CollectiveTask>(&task.what);
      return collective != nullptr && !is_star(collective->kind);
    });
  });
}

collectives::RankLayout ranks_apart(std::size_t ranks) {
  collectives::RankLayout layout;
  for (std::size_t rank = 0; rank < ranks; ++rank) layout.node_of.push_back(static_cast<std::int32_t>(rank));
  return layout;
}

double CollectiveChoices::settle(step::Schedule& schedule) {
  double messages = 0;
  const collectives::RankLayout layout = first_ranks(layout_, schedule.workers);
  for (step::Task& task : schedule.tasks) {
    auto* collective = std::get_if<step::CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    const Request request = choose(*collective, layout);
    collective->algorithm = request.algorithm;
    messages += messages_of(*lay_out(request.collective, request.algorithm, request.layout));
  }
  return messages;
}

step::Traffic CollectiveChoices::traffic_elsewhere(const step::StepKinds::Kind& kind, const step::Schedule& schedule) {
  const std::size_t nodes = kind.star_traffic.sent.size();
  const collectives::RankLayout layout = first_ranks(layout_, schedule.workers);
  step::Traffic traffic{std::vector<double>(nodes), std::vector<double>(nodes)};
  for (const std::size_t task : kind.elsewhere) {
    const Request request = choose(std::get<step::CollectiveTask>(schedule.tasks[task].what), layout);
    add_traffic(*lay_out(request.collective, request.algorithm, request.layout), traffic.sent, traffic.received);
  }
  return traffic;
}

void CollectiveChoices::note(const step::StepKinds::Kind& kind) {
  for (const step::StepKinds::Collective& one : kind.at_star) note(to_string(one.kind), "flat", one.bytes);
}

double CollectiveChoices::messages_of(const collectives::Rounds& rounds) {
  double messages = 0;
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) rounds.sends(rank, phase.first, transfers);
    messages += static_cast<double>(phase.rounds) * static_cast<double>(transfers.size());
    transfers.clear();
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

Request CollectiveChoices::choose(const step::CollectiveTask& task, const collectives::RankLayout& layout) {
  Request request = request_of(task, layout);
  if (request.algorithm == "auto") request.algorithm = choose_collective(request.collective, request.layout);
  note(to_string(task.kind), request.algorithm, *std::ranges::max_element(request.collective.bytes));
  return request;
}

}  // namespace dadsim::sim

#include "sim/step/message_effort.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/step/collective_choice.hpp"

namespace dadsim::sim {
namespace {

// Processor seconds, measured on a Xeon with AVX-512 in November 2026 (bench/README.md).
constexpr double kPerMessage = 4e-6;
constexpr double kPerSharer = 1.3e-7;  // seconds per message that shares links, for updating their shares
constexpr double kPerRank = 2e-8;      // seconds per message and rank, for more connections and colder caches
constexpr double kPerActor = 2e-5;
constexpr double kMostMessagesSeen = 2e6;  // messages of a collective that are examined; its first rounds represent the
                                           // others

}  // namespace

MessageEffort most_effort(double messages, std::size_t ranks) {
  const std::size_t actors = ranks + ranks * ranks;
  const double meet = static_cast<double>(ranks) * messages;
  return {messages, kPerMessage * messages + (kPerSharer + kPerRank) * meet + kPerActor * static_cast<double>(actors),
          actors};
}

void MessageEffortCount::add(const collectives::Rounds& rounds, std::span<const collectives::Rank> ranks,
                             double times) {
  const auto number = [&](collectives::Rank rank) {
    return static_cast<std::uint64_t>(ranks.empty() ? rank : ranks[static_cast<std::size_t>(rank)]);
  };
  const auto count = static_cast<std::size_t>(rounds.ranks());
  const double per_message = kPerMessage + kPerRank * static_cast<double>(count);
  double looked_at = 0;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    const std::int64_t different = phase.uniform ? 1 : phase.rounds;
    double messages = 0;
    double sharers = 0;
    std::int64_t seen = 0;
    while (seen < different && (seen == 0 || looked_at < kMostMessagesSeen)) {
      in_.assign(count, 0);
      out_.assign(count, 0);
      std::vector<std::pair<collectives::Rank, collectives::Rank>> round;
      for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
        transfers_.clear();
        rounds.sends(rank, phase.first + seen, transfers_);
        for (const collectives::Transfer& transfer : transfers_) {
          ++out_[static_cast<std::size_t>(rank)];
          ++in_[static_cast<std::size_t>(transfer.peer)];
          round.emplace_back(rank, transfer.peer);
          if (pairs_.size() <= MessageEffort::kMostActors) {
            pairs_.insert(number(rank) << 32U | number(transfer.peer));
          }
        }
      }
      for (const auto& [from, to] : round) {
        sharers += std::max(out_[static_cast<std::size_t>(from)], in_[static_cast<std::size_t>(to)]);
      }
      messages += static_cast<double>(round.size());
      looked_at += static_cast<double>(round.size());
      ++seen;
    }
    const double rounds_each = static_cast<double>(phase.rounds) / static_cast<double>(std::max<std::int64_t>(seen, 1));
    effort_.messages += times * rounds_each * messages;
    effort_.seconds += times * rounds_each * (per_message * messages + kPerSharer * sharers);
  }
}

MessageEffort MessageEffortCount::effort() const {
  MessageEffort effort = effort_;
  effort.actors += pairs_.size();
  effort.pairs = pairs_.size();
  effort.seconds += kPerActor * static_cast<double>(effort.actors);
  return effort;
}

MessageEffort effort_of(std::span<const schedule::Schedule> schedules, std::span<const double> times,
                        const collectives::RankLayout& layout) {
  std::size_t most = 0;
  for (const schedule::Schedule& schedule : schedules) {
    most = std::max(most, schedule.workers + (schedule.uses_aggregator ? 1 : 0));
  }
  MessageEffortCount count(most);
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const schedule::Schedule& schedule = schedules[i];
    const collectives::RankLayout own = first_ranks(layout, schedule.workers);
    // Counts equal collectives once.
    PerCollective<double> occurrences;
    std::vector<const schedule::Task*> different;
    for (const schedule::Task& task : schedule.tasks) {
      if (!std::holds_alternative<schedule::CollectiveTask>(task.what)) continue;
      if (double* known = occurrences.find(task)) {
        ++*known;
        continue;
      }
      occurrences.add(task, 1);
      different.push_back(&task);
    }
    BesideKernels beside(schedule);
    for (const schedule::Task* task : different) {
      for (const collectives::RankGroup& group : lay_out(requests_of(*task, schedule, own, beside))) {
        count.add(*group.rounds, group.ranks, times[i] * *occurrences.find(*task));
      }
    }
  }
  return count.effort();
}

}  // namespace dadsim::sim

#include "sim/step/step_by_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <variant>

#include "collectives/closed_form.hpp"
#include "sim/network/flow.hpp"
#include "sim/step/compute_time.hpp"
#include "sim/step/requests.hpp"
#include "sim/step/timeline_recorder.hpp"

namespace dadsim::sim {
namespace {

constexpr double kTogether = 0.005;  // of the step: how far apart ranks may begin its collectives, all of them added up

/// Latency and payload rate of the worst path in each respect, from rank to rank of every first round of a phase.
double closed_form(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::Rounds& rounds,
                   Interconnect& network) {
  double latency = 0;
  double rate = std::numeric_limits<double>::infinity();
  std::vector<collectives::Transfer> transfers;
  for (const collectives::RoundPhase& phase : rounds.phases()) {
    for (collectives::Rank rank = 0; rank < rounds.ranks(); ++rank) {
      transfers.clear();
      rounds.sends(rank, phase.first, transfers);
      for (const collectives::Transfer& transfer : transfers) {
        const Path& path = network[network.path(hosts[static_cast<std::size_t>(rank)],
                                                hosts[static_cast<std::size_t>(transfer.peer)])];
        const PathUse::Cost cost = path.use.cost(transfer.bytes);
        latency = std::max(latency, path.latency + cost.overhead);
        if (!(cost.wire_bytes > 0)) continue;
        rate = std::min(rate, path.use.payload_rate / path.use.efficiency * transfer.bytes / cost.wire_bytes);
      }
    }
  }
  return closed_form_seconds(rounds, latency, rate);
}

class StepByFlow {
 public:
  StepByFlow(const Nodes& nodes, const collectives::RankLayout& layout, const step::Schedule& schedule,
             Interconnect& network, bool by_closed_form, TimelineRecorder* recorder)
      : nodes_(nodes),
        layout_(layout),
        schedule_(schedule),
        network_(network),
        by_closed_form_(by_closed_form),
        recorder_(recorder),
        compute_(nodes.devices, schedule) {
    const std::size_t count = schedule_.workers + (schedule_.uses_aggregator ? 1 : 0);
    for (std::size_t node = 0; node < count; ++node) hosts_.push_back(nodes_.hosts[device_of(node)]);
    clock_.assign(count, 0);
    busy_.assign(count, 0);
    compressing_.assign(count, 0);
    waiting_.assign(count, 0);
    free_.assign(count, 0);
    timing_.bytes_sent.assign(count, 0);
    timing_.bytes_received.assign(count, 0);
    done_.resize(schedule_.tasks.size());
    all_issued_.resize(schedule_.tasks.size());
    std::map<std::string, std::size_t> first_of;
    for (std::size_t node = 0; node < count; ++node) {
      same_as_.push_back(first_of.try_emplace(nodes_.devices[device_of(node)]->name, node).first->second);
    }
  }

  step::StepTiming run() {
    for (std::size_t i = 0; i < schedule_.tasks.size(); ++i) {
      const step::Task& task = schedule_.tasks[i];
      if (const auto* compute = std::get_if<step::ComputeTask>(&task.what)) {
        execute(i, *compute);
      } else if (const auto* collective = std::get_if<step::CollectiveTask>(&task.what)) {
        communicate(i, *collective);
      } else {
        const auto& wait = std::get<step::WaitTask>(task.what);
        const auto awaited = static_cast<std::size_t>(wait.collective);
        for (std::size_t node = 0; node < clock_.size(); ++node) {
          if (is_worker(node) == (wait.who == step::Role::workers)) wait_for(i, awaited, node);
        }
      }
    }
    std::size_t last = 0;
    for (std::size_t worker = 1; worker < schedule_.workers; ++worker) {
      if (clock_[worker] > clock_[last]) last = worker;
    }
    timing_.seconds = clock_[last];
    // Who begins early may find the network less busy than all together would: by no more than that it is early.
    if (apart_ > kTogether * timing_.seconds) {
      throw FlowRefused(
          fmt::format("workers come to a collective apart ({:.3g} s for {}; in all {:.3g} s of a step of {:.3g} s)",
                      worst_apart_, worst_, apart_, timing_.seconds));
    }
    timing_.busy_seconds = busy_;
    timing_.compute_seconds = std::min(busy_[last], timing_.seconds);
    timing_.exposed_seconds = timing_.seconds - timing_.compute_seconds;
    timing_.compression_seconds = std::min(compressing_[last], timing_.compute_seconds);
    timing_.waiting_seconds = std::min(waiting_[last], timing_.exposed_seconds);
    bounds(last);
    if (recorder_ != nullptr) recorder_->ended(timing_.seconds, last);
    for (const Outcome& outcome : outcomes_) carry(outcome, static_cast<double>(outcome.times));
    return timing_;
  }

  /// What links carried, once it has run.
  std::vector<LinkLoad>& loads() { return loads_; }

 private:
  bool is_worker(std::size_t node) const { return node < schedule_.workers; }
  std::size_t device_of(std::size_t node) const { return is_worker(node) ? node : nodes_.workers; }

  void execute(std::size_t index, const step::ComputeTask& task) {
    const bool uniform = task.flops.is_uniform() && task.bytes_moved.is_uniform() && task.launches.is_uniform();
    std::vector<double>& known = known_;
    known.assign(clock_.size(), -1);
    for (std::size_t node = 0; node < clock_.size(); ++node) {
      if (is_worker(node) != (task.who == step::Role::workers)) continue;
      double seconds = uniform ? known[same_as_[node]] : -1;
      if (seconds < 0) {
        seconds = compute_.seconds(device_of(node), task, is_worker(node) ? node : 0);
        if (uniform) known[same_as_[node]] = seconds;
      }
      if (recorder_ != nullptr) recorder_->computed(node, index, clock_[node], clock_[node] + seconds);
      clock_[node] += seconds;
      busy_[node] += seconds;
      if (is_compression(task.phase)) compressing_[node] += seconds;
    }
  }

  void wait_for(std::size_t index, std::size_t task, std::size_t node) {
    const double begin = clock_[node];
    const double end = done_[task][node];
    if (end <= begin) return;
    clock_[node] = end;
    if (recorder_ != nullptr) recorder_->waited(node, index, begin, end);
    if (std::get<step::CollectiveTask>(schedule_.tasks[task].what).kind == step::CollectiveKind::gather &&
        is_worker(node))
      return;
    waiting_[node] += std::max(0.0, std::min(end, all_issued_[task]) - begin);
  }

  bool only_receives(const step::CollectiveTask& task, std::size_t node) const {
    return task.kind == step::CollectiveKind::gather ? !is_worker(node)
                                                     : task.kind == step::CollectiveKind::broadcast && is_worker(node);
  }

  /// What a collective comes to that all ranks begin together: the same whenever it occurs again.
  struct Outcome {
    step::CollectiveTask task;
    std::vector<double> seconds;         ///< per rank, until it is done
    std::vector<double> sent, received;  ///< bytes, per rank
    std::vector<LinkLoad> loads;         ///< per link of the network
    std::int64_t times = 1;              ///< that it occurred
    std::map<std::pair<std::string, std::string>, double> spent;
  };

  void communicate(std::size_t index, const step::CollectiveTask& task) {
    const bool star = task.kind == step::CollectiveKind::gather || task.kind == step::CollectiveKind::broadcast;
    const std::size_t ranks = schedule_.workers + (star ? 1 : 0);
    double earliest = std::numeric_limits<double>::infinity();
    double latest = 0;
    std::vector<double> dates(ranks, 0);
    all_issued_[index] = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (only_receives(task, rank)) continue;
      all_issued_[index] = std::max(all_issued_[index], clock_[rank]);
      dates[rank] = std::max(clock_[rank], free_[rank]);
      earliest = std::min(earliest, dates[rank]);
      latest = std::max(latest, dates[rank]);
    }
    for (double& date : dates) date = std::max(date, earliest);
    const std::vector<double> begins = recorder_ == nullptr ? std::vector<double>() : dates;
    const bool even = earliest >= latest;
    const auto known = std::ranges::find(outcomes_, task, &Outcome::task);
    if (even && known != outcomes_.end()) {
      for (std::size_t rank = 0; rank < ranks; ++rank) dates[rank] += known->seconds[rank];
      add(*known);
      ++known->times;
    } else {
      Outcome outcome = carry_out(index, task, dates, earliest, latest);
      add(outcome);
      if (even) {
        outcomes_.push_back(std::move(outcome));
      } else {
        carry(outcome, 1);
      }
    }
    const double through = *std::ranges::max_element(dates);
    done_[index].assign(clock_.size(), 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      done_[index][rank] = dates[rank];
      // Messages of a pair keep their order: who only sends is free when they are on their way.
      if (only_receives(task, rank)) continue;
      const double free = task.kind == step::CollectiveKind::gather ? through - latency_to(rank) : dates[rank];
      free_[rank] = std::max(free_[rank], free);
    }
    if (recorder_ == nullptr) return;
    // Who only sends is done when what it sent has arrived.
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const bool receives = only_receives(task, rank);
      recorder_->communicated(rank, index, begins[rank], star && !receives ? through : dates[rank], receives);
    }
  }

  /// `dates`: per rank, when it begins, and afterwards when it is done.
  Outcome carry_out(std::size_t index, const step::CollectiveTask& task, std::vector<double>& dates, double earliest,
                    double latest) {
    const Request request = request_of(task, layout_);
    const std::unique_ptr<collectives::Rounds> rounds = lay_out(request.collective, request.algorithm, request.layout);
    Outcome outcome;
    outcome.task = task;
    if (by_closed_form_) {
      const double end = latest + closed_form(hosts_, *rounds, network_);
      std::ranges::fill(dates, end);
      outcome.spent[{"latency", "closed form"}] = end - latest;
    } else {
      FlowModel flow(network_, hosts_);
      flow.run(*rounds, dates);
      if (latest - earliest > worst_apart_) {
        worst_apart_ = latest - earliest;
        worst_ = fmt::format("{} for {}", to_string(task.kind), schedule_.tasks[index].layer);
      }
      apart_ += latest - earliest;
      outcome.spent = flow.spent();
      outcome.loads = flow.loads();
    }
    for (const double date : dates) outcome.seconds.push_back(date - earliest);
    outcome.sent.assign(dates.size(), 0);
    outcome.received.assign(dates.size(), 0);
    std::vector<collectives::Transfer> transfers;
    for (const collectives::RoundPhase& phase : rounds->phases()) {
      for (std::int64_t i = 0; i < (phase.alike ? 1 : phase.rounds); ++i) {
        const double times = phase.alike ? static_cast<double>(phase.rounds) : 1;
        for (std::size_t rank = 0; rank < dates.size(); ++rank) {
          transfers.clear();
          rounds->sends(static_cast<collectives::Rank>(rank), phase.first + i, transfers);
          for (const collectives::Transfer& transfer : transfers) {
            outcome.sent[rank] += times * transfer.bytes;
            outcome.received[static_cast<std::size_t>(transfer.peer)] += times * transfer.bytes;
            if (by_closed_form_) load(static_cast<collectives::Rank>(rank), transfer, times, outcome.loads);
          }
        }
      }
    }
    return outcome;
  }

  /// The links that a message takes, `times` times.
  void load(collectives::Rank from, const collectives::Transfer& transfer, double times, std::vector<LinkLoad>& loads) {
    const Path& path = network_[network_.path(hosts_[static_cast<std::size_t>(from)],
                                              hosts_[static_cast<std::size_t>(transfer.peer)])];
    loads.resize(network_.links().size());
    for (const std::int32_t link : path.links) {
      loads[static_cast<std::size_t>(link)].payload += times * transfer.bytes;
      loads[static_cast<std::size_t>(link)].wire += times * path.use.cost(transfer.bytes).wire_bytes;
    }
  }

  void carry(const Outcome& outcome, double times) {
    loads_.resize(network_.links().size());
    for (std::size_t link = 0; link < outcome.loads.size(); ++link) {
      loads_[link].payload += times * outcome.loads[link].payload;
      loads_[link].wire += times * outcome.loads[link].wire;
    }
  }

  void add(const Outcome& outcome) {
    for (std::size_t rank = 0; rank < outcome.sent.size(); ++rank) {
      timing_.bytes_sent[rank] += outcome.sent[rank];
      timing_.bytes_received[rank] += outcome.received[rank];
    }
    for (const auto& [what, seconds] : outcome.spent) spent_[what] += seconds;
  }

  /// Of a message from a worker to the aggregator, seconds.
  double latency_to(std::size_t worker) {
    const Path& path = network_[network_.path(hosts_[worker], hosts_.back())];
    return path.latency + path.use.cost(1).overhead;
  }

  /// The time that the network is waited for, divided like the time that collectives took.
  void bounds(std::size_t last) {
    double whole = 0;
    for (const auto& [what, seconds] : spent_) whole += seconds;
    const auto add = [&](const std::string& resource, const std::string& kind, double seconds) {
      if (seconds > 0) timing_.bounds.push_back({resource, kind, seconds, seconds / timing_.seconds});
    };
    add(fmt::format("{} ({})", hosts_[last]->get_cname(), nodes_.devices[device_of(last)]->name), "compute",
        timing_.compute_seconds);
    for (const auto& [what, seconds] : spent_) {
      if (whole > 0) add(what.second, what.first, timing_.exposed_seconds * seconds / whole);
    }
    std::ranges::stable_sort(timing_.bounds,
                             [](const step::Bound& a, const step::Bound& b) { return a.seconds > b.seconds; });
  }

  const Nodes& nodes_;
  const collectives::RankLayout& layout_;
  const step::Schedule& schedule_;
  Interconnect& network_;
  bool by_closed_form_;
  TimelineRecorder* recorder_;
  ComputeTime compute_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<std::size_t> same_as_;  ///< per node: the first node with the same device
  std::vector<double> clock_;         ///< per node: the compute stream, seconds
  std::vector<double> busy_;
  std::vector<double> compressing_, waiting_;  ///< parts of what it is busy and of what it stands still
  std::vector<double> free_;                   ///< per node: when it may begin its next collective with sending
  std::vector<double> known_;
  std::vector<std::vector<double>> done_;  ///< per task and node
  std::vector<double> all_issued_;         ///< per task: when the last of those who send in it had issued it
  std::vector<Outcome> outcomes_;
  std::vector<LinkLoad> loads_;
  std::map<std::pair<std::string, std::string>, double> spent_;
  double apart_ = 0;        ///< seconds between the first and the last worker, of all collectives
  double worst_apart_ = 0;  ///< of one
  std::string worst_;
  step::StepTiming timing_;
};

}  // namespace

step::StepTiming step_by_flow(const Nodes& nodes, const collectives::RankLayout& layout, const step::Schedule& schedule,
                              Interconnect& network, bool by_closed_form, std::vector<LinkLoad>& loads,
                              TimelineRecorder* recorder) {
  StepByFlow step(nodes, layout, schedule, network, by_closed_form, recorder);
  step::StepTiming timing = step.run();
  loads = std::move(step.loads());
  return timing;
}

double collective_by_flow(const Nodes& nodes, const collectives::Rounds& rounds, Interconnect& network,
                          bool by_closed_form) {
  if (by_closed_form) return closed_form(nodes.hosts, rounds, network);
  std::vector<double> dates(static_cast<std::size_t>(rounds.ranks()), 0);
  FlowModel(network, nodes.hosts).run(rounds, dates);
  return *std::ranges::max_element(dates);
}

}  // namespace dadsim::sim

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
#include "sim/step/step_semantics.hpp"
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
        parts_(schedule, nodes.workers),
        compute_(nodes.devices, schedule) {
    const std::size_t count = parts_.nodes();
    for (std::size_t node = 0; node < count; ++node) hosts_.push_back(nodes_.hosts[parts_.host_index(node)]);
    streams_.resize(count);
    free_.assign(count, 0);
    timing_.bytes_sent.assign(count, 0);
    timing_.bytes_received.assign(count, 0);
    done_.resize(schedule_.tasks.size());
    issued_.resize(schedule_.tasks.size());
    std::map<std::pair<std::string, double>, std::size_t> first_of;
    for (std::size_t node = 0; node < count; ++node) {
      const spec::DeviceSpec& device = *nodes_.devices[parts_.host_index(node)];
      same_as_.push_back(first_of.try_emplace({device.name, device.slowness}, node).first->second);
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
        for (std::size_t node = 0; node < streams_.size(); ++node) {
          if (parts_.has_role(node, wait.who)) wait_for(i, awaited, node);
        }
      }
    }
    const std::size_t last = last_worker(streams_, parts_.workers());
    divide_among_parts(streams_, last, streams_[last].end, timing_);
    // Who begins early may find the network less busy than all together would: by no more than that it is early.
    if (apart_ > kTogether * timing_.seconds) {
      throw FlowRefused(
          fmt::format("workers come to a collective apart ({:.3g} s for {}; in all {:.3g} s of a step of {:.3g} s)",
                      worst_apart_, worst_, apart_, timing_.seconds));
    }
    bounds(last);
    if (recorder_ != nullptr) recorder_->ended(timing_.seconds, last);
    for (const Outcome& outcome : outcomes_) carry(outcome, static_cast<double>(outcome.times));
    return timing_;
  }

  /// What links carried, once it has run.
  std::vector<LinkLoad>& loads() { return loads_; }

 private:
  void execute(std::size_t index, const step::ComputeTask& task) {
    const bool uniform = task.flops.is_uniform() && task.bytes_moved.is_uniform() && task.launches.is_uniform();
    std::vector<double>& known = known_;
    known.assign(streams_.size(), -1);
    for (std::size_t node = 0; node < streams_.size(); ++node) {
      if (!parts_.has_role(node, task.who)) continue;
      double seconds = uniform ? known[same_as_[node]] : -1;
      if (seconds < 0) {
        seconds = compute_.seconds(parts_.host_index(node), task, parts_.entry(node));
        if (uniform) known[same_as_[node]] = seconds;
      }
      StreamTime& stream = streams_[node];
      if (recorder_ != nullptr) recorder_->computed(node, index, stream.end, stream.end + seconds);
      stream.end += seconds;
      stream.busy += seconds;
      if (is_compression(task.phase)) stream.compressing += seconds;
    }
  }

  void wait_for(std::size_t index, std::size_t awaited, std::size_t node) {
    StreamTime& stream = streams_[node];
    const double begin = stream.end;
    const double end = done_[awaited][node];
    if (end <= begin) return;
    stream.end = end;
    if (recorder_ != nullptr) recorder_->waited(node, index, begin, end);
    const auto& task = std::get<step::CollectiveTask>(schedule_.tasks[awaited].what);
    if (!parts_.gets_something(task, node)) return;
    stream.waiting += waiting_for_others(begin, end, issued_[awaited].by_all(node));
  }

  /// When a collective was issued.
  struct Issued {
    double last = 0;         ///< by the last of those who send in it
    std::vector<double> to;  ///< neighbour exchange, per worker: by the last of those who send to it
    /// By all those that a node gets something from.
    double by_all(std::size_t node) const { return to.empty() ? last : to[node]; }
  };

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
    const std::size_t ranks = parts_.ranks(task);
    double earliest = std::numeric_limits<double>::infinity();
    double latest = 0;
    std::vector<double> dates(ranks, 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (parts_.only_receives(task, rank)) continue;
      issue(index, task, rank);
      dates[rank] = std::max(streams_[rank].end, free_[rank]);
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
    done_[index].assign(streams_.size(), 0);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      done_[index][rank] = dates[rank];
      // Messages of a pair keep their order: who only sends is free when they are on their way.
      if (parts_.only_receives(task, rank)) continue;
      const double free = task.kind == step::CollectiveKind::gather ? through - latency_to(rank) : dates[rank];
      free_[rank] = std::max(free_[rank], free);
    }
    if (recorder_ == nullptr) return;
    // Who only sends is done when what it sent has arrived.
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const bool receives = parts_.only_receives(task, rank);
      recorder_->communicated(rank, index, begins[rank], is_star(task.kind) && !receives ? through : dates[rank],
                              receives);
    }
  }

  void issue(std::size_t index, const step::CollectiveTask& task, std::size_t rank) {
    Issued& issued = issued_[index];
    const double date = streams_[rank].end;
    issued.last = std::max(issued.last, date);
    if (task.neighbours == nullptr) return;
    issued.to.resize(parts_.workers());
    for (const std::int32_t peer : task.neighbours->to[rank]) {
      double& last = issued.to[static_cast<std::size_t>(peer)];
      last = std::max(last, date);
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

  /// The latency of a message from a worker to the aggregator, seconds.
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
    add(fmt::format("{} ({})", hosts_[last]->get_cname(), nodes_.devices[parts_.host_index(last)]->name), "compute",
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
  Parts parts_;
  ComputeTime compute_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<std::size_t> same_as_;  ///< per node: the first node with the same device, as slow as it
  std::vector<StreamTime> streams_;   ///< per node: the compute stream
  std::vector<double> free_;          ///< per node: when it may begin its next collective with sending
  std::vector<double> known_;
  std::vector<std::vector<double>> done_;  ///< per task and node
  std::vector<Issued> issued_;             ///< per task
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

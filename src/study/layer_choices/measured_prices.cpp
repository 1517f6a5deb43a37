#include "study/layer_choices/measured_prices.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace dadsim::study {
namespace {

/// Schedules of one or two tasks.
struct Probes {
  const spec::RunSpec& run;
  std::size_t workers;
  spec::Precision precision;

  schedule::Task collective(step::CollectiveKind kind, double bytes) const {
    schedule::CollectiveTask task;
    task.kind = kind;
    task.bytes = schedule::PerWorker({bytes});
    if (kind == step::CollectiveKind::all_reduce) task.algorithm = run.all_reduce;
    if (kind == step::CollectiveKind::all_gather) task.algorithm = run.all_gather;
    return {"price", std::move(task)};
  }

  /// Through the aggregator: so many bytes up, and so many down.
  schedule::Schedule round_trip(double up, double down) const {
    schedule::Schedule schedule{workers, true, {}, precision};
    schedule.tasks = {collective(step::CollectiveKind::gather, up),
                      {"price", schedule::WaitTask{step::Role::aggregator, 0}},
                      collective(step::CollectiveKind::broadcast, down),
                      {"price", schedule::WaitTask{step::Role::workers, 2}}};
    return schedule;
  }
  schedule::Schedule among_peers(step::CollectiveKind kind, double bytes) const {
    schedule::Schedule schedule{workers, false, {}, precision};
    schedule.tasks = {collective(kind, bytes), {"price", schedule::WaitTask{step::Role::workers, 0}}};
    return schedule;
  }
  schedule::Schedule computing(step::Role who, double flops, double bytes, double launches) const {
    schedule::Schedule schedule{workers, who == step::Role::aggregator, {}, precision};
    schedule::ComputeTask task{step::Phase::factorise, who, schedule::PerWorker({flops}), schedule::PerWorker({bytes}),
                               schedule::PerWorker({launches})};
    task.weights = 1e6;
    schedule.tasks.push_back({"price", std::move(task)});
    if (who == step::Role::aggregator) {
      // Workers wait for it with a byte up and a byte down.
      const schedule::Schedule there = round_trip(1, 1);
      schedule.tasks = {there.tasks[0],
                        there.tasks[1],
                        schedule.tasks[0],
                        there.tasks[2],
                        {"price", schedule::WaitTask{step::Role::workers, 3}}};
    }
    return schedule;
  }
};

}  // namespace

schedule::Prices measured_prices(
    const spec::RunSpec& run, std::size_t workers, spec::Precision precision,
    const std::function<std::vector<double>(const std::vector<schedule::Schedule>& steps)>& seconds_of) {
  const Probes probes{run, workers, precision};
  constexpr double kFew = 1e3;
  constexpr double kMany = 1e6;
  constexpr double kFlops = 1e11;
  constexpr double kMoved = 1e9;
  constexpr double kLaunches = 1e3;
  schedule::Prices prices;
  const auto line = [&](double few, double many) {
    const double per_byte = std::max(0.0, (many - few) / (kMany - kFew));
    return schedule::Prices::Collective{std::max(0.0, few - kFew * per_byte), per_byte};
  };
  std::vector<schedule::Schedule> asked;
  const auto device = [&](step::Role who) {
    for (const auto& [flops, bytes, launches] : {std::tuple(1.0, 1.0, 0.0), std::tuple(kFlops, 1.0, 0.0),
                                                 std::tuple(1.0, kMoved, 0.0), std::tuple(1.0, 1.0, kLaunches)}) {
      asked.push_back(probes.computing(who, flops, bytes, launches));
    }
  };
  device(step::Role::workers);
  const bool star = run.exchange == spec::ExchangeMode::aggregator;
  if (star) {
    for (const auto& [up, down] : {std::pair(kFew, kFew), std::pair(kMany, kFew), std::pair(kFew, kMany)}) {
      asked.push_back(probes.round_trip(up, down));
    }
    device(step::Role::aggregator);
  } else {
    for (const step::CollectiveKind kind : {step::CollectiveKind::all_reduce, step::CollectiveKind::all_gather}) {
      for (const double bytes : {kFew, kMany}) asked.push_back(probes.among_peers(kind, bytes));
    }
  }
  const std::vector<double> seconds = seconds_of(asked);
  const auto device_price = [&](std::size_t at) {
    const auto beyond = [&](std::size_t i) { return std::max(0.0, seconds[at + i] - seconds[at]); };
    return schedule::Prices::Device{beyond(1) / kFlops, beyond(2) / kMoved, beyond(3) / kLaunches};
  };
  prices.worker = device_price(0);
  if (star) {
    // Latency is paid once on each way.
    prices.gather = line(seconds[4], seconds[5]);
    prices.broadcast = line(seconds[4], seconds[6]);
    prices.gather.once /= 2;
    prices.broadcast.once /= 2;
    prices.aggregator = device_price(7);
  } else {
    prices.all_reduce = line(seconds[4], seconds[5]);
    prices.all_gather = line(seconds[6], seconds[7]);
  }
  return prices;
}

}  // namespace dadsim::study

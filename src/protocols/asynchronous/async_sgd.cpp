
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "methods/idle_parameters.hpp"
#include "protocols/arrival_weights.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"
#include "protocols/send_later.hpp"
#include "spec/islands.hpp"

namespace dadsim::protocols {
namespace {

constexpr world::Channel kFresh = "model";    // models to a worker, and notices for it
constexpr world::Channel kPush = "gradient";  // gradients to the server; a message without gradient requests the model

Node worker_node(std::size_t number) { return static_cast<Node>(number); }

/// Returns g + λ g ⊙ g ⊙ (x_now − x_stale) for the parameters; running statistics in g are kept.
Value compensated(Learning& learning, const Value& gradient, const Value& now, const Value& stale, double lambda) {
  return learning.history().make(
      fmt::format("compensated {} of {}", lambda, learning.parameters()), {gradient, now, stale},
      [factor = static_cast<float>(lambda), count = learning.parameters()](world::History::Inputs in) {
        world::Datum result = *in[0];
        for (std::size_t k = 0; k < count; ++k) {
          float& g = result.numbers[k];
          g += factor * g * g * (in[1]->numbers[k] - in[2]->numbers[k]);
        }
        return result;
      });
}

/// Asynchronous SGD with a parameter server (Dean et al., NIPS 2012). Every worker computes a gradient at its model,
/// sends it, and receives the new model. The server takes a step of the scenario's optimizer with each gradient g
/// as it arrives:
///   x_{t+1} = step(x_t, g(x_{t−s}), η_t)          s: the staleness, updates between reading and writing
/// η_t is the rate of the synchronous schedule at step t / n of n workers, times `rate-factor`. Treatments of
/// staleness:
///   none         η_t, whatever the staleness
///   bounded      no worker is more than `slack` gradients ahead of the slowest one that is up: the answer to a faster
///                worker waits (stale synchronous parallel; Ho et al., NIPS 2013)
///   damped       η_t / (s + 1)
///   compensated  g + λ g ⊙ g ⊙ (x_t − x_{t−s}) in place of g (DC-ASGD; Zheng et al., ICML 2017, arXiv 1609.08326, eq.
///                10); the server remembers the model that it has sent to each worker
/// Running statistics of batch norms are those of the worker that wrote last.
class AsyncSgd final : public Protocol {
 public:
  enum class Staleness : std::uint8_t { none, bounded, damped, compensated };

  static constexpr auto kStaleness = spec::choice<Staleness>(
      "staleness",
      {{"none", Staleness::none},
       {"bounded", Staleness::bounded},
       {"damped", Staleness::damped},
       {"compensated", Staleness::compensated}},
      "none: apply stale gradients unchanged; bounded: fast workers wait (slack); damped: divide the learning rate by "
      "staleness + 1; compensated: first-order correction (lambda)");
  static constexpr spec::IntegerParameter kSlack{"slack", 0, 1e6, "3",
                                                 "bounded: largest lead of a worker over the slowest, in gradients"};
  static constexpr spec::RealParameter kLambda{"lambda", 0, 1e6, "0.04",
                                               "compensated: weight of g ⊙ g ⊙ (model now − model read)"};
  static constexpr spec::RealParameter kRateFactor{
      "rate-factor", 1e-9, 1e6, "1",
      "factor of the learning rate; with 1/n, n updates are together as large as one synchronous step"};
  static constexpr spec::IntegerParameter kUpdates{
      "updates", 0, 1e12, "0", "updates of the model; 0: until workers have trained for the epochs of <training>"};

  explicit AsyncSgd(const Setting& setting)
      : setting_(setting),
        slack_(setting.value(kSlack)),
        updates_(setting.value(kUpdates)),
        usual_(setting.learning.steps_per_epoch() * static_cast<std::int64_t>(setting.sites)),
        lambda_(setting.value(kLambda)),
        rate_factor_(setting.value(kRateFactor)),
        arrivals_(setting.run.weights, setting.learning.problem().partition),
        workers_(setting.sites) {
    staleness_ = setting.value(kStaleness);
    for (std::size_t site = 0; site < setting.sites; ++site)
      batches_.push_back(setting.learning.batches(SiteBatches::How::steps, site));
    taking_in_ = setting.sizing.decode(step::Role::aggregator) + setting.sizing.update(step::Role::aggregator);
    if (staleness_ == Staleness::compensated) {
      // Compensation takes five operations per number; it reads g and two models, and writes g.
      taking_in_ = setting.sizing.per_parameter(step::Role::aggregator, 5, 4) + taking_in_;
    }
  }
  void begin() override {
    model_ = setting_.learning.initial_with_state();
    setting_.loop.join(setting_.server, "server", [this] { return server(); });
    for (std::size_t number = 0; number < setting_.sites; ++number) {
      setting_.loop.watch(setting_.server, worker_node(number), kPush);
      setting_.loop.watch(worker_node(number), setting_.server, kFresh);
      setting_.loop.join(worker_node(number), "worker", [this, number] { return worker(number); });
    }
  }

 private:
  struct AsyncWorker {
    // The worker's own state.
    std::int64_t batches = 0;  ///< number of batches begun
    std::int64_t ticket = 0;   ///< number of its last message; the answer has the same
    world::Value memory;       ///< its compressor's memory
    // The server's view of the worker.
    std::int64_t clock = 0;  ///< number of the worker's gradients that the server has applied; after an outage at least
                             ///< that of the slowest worker
    std::int64_t read = 0;   ///< version of the model that the worker holds
    world::Value given;      ///< model of version `read`, if it is needed
    bool away = false;       ///< true: down, or up again but has not asked for the model; other workers do not wait for
                             ///< it
    bool at_work = false;    ///< true: a gradient of the worker is being computed or sent
    std::int64_t held = 0;   ///< ticket of the answer withheld until slower workers catch up; 0: none
    double held_since = 0;
  };

  world::Task<> server() {
    world::EventLoop& loop = setting_.loop;
    const Node me = setting_.server;
    later_.clear();
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      workers_[number].held = 0;
      workers_[number].away = !loop.is_up(worker_node(number));
    }
    if (setting_.log.versions.empty() && setting_.new_version(model_, usual_)) co_return;
    for (;;) {
      const Parcel parcel = co_await loop.receive(me, kPush, later_.next());
      while (const auto due = later_.take(loop.now())) {
        ++setting_.log.retried;
        give(static_cast<std::size_t>(due->from), due->number);
      }
      if (parcel.from < 0 || parcel.back) continue;  // a worker that is back will ask for the model
      const auto from = static_cast<std::size_t>(parcel.from);
      if (parcel.lost) {  // the lost message was a model sent to the worker
        if (loop.is_up(parcel.from))
          later_.add(loop.now() + kRetrySeconds, {.number = parcel.number, .from = parcel.from});
        continue;
      }
      bool new_model = false;
      if (parcel.gone) {
        left(from);
      } else if (parcel.values.empty()) {
        joins(from);
      } else {
        co_await loop.compute(me, taking_in_);
        take_in(from, parcel);
        new_model = true;
      }
      const bool last = over();
      if (last || new_model) {
        if (setting_.new_version(model_, usual_, last)) co_return;
      }
      if (!parcel.gone) answer(from, parcel.number);
      release();
    }
  }
  world::Task<> worker(std::size_t number) {
    world::EventLoop& loop = setting_.loop;
    const Node me = worker_node(number);
    AsyncWorker& own = workers_[number];
    pull(number);
    for (;;) {
      const Parcel parcel = co_await loop.receive(me, kFresh);
      if (parcel.back) pull(number);  // the server is back
      if (parcel.gone || parcel.back || parcel.number != own.ticket) continue;
      if (parcel.lost) {
        co_await loop.sleep(me, kRetrySeconds);
        ++setting_.log.retried;
        pull(number);
        continue;
      }
      if (updates_ == 0 && setting_.budget_spent()) continue;
      while (batches_[number].size(own.batches) == 0) ++own.batches;
      const std::int64_t batch = own.batches++;
      const std::int64_t samples = batches_[number].size(batch);
      setting_.log.samples += static_cast<double>(samples);
      ++setting_.log.asked;
      own.at_work = true;
      const double begin = loop.now();
      Work work = setting_.sizing.gradient(samples, batch) + setting_.sizing.encode(step::Role::workers);
      co_await loop.compute(me, std::move(work));
      const Value gradient =
          setting_.learning.gradient_with_statistics(parcel.values.front(), number, SiteBatches::How::steps, batch);
      Learning::SentValue sent =
          setting_.learning.send(gradient, own.memory, setting_.run.compress, static_cast<std::uint32_t>(number),
                                 static_cast<std::uint32_t>(batch));
      own.memory = sent.memory;
      Parcel push{.values = {std::move(sent.arrives)}, .bytes = setting_.sizing.compressed_bytes()};
      push.number = ++own.ticket;
      push.work = loop.now() - begin;
      loop.send(me, setting_.server, kPush, std::move(push), kFresh);
    }
  }
  void pull(std::size_t number) {
    Parcel question{.number = ++workers_[number].ticket};
    setting_.loop.send(worker_node(number), setting_.server, kPush, std::move(question), kFresh);
  }
  /// Handles a worker that has gone down; its gradient will not arrive.
  void left(std::size_t number) {
    AsyncWorker& worker = workers_[number];
    if (std::exchange(worker.at_work, false)) ++setting_.log.failed;
    worker.held = 0;
    worker.away = true;
  }
  /// Handles a worker's request for the model, sent without a gradient: at the beginning, after an outage, or after a
  /// lost message. A worker that was down continues at the clock of the slowest worker, so that others need not wait
  /// for it.
  void joins(std::size_t number) {
    AsyncWorker& worker = workers_[number];
    if (std::exchange(worker.at_work, false)) ++setting_.log.failed;
    if (!worker.away) return;
    const std::int64_t least = slowest();
    if (least != std::numeric_limits<std::int64_t>::max()) worker.clock = std::max(worker.clock, least);
    worker.away = false;
  }
  void take_in(std::size_t number, const world::Parcel& parcel) {
    AsyncWorker& worker = workers_[number];
    ProtocolLog& log = setting_.log;
    worker.at_work = false;
    ++worker.clock;
    const std::int64_t stale = log.updates - worker.read;
    double rate = rate_factor_ * setting_.learning.rate(
                                     log.updates / static_cast<std::int64_t>(std::max<std::size_t>(1, setting_.sites)));
    rate *= arrivals_.take(number, staleness_ == Staleness::damped ? 1 / static_cast<double>(stale + 1) : 1);
    if (staleness_ == Staleness::damped) rate /= static_cast<double>(stale + 1);
    Value gradient = parcel.values.front();
    if (staleness_ == Staleness::compensated) {
      gradient = compensated(setting_.learning, gradient, model_, worker.given, lambda_);
    }
    model_ = setting_.learning.apply(model_, gradient, rate);
    ++log.updates;
    log.count_used(number);
    ++log.staleness[stale];
  }
  void answer(std::size_t number, std::int64_t ticket) {
    AsyncWorker& worker = workers_[number];
    if (staleness_ != Staleness::bounded || worker.clock <= slowest() + slack_) {
      give(number, ticket);
      return;
    }
    worker.held = ticket;
    worker.held_since = setting_.loop.now();
  }
  void give(std::size_t number, std::int64_t ticket) {
    AsyncWorker& worker = workers_[number];
    worker.read = setting_.log.updates;
    if (staleness_ == Staleness::compensated) worker.given = model_;
    Parcel parcel{.values = {model_}, .bytes = setting_.sizing.plain_bytes(), .number = ticket};
    setting_.loop.send(setting_.server, worker_node(number), kFresh, std::move(parcel), kPush);
  }
  void release() {
    if (staleness_ != Staleness::bounded) return;
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      AsyncWorker& worker = workers_[number];
      if (worker.held == 0 || worker.clock > slowest() + slack_) continue;
      setting_.log.facts["seconds that fast workers were held back"] += setting_.loop.now() - worker.held_since;
      give(number, std::exchange(worker.held, 0));
    }
  }
  std::int64_t slowest() const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const AsyncWorker& worker : workers_) {
      if (!worker.away) least = std::min(least, worker.clock);
    }
    return least;
  }
  /// Returns whether training is over. Without the parameter `updates`, training ends when no gradient begun within the
  /// budget is under way.
  bool over() const {
    if (updates_ > 0) return setting_.log.updates >= updates_;
    return setting_.budget_spent() && std::ranges::none_of(workers_, &AsyncWorker::at_work);
  }

  Setting setting_;
  Staleness staleness_ = Staleness::none;
  std::int64_t slack_ = 0, updates_ = 0, usual_ = 1;
  double lambda_ = 0, rate_factor_ = 1;
  std::vector<SiteBatches> batches_;
  ArrivalWeights arrivals_;
  std::vector<AsyncWorker> workers_;
  world::Value model_;  ///< weights and the optimizer's state
  world::Work taking_in_;
  SendLater later_;
};

std::vector<spec::ParameterSpec> async_parameters() {
  return {
      AsyncSgd::kStaleness,  AsyncSgd::kSlack,   AsyncSgd::kLambda,
      AsyncSgd::kRateFactor, AsyncSgd::kUpdates, spec::kIslands,
  };
}

}  // namespace

EventDrivenMethod async_sgd_method() {
  return {{.name = "async-sgd",
           .family = "asynchronous",
           .parameters = async_parameters(),
           .sharing = Sharing::event_driven,
           .follows_drift = false,
           .check =
               [](const RunFacts& facts) {
                 return methods::faults_of_idle_parameters(
                     facts.run.parameters, {{AsyncSgd::kSlack, AsyncSgd::kStaleness, {"bounded"}},
                                            {AsyncSgd::kLambda, AsyncSgd::kStaleness, {"compensated"}}});
               },
           .objective = methods::Objective::arrivals,
           // State: the model sent to each worker, and gradients under way from half of the workers.
           .models_held = [](const spec::ParameterValues&, double sites, bool) { return 1.5 * sites; }},
          [](const Setting& setting) { return std::make_unique<AsyncSgd>(setting); }};
}

}  // namespace dadsim::protocols

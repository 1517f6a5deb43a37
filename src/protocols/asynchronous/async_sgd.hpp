#pragma once

#include <cstdint>
#include <vector>

#include "protocols/arrival_weights.hpp"
#include "protocols/protocol.hpp"
#include "protocols/send_later.hpp"

namespace dadsim::protocols {

/// Asynchronous SGD with a parameter server (Dean et al., NIPS 2012). Every worker computes a gradient at the model
/// that it has, sends it, and gets the new model in answer; the server takes a step of the scenario's optimizer with
/// each gradient g as it arrives:
///   x_{t+1} = step(x_t, g(x_{t−s}), η_t)          s: the staleness, updates between reading and writing
/// η_t is what the schedule of synchronous training says at step t / n of n workers, times `rate-factor`. What is done
/// about the staleness:
///   none         nothing
///   bounded      no worker is more than `slack` gradients ahead of the slowest that is up: its answer waits until then
///                (stale synchronous parallel; Ho et al., NIPS 2013)
///   damped       η_t / (s + 1)
///   compensated  g + λ g ⊙ g ⊙ (x_t − x_{t−s}) in place of g (DC-ASGD; Zheng et al., ICML 2017, arXiv 1609.08326, eq.
///                10); the server remembers what it has given to each worker
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
      "what is done about gradients of old models: nothing; fast workers wait (slack); the learning "
      "rate over s + 1; a correction of first order (lambda)");
  static constexpr spec::IntegerParameter kSlack{"slack", 0, 1e6, "3",
                                                 "bounded: gradients that a worker may be ahead of the slowest"};
  static constexpr spec::RealParameter kLambda{"lambda", 0, 1e6, "0.04",
                                               "compensated: weight of g ⊙ g ⊙ (model now − model read)"};
  static constexpr spec::RealParameter kRateFactor{
      "rate-factor", 1e-9, 1e6, "1",
      "on the learning rate; with 1 / n, the updates of n workers are as large as one synchronous step"};
  static constexpr spec::IntegerParameter kUpdates{
      "updates", 0, 1e12, "0", "of the model; 0: until workers have trained with the epochs of <training>"};

  explicit AsyncSgd(const Setting& setting);
  void begin() override;

 private:
  struct Worker {
    // What the worker itself knows.
    std::int64_t batches = 0;  ///< that it has begun to compute with
    std::int64_t ticket = 0;   ///< of the last thing that it has sent; the answer bears the same
    world::Value memory;       ///< what its compressor has lost
    // What the server knows of it.
    std::int64_t clock = 0;  ///< gradients that it has sent
    std::int64_t read = 0;   ///< version of the model that it holds
    world::Value given;      ///< that model, where it matters
    bool away = false;       ///< down, or back up but yet to ask for the model: nobody waits for it
    bool at_work = false;    ///< on a gradient
    std::int64_t held = 0;   ///< ticket of the answer that is held back for slower workers; 0: none
    double held_since = 0;
  };

  world::Task<> server();
  world::Task<> worker(std::size_t number);
  void pull(std::size_t number);
  void left(std::size_t number);
  void joins(std::size_t number);
  void take_in(std::size_t number, const world::Parcel& parcel);
  void answer(std::size_t number, std::int64_t ticket);
  void give(std::size_t number, std::int64_t ticket);
  void release();
  std::int64_t slowest() const;
  bool over() const;

  Setting setting_;
  Staleness staleness_ = Staleness::none;
  std::int64_t slack_ = 0, updates_ = 0, usual_ = 1;
  double lambda_ = 0, rate_factor_ = 1;
  std::vector<SiteBatches> batches_;
  ArrivalWeights arrivals_;
  std::vector<Worker> workers_;
  world::Value model_;  ///< with the optimizer's state
  world::Work taking_in_;
  SendLater later_;
};

EventDrivenMethod async_sgd_method();

}  // namespace dadsim::protocols

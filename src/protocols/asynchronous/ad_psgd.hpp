#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocols/arrival_weights.hpp"
#include "protocols/protocol.hpp"
#include "protocols/send_later.hpp"
#include "step/neighbours.hpp"

namespace dadsim::protocols {

/// Workers in two groups: active workers ask passive ones to average, so that no worker waits for one that itself waits
/// (AD-PSGD; Lian et al., arXiv 1710.06952, section 4).
struct ActivePassive {
  std::vector<bool> active;                         ///< true: the worker is active, per worker
  std::vector<std::vector<std::int32_t>> partners;  ///< neighbours of each worker in the other group, in rising order
  std::size_t left_out = 0;                         ///< pairs of neighbours within a group, who never average
};

/// Splits a graph, whose edges count in both directions. A bipartite graph (a ring with an even number of workers)
/// keeps all its edges. Otherwise workers with even numbers are active, if the graph stays connected without the edges
/// within a group. If not, workers at an even distance from worker 0 are active, which keeps any connected graph
/// connected.
ActivePassive split_into_active_and_passive(const step::Neighbours& graph);

/// Asynchronous decentralised parallel SGD (AD-PSGD; Lian et al., ICML 2018, arXiv 1710.06952, algorithm 1). There is
/// no server. Every worker i has its own weights x_i, and repeats:
///   takes a gradient g at x̂ = x_i;  meanwhile averages x_i and the x_j of a random neighbour;  x_i ← step(x_i, g)
/// with the scenario's optimizer, whose state stays with the worker. Averaging is atomic: both workers hold the same
/// weights afterwards, and the mean over all workers does not change. Only active workers ask and only passive ones
/// answer (see ActivePassive), so that there is no circular wait. A passive worker answers at once, even while it
/// computes (in the paper, the CPU averages models). An active worker waits for this answer only. The computing of an
/// average is charged to the next gradient of the worker that averages.
///
/// The mean of all models is evaluated. Staleness: number of averagings of the worker's model between its reading and
/// its writing.
class AdPsgd final : public Protocol {
 public:
  static constexpr spec::RealParameter kRateFactor{"rate-factor", 1e-9, 1e6, "1",
                                                   "factor of the learning rate of every worker"};
  static constexpr spec::IntegerParameter kUpdates{
      "updates", 0, 1e12, "0",
      "gradients of all workers in sum; 0: until workers have trained for the epochs of <training>"};

  explicit AdPsgd(const Setting& setting);
  void begin() override;

  /// Returns the weights of every worker. An averaging that is complete at one end and under way to the other counts at
  /// both, so that the result is the state after all messages have arrived.
  std::vector<world::Value> models() const;

 private:
  struct GossipWorker {
    world::Value own;           ///< weights, then the optimizer's state
    world::Value to_be;         ///< weights after the averaging whose answer is under way
    std::int64_t batches = 0;   ///< number of batches begun
    std::int64_t asked = 0;     ///< number of averagings that the worker asked for
    std::int64_t averaged = 0;  ///< number of times that its model was averaged
    std::int64_t owes = 0;      ///< number of averagings whose computing is not charged yet
    bool at_work = false;       ///< true: computes a gradient
    SendLater later;
  };

  world::Task<> computes(std::size_t number);
  world::Task<> answers(std::size_t number);
  world::Task<> averages(std::size_t number);
  std::int32_t partner_of(std::size_t number) const;
  void average(std::size_t number, const world::Value& other);
  world::Value on_the_wire(std::size_t number, std::int64_t message) const;
  world::Value mean() const;
  bool over() const;

  Setting setting_;
  std::int64_t updates_ = 0, usual_ = 1;
  double rate_factor_ = 1;
  ActivePassive sides_;
  std::vector<SiteBatches> batches_;
  ArrivalWeights arrivals_;
  std::vector<GossipWorker> workers_;
};

}  // namespace dadsim::protocols

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocols/learning.hpp"
#include "protocols/sizing.hpp"
#include "schedule/schedule.hpp"

namespace dadsim::protocols {

/// A step of a synchronous algorithm among some of the sites, as values of a History: what it learns is what the
/// algorithm learns from their batches, and what it takes is what it records.
class SharedStep {
 public:
  /// `run` names the algorithm, by its name in the registry of synchronous ones, and has its parameters among its own.
  SharedStep(Learning& learning, const Sizing& sizing, const spec::RunSpec& run, std::string algorithm);
  ~SharedStep();
  SharedStep(const SharedStep&) = delete;
  SharedStep& operator=(const SharedStep&) = delete;

  /// Who takes part in step `number`, and with which factor on its part of the gradient.
  struct Sites {
    std::int64_t number = 0;
    std::vector<bool> there;     ///< per site
    std::vector<float> weights;  ///< per site; empty: 1
  };

  /// The weights, with the optimizer's state behind them, after a step of all those sites.
  world::Value after(const world::Value& weights_with_state, const Sites& sites);
  /// What that step computes and sends, through an aggregator. Where sizes depend on numbers, these are worked out now.
  /// Of sites without samples it is what they would send of none.
  std::shared_ptr<const schedule::Schedule> schedule(const world::Value& weights_with_state, const Sites& sites);

 private:
  class Stage;
  struct Stages;
  world::Value gradient(const world::Value& weights, const Sites& sites);
  std::vector<std::vector<std::int32_t>> batches(const Sites& sites) const;

  Learning& learning_;
  const Sizing& sizing_;
  spec::RunSpec run_;
  std::string algorithm_;
  step::StepStructure structure_;
  /// Numbers that a step records of sizes decided by learning, as they are where nobody has samples.
  std::vector<std::vector<std::int32_t>> none_in_slots_;
  spec::ModelShape learned_;
  std::unique_ptr<Stages> stages_;
};

}  // namespace dadsim::protocols

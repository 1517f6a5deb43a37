#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/attendance.hpp"
#include "algorithms/leak/exchange_leak.hpp"
#include "algorithms/learning_problem.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

/// Per site, the indices of its samples in a step.
using Batch = std::vector<std::vector<std::int32_t>>;

/// Sites of a run, with common or separate weights.
class Learners {
 public:
  virtual ~Learners() = default;

  struct LearnerStep {
    bool finite = true;  ///< the loss of every site is finite
    step::StepStructure structure;
    step::StepSizes sizes;
    StepRanks ranks;
  };
  /// Trains one step with the given learning rate. `attendees`: the participants, if sites may be absent; `batch` still
  /// covers all sites.
  virtual LearnerStep train(std::int64_t number, double rate, const Batch& batch,
                            const Attendees* attendees = nullptr) = 0;

  /// Shows sent messages to `meter` from now on; no messages if sites exchange nothing.
  virtual void set_leak_meter(ExchangeLeak* /*meter*/) {}

  /// Returns the networks whose mean quality is that of the run.
  virtual std::vector<const models::Network*> networks() const = 0;
  /// Returns whether these networks belong to sites that exchange their weights, so that their average is meaningful.
  virtual bool own_weights() const { return false; }
};

/// Makes the learners of the run's algorithm. `steps`: largest number of steps of the run; 0: unknown.
std::unique_ptr<Learners> make_learners(const spec::RunSpec& run, const LearningProblem& problem,
                                        std::int64_t steps = 0);

}  // namespace dadsim::algorithms

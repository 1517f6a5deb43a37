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

/// All sites of a run, with as many sets of weights as they have between them.
class Learners {
 public:
  virtual ~Learners() = default;

  struct LearnerStep {
    bool finite = true;  ///< the loss of every site
    step::StepStructure structure;
    step::StepSizes sizes;
    StepRanks ranks;
  };
  /// Trains one step with the given learning rate. `attendees`: who takes part, where not all sites may; `batch` is of
  /// all all the same.
  virtual LearnerStep train(std::int64_t number, double rate, const Batch& batch,
                            const Attendees* attendees = nullptr) = 0;

  /// From now on `meter` sees what is sent; of sites that have nothing to do with each other it is nothing.
  virtual void set_leak_meter(ExchangeLeak* /*meter*/) {}

  /// Those whose quality is that of the run: the mean of theirs.
  virtual std::vector<const models::Network*> networks() const = 0;
  /// Whether these are of sites that exchange their weights: then their average means something too.
  virtual bool own_weights() const { return false; }
};

/// Makes the learners of the algorithm that the run names. `steps`: that it may take; 0: not known.
std::unique_ptr<Learners> make_learners(const spec::RunSpec& run, const LearningProblem& problem,
                                        std::int64_t steps = 0);

}  // namespace dadsim::algorithms

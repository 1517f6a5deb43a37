#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithms/learning_problem.hpp"
#include "models/data/dataset.hpp"
#include "scenario/scenario.hpp"
#include "spec/specification.hpp"

namespace dadsim::study {

/// Returns the data of participants: each has the data of all its replicas.
models::Partition data_of_islands(const models::Partition& workers, std::size_t islands);

/// Learning problem of a run. A participant of several replicas has the data and the batch of all of them.
class ProblemOfRun {
 public:
  /// `data` and `workers`, the data of each worker, must outlive it.
  ProblemOfRun(const scenario::Scenario& scenario, const spec::RunSpec& run, const models::Dataset& data,
               const models::Partition& workers, const spec::TrainingSpec& training, std::uint64_t seed,
               const models::DriftedData* drift = nullptr);
  ProblemOfRun(const ProblemOfRun&) = delete;
  ProblemOfRun& operator=(const ProblemOfRun&) = delete;

  const algorithms::LearningProblem& asked() const { return asked_; }

 private:
  models::Partition merged_;
  algorithms::LearningProblem asked_;
};

}  // namespace dadsim::study

#pragma once

#include <cstdint>

#include "models/data/dataset.hpp"
#include "models/data/drift.hpp"
#include "spec/specification.hpp"

namespace dadsim::algorithms {

/// Learning problem, the same for every run of a scenario.
struct LearningProblem {
  const models::Dataset& data;
  const models::Partition& partition;  ///< one entry per worker
  spec::ModelSpec model;
  spec::TrainingSpec training;
  std::uint64_t seed = 1;
  const models::DriftedData* drift = nullptr;  ///< data of sites after drifts; null: no drift
};

}  // namespace dadsim::algorithms

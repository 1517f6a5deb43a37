#pragma once

#include <functional>
#include <string>

#include "scenario/scenario.hpp"

namespace dadsim::scenario {

/// Returns the resolved scenario as XML. `file` returns the printed form of a path. Without `with_questions`, <sweep>,
/// <scale-study> and <goal> are left out.
std::string write_scenario(const Scenario& scenario, const std::function<std::string(const std::string&)>& file,
                           bool with_questions = true);

/// Returns Scenario::hash, the hash of the resolved scenario. Fingerprints of files' contents replace their paths.
/// <sweep>, <scale-study> and <goal> are left out, since they refer to other scenarios. Throws InputError if a file
/// cannot be read.
std::uint64_t hash_of(const Scenario& scenario);

/// Returns the hash of what `seed` determines: the data, their split, and the network that learns from them. Throws
/// InputError if a file cannot be read.
std::uint64_t problem_hash_of(const Scenario& scenario, std::uint64_t seed);

/// Returns the hash of the data, the network and the training. A simulation's values depend only on these and on their
/// own operations and inputs.
std::uint64_t learning_problem_hash_of(const Scenario& scenario, std::uint64_t seed);

/// Returns the hash of everything that determines a run's learning: runs with equal hashes learn the same on any
/// cluster. `training` and `seed` replace the scenario's. Throws InputError if a file cannot be read.
std::uint64_t learning_hash_of(const Scenario& scenario, const spec::RunSpec& run, const spec::TrainingSpec& training,
                               std::uint64_t seed);

}  // namespace dadsim::scenario

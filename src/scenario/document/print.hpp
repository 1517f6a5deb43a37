#pragma once

#include <functional>
#include <string>

#include "scenario/scenario.hpp"

namespace dadsim::scenario {

/// The resolved scenario as XML; `file` turns each path of the scenario into what is printed for it. Without questions
/// it has neither <sweep> nor <goal>.
std::string write_scenario(const Scenario& scenario, const std::function<std::string(const std::string&)>& file,
                           bool with_questions = true);

/// Scenario::hash: of the resolved scenario with the fingerprints of the files' contents for their paths, and without
/// its <sweep> and its <goal>, which ask other scenarios. Throws InputError if a file cannot be read.
std::uint64_t hash_of(const Scenario& scenario);

/// Hash of the data as a seed draws and deals them, and of the network that learns from them. Throws InputError if a
/// file cannot be read.
std::uint64_t problem_hash_of(const Scenario& scenario, std::uint64_t seed);

/// The same with the training: of all that the values of a simulation depend on beside what they are made by and of.
std::uint64_t learning_problem_hash_of(const Scenario& scenario, std::uint64_t seed);

/// Hash of all that decides what a run learns, and of nothing else: runs of equal hash learn the same, whatever they
/// are timed on. `training` and `seed` instead of the scenario's. Throws InputError if a file cannot be read.
std::uint64_t learning_hash_of(const Scenario& scenario, const spec::RunSpec& run, const spec::TrainingSpec& training,
                               std::uint64_t seed);

}  // namespace dadsim::scenario

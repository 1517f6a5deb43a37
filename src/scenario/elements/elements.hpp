#pragma once

#include <string>
#include <vector>

#include "scenario/language/table.hpp"
#include "scenario/scenario.hpp"
#include "spec/cost_specification.hpp"
#include "spec/evaluation_specification.hpp"
#include "spec/failure_specification.hpp"
#include "spec/framework_specification.hpp"
#include "spec/goal_specification.hpp"
#include "spec/payload_specification.hpp"
#include "spec/scale_study_specification.hpp"
#include "spec/specification.hpp"
#include "spec/sweep_specification.hpp"

// The language. One file per element, or for a few related ones, has the table of its attributes, functions that read
// and print it, and rules between attributes.

namespace dadsim::scenario {

inline constexpr Range kPositive{.minimum = 0, .maximum = 1e6, .open_minimum = true};
inline constexpr Range kNonNegative{.minimum = 0, .maximum = 1e6};
inline constexpr Range kDecay{.minimum = 0, .maximum = 1, .open_maximum = true};
inline constexpr Range kPrice{.minimum = 0, .maximum = 1e9};

/// Regular expression of host name prefixes: no white space, no brackets.
inline constexpr const char* kPrefix = "[^\\s\\[\\]]+";

inline constexpr double kLargestWhole = 9007199254740992.0;  // 2⁵³: doubles represent all whole numbers up to here

/// Names of the elements of a platform, in a scenario or in a platform file.
inline const std::vector<std::string> kPlatformParts{"gpu-cluster", "federation", "wan",   "pair",
                                                     "profile",     "background", "change"};

const Table<Scenario>& scenario_table();
const Table<Scenario>& workers_table();
const Table<spec::Placement>& worker_table();
const Table<spec::NetworkSpec>& network_table();
/// Checks that attributes of <network> about measured lines have an effect: the platform has such a line.
void check_connections(const Element& network, const spec::PlatformSpec& platform, const ReadContext& context);
/// Checks that settings of step simulation have an effect: at least one run takes steps over the network.
void check_fidelity(const Element& network, const std::vector<spec::RunSpec>& runs, const ReadContext& context);
const Table<spec::CostSpec>& costs_table();
const Table<spec::FrameworkSpec>& framework_table();
const Table<spec::PayloadSpec>& timing_only_table();
const Table<spec::SplitSpec>& split_table();
const Table<spec::TimedAsSpec>& timed_as_table();
const Table<spec::EvaluationSpec>& evaluation_table();
const Table<Scenario>& ladder_table();

/// Sets the buckets of a run that shares gradients to those of the framework for the network's layout.
void take_default_buckets(const spec::TimedAsSpec& timed, std::size_t replicas, spec::RunSpec& run);

/// Returns the rules of the elements of each file.
std::vector<ElementRule> scenario_rules();
std::vector<ElementRule> platform_rules();
std::vector<ElementRule> gpu_cluster_rules();
std::vector<ElementRule> federation_rules();
std::vector<ElementRule> fabrics_rules();
std::vector<ElementRule> wan_rules();
std::vector<ElementRule> pairs_rules();
std::vector<ElementRule> variation_rules();
std::vector<ElementRule> network_rules();
std::vector<ElementRule> framework_rules();
std::vector<ElementRule> failures_rules();
std::vector<ElementRule> devices_rules();
std::vector<ElementRule> data_rules();
std::vector<ElementRule> drift_rules();
std::vector<ElementRule> split_rules();
std::vector<ElementRule> model_rules();
std::vector<ElementRule> training_rules();
std::vector<ElementRule> timed_as_rules();
std::vector<ElementRule> workload_rules();
std::vector<ElementRule> recorded_step_rules();
std::vector<ElementRule> runs_rules();
std::vector<ElementRule> share_rules();
std::vector<ElementRule> compress_rules();
std::vector<ElementRule> evaluation_rules();
std::vector<ElementRule> costs_rules();
std::vector<ElementRule> goal_rules();
std::vector<ElementRule> sweep_rules();
std::vector<ElementRule> axes_rules();
std::vector<ElementRule> scale_study_rules();
std::vector<ElementRule> ladder_rules();

}  // namespace dadsim::scenario

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/document/load.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Returns a statement where adapters of a cluster are given by a rate alone, which is Ethernet with TCP; none for
/// other platforms, and where events decide what is learned.
std::optional<report::Statement> rate_as_tcp(const scenario::Scenario& scenario);

/// Adds to that statement of the result what a step of the first run that shares takes, and would take with RDMA.
void add_step_with_rdma(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                        const scenario::Scenario& scenario, const Learned& learned, report::Result& result);

}  // namespace dadsim::study

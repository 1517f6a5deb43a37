#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/document/load.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::study {

/// Where adapters of a cluster are given by a rate alone, which is Ethernet with TCP: what a step of the first run that
/// shares would take if they did RDMA. Nothing for other platforms, and where events decide what is learned.
std::optional<report::Statement> rate_as_tcp(const scenario::ScenarioSource& source,
                                             const std::vector<std::string>& overrides,
                                             const scenario::Scenario& scenario, const Learned& learned,
                                             const report::Result& result);

}  // namespace dadsim::study

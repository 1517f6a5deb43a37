#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spec/failure_specification.hpp"
#include "world/outage_processes.hpp"

namespace dadsim::world {

/// What goes wrong, and to whom.
struct Outages {
  spec::FailureSpec what = {};
  /// Of the platform; those of hosts without nodes, and of links that are not listed, say nothing here.
  std::vector<spec::StateProfileSpec> profiles = {};
  std::vector<std::string> hosts = {};  ///< per node; nodes of one host go down together
  /// Per node, the node of the cluster that its host is on, by its name; empty where no rule names any.
  std::vector<std::string> on = {};
  std::vector<std::string> links = {};  ///< those that there are, each once; empty where none is named
  std::uint64_t seed = 1;
};

/// What goes up and down: hosts in the order in which nodes name them, each once, then links.
struct OutageSubjects {
  explicit OutageSubjects(const Outages& outages);
  std::vector<std::string> names;
  std::size_t hosts = 0;             ///< of the names
  std::vector<std::string> on = {};  ///< per host, as in Outages
  std::vector<std::size_t> of_node;  ///< per node, its host
};

/// A reason for a host or a link to be down.
struct OutageRule {
  std::size_t subject = 0;
  std::unique_ptr<OutageProcess> what;
  DropOut* drops_out = nullptr;  ///< the same, where others decide when it goes down
};

/// One rule after the other, each of all hosts or links that it fits. What is drawn depends on the seed, the host or
/// link, the kind of rule, and how many of its kind fit that host; not on the order in which rules stand. Throws
/// std::invalid_argument for a pattern that fits nothing.
std::vector<OutageRule> outage_rules(const Outages& outages, const OutageSubjects& subjects);

}  // namespace dadsim::world

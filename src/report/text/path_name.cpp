#include "report/text/path_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace dadsim::report {
namespace {

struct NameOf {
  std::string_view part;
  const char* words;
};

// Ends of paths that have a name as a whole.
constexpr std::array kEnds{
    NameOf{"workers.worker.hosts", "workers"},
    NameOf{"workers.worker.device", "device"},
    NameOf{"workers.aggregator.device", "device of the aggregator"},
    NameOf{"gpu-cluster.nodes", "nodes"},
    NameOf{"gpu-cluster.gpus", "GPUs of a node"},
    NameOf{"gpu-cluster.nic", "network adapter"},
    NameOf{"gpu-cluster.nics", "network adapters of a node"},
    NameOf{"gpu-cluster.inside", "links inside a node"},
    NameOf{"timed-as.workload", "workload"},
    NameOf{"timed-as.batch", "batch of a worker"},
    NameOf{"timed-as.tensor", "tensor parallelism"},
    NameOf{"timed-as.pipeline", "pipeline stages"},
    NameOf{"timed-as.micro-batch", "micro-batch"},
    NameOf{"timed-as.sharding", "sharding"},
    NameOf{"timed-as.recompute", "recomputation"},
    NameOf{"timed-as.precision", "precision"},
    NameOf{"training.batch", "batch of a worker"},
    NameOf{"training.epochs", "epochs"},
    NameOf{"training.target-accuracy", "target accuracy"},
    NameOf{"costs.purchase", "what is bought"},
};
constexpr std::array kAttributes{NameOf{"up", "uplink"}, NameOf{"down", "downlink"}, NameOf{"hosts", "hosts"},
                                 NameOf{"per-hour", "price an hour"}};
constexpr std::array kOwners{NameOf{"sites", "the sites"},         NameOf{"hub", "the hub"},
                             NameOf{"worker", "the workers"},      NameOf{"aggregator", "the aggregator"},
                             NameOf{"gpu-cluster", "the cluster"}, NameOf{"federation", "the federation"},
                             NameOf{"network", "the network"},     NameOf{"training", "training"},
                             NameOf{"timed-as", "what is timed"},  NameOf{"costs", "the costs"},
                             NameOf{"framework", "the framework"}};

template <class Names>
const char* known_name(const Names& names, std::string_view part) {
  const auto* found = std::ranges::find(names, part, &NameOf::part);
  return found == names.end() ? nullptr : found->words;
}

std::string plain_words(std::string_view part) {
  std::string text(part);
  std::ranges::replace(text, '-', ' ');
  return text;
}

/// Returns "run 2", "each run" or "run dad" for "run[2]", "run[*]" or "run[dad]".
std::string owner_in_words(std::string_view part) {
  const std::size_t bracket = part.find('[');
  if (bracket == std::string_view::npos) {
    const char* known = known_name(kOwners, part);
    return known != nullptr ? known : plain_words(part);
  }
  std::string_view selector = part.substr(bracket + 1);
  if (!selector.empty() && selector.back() == ']') selector.remove_suffix(1);
  const std::string name = plain_words(part.substr(0, bracket));
  return selector == "*" ? "each " + name : fmt::format("{} {}", name, selector);
}

/// Returns the parts of a path between its dots. Dots inside brackets do not separate parts.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size()) {
      depth += path[i] == '[' ? 1 : path[i] == ']' ? -1 : 0;
      if (path[i] != '.' || depth > 0) continue;
    }
    parts.push_back(path.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

}  // namespace

std::string path_in_words(const std::string& path) {
  for (const NameOf& end : kEnds) {
    const bool ends_so =
        path.ends_with(end.part) && (path.size() == end.part.size() || path[path.size() - end.part.size() - 1] == '.');
    if (ends_so) return end.words;
  }
  const std::vector<std::string_view> parts = parts_of(path);
  const char* known = known_name(kAttributes, parts.back());
  const std::string attribute = known != nullptr ? known : plain_words(parts.back());
  if (parts.size() == 1) return attribute;
  return fmt::format("{} of {}", attribute, owner_in_words(parts[parts.size() - 2]));
}

std::vector<std::string> paths_in_words(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  names.reserve(paths.size());
  for (const std::string& path : paths) names.push_back(path_in_words(path));
  std::vector<std::string> apart = names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::count(names, names[i]) > 1) apart[i] = paths[i];
  }
  return apart;
}

std::string assignment_in_words(const std::string& assignment) {
  int depth = 0;  // a selector may contain "="
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    depth += assignment[i] == '[' ? 1 : assignment[i] == ']' ? -1 : 0;
    if (assignment[i] != '=' || depth > 0) continue;
    return fmt::format("{} {}", path_in_words(assignment.substr(0, i)), assignment.substr(i + 1));
  }
  return assignment;
}

}  // namespace dadsim::report

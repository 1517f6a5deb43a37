#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

std::vector<ElementRule> platform_rules() {
  return {element("platform",
                  "The cluster: its hosts, links and routes. Either a file, or inside one gpu-cluster, federation or "
                  "wan, or several gpu-clusters and federations with a pair between every two.",
                  {attribute("file", text(),
                             "A SimGrid platform file (its root is platform) or one of the same language as here (its "
                             "root is cluster-platform); relative to the scenario file."),
                   attribute(
                       "transport", one_of<spec::Transport>(),
                       "How the links of a SimGrid file are used: plain takes its numbers as they are. Default plain."),
                   attribute("description", any_text(), "What it is, in one line.")})
              .holds(kPlatformParts),
          element("cluster-platform",
                  "The root of a platform file of its own; holds what a platform inside a scenario may hold.",
                  {attribute("description", any_text(), "What it is, in one line.")})
              .holds(kPlatformParts)};
}

}  // namespace dadsim::scenario

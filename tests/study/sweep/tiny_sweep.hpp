#pragma once

#include <fmt/format.h>

#include <string>

#include "study/setting/catalog.hpp"
#include "study/sweep/sweep_points.hpp"

namespace dadsim::test {

/// Returns a scenario that learns quickly: three sites and a few hundred digits. `sweep` is its <sweep>.
inline std::string tiny_scenario(const std::string& sweep, const std::string& runs =
                                                               "<run algorithm=\"gradient-sharing\"/>\n"
                                                               "<run algorithm=\"dad\"/>\n"
                                                               "<run algorithm=\"rank-dad\" cap=\"4\"/>\n") {
  return fmt::format(R"(<?xml version="1.0" encoding="UTF-8"?>
<scenario name="Tiny" seed="1">
  <platform>
    <federation>
      <sites name="site" count="3" up="10Mbps" down="10Mbps" latency="1ms"/>
    </federation>
  </platform>
  <workers>
    <worker hosts="site-[1-3]" device="rtx-3090"/>
    <aggregator host="hub" device="xeon-8380"/>
  </workers>
  <data>
    <digits train="300" test="100"/>
  </data>
  <model>
    <dense units="16"/>
    <dense units="10"/>
  </model>
  <training batch="16" epochs="2" target-accuracy="0.2" evaluate-every="2"/>
  {}
  {}
</scenario>
)",
                     runs, sweep);
}

inline study::SweepPoints sweep_of(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return {path, overrides, study::make_catalog(), false};
}

}  // namespace dadsim::test

#pragma once

#include <utility>

#include "report/explain/explanation.hpp"
#include "report/sample.hpp"

namespace dadsim::report {

/// The sample's run, its links faster (which helps), its latencies halved (which does not), another batch and a limit.
inline Explanation sample_explanation() {
  Explanation explanation;
  explanation.result = sample_result();
  const RunResult& run = explanation.result.runs[0];
  const auto effect = [&](double factor) {
    return std::vector<Effect>{{run.step_seconds * factor, run.target_seconds * factor}};
  };
  explanation.what_ifs = {
      {WhatIf::Kind::bandwidth, "up", 2, "twice the bandwidth of up", "", effect(0.6)},
      {WhatIf::Kind::latency, "*", 2, "half the latency of all links", "", effect(1)},
      {WhatIf::Kind::bandwidth, "down", 2, "twice the bandwidth of down", "", effect(0.9999)},
      {WhatIf::Kind::batch, "", 0.5, "half the batch", "if it needs twice the steps", effect(1.9)},
      {WhatIf::Kind::limit, "*", 1e6, "a network without limits", "software stays", effect(0.2)},
  };
  explanation.links_left_out = 3;
  explanation.notes = {"buckets were not tried"};
  return explanation;
}

}  // namespace dadsim::report

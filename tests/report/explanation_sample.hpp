#pragma once

#include <string>
#include <utility>

#include "report/explain/explanation.hpp"
#include "report/sample.hpp"

namespace dadsim::report {

/// Returns an explanation of the sample run: faster links (which help), halved latencies (which do not), another batch,
/// and a limit.
inline Explanation sample_explanation() {
  Explanation explanation;
  explanation.result = sample_result();
  const RunResult& run = explanation.result.runs[0];
  const auto effect = [&](double factor) {
    return std::vector<Effect>{{run.step_seconds * factor, run.target_seconds * factor}};
  };
  const auto of_link = [](const std::string& name) {
    return Statement{"more-bandwidth", {name}}
        .with("factor", 2.0)
        .with("bandwidth_low", 1.25e6)
        .with("bandwidth_high", 1.25e6)
        .with("latency_low", 0.005)
        .with("latency_high", 0.005)
        .with("directions", 1.0)
        .with("one_link", true);
  };
  explanation.what_ifs = {
      {WhatIf::Kind::bandwidth, "up", 2, of_link("up"), {}, effect(0.6)},
      {WhatIf::Kind::latency, "*", 2, Statement{"less-latency", {"*"}}.with("factor", 2.0), {}, effect(1)},
      {WhatIf::Kind::bandwidth, "down", 2, of_link("down"), {}, effect(0.9999)},
      {WhatIf::Kind::batch, "", 0.5, Statement{"other-batch"}.with("factor", 0.5).with("samples_per_worker", 16.0),
       Statement{"steps-by-batch"}.with("factor", 0.5), effect(1.9)},
      {WhatIf::Kind::limit, "*", 1e6, {"network-without-limits"}, Statement{"limits-of-links"}, effect(0.2)},
  };
  explanation.links_left_out = 3;
  explanation.notes = {Statement{"links-left-out"}.with("links", 3.0)};
  return explanation;
}

}  // namespace dadsim::report

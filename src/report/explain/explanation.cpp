#include "report/explain/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace dadsim::report {
namespace {

constexpr double kWorthAdvising = 0.01;  // of the time

/// The share of a run's time that something saves: of the time to the target where both reach it, else of the step.
double saving(const RunResult& run, const Effect& effect) {
  if (run.target_reached && effect.target_seconds && run.target_seconds > 0)
    return 1 - *effect.target_seconds / run.target_seconds;
  return run.step_seconds > 0 ? 1 - effect.step_seconds / run.step_seconds : 0;
}

}  // namespace

const char* to_string(WhatIf::Kind kind) {
  switch (kind) {
    case WhatIf::Kind::bandwidth:
      return "bandwidth";
    case WhatIf::Kind::latency:
      return "latency";
    case WhatIf::Kind::device:
      return "device";
    case WhatIf::Kind::batch:
      return "batch";
    case WhatIf::Kind::overlap:
      return "overlap";
    case WhatIf::Kind::limit:
      return "limit";
  }
  return "";
}

double saving_of(const Explanation& explanation, std::size_t run, const WhatIf& what_if) {
  return saving(explanation.result.runs.at(run), what_if.effects.at(run));
}

std::vector<const WhatIf*> most_useful(const Explanation& explanation, std::size_t run, std::size_t count) {
  std::vector<const WhatIf*> candidates;
  for (const WhatIf& what_if : explanation.what_ifs) {
    // What another batch needs in steps is a guess, and no limit can be bought.
    if (what_if.kind == WhatIf::Kind::limit || what_if.kind == WhatIf::Kind::batch) continue;
    if (saving_of(explanation, run, what_if) >= kWorthAdvising) candidates.push_back(&what_if);
  }
  std::ranges::stable_sort(candidates, [&](const WhatIf* a, const WhatIf* b) {
    return saving_of(explanation, run, *a) > saving_of(explanation, run, *b);
  });
  std::vector<const WhatIf*> best;
  std::set<WhatIf::Kind> links;  // bandwidth, latency: of some links is a part of that of all
  for (const WhatIf* one : candidates) {
    const bool of_links = one->kind == WhatIf::Kind::bandwidth || one->kind == WhatIf::Kind::latency;
    // What all links together save is no advice where some of them save nearly as much.
    if (of_links && one->on == "*") {
      const bool some_do = std::ranges::any_of(candidates, [&](const WhatIf* other) {
        return other != one && other->kind == one->kind &&
               saving_of(explanation, run, *other) >= 0.9 * saving_of(explanation, run, *one);
      });
      if (some_do) continue;
    }
    if (of_links && !links.insert(one->kind).second) continue;
    best.push_back(one);
    if (best.size() == count) break;
  }
  return best;
}

}  // namespace dadsim::report

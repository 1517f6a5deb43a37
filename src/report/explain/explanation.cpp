#include "report/explain/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "report/run/causes.hpp"
#include "report/run/event_driven_table.hpp"

namespace dadsim::report {
namespace {

constexpr double kWorthAdvising = 0.01;  // of the time
constexpr double kWorthNaming = 0.05;    // of the step

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
    case WhatIf::Kind::framework:
      return "framework";
    case WhatIf::Kind::limit:
      return "limit";
  }
  return "";
}

std::string in_words(const WhatIf& what_if) {
  const std::string words = in_words(what_if.change);
  return what_if.assumption ? fmt::format("{} ({})", words, in_words(*what_if.assumption)) : words;
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

std::size_t headline_run(const Result& result, const Answer& answer) {
  if (!answer.ranking.empty()) return answer.ranking.front().run;
  const auto shares = [](const RunResult& run) { return run.spec.communicates && run.steps > 0; };
  const auto found = std::ranges::find_if(result.runs, shares);
  return found == result.runs.end() ? 0 : static_cast<std::size_t>(found - result.runs.begin());
}

namespace {

/// Kinds alone: what they lie on is said further down.
std::optional<Statement> step_parts_of(const RunResult& run) {
  if (run.event_driven) return event_time_of(run);
  std::vector<std::string> kinds;
  std::vector<double> shares;
  for (const Cause& cause : causes_of(run)) {
    if (cause.share < kWorthNaming) break;
    kinds.push_back(cause.kind);
    shares.push_back(cause.share);
  }
  if (kinds.empty()) return std::nullopt;
  return Statement{"step-parts", {run.spec.label}}.with("causes", std::move(kinds)).with("shares", std::move(shares));
}

}  // namespace

std::vector<Statement> headline_of(const Explanation& explanation, const Answer& answer) {
  const Result& result = explanation.result;
  const std::size_t index = headline_run(result, answer);
  const RunResult& run = result.runs.at(index);
  const std::vector<Statement>& said = answer.statements;
  std::vector<Statement> headline{said.front()};
  std::copy_if(said.begin() + 1, said.end(), std::back_inserter(headline),
               [](const Statement& one) { return one.kind == "memory-exceeded"; });
  if (std::optional<Statement> parts = step_parts_of(run)) headline.push_back(*std::move(parts));
  const std::vector<const WhatIf*> best = most_useful(explanation, index, 1);
  if (best.empty()) {
    headline.push_back({"nothing-helps", {run.spec.label}});
  } else {
    headline.push_back(Statement{"most-helpful", {run.spec.label}}
                           .with("saving", saving_of(explanation, index, *best.front()))
                           .with("to_target", run.target_reached)
                           .with(best.front()->change));
  }
  return headline;
}

}  // namespace dadsim::report

#include "report/run/throughput_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/run/cost_sentence.hpp"
#include "report/text/grid.hpp"
#include "report/text/rate.hpp"
#include "report/text/seconds.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

template <class Text>
std::string or_dash(const std::optional<double>& value, Text&& text) {
  return value ? text(*value) : "–";
}

using ThroughputRow = std::vector<std::string>;

ThroughputRow row_of(const RunResult& run) {
  const Throughput none{0, {}, {}, {}};
  const Throughput& done = run.throughput ? *run.throughput : none;
  return {run.spec.label,
          seconds_with_band(run.step_seconds, run.factors()),
          human_seconds(run.compute_seconds),
          human_seconds(run.exposed_seconds),
          run.throughput ? rate_in_words(done.samples) : "–",
          or_dash(done.tokens, rate_in_words),
          or_dash(done.model_flops_utilisation, human_percent),
          or_dash(done.scaling_efficiency, human_percent),
          run.event_driven && run.steps > 0 ? rate_in_words(run.event_driven->rounds_per_hour()) : "–",
          run.event_driven ? fmt::format("{:.3g} of {}", run.event_driven->taking_part(), run.workers) : "–",
          human_bytes(run.bytes_up_per_worker),
          human_bytes(run.bytes_down_per_worker)};
}

}  // namespace

std::string throughput_grid(const Result& result) {
  const bool rounds =
      std::ranges::any_of(result.runs, [](const RunResult& run) { return run.event_driven.has_value(); });
  std::vector<ThroughputRow> rows{{"run", rounds ? "a step or round" : "a step", "compute", "exposed", "samples/s",
                                   "tokens/s", "MFU", "scaling", "rounds/h", "take part", "up", "down"}};
  for (const RunResult& run : result.runs) rows.push_back(row_of(run));
  return grid(std::move(rows));
}

}  // namespace dadsim::report

#include "study/results/step_alone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "algorithms/registry.hpp"
#include "scenario/document/print.hpp"
#include "study/store/memory_store.hpp"
#include "study/setting/for_each_link.hpp"

namespace dadsim::study {
namespace {

scenario::Scenario first_alone(const scenario::Scenario& scenario) {
  scenario::Scenario alone = scenario;
  const spec::ParallelismSpec how = scenario.timed_as ? scenario.timed_as->parallelism : spec::ParallelismSpec{};
  const auto kept = static_cast<std::size_t>(std::max(1, how.experts * how.expert_tensor / (how.tensor * how.context)));
  alone.workers.resize(kept);
  if (alone.timed_as) alone.timed_as->parallelism.sharding_group = 0;
  if (!scenario.devices_of_workers.empty()) {
    // Device t of part c in stage p of worker d is number t + T (c + C (d + D p)).
    const auto wide = static_cast<std::size_t>(how.tensor * how.context);
    alone.devices_of_workers.clear();
    for (std::size_t p = 0; p < static_cast<std::size_t>(how.pipeline); ++p) {
      for (std::size_t t = 0; t < wide * kept; ++t)
        alone.devices_of_workers.push_back(scenario.devices_of_workers.at(t + wide * scenario.workers.size() * p));
    }
  }
  if (auto* digits = std::get_if<spec::DigitsSource>(&alone.data.source))
    digits->train = static_cast<std::int64_t>(kept);
  spec::RunSpec run;
  run.algorithm = run.label = algorithms::first_of(algorithms::Sharing::no_sharing).name;
  run.communicates = false;
  alone.runs = {run};
  alone.costs.reset();
  return alone;
}

/// Whether the numbers of links are those of the platform that is built: nothing draws or changes them.
bool are_fixed(const spec::PlatformSpec& platform) {
  if (!platform.changes.empty() || !platform.profiles.empty()) return false;
  const auto* federation = std::get_if<spec::FederationSpec>(&platform.what);
  if (federation != nullptr) {
    return std::ranges::all_of(federation->sites,
                               [](const spec::FederationSpec::Sites& sites) { return sites.bandwidth_spread == 0; });
  }
  return std::holds_alternative<spec::GpuClusterSpec>(platform.what) ||
         std::holds_alternative<spec::WanSpec>(platform.what);
}

/// Who computes alone sends nothing, and how quick a line is means nothing to it, unless one is so slow that SimGrid
/// takes dates for equal that are further apart than elsewhere.
void forget_quickness(spec::PlatformSpec& platform) {
  constexpr double kQuick = 1e6;  // byte/s, far above where that begins
  for_each_link(
      platform,
      [](spec::LinkSpec& link) {
        if (link.bandwidth < kQuick) return;
        link.bandwidth = kQuick;
        link.latency = 0;
        link.queue_bytes = 0;  // which follows from the bandwidth where nobody says it
      },
      [](spec::WanSpec::Pair& pair) {
        if (pair.bandwidth < kQuick) return;
        pair.bandwidth = kQuick;
        pair.round_trip = 0;
        pair.queue_bytes = 0;
      });
}

/// All that the step of `alone` depends on.
std::string question_of(scenario::Scenario alone) {
  if (alone.all_devices().size() == 1 && are_fixed(alone.platform)) forget_quickness(alone.platform);
  return fmt::format("{:016x}", scenario::hash_of(alone));
}

}  // namespace

StepAlone time_step_alone(const scenario::Scenario& scenario, const TimeAnother& time_another) {
  static AnswerMemory<StepAlone> memory;
  const scenario::Scenario alone = first_alone(scenario);
  return memory.answer(question_of(alone), [&] {
    const report::Result result = time_another(alone);
    return StepAlone{result.runs.front().step_seconds, result.runs.front().compute_seconds};
  });
}

}  // namespace dadsim::study

// A small transformer with experts on 16 devices, and the collectives of one step.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "scenario/document/load.hpp"
#include "study/learning/learned.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/schedule_memory.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study::test_division {

constexpr const char* kGradientSharing = R"(<run algorithm="gradient-sharing" exchange="peer"/>)";

/// Returns a scenario of 16 devices. `more`: further attributes of <timed-as>. `experts`: number of experts; 0: a
/// transformer without experts.
inline scenario::Scenario with(const std::string& more, int experts = 8, const std::string& run = kGradientSharing) {
  const test::TemporaryFolder folder;
  const std::string of_experts = experts == 0 ? ""
                                              : R"(dense-layers="1" experts-per-token="2"
            expert-feed-forward="128" shared-feed-forward="64" experts=")" +
                                                    std::to_string(experts) + "\" ";
  const std::string path = folder.path("scenario.xml");
  std::ofstream(path) << R"(<scenario name="experts" seed="1">
  <platform><gpu-cluster nodes="2" gpus="8" inside="nvlink-4" nic="ib-ndr"/></platform>
  <workers><worker hosts="gpu-[0-15]" device="h100-sxm5"/></workers>
  <timing-only/>
  <training><adamw/></training>
  <timed-as workload="decoder" layers="2" hidden="256" heads="4" kv-heads="2" feed-forward="512" vocabulary="1024"
            sequence="64" batch="4" precision="bf16" attention="flash" )" +
                             of_experts + more + R"(/>
  )" + run + R"(
</scenario>)";
  return load_scenario(path, {}, make_catalog());
}

/// Count and bytes of collectives, by group and kind.
struct Sum {
  int count = 0;
  double bytes = 0;
};
using Collectives = std::map<std::pair<schedule::Among, step::CollectiveKind>, Sum>;
inline Collectives collectives_of(const scenario::Scenario& scenario) {
  const Learned learned = learn_scenario(scenario, nullptr, false);
  const LearnedRun& run = *learned.runs.front();
  const schedule::Schedule schedule =
      schedule_of(scenario.runs.front(), run.trajectory, run.trajectory.distinct_steps.front(), run.shape,
                  timed_as_of(scenario, run.shape));
  Collectives sums;
  for (const schedule::Task& task : schedule.tasks) {
    if (const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what)) {
      Sum& sum = sums[{collective->among, collective->kind}];
      ++sum.count;
      sum.bytes += collective->bytes[0];
    }
  }
  return sums;
}

/// Returns the first run's step time by flow ÷ its time by messages.
inline double flow_by_message(scenario::Scenario scenario) {
  const auto seconds = [&scenario](spec::Fidelity fidelity) {
    scenario.network.fidelity = fidelity;
    return run_experiment(scenario, false).runs[0].step_seconds;
  };
  const double by_message = seconds(spec::Fidelity::message);
  return seconds(spec::Fidelity::flow) / by_message;
}

/// Returns the error that with() throws for these arguments; "" if there is none.
inline std::string fault_of(const std::string& more, int experts = 8, const std::string& run = kGradientSharing) {
  try {
    with(more, experts, run);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

constexpr double kElement = 2;               // bytes of a number
constexpr double kTokens = 4 * 64;           // tokens in a batch
constexpr double kRows = kTokens * 2;        // expert inputs: each token goes to two experts
constexpr double kExpert = 3 * 256.0 * 128;  // parameters of an expert

}  // namespace dadsim::study::test_division

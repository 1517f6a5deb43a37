#include "study/remote/learn_elsewhere.hpp"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "scenario/document/load.hpp"
#include "study/learning/learned_bytes.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"
#include "support/parse_whole.hpp"
#include "support/wire.hpp"

namespace dadsim::study {
namespace {

/// Serialises all runs that a process has learned, by their keys.
struct LearnedRuns {
  std::vector<std::uint64_t> keys;
  std::vector<std::string> runs;
};
void fields(auto& bytes, of<LearnedRuns> auto& learned) { bytes(learned.keys, learned.runs); }

[[noreturn]] void refuse_learned() {
  throw InputError(Diagnostic{"what a worker has learned", 0, "is damaged, or comes from another build",
                              "use the same build of dadsim on all machines"});
}

LearnedRuns learned_of(scenario::Scenario scenario, const std::string& task) {
  if (!task.empty()) {
    const auto run = parse_whole<std::size_t>(task, 0, scenario.runs.size() - 1);
    if (!run) refuse_learned();
    scenario.runs = {scenario.runs[*run]};
  }
  LearningStore store;
  try {
    learn_scenario(scenario, &store, false);
  } catch (const InputError&) {
    return {};  // the error is reported when the scenario is used
  }
  LearnedRuns learned;
  store.runs().each([&](std::uint64_t key, const LearnedRunPtr& run) {
    learned.keys.push_back(key);
    learned.runs.push_back(to_bytes(*run));
  });
  return learned;
}

}  // namespace

TaskQueue::TaskId post_learning(TaskQueue& queue, const LearningTask& asked) {
  return queue.post(
      std::make_shared<const TaskContext>(TaskContext{TaskContext::Kind::learning, asked.overrides, asked.hash}),
      asked.run < 0 ? std::string() : fmt::format("{}", asked.run));
}

std::map<std::uint64_t, LearnedRunPtr> learned_runs_from(std::string_view result) {
  std::map<std::uint64_t, LearnedRunPtr> runs;
  try {
    const auto learned = WireReader(result).read<LearnedRuns>();
    for (std::size_t i = 0; i < learned.keys.size(); ++i) {
      LearnedRunPtr& run = runs[learned.keys[i]];
      run = learned_from_bytes(learned.runs.at(i));
      if (!run) refuse_learned();
    }
  } catch (const std::out_of_range&) {
    refuse_learned();
  }
  return runs;
}

std::map<std::uint64_t, LearnedRunPtr> learn_elsewhere(TaskQueue& queue, const std::vector<LearningTask>& asked) {
  std::vector<TaskQueue::TaskId> tasks;
  tasks.reserve(asked.size());
  for (const LearningTask& one : asked) tasks.push_back(post_learning(queue, one));
  std::map<std::uint64_t, LearnedRunPtr> runs;
  for (const std::string& result : queue.wait_for(tasks)) runs.merge(learned_runs_from(result));
  return runs;
}

std::vector<std::string> learn_for_another(const std::string& path, const TaskPiece& piece) {
  const scenario::Scenario scenario =
      scenario::ScenarioSource(path).load_point(piece.context.overrides, make_catalog());
  if (scenario.hash != piece.context.hash) {
    throw InputError(Diagnostic{path, 0, "differs from the scenario with which the study began",
                                "use the same files of platforms and data on all machines"});
  }
  std::vector<std::string> results;
  for (const TaskPiece::Item& item : piece.items) {
    WireWriter wire;
    wire << learned_of(scenario, item.task);
    results.push_back(wire.bytes());
  }
  return results;
}

}  // namespace dadsim::study

#include "study/remote/remote_learning.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <tuple>
#include <utility>

#include "algorithms/learning_problem.hpp"
#include "protocols/learned_operation.hpp"
#include "protocols/learning.hpp"
#include "scenario/document/load.hpp"
#include "scenario/document/print.hpp"
#include "study/learning/learned_bytes.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/setting/catalog.hpp"
#include "study/store/memory_store.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/parallel.hpp"
#include "support/parse_whole.hpp"
#include "support/wire.hpp"

namespace dadsim::study {
namespace {

/// Loaded data of a scenario, shared by the operations of many pieces.
class LoadedProblem {
 public:
  LoadedProblem(const std::string& path, const TaskContext& context)
      : scenario_(scenario::ScenarioSource(path).load_point(context.overrides, make_catalog())) {
    if (scenario::learning_problem_hash_of(scenario_, scenario_.seed) != context.hash) {
      throw InputError(Diagnostic{path, 0, "differs from the scenario with which the run began",
                                  "use the same files of platforms and data on all machines"});
    }
    problem_ = std::make_unique<const Problem>(scenario_, scenario_.seed);
    history_ = std::make_unique<world::History>(context.hash, nullptr);
    learning_ = std::make_unique<protocols::Learning>(
        algorithms::LearningProblem{problem_->data, problem_->partition, scenario_.model, scenario_.training,
                                    scenario_.seed, &problem_->drift},
        *history_);
  }

  protocols::Learning& learning() { return *learning_; }

 private:
  scenario::Scenario scenario_;
  std::unique_ptr<const Problem> problem_;
  std::unique_ptr<world::History> history_;
  std::unique_ptr<protocols::Learning> learning_;
};

/// Returns the loaded problem; the most recent one stays loaded.
std::shared_ptr<LoadedProblem> loaded(const std::string& path, const TaskContext& context) {
  using Key = std::tuple<std::string, std::vector<std::string>, std::uint64_t>;
  static MemoryStore<Key, std::shared_ptr<LoadedProblem>> last(1);
  return last.answer({path, context.overrides, context.hash},
                     [&] { return std::make_shared<LoadedProblem>(path, context); });
}

[[noreturn]] void refuse_piece(const std::string& what) {
  throw InputError(Diagnostic{"a piece of work", 0, what, "use the same build of dadsim on all machines"});
}

/// Serialised learned runs of a process, with their keys.
struct LearnedRuns {
  std::vector<std::uint64_t> keys;
  std::vector<std::string> runs;
};
void fields(auto& bytes, of<LearnedRuns> auto& learned) { bytes(learned.keys, learned.runs); }

[[noreturn]] void refuse_learned() {
  throw InputError(Diagnostic{"the learned results of a worker", 0, "is damaged, or comes from another build",
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

NamedState named_state(const world::ValueKey& key, world::DatumPtr datum) {
  return {record_key(key), [datum = std::move(datum)] { return to_bytes(*datum); }};
}

RemoteLearning::RemoteLearning(TaskQueue& queue, const scenario::Scenario& scenario, std::vector<std::string> overrides)
    : queue_(queue),
      context_(std::make_shared<const TaskContext>(
          TaskContext{TaskContext::Kind::operations, std::move(overrides),
                      scenario::learning_problem_hash_of(scenario, scenario.seed)})) {}

void RemoteLearning::hand(Operation operation) {
  std::vector<NamedState> states;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i)
    states.push_back(named_state(operation.input_keys[i], std::move(operation.inputs[i])));
  const std::lock_guard lock(mutex_);
  handed_[queue_.post(context_, std::move(operation.description), std::move(states))] = operation.key;
}

std::vector<RemoteLearning::Result> RemoteLearning::wait() {
  std::vector<Result> results;
  for (const TaskQueue::Done& one : queue_.wait()) {
    const std::lock_guard lock(mutex_);
    const auto found = handed_.find(one.task);
    if (found == handed_.end()) continue;  // dropped after it was sent
    results.push_back({found->second, datum_from_bytes(one.result)});
    handed_.erase(found);
    if (!results.back().datum) refuse_piece("the learned numbers are damaged");
  }
  return results;
}

void RemoteLearning::forget() {
  queue_.forget();
  const std::lock_guard lock(mutex_);
  handed_.clear();
}

std::vector<std::string> do_operations(const std::string& path, const TaskPiece& piece, const TaskStates& states) {
  const std::shared_ptr<LoadedProblem> problem = loaded(path, piece.context);
  std::map<std::string, world::DatumPtr> data;
  for (const auto& [name, bytes] : states) data[name] = datum_from_bytes(bytes);
  std::vector<std::string> results(piece.items.size());
  try {
    parallel_for(piece.items.size(), [&](std::size_t i) {
      if (interrupted().load()) throw Cancelled();
      std::vector<world::DatumPtr> inputs;
      for (const std::string& name : piece.items[i].states) {
        inputs.push_back(data.at(name));
        if (!inputs.back()) throw std::out_of_range("weights are missing");
      }
      results[i] = to_bytes(protocols::carry_out(problem->learning(),
                                                 protocols::learned_operation_from_bytes(piece.items[i].task), inputs));
    });
  } catch (const std::out_of_range& error) {
    refuse_piece(fmt::format("is damaged, or comes from another build: {}", error.what()));
  }
  return results;
}

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

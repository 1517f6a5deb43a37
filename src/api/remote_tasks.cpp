#include <functional>
#include <memory>
#include <utility>

#include "api/call.hpp"
#include "api/states.hpp"
#include "scenario/document/load.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/remote/remote_learning.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/remote_trials.hpp"
#include "support/whole_file.hpp"

namespace dadsim::api::inline v1 {

struct RemoteTasks::State {
  study::TaskQueue queue;
};

RemoteTasks::RemoteTasks() : state_(std::make_shared<State>()) {}

RemoteTasks::Piece RemoteTasks::next(std::size_t most, double seconds) {
  Piece piece;
  with_errors_of_ours([&] {
    study::TaskQueue::Piece from = state_->queue.next(most, seconds);
    piece = {from.id, from.tasks, from.open, std::move(from.bytes), std::move(from.states)};
  });
  return piece;
}

std::string RemoteTasks::state(const std::string& name) const {
  std::string bytes;
  with_errors_of_ours([&] { bytes = state_->queue.state(name); });
  return bytes;
}

void RemoteTasks::take(std::uint64_t piece, const std::string& results, const std::string& from) {
  with_errors_of_ours([&] { state_->queue.take(piece, results, from); });
}

void RemoteTasks::put_back(std::uint64_t piece) { state_->queue.put_back(piece); }
void RemoteTasks::give_up(std::uint64_t piece, const std::string& why) { state_->queue.give_up(piece, why); }
void RemoteTasks::fail(const std::string& why, bool input) { state_->queue.fail(why, input); }
bool RemoteTasks::over() const { return state_->queue.closed(); }

namespace {

struct Closing {
  study::TaskQueue& queue;
  ~Closing() {
    queue.close();
    queue.wait_aside({});
  }
};

}  // namespace

Sweep sweep(const std::string& path, const std::string& file, const Settings& settings, const RemoteTasks& tasks,
            const Options& options) {
  const Closing closing{tasks.state().queue};
  std::shared_ptr<Sweep::State> state;
  as_a_call(options, [&] {
    const bool tell = static_cast<bool>(options.progress);
    tasks.state().queue.wait_aside([&](const std::function<void()>& wait) { wait_aside(options, wait); });
    const study::SweepPoints points(path, overrides_of(settings), study::make_catalog(), tell);
    study::run_sweep(points, file, tasks.state().queue, tell);
    study::Database whole(file, study::Database::Access::read);
    state = std::make_shared<Sweep::State>(whole);
  });
  return Sweep(std::move(state));
}

Result run(const std::string& path, const Settings& settings, const RemoteTasks& tasks, const Options& options) {
  const Closing closing{tasks.state().queue};
  std::unique_ptr<Result> result;
  as_a_call(options, [&] {
    const bool tell = static_cast<bool>(options.progress);
    tasks.state().queue.wait_aside([&](const std::function<void()>& wait) { wait_aside(options, wait); });
    const std::vector<std::string> overrides = overrides_of(settings);
    const scenario::Scenario asked = scenario::load_scenario(path, overrides, study::make_catalog());
    study::LearningStore store;
    store.shared_cache()->set_remote(std::make_shared<study::RemoteLearning>(tasks.state().queue, asked, overrides));
    result = std::make_unique<Result>(result_of(study::run_experiment(asked, tell, &store)));
  });
  return *result;
}

std::string do_tasks(const std::string& path, const std::string& piece,
                     const std::vector<std::pair<std::string, std::string>>& states, const Options& options) {
  std::string results;
  as_a_call(options, [&] {
    results = study::do_tasks(path, piece, {states.begin(), states.end()}, threads_of(options));
  });
  return results;
}

std::vector<std::string> input_files() { return noted_inputs(); }

}  // namespace dadsim::api::inline v1

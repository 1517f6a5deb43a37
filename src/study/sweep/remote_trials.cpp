#include "study/sweep/remote_trials.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "scenario/document/load.hpp"
#include "study/learning/learned_bytes.hpp"
#include "study/remote/remote_learning.hpp"
#include "study/setting/catalog.hpp"
#include "study/store/records.hpp"
#include "study/sweep/merge.hpp"
#include "study/sweep/open_sweep.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/fingerprint.hpp"
#include "support/human.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"
#include "support/version.hpp"
#include "support/wire.hpp"

namespace dadsim::study {

std::string do_tasks(const std::string& path, std::string_view piece, TaskStates states, std::size_t threads) {
  const TaskPiece asked = task_piece_from_bytes(piece, states);
  switch (asked.context.kind) {
    case TaskContext::Kind::operations:
      return results_to_bytes(do_operations(path, asked, states));
    case TaskContext::Kind::learning:
      return results_to_bytes(learn_for_another(path, asked));
    case TaskContext::Kind::trials:
      return results_to_bytes(do_trials(path, asked, states, threads));
  }
  throw std::logic_error("a task of unknown kind");
}

/// A trial, described for a process that has not read the sweep's other points.
struct TrialTask {
  SweepTrial trial;
  std::uint64_t hash = 0;              ///< hash of its point's scenario, with the first seed
  std::uint64_t problem = 0;           ///< number of its learning problem
  std::vector<std::string> overrides;  ///< settings of the point, without the seed
  std::uint64_t first_seed = 0;        ///< first seed of the point
};
void fields(auto& bytes, of<SweepTrial> auto& trial) { bytes(trial.point, trial.seed); }
void fields(auto& bytes, of<TrialTask> auto& task) {
  bytes(task.trial, task.hash, task.problem, task.overrides, task.first_seed);
}
void fields(auto& bytes, of<SweepIdentity> auto& sweep) {
  bytes(sweep.version, sweep.build, sweep.hash, sweep.scenario_name, sweep.points, sweep.seeds, sweep.target_accuracy,
        sweep.currency);
}

namespace {

[[noreturn]] void refuse(const std::string& from, const std::string& what, const char* remedy) {
  throw InputError(Diagnostic{from, 0, what, remedy});
}

/// Loads the scenarios of tasks, and checks that they are the sweep's.
class TrialScenarios {
 public:
  TrialScenarios(const std::string& path, const std::vector<std::string>& overrides, bool seeded,
                 const std::vector<TrialTask>& tasks)
      : source_(path), overrides_(overrides), seeded_(seeded), catalog_(remembering(make_catalog())) {
    for (const TrialTask& one : tasks) by_point_[one.trial.point] = &one;
  }

  scenario::Scenario load(std::size_t point, std::int64_t seed) const {
    const TrialTask& task = *by_point_.at(static_cast<std::int64_t>(point) + 1);
    scenario::Scenario scenario = load_seed(task, seed);
    const std::uint64_t hash = seed == 0 ? scenario.hash : load_seed(task, 0).hash;
    if (hash == task.hash) return scenario;
    refuse(source_.path(), fmt::format("point {} differs from the scenario with which the sweep began", point + 1),
           "use the same files of platforms and data on all machines");
  }

 private:
  scenario::Scenario load_seed(const TrialTask& task, std::int64_t seed) const {
    std::vector<std::string> overrides = overrides_;
    overrides.insert(overrides.end(), task.overrides.begin(), task.overrides.end());
    if (seeded_) overrides.push_back(fmt::format("seed={}", task.first_seed + static_cast<std::uint64_t>(seed)));
    return source_.load_point(overrides, catalog_);
  }

  scenario::ScenarioSource source_;
  const std::vector<std::string>& overrides_;
  bool seeded_;
  scenario::Catalog catalog_;
  std::map<std::int64_t, const TrialTask*> by_point_;
};

/// Posts the trials that a file lacks to other processes. For each batch of related trials, their learning is posted
/// first.
class RemoteSweep {
 public:
  RemoteSweep(const SweepPoints& sweep, Database& database, TaskQueue& queue)
      : sweep_(sweep),
        database_(database),
        queue_(queue),
        identity_(identity_of(sweep, {})),
        context_(context_of_trials(sweep, identity_)) {
    for (SweepBatch& batch : open_batches(sweep, database, {})) {
      left_ += static_cast<std::int64_t>(batch.points.size());
      (batch.points.size() > 1 ? unlearned_ : ready_).push_back({std::move(batch), context_, {}});
    }
    before_ = trials() - left_;
    queue_.let_each_count();
  }

  void run(bool show_progress) {
    ProgressLine line;
    try {
      while (left_ > 0) {
        if (interrupted().load()) throw Cancelled();
        post();
        for (const TaskQueue::Done& one : queue_.wait()) take(one);
        if (show_progress) line.show(words_of_progress(line.seconds()));
      }
    } catch (const EnvironmentError& error) {
      throw EnvironmentError(fmt::format("{}; {}; run the same command to continue", error.what(), words_of_done()));
    }
    if (show_progress) line.clear();
    std::string lost;
    for (const auto& [why, count] : lost_)
      lost += fmt::format("{}no worker could do {} of them: {}", lost.empty() ? "" : "; ", count, why);
    if (!lost.empty())
      throw EnvironmentError(
          fmt::format("{}; {}; run the same command to try the others again", lost, words_of_done()));
  }

 private:
  /// Trials still to be posted, with their common data.
  struct Batch {
    SweepBatch trials;
    std::shared_ptr<const TaskContext> context;
    std::vector<NamedState> learned;
    std::size_t posted = 0;
  };

  std::int64_t trials() const { return static_cast<std::int64_t>(sweep_.points().size()) * sweep_.seeds(); }
  std::string words_of_done() const {
    return fmt::format("{} of {} points and seeds are in the file", before_ + done_, trials());
  }
  std::string words_of_progress(double seconds) const {
    std::string words = fmt::format("sweep: {} of {} done", before_ + done_, trials());
    if (done_ > 0) {
      const double left = seconds / static_cast<double>(done_) * static_cast<double>(left_);
      words += fmt::format(", about {} left", human_seconds(left));
    }
    return words;
  }

  /// Posts as many tasks as other processes may soon request, starting with trials whose learning is done.
  void post() {
    constexpr std::size_t kMostOpen = 20'000;
    constexpr std::size_t kMostLearning = 64;  // learned runs stay in memory until their trials are done
    std::size_t open = queue_.open();
    for (; open < kMostLearning && !unlearned_.empty() && ready_.empty(); ++open) {
      post_learning_of(std::move(unlearned_.front()));
      unlearned_.pop_front();
    }
    for (; open < kMostOpen && !ready_.empty(); ++open) {
      Batch& batch = ready_.front();
      const auto point = static_cast<std::int64_t>(batch.trials.points[batch.posted++]) + 1;
      posted_.insert(queue_.post(batch.context, task_of_trial(sweep_, {point, batch.trials.seed}), batch.learned));
      if (batch.posted == batch.trials.points.size()) ready_.pop_front();
    }
  }

  void post_learning_of(Batch batch) {
    const std::size_t point = batch.trials.points.front();
    std::vector<std::string> overrides = sweep_.base_overrides();
    for (std::string& one : sweep_.overrides(point, batch.trials.seed)) overrides.push_back(std::move(one));
    const std::uint64_t hash = sweep_.scenario(point, batch.trials.seed).hash;
    learning_.emplace(post_learning(queue_, {std::move(overrides), hash}), std::move(batch));
  }

  void take(const TaskQueue::Done& done) {
    if (auto learning = learning_.extract(done.task)) {
      Batch& batch = learning.mapped();
      if (!done.fault.empty()) return lose(done.fault, batch.trials.points.size());
      keep_learned(done.result);
      // Posts tasks of one context together, grouped by state, because they are sent together.
      batch.context = std::make_shared<const TaskContext>(*context_);
      batch.learned = {{fmt::format("{:016x}-{:x}", fingerprint(done.result), done.result.size()),
                        [result = std::make_shared<const std::string>(done.result)] { return *result; }}};
      ready_.push_front(std::move(batch));
      return;
    }
    if (posted_.erase(done.task) == 0) return;
    if (!done.fault.empty()) return lose(done.fault, 1);
    if (!done.result.empty()) take_results(database_, identity_, done.result, done.from);
    ++done_;
    --left_;
  }

  void keep_learned(const std::string& result) {
    for (const auto& [key, run] : learned_runs_from(result))
      records_.keep(Records::kLearned, record_key(key), 0, [&] { return to_bytes(*run); });
  }

  void lose(const std::string& why, std::size_t count) {
    lost_[why] += count;
    left_ -= static_cast<std::int64_t>(count);
  }

  const SweepPoints& sweep_;
  Database& database_;
  Records records_{database_};
  TaskQueue& queue_;
  SweepIdentity identity_;
  std::shared_ptr<const TaskContext> context_;
  std::deque<Batch> unlearned_, ready_;
  std::map<TaskQueue::TaskId, Batch> learning_;
  std::set<TaskQueue::TaskId> posted_;  ///< tasks of posted trials
  std::map<std::string, std::size_t> lost_;
  std::int64_t before_ = 0, done_ = 0, left_ = 0;
};

}  // namespace

SweepProgressNumbers run_sweep(const SweepPoints& sweep, const std::string& file, TaskQueue& queue, bool show_progress,
                               const std::function<void()>& on_open) {
  const std::unique_ptr<Database> database = open_sweep(file, sweep, {});
  if (on_open) on_open();
  SweepProgressNumbers numbers;
  numbers.before = database->number("SELECT COUNT(*) FROM trial").value_or(0);
  RemoteSweep(sweep, *database, queue).run(show_progress);
  numbers.trials = database->number("SELECT COUNT(*) FROM trial").value_or(0);
  numbers.finished = numbers.trials - numbers.before;
  numbers.failed = database->number("SELECT COUNT(*) FROM trial WHERE status = 'failed'").value_or(0);
  database->close();
  put_in_order(file);
  return numbers;
}

std::shared_ptr<const TaskContext> context_of_trials(const SweepPoints& sweep, const SweepIdentity& identity) {
  WireWriter about;
  about << identity;
  return std::make_shared<const TaskContext>(
      TaskContext{TaskContext::Kind::trials, sweep.base_overrides(), sweep.hash(), about.bytes()});
}

std::string task_of_trial(const SweepPoints& sweep, const SweepTrial& trial) {
  const auto point = static_cast<std::size_t>(trial.point) - 1;
  TrialTask task{.trial = trial,
                 .hash = sweep.points()[point].hash,
                 .problem = sweep.points()[point].problem,
                 .overrides = sweep.overrides(point, 0),
                 .first_seed = sweep.seed_of(point, 0)};
  if (sweep.seeds() > 1) task.overrides.pop_back();  // drops the seed's setting
  WireWriter wire;
  wire << task;
  return wire.bytes();
}

std::vector<std::string> do_trials(const std::string& path, const TaskPiece& piece, const TaskStates& states,
                                   std::size_t threads) {
  SweepIdentity identity;
  std::vector<TrialTask> tasks;
  SweepOptions options{.threads = threads, .keep_weights = false};
  try {
    WireReader(piece.context.about) >> identity;
    for (const TaskPiece::Item& item : piece.items) {
      tasks.push_back(WireReader(item.task).read<TrialTask>());
      if (options.offered.empty() && !item.states.empty())
        options.offered = learned_runs_from(states.at(item.states.front()));
    }
  } catch (const std::out_of_range& error) {
    refuse("a piece of a sweep", fmt::format("is damaged, or comes from another build: {}", error.what()),
           "use the same build of dadsim on all machines");
  }
  Database results("the results of a piece", Database::Access::memory);
  create_tables(results);
  identity.version = kVersion;
  identity.build = build();
  write_identity(results, identity, {});
  std::vector<SweepBatch> batches;
  std::optional<std::pair<std::uint64_t, std::int64_t>> last;  // learning problem and seed
  PointWriter points(results);
  for (const TrialTask& one : tasks) {
    points.write({one.trial.point, fmt::format("{:016x}", one.hash), {}});
    const std::pair<std::uint64_t, std::int64_t> learns{one.problem, one.trial.seed};
    if (last != learns) batches.push_back({.seed = one.trial.seed, .points = {}});
    last = learns;
    batches.back().points.push_back(static_cast<std::size_t>(one.trial.point) - 1);
  }
  // Event-driven learning of points in other pieces is reused in this process.
  static const auto memory = std::make_shared<HistoryMemory>(1e9);
  options.memory = memory;
  const TrialScenarios scenarios(path, piece.context.overrides, identity.seeds > 1, tasks);
  run_batches([&](std::size_t point, std::int64_t seed) { return scenarios.load(point, seed); }, batches, results,
              nullptr, options);
  std::vector<std::string> all(tasks.size());
  if (!all.empty()) all.front() = results.bytes();
  return all;
}

void take_results(Database& file, const SweepIdentity& sweep, std::string_view bytes, const std::string& from) {
  Database piece(from, bytes);
  if (!has_tables(piece)) refuse(from, "holds no results of a sweep", "give the results of a piece");
  const SweepIdentity identity = whole_identity(piece);
  if (const std::string why = build_difference(identity, sweep); !why.empty())
    refuse(from, why, "use the same build of dadsim on all machines");
  if (const std::string why = difference(identity, sweep); !why.empty())
    refuse(from, why, "give a piece of this sweep");
  ResultsReader reader(piece);
  write_settings(file, reader.settings());
  Database::Transaction together(file);  // waits for the disk at most once for all results
  copy_trials(reader, file, [&](const TrialResults& trial) {
    refuse(from, fmt::format("has other results for point {} than the file", trial.trial.point),
           "set DADSIM_KERNELS=portable on all machines; all then round equally");
  });
  copy_records(piece, file, false);
  together.commit();
}

}  // namespace dadsim::study

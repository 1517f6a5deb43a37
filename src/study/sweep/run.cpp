#include "study/sweep/run.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <future>
#include <mutex>
#include <semaphore>
#include <set>
#include <system_error>
#include <utility>

#include "report/run/uncertainty.hpp"
#include "sim/simulator.hpp"
#include "study/run/experiment.hpp"
#include "study/store/records.hpp"
#include "study/sweep/results.hpp"
#include "study/trials/outcome.hpp"
#include "support/human.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Prints the progress of a sweep.
class SweepLine {
 public:
  SweepLine(std::int64_t done, std::int64_t trials, std::int64_t to_learn, std::size_t threads, bool enabled)
      : done_(done),
        open_(trials - done),
        trials_(trials),
        to_learn_(to_learn),
        threads_(static_cast<double>(threads)),
        enabled_(enabled) {}
  ~SweepLine() {
    if (enabled_) line_.clear();
  }
  SweepLine(const SweepLine&) = delete;
  SweepLine& operator=(const SweepLine&) = delete;

  void learned(std::int64_t problems, double seconds) {
    const std::lock_guard lock(mutex_);
    learned_ += problems;
    learning_seconds_ += seconds;
    print();
  }
  void timed(double seconds) {
    const std::lock_guard lock(mutex_);
    ++done_;
    ++timed_;
    timing_seconds_ += seconds;
    print();
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return timed_ == 0;
  }

 private:
  void print() {
    if (!enabled_ || line_.seconds() - last_ < 0.2) return;
    last_ = line_.seconds();
    std::string line = fmt::format("sweep: {} of {} done", done_, trials_);
    if (to_learn_ > 1) line += fmt::format(", {} of {} learned", learned_, to_learn_);
    if (timed_ > 0) {
      const double timing =
          timing_seconds_ / static_cast<double>(timed_) * static_cast<double>(open_ - timed_) / threads_;
      const double learning =
          learned_ > 0 ? learning_seconds_ / static_cast<double>(learned_) * static_cast<double>(to_learn_ - learned_)
                       : 0;
      line += fmt::format(", about {} left", human_seconds(timing + learning));
    }
    line_.show(line);
  }

  std::mutex mutex_;
  std::int64_t done_, open_, trials_, to_learn_;
  double threads_;
  bool enabled_;
  std::int64_t learned_ = 0, timed_ = 0;
  double learning_seconds_ = 0, timing_seconds_ = 0;
  ProgressLine line_;
  double last_ = -1;  ///< date of the last output by `line_`, seconds; −1: none yet
};

/// Returns the message of a trial that failed in learning or timing.
template <class Result>
std::string words_of_failure(const Outcome<Result>& outcome) {
  return (outcome.fault.infeasible ? std::string(kInfeasible) : std::string()) + outcome.message;
}

/// Times trials in parallel, at most `threads` at a time; each simulation is a process of its own.
class Timers {
 public:
  Timers(const ScenarioOfTrial& scenario_of, Database& database, SweepLine& line, std::size_t threads)
      : scenario_of_(scenario_of),
        database_(database),
        writer_(database),
        line_(line),
        room_(2 * threads),
        free_(static_cast<std::ptrdiff_t>(threads)) {}
  ~Timers() {
    failed_ = true;  // waiting trials end at once
    begun_.clear();
  }
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  using LearnedPtr = std::shared_ptr<const Learned>;

  /// Waits until fewer trials than twice the threads are under way, then begins one. Rethrows an error of an earlier
  /// trial.
  void time(std::size_t point, std::int64_t seed, LearnedPtr learned) {
    while (begun_.size() >= room_ || (failed_ && !begun_.empty())) finish_first();
    const auto work = [this, job = Job{point, seed, std::move(learned)}] { run_in_turn(job); };
    try {
      begun_.push_back(std::async(std::launch::async, work));
    } catch (const std::system_error&) {  // no further thread is available
      work();
    }
  }

  /// Waits until all trials are timed. Rethrows an error of one of them.
  void finish() {
    while (!begun_.empty()) finish_first();
  }

  /// Returns counts of results; call finish() first.
  void count(SweepProgressNumbers& numbers) const {
    numbers.plays = plays_;
    numbers.operations_learned = operations_learned_;
    numbers.operations_found = operations_found_;
  }

  void note_failure(std::size_t point, std::int64_t seed, const std::string& message) {
    write({static_cast<std::int64_t>(point) + 1, seed}, {}, message.empty() ? "failed" : message);
    line_.timed(0);
  }

 private:
  struct Job {
    std::size_t point = 0;
    std::int64_t seed = 0;
    LearnedPtr learned;
  };

  void finish_first() {
    std::future<void> first = std::move(begun_.front());
    begun_.pop_front();
    first.get();
  }

  void run_in_turn(const Job& job) {
    free_.acquire();
    const auto done = [&](const void*) { free_.release(); };
    const std::unique_ptr<const void, decltype(done)> place(this, done);
    if (failed_) return;
    try {
      run(job);
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

  void write(const SweepTrial& trial, const std::vector<SweepRun>& runs, const std::string& message) {
    Database::Transaction transaction(database_);
    writer_.write(trial, runs, message);
    transaction.commit();
  }

  SweepSettings unknown_of(SweepSettings settings) {
    const std::lock_guard lock(mutex_);
    std::erase_if(settings, [&](const auto& one) { return !settings_.insert(one).second; });
    return settings;
  }

  void run(const Job& job) {
    const Clock::time_point start = Clock::now();
    const SweepTrial trial{static_cast<std::int64_t>(job.point) + 1, job.seed};
    const scenario::Scenario scenario = scenario_of_(job.point, job.seed);
    auto timed =
        outcome_of([&] { return study::time_scenario(scenario, *job.learned, study::cluster_of(scenario), false); });
    if (!timed.result) return note_failure(job.point, job.seed, words_of_failure(timed));
    report::Result& result = *timed.result;
    result.rate_as_tcp = rate_as_tcp(scenario);
    std::vector<SweepRun> runs;
    for (const report::RunResult& one : result.runs) {
      runs.push_back(
          {trial, static_cast<std::int64_t>(runs.size()) + 1, report::FigureValues({one, result}),
           to_text(report::Uncertainty{one.step_band ? one.step_band->parts : std::vector<estimate::TimePart>(),
                                       one.arrivals, one.seed_scatter})});
      if (!one.event_driven) continue;
      ++plays_;
      operations_learned_ += one.event_driven->learned;
      operations_found_ += one.event_driven->found;
    }
    job.learned->shared_cache->histories().flush();
    write_settings(database_, unknown_of(settings_of(result)));
    write(trial, runs, {});
    line_.timed(seconds_since(start));
  }

  const ScenarioOfTrial& scenario_of_;
  Database& database_;
  TrialWriter writer_;  ///< within a transaction
  SweepLine& line_;
  std::mutex mutex_;
  SweepSettings settings_;  ///< settings written so far
  std::atomic<std::int64_t> plays_{0}, operations_learned_{0}, operations_found_{0};
  std::size_t room_;
  std::counting_semaphore<> free_;
  std::atomic<bool> failed_{false};
  std::deque<std::future<void>> begun_;  ///< in the order of their starts
};

std::set<SweepTrial> finished_trials(Database& database) {
  std::set<SweepTrial> finished;
  SqlStatement select(database, "SELECT point, seed FROM trial");
  while (select.step()) finished.insert({select.integer(0), select.integer(1)});
  return finished;
}

std::int64_t trials_of(const std::vector<SweepBatch>& batches) {
  std::int64_t trials = 0;
  for (const SweepBatch& batch : batches) trials += static_cast<std::int64_t>(batch.points.size());
  return trials;
}

}  // namespace

std::vector<SweepBatch> open_batches(const SweepPoints& sweep, Database& database, const Shard& shard) {
  const std::set<SweepTrial> finished = finished_trials(database);
  std::map<std::pair<std::size_t, std::int64_t>, SweepBatch> by_problem;
  for (std::size_t i = 0; i < sweep.points().size(); ++i) {
    const auto id = static_cast<std::int64_t>(i) + 1;
    if (!shard.holds(id)) continue;
    for (std::int64_t seed = 0; seed < sweep.seeds(); ++seed) {
      if (finished.contains({id, seed})) continue;
      SweepBatch& batch = by_problem[{sweep.points()[i].problem, seed}];
      batch.seed = seed;
      batch.points.push_back(i);
    }
  }
  std::vector<SweepBatch> batches;
  batches.reserve(by_problem.size());
  for (auto& [problem, batch] : by_problem) batches.push_back(std::move(batch));
  return batches;
}

SweepProgressNumbers run_batches(const ScenarioOfTrial& scenario_of, const std::vector<SweepBatch>& batches,
                                 Database& database, Database* learned_before, const SweepOptions& options) {
  SweepProgressNumbers numbers;
  numbers.before = database.number("SELECT COUNT(*) FROM trial").value_or(0);
  const std::int64_t open = trials_of(batches);
  numbers.trials = numbers.before + open;

  const auto records =
      std::make_shared<Records>(database, learned_before, options.keep_weights ? kMostHistoryBytes : 0);
  LearningStore store(records, std::make_shared<SharedCache>(options.memory, records));
  store.offer(options.offered);
  const std::size_t threads =
      std::max<std::size_t>(1, std::min(options.threads, static_cast<std::size_t>(std::max<std::int64_t>(open, 1))));
  SweepLine line(numbers.before, numbers.trials, static_cast<std::int64_t>(batches.size()), threads,
                 options.show_progress);
  {
    Timers timers(scenario_of, database, line, threads);
    for (const SweepBatch& batch : batches) {
      if (interrupted().load()) throw Cancelled();
      const Clock::time_point start = Clock::now();
      const scenario::Scenario scenario = scenario_of(batch.points.front(), batch.seed);
      auto outcome = outcome_of([&] { return learn_scenario(scenario, &store, options.show_progress && line.idle()); });
      if (!outcome.result) {
        // Some errors appear only here: for example, the data cannot be divided as the scenario requires.
        for (const std::size_t point : batch.points) timers.note_failure(point, batch.seed, words_of_failure(outcome));
        continue;
      }
      outcome.result->timings = std::make_shared<TimingMemory>();
      const auto learned = std::make_shared<const Learned>(*std::move(outcome.result));
      line.learned(1, seconds_since(start));
      if (options.learn_only) continue;
      for (const std::size_t point : batch.points) {
        timers.time(point, batch.seed, learned);
        if (!kForksBesideThreads) timers.finish();
      }
    }
    timers.finish();
    timers.count(numbers);
  }
  numbers.learned = store.learned();
  if (!options.learn_only) numbers.finished = open;
  numbers.failed = database.number("SELECT COUNT(*) FROM trial WHERE status = 'failed'").value_or(0);
  return numbers;
}

SweepProgressNumbers run_sweep(const SweepPoints& sweep, Database& database, const Shard& shard,
                               const SweepOptions& options) {
  if (options.retry_failed) database.execute("DELETE FROM trial WHERE status = 'failed'");
  const std::unique_ptr<Database> learned =
      options.learned.empty() ? nullptr : open_learned(options.learned, options.any_build);
  return run_batches([&](std::size_t point, std::int64_t seed) { return sweep.scenario(point, seed); },
                     open_batches(sweep, database, shard), database, learned.get(), options);
}

}  // namespace dadsim::study

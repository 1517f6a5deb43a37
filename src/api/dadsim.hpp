#pragma once

// dadsim as a library: load a scenario, learn, time, and read its result. docs/library.md has an example, which the
// tests build. This header needs only C++17 and the standard library.
//
// Compatibility: a program built against version 1 of this interface (the namespace v1, libdadsim.so.1) runs with every
// later library of version 1 without recompilation. Classes have their members behind a pointer. Plain structs
// (CurvePoint, Figure) get further members only in a new version. Results of a run are read by names of figures; later
// libraries may have more figures.
//
// Loading, learning, timing and sweeping fork processes. Each simulation runs in its own child, which only simulates
// and returns its results; it runs no code of the host program, and has none of its file descriptors. All functions may
// be called from any thread; calls from several threads take turns. A host program that ignores SIGCHLD, or waits for
// children that are not its own, gets a SystemError. Nothing is written to the terminal, and no signal handler is set.
//
// Units: seconds (simulated, unless documented as wall clock), bytes, shares from 0 to 1. Unknown and infinite values
// are NaN, never zero.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(__GNUC__)
#define DADSIM_API __attribute__((visibility("default")))
#else
#define DADSIM_API
#endif

namespace dadsim::api {
inline namespace v1 {

/// Base of all errors; the text is the message of the program `dadsim`.
class DADSIM_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// One error in a scenario, a platform or data.
struct Diagnostic {
  std::string file;    ///< file, or "--set PATH=VALUE" for a setting; may be empty
  int line = 0;        ///< line from 1; 0: none
  std::string what;    ///< the error
  std::string remedy;  ///< a valid alternative
};

/// Wrong input. The text has a line `file:line: what; remedy` for each diagnostic, with all errors at once.
class DADSIM_API InputError : public Error {
 public:
  InputError(const std::string& text, std::vector<Diagnostic> diagnostics);
  ~InputError() override;
  const std::vector<Diagnostic>& diagnostics() const noexcept;

 private:
  std::shared_ptr<const std::vector<Diagnostic>> diagnostics_;
};

/// A failed simulation: a deadlock, a missing route in a platform file.
class DADSIM_API SimulationError : public Error {
 public:
  using Error::Error;
  ~SimulationError() override;
};

/// A file of results could not be written.
class DADSIM_API OutputError : public Error {
 public:
  using Error::Error;
  ~OutputError() override;
};

/// The system denied a process, a thread, a file descriptor or memory, independently of the input. Or this process was
/// forked while another thread of its parent was in a call; the child lacks that thread.
class DADSIM_API SystemError : public Error {
 public:
  using Error::Error;
  ~SystemError() override;
};

/// stop() was called.
class DADSIM_API Stopped : public Error {
 public:
  using Error::Error;
  ~Stopped() override;
};

/// Changes to a scenario before it is checked: path and value as for `--set`, e.g. {"training.batch", "64"}. Later
/// changes take precedence.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Settings of the work, which do not affect results.
struct Options {
  /// Threads for learning, and parallel simulations of a sweep; 0: as many as the machine has. More than 1,024 throw
  /// InputError.
  std::size_t threads = 0;
  /// Called with the progress in words, at most a few times a second, from any thread; with an empty text at the end of
  /// a phase. Must not throw, and must not call this library, except stop().
  std::function<void(const std::string&)> progress;
};

/// A complete and checked scenario: every default is filled in, and every named file exists.
class DADSIM_API Scenario {
 public:
  /// Reads a scenario.xml (docs/scenario.md). Throws InputError with all errors, SystemError, Stopped.
  static Scenario load(const std::string& path, const Settings& settings = {});

  const std::string& name() const noexcept;
  std::uint64_t seed() const noexcept;
  /// Returns the hash. It is equal for equal scenarios, in any folder.
  std::uint64_t hash() const noexcept;
  /// Returns the labels of its runs, in order.
  std::vector<std::string> runs() const;
  /// Returns warnings for the scenario's author, as sentences. They are known before learning.
  std::vector<std::string> warnings() const;
  /// Returns the scenario as XML with every default filled in; loading this XML gives an equal scenario.
  std::string xml() const;

  struct State;
  const State& state() const noexcept { return *state_; }
  explicit Scenario(std::shared_ptr<const State> state) noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// Learned runs, kept in memory that any number of scenarios share, so that equal runs are learned once. Learning
/// depends on data, model, training, algorithms and the number of workers, but not on bandwidths, latencies, devices,
/// collectives and the timed workload. Copies share the same memory.
class DADSIM_API Learned {
 public:
  Learned();
  /// Returns the number of kept runs; each seed counts separately.
  std::size_t size() const;

  struct State;
  State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// A point of a learning curve, and the simulated time at which it was reached.
struct CurvePoint {
  std::int64_t step = 0;
  double epochs = 0;    ///< number of passes over the training data
  double seconds = 0;   ///< simulated seconds from the start of training
  double bytes = 0;     ///< bytes sent by all nodes from the start of training
  double loss = 0;      ///< mean cross-entropy, nats
  double accuracy = 0;  ///< share of held-back samples classified correctly
  double auc = 0;       ///< area under the ROC curve, 0…1
};

/// A figure of a run, with the same name and value in all outputs of dadsim (docs/figures.md).
struct Figure {
  enum class Kind { number, count, truth, text };
  std::string name;
  Kind kind;
  std::string unit;     ///< unit: "s", "B", "share", "currency" …; empty: none
  std::string meaning;  ///< description in words
};

/// Returns all figures, in the order of every output. Later libraries may have more of them.
DADSIM_API const std::vector<Figure>& figures();

/// Results of one run. Copies share them.
class DADSIM_API Run {
 public:
  /// Returns the label, unique within the scenario.
  const std::string& label() const noexcept;
  /// Returns the value of a figure. A count is a whole number, a boolean is 1 or 0, and an unknown value is NaN. Throws
  /// std::out_of_range for an unknown figure, or a text.
  double figure(const std::string& name) const;
  /// Returns whether a boolean figure is known and true.
  bool is(const std::string& name) const { return figure(name) == 1; }
  /// Returns the text of a figure; it may be empty. Throws std::out_of_range for an unknown figure, or one that is not
  /// a text.
  const std::string& text(const std::string& name) const;
  /// Returns assumptions that apply to this run alone.
  const std::vector<std::string>& notes() const noexcept;
  /// Returns the learning curve; its first point is before training.
  const std::vector<CurvePoint>& curve() const noexcept;

  struct State;
  explicit Run(std::shared_ptr<const State> state) noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// Result of a scenario. Copies share it.
class DADSIM_API Result {
 public:
  const std::vector<Run>& runs() const noexcept;
  /// Returns the run with this label. Throws std::out_of_range if there is none.
  const Run& run(const std::string& label) const;
  /// Returns assumptions that apply to all runs, as sentences.
  const std::vector<std::string>& assumptions() const noexcept;
  /// Return the whole result as JSON (docs/output-json.md); the learning curves as CSV (docs/output-csv.md); a table
  /// for a terminal; a page for a browser (docs/report.md), without a picture of the platform.
  std::string json() const;
  std::string csv() const;
  std::string table() const;
  std::string html() const;

  struct State;
  explicit Result(std::shared_ptr<const State> state) noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// A finished sweep. Copies share it.
class DADSIM_API Sweep {
 public:
  std::size_t points() const noexcept;
  /// Returns the number of points and seeds whose simulation failed; the table has the messages.
  std::size_t failed() const noexcept;
  /// Return CSV with a line for every point, seed and run (docs/sweep.md); a table for a terminal; a page for a
  /// browser.
  std::string csv() const;
  std::string table() const;
  std::string html() const;

  struct State;
  explicit Sweep(std::shared_ptr<const State> state) noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// Learns the scenario's runs that `learned` lacks, and returns `learned`. Event-driven runs are learned later, while
/// time() simulates them. Throws InputError if a run does not fit the memory of its devices, SystemError, Stopped.
DADSIM_API Learned learn(const Scenario& scenario, const Options& options = {}, const Learned& learned = {});

/// Times a scenario with learned runs. Runs that `learned` lacks are learned first, and added to it. Throws InputError,
/// SimulationError, SystemError, Stopped.
DADSIM_API Result time(const Scenario& scenario, const Learned& learned, const Options& options = {});

/// Learns and times a scenario.
DADSIM_API Result run(const Scenario& scenario, const Options& options = {});

/// Runs a scenario at every point of its <sweep>. `file`: an SQLite database that keeps finished work; after any end of
/// the process, the same call continues. Throws InputError, also if the file belongs to another sweep; OutputError,
/// SystemError, Stopped. A failed simulation is recorded, and the others continue.
DADSIM_API Sweep sweep(const std::string& path, const std::string& file, const Settings& settings = {},
                       const Options& options = {});

/// Tasks that a waiting call leaves to other processes, perhaps on other machines: trials of a sweep and their
/// learning; local training, gradients and evaluations of event-driven runs. The caller distributes them;
/// python/dadsim/remote.py uses Dask. Copies share the same tasks. All functions may be called from any thread.
class DADSIM_API RemoteTasks {
 public:
  RemoteTasks();
  struct Piece {
    std::uint64_t id = 0;             ///< number of the piece; 0: there is nothing to do
    std::size_t tasks = 0;            ///< number of tasks in the piece
    std::size_t open = 0;             ///< number of tasks that remain
    std::string bytes;                ///< argument of do_tasks()
    std::vector<std::string> states;  ///< names of the states that do_tasks() also needs
  };
  /// Returns a piece of at most `most` tasks; waits up to `seconds` until there is one.
  Piece next(std::size_t most, double seconds);
  /// Returns a state as bytes; empty if it is no longer needed.
  std::string state(const std::string& name) const;
  /// Accepts the result of do_tasks() for a piece; `from`: name of its worker in messages. Throws InputError.
  void take(std::uint64_t piece, const std::string& results, const std::string& from);
  /// Returns a piece that was not done. Its tasks will be offered again in smaller pieces.
  void put_back(std::uint64_t piece);
  /// Gives up a piece that no worker can do. A sweep continues without it, and reports it at the end; other calls end
  /// with a SystemError. `piece` 0: no worker is left.
  void give_up(std::uint64_t piece, const std::string& why);
  /// Ends the call with a SystemError, or an InputError, with this message, because the work cannot be done.
  void fail(const std::string& why, bool input);
  /// Returns whether the call has ended, so that there will be no more tasks.
  bool over() const;

  struct State;
  State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Returns the same result as run() for the scenario at `path`, but the workers of `tasks` learn event-driven runs.
DADSIM_API Result run(const std::string& path, const Settings& settings, const RemoteTasks& tasks,
                      const Options& options = {});

/// Returns the same result as sweep(), but the workers of `tasks` do its trials. The file of a finished sweep does not
/// depend on their order: it equals, byte for byte, the output of `dadsim merge` for the file of one process.
DADSIM_API Sweep sweep(const std::string& path, const std::string& file, const Settings& settings,
                       const RemoteTasks& tasks, const Options& options = {});

/// Does a piece of tasks, with the scenario at the local `path`. `states`: names and bytes. Throws InputError if the
/// local scenario differs, SimulationError, SystemError, Stopped.
DADSIM_API std::string do_tasks(const std::string& path, const std::string& piece,
                                const std::vector<std::pair<std::string, std::string>>& states,
                                const Options& options = {});

/// Returns the files that this process has read for scenarios, including files that scenarios name.
DADSIM_API std::vector<std::string> input_files();

/// Ends the running call of this process soon, with Stopped. May be called from any thread and in a signal handler.
/// Later calls are not stopped.
DADSIM_API void stop() noexcept;

/// Ends chosen calls and no others. In contrast, stop() ends the running call, whichever thread made it. Copies share
/// the same calls.
class DADSIM_API Stopper {
 public:
  Stopper();
  /// Runs `work` in this thread; stop() ends the calls of this library that `work` makes.
  void watch(const std::function<void()>& work) const;
  /// Ends these calls soon, with Stopped: the running one, one that waits for its turn, and every later one. May be
  /// called from any thread, but not in a signal handler.
  void stop() const noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// Returns the version, for example "0.2.0".
DADSIM_API std::string version();
/// Returns the library's commit and its kernels, for example "+avx512". Results of different builds must not be mixed.
/// Throws InputError if DADSIM_KERNELS names a set that this processor lacks.
DADSIM_API std::string build();

}  // namespace v1
}  // namespace dadsim::api

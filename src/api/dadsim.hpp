#pragma once

// dadsim in a program of one's own: a scenario is loaded, learned, timed, and its result read. docs/library.md has an
// example, which the tests build. C++17 and the standard library are all that this header needs.
//
// What it holds to: a program built against version 1 of this interface (the namespace v1, libdadsim.so.1) runs with
// every later library of that version without being compiled again. Classes keep what they hold behind a pointer; what
// is handed out as plain structs (CurvePoint, Figure) may get further members in a new version alone; what there is to
// say of a run is had by the names of its figures, of which later libraries may have more.
//
// Loading, learning, timing and sweeping fork processes: each simulation runs in a child of its own, which does nothing
// but simulate and send its findings back; it runs none of the host program's code, and has none of its descriptors.
// They may be called from any thread; calls from several threads take turns. A host program that ignores SIGCHLD, or
// waits for children that are not its own, gets a SystemError. Nothing is written to the terminal, and no handler of a
// signal is set.
//
// Units: seconds (simulated, unless they are said to be of the wall clock), bytes, shares from 0 to 1. What is not
// known or not a finite number is not a number (NaN), never zero.

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

/// Anything that goes wrong: the text is what the program `dadsim` would say.
class DADSIM_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  ~Error() override;
};

/// One thing that is wrong with a scenario, a platform or data.
struct Diagnostic {
  std::string file;    ///< the file, or "--set PATH=VALUE" for a setting; may be empty
  int line = 0;        ///< from 1; 0: none
  std::string what;    ///< what is wrong
  std::string remedy;  ///< what would be right
};

/// The input is wrong. The text has a line `file:line: what; remedy` for each of the diagnostics: all that is wrong at
/// once.
class DADSIM_API InputError : public Error {
 public:
  InputError(const std::string& text, std::vector<Diagnostic> diagnostics);
  ~InputError() override;
  const std::vector<Diagnostic>& diagnostics() const noexcept;

 private:
  std::shared_ptr<const std::vector<Diagnostic>> diagnostics_;
};

/// The simulation itself failed: a deadlock, a route that a platform file lacks.
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

/// The system denied a process, a thread, a descriptor or memory, which says nothing about what was asked; or this
/// process was forked while another thread of its parent was in a call, whose threads it lacks.
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

/// Changes to a scenario before it is checked: path and value as `--set` takes them, e.g. {"training.batch", "64"}.
/// Later ones win.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// How work is done; no result depends on it.
struct Options {
  /// For learning, and of a sweep simulations at a time; 0: as many as the machine has. At most 1,024: more are an
  /// InputError.
  std::size_t threads = 0;
  /// Called with how far the work is, in words, at most a few times a second, from whatever thread; empty at the end of
  /// a phase. It must not throw, and must not call this library but for stop().
  std::function<void(const std::string&)> progress;
};

/// A scenario, complete and checked: every default is filled in, every file that it names is there.
class DADSIM_API Scenario {
 public:
  /// Reads a scenario.xml (docs/scenario.md). Throws InputError with everything that is wrong, SystemError, Stopped.
  static Scenario load(const std::string& path, const Settings& settings = {});

  const std::string& name() const noexcept;
  std::uint64_t seed() const noexcept;
  /// Equal scenarios have equal hashes, wherever their files lie.
  std::uint64_t hash() const noexcept;
  /// Labels of its runs, in order.
  std::vector<std::string> runs() const;
  /// What its author should know before it learns, in sentences.
  std::vector<std::string> warnings() const;
  /// With every default filled in, as XML; loading that gives an equal scenario.
  std::string xml() const;

  struct State;
  const State& state() const noexcept { return *state_; }
  explicit Scenario(std::shared_ptr<const State> state) noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// What has been learned: a memory that any number of scenarios share. What two of them have in common is learned once:
/// bandwidths, latencies, devices, collectives and what is timed do not matter to learning; data, model, training,
/// algorithms and the number of workers do. Copies are the same memory.
class DADSIM_API Learned {
 public:
  Learned();
  /// Runs that are kept, each with its seed.
  std::size_t size() const;

  struct State;
  State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// A point of a learning curve with the simulated time at which it was reached.
struct CurvePoint {
  std::int64_t step = 0;
  double epochs = 0;    ///< passes over the training data
  double seconds = 0;   ///< simulated, from the start of training
  double bytes = 0;     ///< sent by all nodes, from the start of training
  double loss = 0;      ///< nats
  double accuracy = 0;  ///< share of held-back samples
  double auc = 0;       ///< area under the ROC curve, share
};

/// A figure of a run: one value under one name, which every output of dadsim has (docs/figures.md).
struct Figure {
  enum class Kind { number, count, truth, text };
  std::string name;
  Kind kind;
  std::string unit;     ///< "s", "B", "share", "currency" …; empty: none
  std::string meaning;  ///< in words
};

/// All figures, in the order of every output. A later library may have more of them.
DADSIM_API const std::vector<Figure>& figures();

/// What there is to say of one run. Copies share it.
class DADSIM_API Run {
 public:
  /// Unique within the scenario.
  const std::string& label() const noexcept;
  /// The value of a figure; a count is a whole number, and of a truth 1 is yes and 0 is no. Not a number where it is
  /// not known. Throws std::out_of_range where there is no such figure, or where it is a text.
  double figure(const std::string& name) const;
  /// Whether a figure that is a truth is known, and is yes.
  bool is(const std::string& name) const { return figure(name) == 1; }
  /// Of a figure that is a text; it may be empty. Throws std::out_of_range where there is no such figure, or where it
  /// is none.
  const std::string& text(const std::string& name) const;
  /// Assumptions that concern this run alone.
  const std::vector<std::string>& notes() const noexcept;
  /// The first point is before training.
  const std::vector<CurvePoint>& curve() const noexcept;

  struct State;
  explicit Run(std::shared_ptr<const State> state) noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// The result of a scenario. Copies share it.
class DADSIM_API Result {
 public:
  const std::vector<Run>& runs() const noexcept;
  /// Throws std::out_of_range where there is none of that label.
  const Run& run(const std::string& label) const;
  /// Sentences that hold for every run.
  const std::vector<std::string>& assumptions() const noexcept;
  /// All there is to say (docs/output-json.md); the learning curves (docs/output-csv.md); as a terminal shows it; as a
  /// page for a browser (docs/report.md), without a picture of the platform.
  std::string json() const;
  std::string csv() const;
  std::string table() const;
  std::string html() const;

  struct State;
  explicit Result(std::shared_ptr<const State> state) noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// A sweep that has come to its end. Copies share it.
class DADSIM_API Sweep {
 public:
  std::size_t points() const noexcept;
  /// Of points and seeds, those whose simulation failed; what it said is in the table.
  std::size_t failed() const noexcept;
  /// A line for every point, seed and run (docs/sweep.md); as a terminal shows it; as a page for a browser.
  std::string csv() const;
  std::string table() const;
  std::string html() const;

  struct State;
  explicit Sweep(std::shared_ptr<const State> state) noexcept;

 private:
  std::shared_ptr<const State> state_;
};

/// Learns for real what `learned` lacks, and returns it. Event-driven runs are learned as they are simulated, in
/// time(). Throws InputError where a run does not fit the memory of its devices, SystemError, Stopped.
DADSIM_API Learned learn(const Scenario& scenario, const Options& options = {}, const Learned& learned = {});

/// Times a scenario with what has been learned; what `learned` lacks for it is learned first, and kept there. Throws
/// InputError, SimulationError, SystemError, Stopped.
DADSIM_API Result time(const Scenario& scenario, const Learned& learned, const Options& options = {});

/// Both.
DADSIM_API Result run(const Scenario& scenario, const Options& options = {});

/// Runs a scenario at every point of its <sweep>. `file`, an SQLite database, keeps what is finished: whatever ends the
/// process, the same call goes on. Throws InputError, also where the file is of another sweep; OutputError,
/// SystemError, Stopped. A simulation that fails is noted, and the others go on.
DADSIM_API Sweep sweep(const std::string& path, const std::string& file, const Settings& settings = {},
                       const Options& options = {});

/// What a call has other processes do, perhaps on other machines, while it waits: trials of a sweep and what they
/// learn; local training, gradients and evaluations of event-driven runs. Who hands it out is up to the caller:
/// python/dadsim/remote.py hands it to Dask. Copies are the same; its functions may be called from any thread.
class DADSIM_API RemoteTasks {
 public:
  RemoteTasks();
  struct Piece {
    std::uint64_t id = 0;             ///< 0: there was nothing to do
    std::size_t tasks = 0;            ///< in it
    std::size_t open = 0;             ///< that are left for others
    std::string bytes;                ///< for do_tasks()
    std::vector<std::string> states;  ///< names of those that it takes beside
  };
  /// A piece of at most so many tasks; waits so many seconds for one.
  Piece next(std::size_t most, double seconds);
  /// As bytes; empty where nobody needs it any more.
  std::string state(const std::string& name) const;
  /// What do_tasks() returned for a piece; `from` is what messages call who did it. Throws InputError.
  void take(std::uint64_t piece, const std::string& results, const std::string& from);
  /// It was not done, and is to be had again in smaller pieces.
  void put_back(std::uint64_t piece);
  /// Nobody can do it. A sweep goes on without it, and says so at the end; what else needs it ends with a SystemError.
  /// `piece` 0: there is nobody any more who could do anything.
  void give_up(std::uint64_t piece, const std::string& why);
  /// It cannot be done: the call ends with a SystemError of these words, or an InputError.
  void fail(const std::string& why, bool input);
  /// The call has come to its end: there will be nothing more.
  bool over() const;

  struct State;
  State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// As run() of the scenario at `path`, of which event-driven runs are learned by those who do `tasks`: the same result.
DADSIM_API Result run(const std::string& path, const Settings& settings, const RemoteTasks& tasks,
                      const Options& options = {});

/// As sweep(), whose trials are done by those who do `tasks`. A finished sweep lies in its file in an order that does
/// not depend on who did what when: what `dadsim merge` makes of the file of one process, to the byte.
DADSIM_API Sweep sweep(const std::string& path, const std::string& file, const Settings& settings,
                       const RemoteTasks& tasks, const Options& options = {});

/// Does a piece of such tasks, with the scenario that lies at `path` here. `states`: names and bytes. Throws InputError
/// where the scenario is another one here, SimulationError, SystemError, Stopped.
DADSIM_API std::string do_tasks(const std::string& path, const std::string& piece,
                                const std::vector<std::pair<std::string, std::string>>& states,
                                const Options& options = {});

/// Files that this process has read for scenarios: these, and what they name.
DADSIM_API std::vector<std::string> input_files();

/// Whatever runs in this process ends soon with Stopped. May be called from any thread and in a signal handler. It
/// concerns the call that runs; one that begins later is not stopped.
DADSIM_API void stop() noexcept;

/// Ends calls of one's own, and no others: calls of several threads take turns, and stop() ends the one that runs,
/// whoever has made it. Copies are the same.
class DADSIM_API Stopper {
 public:
  Stopper();
  /// Does `work` in this thread: the calls of this library that it makes, one after the other, are those that stop()
  /// ends.
  void watch(const std::function<void()>& work) const;
  /// The call that runs ends soon with Stopped, and so does one that waits for its turn, and every later one. May be
  /// called from any thread, not in a signal handler.
  void stop() const noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

/// E.g. "0.1.0"; and what results come from that must not be mixed: the commit that the library was built from, and
/// the kernels that it takes ("+avx512"). Throws InputError where DADSIM_KERNELS names none that this processor has.
DADSIM_API std::string version();
DADSIM_API std::string build();

}  // namespace v1
}  // namespace dadsim::api

// The compiled part of the Python module: the interface of src/api, with results in Python's built-in types.
// python/dadsim/__init__.py converts these to data frames.
#include <pthread.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/dadsim.hpp"

namespace py = pybind11;

namespace {

constexpr std::chrono::milliseconds kLookAgain{50};

/// Calls in progress, in all threads. At exit, Python ends a daemon thread when it next asks for Python's lock, which
/// C++ frames on its stack would not survive. leave() therefore ends all calls before.
class Calls {
 public:
  static Calls& all() {
    static auto* calls = new Calls;  // never destroyed, as threads may outlive static objects
    return *calls;
  }

  void add(const dadsim::api::Stopper& stopper) {
    const std::lock_guard lock(mutex_);
    if (leaving_) throw dadsim::api::Stopped("interrupted; Python is about to end");
    running_.push_back(&stopper);
  }
  void remove(const dadsim::api::Stopper& stopper) {
    const std::lock_guard lock(mutex_);
    std::erase(running_, &stopper);
    ended_.notify_all();
  }
  /// Ends all calls, waits for them, and refuses new calls.
  void leave() {
    const py::gil_scoped_release others_go_on;
    std::unique_lock lock(mutex_);
    leaving_ = true;
    for (const dadsim::api::Stopper* one : running_) one->stop();
    ended_.wait(lock, [this] { return running_.empty(); });
  }
  /// Forgets all calls in a forked child, which has a single thread.
  static void forget_all() {
    Calls& calls = all();
    new (&calls.mutex_) std::mutex;
    new (&calls.ended_) std::condition_variable;
    calls.running_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<const dadsim::api::Stopper*> running_;
  bool leaving_ = false;
};

/// Runs work in a new thread, while the calling Python thread handles signals and passes progress on. Python's lock is
/// free meanwhile, so other Python threads run. Forked children of the work run no Python code.
class Worker {
 public:
  Worker(std::function<void(const dadsim::api::Options&)> work, std::size_t threads, py::object progress)
      : work_(std::move(work)), progress_(std::move(progress)) {
    options_.threads = threads;
    if (!progress_.is_none()) {
      options_.progress = [this](const std::string& text) {
        const std::lock_guard lock(mutex_);
        said_ = text;
      };
    }
  }

  void run() {
    const Registered registered(stopper_);
    std::thread thread([this] {
      try {
        stopper_.watch([this] { work_(options_); });
      } catch (...) {
        failed_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done_ = true;
      ended_.notify_one();
    });
    std::optional<py::error_already_set> raised;
    for (bool done = false; !done;) {
      {
        const py::gil_scoped_release others_go_on;
        std::unique_lock lock(mutex_);
        done = ended_.wait_for(lock, kLookAgain, [this] { return done_; });
      }
      // Stops this call only; a call that waits for its turn must not stop another thread's call.
      if (!raised && (raised = look_after_python())) stopper_.stop();
      if (::getpid() != process_) {  // a fork in the progress callback; the working thread exists only in the parent
        thread.detach();
        throw dadsim::api::SystemError("a process that was forked in a call of dadsim does not go on with that call");
      }
    }
    thread.join();
    // A signal also ends child processes, so the work may have failed before the signal was noticed here.
    if (!raised) raised = look_after_python();
    if (raised) throw py::error_already_set(*raised);
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  struct Registered {
    const dadsim::api::Stopper& stopper;
    explicit Registered(const dadsim::api::Stopper& one) : stopper(one) { Calls::all().add(stopper); }
    ~Registered() { Calls::all().remove(stopper); }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;
  };

  /// Returns the exception that a signal handler or the progress callback has raised.
  std::optional<py::error_already_set> look_after_python() {
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      std::optional<std::string> said;
      {
        const std::lock_guard lock(mutex_);
        said.swap(said_);
      }
      if (said && !said->empty()) progress_(*said);
    } catch (const py::error_already_set& error) {
      return error;
    }
    return std::nullopt;
  }

  std::function<void(const dadsim::api::Options&)> work_;
  py::object progress_;
  dadsim::api::Options options_;
  dadsim::api::Stopper stopper_;
  pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::optional<std::string> said_;
  std::exception_ptr failed_;
};

/// Converts a figure to Python. An unknown number becomes NaN, and an unknown truth value None.
py::object value_of(const dadsim::api::Run& run, const dadsim::api::Figure& figure) {
  using Kind = dadsim::api::Figure::Kind;
  if (figure.kind == Kind::text) return py::str(run.text(figure.name));
  const double value = run.figure(figure.name);
  if (figure.kind == Kind::truth) return std::isfinite(value) ? py::object(py::bool_(value != 0)) : py::none();
  if (figure.kind == Kind::count && std::isfinite(value)) return py::int_(static_cast<long long>(value));
  return py::float_(value);
}

/// Returns the figures of a run by name.
py::dict figures_of(const dadsim::api::Run& run) {
  py::dict figures;
  for (const dadsim::api::Figure& figure : dadsim::api::figures()) figures[figure.name.c_str()] = value_of(run, figure);
  return figures;
}

/// Exceptions of the module, most of which also derive from one of Python's.
struct Exceptions {
  py::object error, input, simulation, output, system, stopped;

  explicit Exceptions(py::module_& module) {
    error = add(module, "Error", py::make_tuple(py::reinterpret_borrow<py::object>(PyExc_Exception)));
    input = add(module, "InputError", bases(PyExc_ValueError));
    simulation = add(module, "SimulationError", bases(PyExc_RuntimeError));
    output = add(module, "OutputError", bases(PyExc_OSError));
    system = add(module, "ResourceError", bases(PyExc_OSError));
    stopped = add(module, "Stopped", py::make_tuple(error));
  }

 private:
  py::tuple bases(PyObject* of_python) const {
    return py::make_tuple(error, py::reinterpret_borrow<py::object>(of_python));
  }
  static py::object add(py::module_& module, const char* name, const py::tuple& bases) {
    const std::string full = std::string("dadsim.") + name;
    py::object type = py::reinterpret_steal<py::object>(PyErr_NewException(full.c_str(), bases.ptr(), nullptr));
    if (!type) throw py::error_already_set();
    module.attr(name) = type;
    return type;
  }
};

const Exceptions* exceptions = nullptr;  // never deleted, since the interpreter may call a translator until its end

void set_input_error(const dadsim::api::InputError& error) {
  const py::object raised = exceptions->input(error.what());
  py::list diagnostics;
  for (const dadsim::api::Diagnostic& one : error.diagnostics()) {
    diagnostics.append(py::make_tuple(one.file, one.line, one.what, one.remedy));
  }
  raised.attr("diagnostics") = diagnostics;
  PyErr_SetObject(exceptions->input.ptr(), raised.ptr());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const dadsim::api::InputError& error) {
    set_input_error(error);
  } catch (const dadsim::api::SimulationError& error) {
    PyErr_SetString(exceptions->simulation.ptr(), error.what());
  } catch (const dadsim::api::OutputError& error) {
    PyErr_SetString(exceptions->output.ptr(), error.what());
  } catch (const dadsim::api::SystemError& error) {
    PyErr_SetString(exceptions->system.ptr(), error.what());
  } catch (const dadsim::api::Stopped& error) {
    PyErr_SetString(exceptions->stopped.ptr(), error.what());
  } catch (const dadsim::api::Error& error) {
    PyErr_SetString(exceptions->error.ptr(), error.what());
  }
}

}  // namespace

PYBIND11_MODULE(_dadsim, module) {
  namespace api = dadsim::api;
  exceptions = new Exceptions(module);
  py::register_exception_translator(&translate);

  py::class_<api::Scenario>(module, "Scenario", "A scenario, complete and checked.")
      .def_property_readonly("name", &api::Scenario::name)
      .def_property_readonly("seed", &api::Scenario::seed)
      .def_property_readonly("hash", &api::Scenario::hash, "Equal scenarios have equal hashes.")
      .def_property_readonly("runs", &api::Scenario::runs, "The labels of its runs.")
      .def_property_readonly(
          "warnings",
          [](const api::Scenario& scenario) {
            std::vector<std::string> warnings;
            Worker([&](const api::Options&) { warnings = scenario.warnings(); }, 0, py::none()).run();
            return warnings;
          })
      .def_property_readonly("xml", &api::Scenario::xml, "With every default filled in.");

  py::class_<api::Learned>(module, "Learned",
                           "What has been learned: a memory that calls share. What scenarios have in common is learned "
                           "once.")
      .def(py::init<>())
      .def("__len__", &api::Learned::size);

  py::class_<api::Result>(module, "Result")
      .def("json", &api::Result::json)
      .def("csv", &api::Result::csv)
      .def("table", &api::Result::table)
      .def("html", &api::Result::html)
      .def("assumptions", &api::Result::assumptions)
      .def("figures", [](const api::Result& result) {
        py::list runs;
        for (const api::Run& run : result.runs()) runs.append(figures_of(run));
        return runs;
      });

  py::class_<api::Sweep>(module, "Sweep")
      .def_property_readonly("points", &api::Sweep::points)
      .def_property_readonly("failed", &api::Sweep::failed)
      .def("csv", &api::Sweep::csv)
      .def("table", &api::Sweep::table)
      .def("html", &api::Sweep::html);

  module.def("load", [](const std::string& path, const api::Settings& settings) {
    std::optional<api::Scenario> scenario;
    Worker([&](const api::Options&) { scenario = api::Scenario::load(path, settings); }, 0, py::none()).run();
    return *scenario;
  });
  module.def("run", [](const api::Scenario& scenario, const api::Learned& learned, std::size_t threads,
                       const py::object& progress) {
    std::optional<api::Result> result;
    Worker([&](const api::Options& options) { result = api::time(scenario, learned, options); }, threads, progress)
        .run();
    return *result;
  });
  module.def("sweep", [](const std::string& path, const std::string& file, const api::Settings& settings,
                         std::size_t threads, const py::object& progress) {
    std::optional<api::Sweep> swept;
    Worker([&](const api::Options& options) { swept = api::sweep(path, file, settings, options); }, threads, progress)
        .run();
    return *swept;
  });
  py::class_<api::RemoteTasks>(module, "RemoteTasks", "What a call has others do; remote.py hands it out.")
      .def(py::init<>())
      .def("next",
           [](api::RemoteTasks& tasks, std::size_t most, double seconds) {
             api::RemoteTasks::Piece piece;
             {
               const py::gil_scoped_release others_go_on;
               piece = tasks.next(most, seconds);
             }
             return py::make_tuple(piece.id, piece.tasks, piece.open, py::bytes(piece.bytes), piece.states);
           })
      .def("state", [](const api::RemoteTasks& tasks, const std::string& name) { return py::bytes(tasks.state(name)); })
      .def("take", [](api::RemoteTasks& tasks, std::uint64_t piece, const py::bytes& results,
                      const std::string& from) { tasks.take(piece, results, from); })
      .def("put_back", &api::RemoteTasks::put_back)
      .def("give_up", &api::RemoteTasks::give_up)
      .def("fail", &api::RemoteTasks::fail)
      .def("over", &api::RemoteTasks::over);
  module.def("run_remotely", [](const std::string& path, const api::Settings& settings, const api::RemoteTasks& tasks,
                                std::size_t threads, const py::object& progress) {
    std::optional<api::Result> result;
    Worker([&](const api::Options& options) { result = api::run(path, settings, tasks, options); }, threads, progress)
        .run();
    return *result;
  });
  module.def("sweep_remotely", [](const std::string& path, const std::string& file, const api::Settings& settings,
                                  const api::RemoteTasks& tasks, const py::object& progress) {
    std::optional<api::Sweep> swept;
    Worker([&](const api::Options& options) { swept = api::sweep(path, file, settings, tasks, options); }, 0, progress)
        .run();
    return *swept;
  });
  module.def("do_tasks", [](const std::string& path, const std::string& piece,
                            const std::vector<std::pair<std::string, std::string>>& states, std::size_t threads) {
    std::string results;
    Worker([&](const api::Options& options) { results = api::do_tasks(path, piece, states, options); }, threads,
           py::none())
        .run();
    return py::bytes(results);
  });
  module.def("input_files", &api::input_files);
  module.def("stop", &api::stop);
  py::module_::import("atexit").attr("register")(py::cpp_function([] { Calls::all().leave(); }));
  ::pthread_atfork(nullptr, nullptr, [] { Calls::forget_all(); });
  module.def("figures", [] {
    constexpr std::array kKinds{"number", "count", "truth", "text"};
    py::list all;
    for (const api::Figure& one : api::figures())
      all.append(py::make_tuple(one.name, kKinds.at(static_cast<std::size_t>(one.kind)), one.unit, one.meaning));
    return all;
  });
  module.def("version", &api::version);
  module.def("build", &api::build);
}

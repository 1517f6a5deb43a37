#include "api/call.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "sim/simulator.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"
#include "support/kernel_set.hpp"
#include "support/output_error.hpp"
#include "support/terminal.hpp"
#include "support/thread_limit.hpp"

namespace dadsim::api {
namespace {

/// Turn of a call. A process runs one call at a time, because progress and stopping have one receiver each; the
/// constructor waits for calls of other threads. Throws Stopped if this call is stopped before its turn. Throws
/// SystemError in a process forked during a call, where other threads' locks are never released.
class Turn {
 public:
  Turn();
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

}  // namespace

struct Stopper::State {
  bool asked = false;  ///< true: stop() was called; protected by Turns::lock
};

namespace {

constexpr std::chrono::milliseconds kLookAgain{20};

/// Calls of the process: the lock of the running one, and its stopper.
struct Turns {
  std::timed_mutex turn;
  std::mutex lock;
  const Stopper::State* running = nullptr;
};
Turns& turns() {
  static Turns all;
  return all;
}
thread_local const Stopper::State* of_this_thread = nullptr;
thread_local bool has_turn = false;

std::atomic<int> under_way{0};  // number of calls, including waiting ones
std::atomic<bool> forked_beside{false};

/// Detects forks during a call. A child has only one of its parent's threads, so locks of other threads stay locked.
void watch_forks() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    if (under_way.load() > 0) forked_beside.store(true);
  });
  static_cast<void>(registered);
}

/// Registers a turn, once this thread holds the lock.
void begin_turn() {
  const std::lock_guard lock(turns().lock);
  turns().running = of_this_thread;
  set_interrupted(of_this_thread != nullptr && of_this_thread->asked);
  has_turn = true;
}

void end_turn() {
  has_turn = false;
  {
    const std::lock_guard lock(turns().lock);
    turns().running = nullptr;
  }
  turns().turn.unlock();
}

bool is_stopped(const Stopper::State* by) {
  if (by == nullptr) return false;
  const std::lock_guard lock(turns().lock);
  return by->asked;
}

}  // namespace

Turn::Turn() {
  watch_forks();
  if (forked_beside.load()) {
    throw SystemError(
        "this process was forked during a call of dadsim in another thread, and lacks its threads; start a new process "
        "(multiprocessing of Python: start method 'spawn'), or fork while no call runs");
  }
  ++under_way;
  while (!turns().turn.try_lock_for(kLookAgain)) {
    if (!is_stopped(of_this_thread)) continue;
    --under_way;
    throw Stopped("interrupted; nothing was written");
  }
  begin_turn();
}

Turn::~Turn() {
  end_turn();
  --under_way;
}

inline namespace v1 {

Stopper::Stopper() : state_(std::make_shared<State>()) {}

void Stopper::watch(const std::function<void()>& work) const {
  struct Watched {
    const State* before;
    explicit Watched(const State* now) : before(std::exchange(of_this_thread, now)) {}
    ~Watched() { of_this_thread = before; }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
  };
  const std::shared_ptr<State> kept = state_;
  const Watched watched(kept.get());
  work();
}

void Stopper::stop() const noexcept {
  const std::lock_guard lock(turns().lock);
  state_->asked = true;
  if (turns().running == state_.get()) set_interrupted(true);
}

}  // namespace v1

namespace {

class Telling {
 public:
  explicit Telling(const std::function<void(const std::string&)>& listener) { begin(listener); }
  static void begin(const std::function<void(const std::string&)>& listener) {
    if (listener) tell_instead([&listener](std::string_view text) { listener(std::string(text)); });
  }
  ~Telling() { tell_instead({}); }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
};

std::vector<Diagnostic> diagnostics_of(const dadsim::InputError& error) {
  std::vector<Diagnostic> diagnostics;
  for (const dadsim::Diagnostic& one : error.diagnostics()) {
    diagnostics.push_back({one.file, one.line, one.what, one.remedy});
  }
  return diagnostics;
}

}  // namespace

std::size_t threads_of(const Options& options) {
  if (options.threads > kMostThreads) {
    const Diagnostic wrong{"", 0, fmt::format("{} threads", options.threads),
                           fmt::format("use 1 to {}, or 0 for one thread per core", kMostThreads)};
    throw InputError(fmt::format("{}; {}", wrong.what, wrong.remedy), {wrong});
  }
  return options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
}

void with_errors_of_ours(const std::function<void()>& work) {
  try {
    static_cast<void>(kernel_set());  // reports an invalid value before any work
    work();
  } catch (const Error&) {
    throw;
  } catch (const dadsim::InputError& error) {
    throw InputError(error.what(), diagnostics_of(error));
  } catch (const dadsim::OutputError& error) {
    throw OutputError(error.what());
  } catch (const Cancelled& cancelled) {
    throw Stopped(fmt::format("interrupted; {}", cancelled.what()));
  } catch (const EnvironmentError& error) {
    throw SystemError(error.what());
  } catch (const std::system_error& error) {
    throw SystemError(fmt::format("a thread could not be started: {}", error.what()));
  } catch (const std::bad_alloc&) {
    throw SystemError("out of memory; use fewer workers, a smaller network or less data");
  } catch (const sim::SimulationError& error) {
    if (interrupted().load()) throw Stopped("interrupted; nothing was written");
    throw SimulationError(error.what());
  } catch (const std::exception& error) {
    throw Error(fmt::format("a bug of dadsim's, please report it: {}", error.what()));
  }
}

void as_a_call(const Options& options, const std::function<void()>& work) {
  const std::size_t threads = threads_of(options);
  const Turn turn;
  with_errors_of_ours([&] {
    const Telling telling(options.progress);
    const ThreadLimit limit(threads);
    work();
  });
}

void wait_aside(const Options& options, const std::function<void()>& wait) {
  if (!has_turn) return wait();
  end_turn();
  wait();
  turns().turn.lock();
  begin_turn();
  Telling::begin(options.progress);
}

}  // namespace dadsim::api

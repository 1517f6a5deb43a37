#include "api/turn.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "support/interrupt.hpp"

namespace dadsim::api {

struct Stopper::State {
  bool asked = false;  ///< under the lock of whose turn it is
};

namespace {

constexpr std::chrono::milliseconds kLookAgain{20};

/// Whose turn it is, and what calls of this thread are stopped by.
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

std::atomic<int> under_way{0};  // calls, those that wait among them
std::atomic<bool> forked_beside{false};

/// A child has the memory of its parent and one of its threads: what others held stays held there.
void watch_forks() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    if (under_way.load() > 0) forked_beside.store(true);
  });
  static_cast<void>(registered);
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
        "this process was forked while another thread was in a call of dadsim, and lacks its threads; a process that "
        "is "
        "started anew (of Python's multiprocessing: the start method 'spawn'), or a fork while no call runs");
  }
  ++under_way;
  while (!turns().turn.try_lock_for(kLookAgain)) {
    if (!is_stopped(of_this_thread)) continue;
    --under_way;
    throw Stopped("interrupted; nothing was written");
  }
  const std::lock_guard lock(turns().lock);
  turns().running = of_this_thread;
  set_interrupted(of_this_thread != nullptr && of_this_thread->asked);
}

Turn::~Turn() {
  {
    const std::lock_guard lock(turns().lock);
    turns().running = nullptr;
  }
  turns().turn.unlock();
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

}  // namespace dadsim::api

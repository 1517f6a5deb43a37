#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "step/event_log.hpp"
#include "world/parcel.hpp"
#include "world/participation_clock.hpp"
#include "world/world.hpp"

namespace dadsim::world {

template <class T>
class Task;

namespace detail {

/// Resumes the coroutine that awaits this task, if there is one.
struct FinalAwaiter {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
    return handle.promise().continuation ? handle.promise().continuation : std::noop_coroutine();
  }
  void await_resume() const noexcept {}
};

struct PromiseBase {
  std::coroutine_handle<> continuation;
  std::exception_ptr error;
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T result) { value = std::move(result); }
  T take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace detail

/// A coroutine that begins when it is awaited or started, and is destroyed with this object. Participants of a protocol
/// are Tasks, as are their parts that await something.
///
/// EXAMPLE
///     Task<double> seconds_of(Participant& me, Work work) {
///       const double begin = me.now();
///       co_await me.compute(work);
///       co_return me.now() - begin;
///     }
///     … const double seconds = co_await seconds_of(me, work);
template <class T = void>
class Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, {});
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  Handle handle() const { return handle_; }
  bool done() const { return !handle_ || handle_.done(); }
  /// Rethrows the coroutine's exception.
  void rethrow() const {
    if (handle_ && handle_.promise().error) std::rethrow_exception(handle_.promise().error);
  }

  struct Awaiter {
    Handle handle;
    bool await_ready() const noexcept { return !handle || handle.done(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept {
      handle.promise().continuation = awaiting;
      return handle;
    }
    T await_resume() const {
      if (handle.promise().error) std::rethrow_exception(handle.promise().error);
      return handle.promise().take();
    }
  };
  Awaiter operator co_await() const noexcept { return {handle_}; }

 private:
  Handle handle_;
};

namespace detail {

template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

}  // namespace detail

/// Thrown if no coroutine can continue, or if there has been no progress for too long, or despite too many events or
/// failures. The message names a slow message, or up to eight waiting coroutines, and for each the awaited event and
/// the date since when it waits.
class Deadlock : public std::runtime_error {
 public:
  enum class DeadlockCause : std::uint8_t {
    nothing_under_way,  ///< all coroutines wait, and no event will occur
    starvation,         ///< too much time, or too many failures, without progress
    livelock,           ///< too many events without progress
    slow_message        ///< no progress, and a message has been in transit for at least half of
                        ///< EventLoop::Limits::most_idle, or no other event will occur
  };
  Deadlock(DeadlockCause what, const std::string& words) : std::runtime_error(words), cause(what) {}
  DeadlockCause cause;
};

/// Participants of a protocol in a World: one or more coroutines each, which continue when the awaited event has
/// occurred. A node that goes down loses its coroutines and the messages that it has received. Its coroutines restart
/// when it is up again.
///
/// EXAMPLE: a client that trains what it gets
///     Task<> client(EventLoop& loop, Node me, Node server) {
///       for (;;) {
///         const Parcel order = co_await loop.receive(me, "model");
///         if (!co_await loop.compute(me, work)) continue;  // cancelled
///         loop.send(me, server, "update", {.values = {train(order.values[0])}, .bytes = size, .number =
///         order.number});
///       }
///     }
///     loop.join(me, "client", [&] { return client(loop, me, server); });
///     loop.run();
///
/// Coroutines must be functions or member functions. A lambda's captures would be destroyed before the coroutine ends.
class EventLoop {
 private:
  struct Process;

 public:
  struct Limits {
    std::size_t most_spans = 0;                  ///< largest number of spans kept in the log
    double most_idle = 90 * 86400;               ///< longest time without progress(), seconds; after it, the EventLoop
                                                 ///< is stuck
    std::int64_t most_idle_events = 50'000'000;  ///< largest number of events without progress(); with more, the
                                                 ///< EventLoop is stuck
    /// Largest number of failures without progress(), per node; with more, the EventLoop is stuck. Failures are outages
    /// of hosts and lost messages. Those of all nodes together are compared with this number times the number of nodes.
    std::int64_t most_idle_failures = 500;
    /// Returns the number of outages of links so far. most_idle_failures also limits these outages, per link that may
    /// fail.
    std::function<std::int64_t()> link_outages = {};
    std::size_t failing_links = 0;
    /// Called before each event is handled; its exceptions end the simulation.
    std::function<void(const EventLoop&)> each_event = {};
    /// Called with each message when it is sent; for observers only.
    std::function<void(const Parcel&)> each_send = {};
  };

  /// `names`: one per node, for messages.
  EventLoop(World& world, std::vector<std::string> names, Limits limits);
  EventLoop(World& world, std::vector<std::string> names) : EventLoop(world, std::move(names), Limits()) {}
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  /// Adds a coroutine of a node. It begins with run(), or at once if run() is under way, provided the node is up.
  /// Unless it has ended, it restarts whenever the node comes up again.
  void join(Node node, std::string role, std::function<Task<>()> begin);
  /// Simulates until stop(), or until all coroutines have ended. Throws Deadlock, and exceptions of coroutines.
  void run();
  /// Ends the simulation at the calling coroutine's next co_await.
  void stop() { stopped_ = true; }
  /// Records progress (a round, an update). An EventLoop without progress for too long is stuck.
  void progress();

  double now() const { return world_.now(); }
  std::size_t nodes() const { return names_.size(); }
  bool is_up(Node node) const { return nodes_[index(node)].up; }
  const std::string& name(Node node) const { return names_[index(node)]; }

  // ---- what coroutines await ----

  struct Computation {
    Process* process = nullptr;
    Work work;
    double begin = 0;
    bool done = false;
  };
  struct ComputeAwaiter {
    EventLoop& loop;
    Node node;
    Computation own;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle);
    bool await_resume() const noexcept { return own.done; }
  };
  struct SleepAwaiter {
    EventLoop& loop;
    double seconds;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle);
    void await_resume() const noexcept {}
  };
  struct ReceiveAwaiter {
    EventLoop& loop;
    Node node;
    Channel channel;
    double until;
    Parcel got;
    bool await_ready();
    void await_suspend(std::coroutine_handle<> handle);
    Parcel await_resume() { return std::move(got); }
  };

  /// Computes on a node; a node runs its computations in sequence. Returns false if the computation was cancelled (see
  /// cancel_computing()).
  ComputeAwaiter compute(Node node, Work work);
  /// Waits for `seconds`.
  SleepAwaiter sleep(Node node, double seconds);
  /// Waits for the next message on a channel, in the order of arrival. A message with `lost`, `gone` or `back` set is a
  /// notice about a message or node. If no message arrives until the date `until` (seconds), returns one with from =
  /// −1.
  ReceiveAwaiter receive(Node node, Channel channel, double until = kNever);

  // ---- what coroutines do ----

  /// Sends a message. If it is lost and `news` is not empty, the sender receives it on this channel, with `lost` set.
  Activity send(Node from, Node to, Channel channel, Parcel parcel, Channel news = {});
  /// Starts a collective. `parcels`: one per node of the collective, which the node receives on `channel` when the
  /// collective is done; with `lost` set if it failed.
  Activity collective(Collective what, Channel channel, std::vector<Parcel> parcels);
  /// Puts a message into a node's channel without sending it, for data that the node has from the beginning.
  void hand(Node to, Channel channel, Parcel parcel);
  /// Cancels a message, which then counts as lost. Has no effect after its arrival.
  void cancel(Activity message);
  /// Ends the node's computation at once. The coroutine that awaits it gets false.
  void cancel_computing(Node node);
  /// Returns the number of messages that have arrived on the channel, but have not been received.
  std::size_t waiting(Node node, Channel channel) const;
  /// From now on, sends `watcher`, while it is up, a notice on the channel whenever `watched` goes down or comes up
  /// again.
  void watch(Node watcher, Node watched, Channel channel);

  /// Costs of a node's checkpoints, seconds. After every `every` seconds of computing, the node pauses for `write`.
  /// After an outage it must read the last checkpoint (`restore`), and repeat the computing since then. The computation
  /// interrupted by the outage is always lost. Coroutines still restart from their beginning: a protocol must store its
  /// state outside of them if the state has to survive an outage.
  struct Checkpoints {
    double every = 0;  ///< seconds of computing between checkpoints; 0: no checkpoints
    double write = 0, restore = 0;
  };
  /// The caller must set checkpoints before run().
  void set_checkpoints(Node node, Checkpoints checkpoints) { nodes_[index(node)].checkpoints = checkpoints; }

  /// Returns the log so far; complete after run(), even if run() has thrown.
  const step::EventLog& log() const { return log_; }

 private:
  struct PerNode {
    std::vector<Process*> processes;
    bool up = true;
    double down_since = 0;
    // Uses std::list, which takes no memory while empty; there may be 100,000 nodes.
    std::map<Channel, std::list<Parcel>> inbox;
    std::vector<std::pair<Node, Channel>> watchers;
    Activity computing = 0;  ///< computation under way; 0: none
    std::list<Computation*> queue;
    Checkpoints checkpoints;
    double since_checkpoint = 0;  ///< seconds computed since the last checkpoint
    bool writing = false;         ///< true: the current computation is a checkpoint
    Activity restoring = 0;       ///< restore under way at a node that is up, but does not take part yet; 0: none
  };
  struct TaskUnderway {
    Parcel parcel;
    Channel channel, news;
  };

  struct CollectiveUnderway {
    Collective what;
    CollectiveTraffic traffic;
    std::vector<Parcel> parcels;  ///< one per node of the collective
    Channel channel;
  };

  static std::size_t index(Node node) { return static_cast<std::size_t>(node); }
  void begin(Process& process);
  void resume(Process& process);
  void ready(Process& process) { ready_.push_back(&process); }
  void run_ready();
  void drain();
  void handle(const Event& event);
  void start_computing(Node node);
  void computed(Node node, bool done);
  void arrived(Activity activity, bool failed);
  void collective_ended(Activity activity, bool failed);
  void deliver(Node node, Channel channel, Parcel parcel);
  void went_down(Node node);
  void came_up(Node node);
  void take_part(Node node);
  bool begin_checkpoint(Node node);
  void was_down(Node node);
  void finish();
  void take_down(step::EventLog::Span span);
  std::string who_waits() const;

  World& world_;
  std::vector<std::string> names_;
  Limits limits_;
  std::vector<PerNode> nodes_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::deque<Process*> ready_;
  Process* current_ = nullptr;
  std::unordered_map<Activity, Process*> timers_;
  std::unordered_map<Activity, TaskUnderway> messages_;
  std::unordered_map<Activity, CollectiveUnderway> collectives_;
  std::unordered_map<Activity, Node> computations_;
  std::unordered_map<Activity, Node> restoring_;
  std::size_t ended_ = 0;  ///< number of coroutines that have ended
  bool running_ = false, stopped_ = false;
  double last_progress_ = 0;
  std::int64_t events_at_progress_ = 0;
  std::int64_t failures_since_progress_ = 0;
  std::int64_t link_outages_at_progress_ = 0;
  step::EventLog log_;
};

}  // namespace dadsim::world

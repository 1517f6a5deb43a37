#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace dadsim::sim {

/// Who carries the messages of a connection, as a coroutine that nobody waits for, a member function of `Own`. In an
/// actor of SimGrid's it never leaves the actor's stack, since it stands still there whenever it waits; without one,
/// where there are too many for stacks, it goes on once its handle is resumed. `Own` has
/// - `std::byte* frame(std::size_t bytes)`: memory for one, that lasts as long as itself;
/// - `bool in_actor()`, and `void stand_still(WaitFor, double)` there;
/// - `void resume_behind(WaitFor, double, std::coroutine_handle<>)` elsewhere.
template <class Own>
struct ConnectionCoroutine {
  // NOLINTBEGIN(readability-convert-member-functions-to-static): as the language wants them
  struct promise_type {
    static void* operator new(std::size_t bytes, Own& own) { return own.frame(bytes); }
    static void operator delete(void* /*frame*/) {}
    ConnectionCoroutine get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  // NOLINTEND(readability-convert-member-functions-to-static)
};

/// What it waits for.
enum class WaitFor : std::uint8_t {
  word,     ///< until it is told
  seconds,  ///< so many
  date,     ///< seconds
  bytes,    ///< of the wire, until they are through: others share the links
};

/// To be awaited.
template <class Own>
struct ConnectionWait {
  Own& own;
  WaitFor what;
  double amount = 0;

  bool await_ready() const {
    if (own.in_actor()) own.stand_still(what, amount);
    return own.in_actor();
  }
  void await_suspend(std::coroutine_handle<> handle) const { own.resume_behind(what, amount, handle); }
  void await_resume() const noexcept {}
};

}  // namespace dadsim::sim

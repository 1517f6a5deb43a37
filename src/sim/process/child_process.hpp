#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dadsim::sim {

// How messages go through a pipe: 8 bytes of length, then the message.

inline std::string framed(std::string_view message) {
  const std::uint64_t length = message.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes += message;
}

/// Cuts the stream of bytes back into messages.
class MessageSplitter {
 public:
  void add(const char* data, std::size_t size) {
    if (start_ > 0 && start_ == buffer_.size()) {
      buffer_.clear();
      start_ = 0;
    }
    buffer_.append(data, size);
  }
  std::optional<std::string> next() {
    std::uint64_t length = 0;
    if (buffer_.size() - start_ < sizeof length) return std::nullopt;
    std::memcpy(&length, buffer_.data() + start_, sizeof length);
    if (buffer_.size() - start_ - sizeof length < length) {
      buffer_.erase(0, std::exchange(start_, 0));
      // A long one gets its memory at once: doubled again and again it would take three times as much.
      if (length >= kLong) buffer_.reserve(sizeof length + length + kLong);
      return std::nullopt;
    }
    const std::size_t begin = start_ + sizeof length;
    if (length >= kLong && begin + length == buffer_.size()) {  // without a copy
      buffer_.erase(0, begin);
      start_ = 0;
      return std::exchange(buffer_, {});
    }
    std::string message = buffer_.substr(begin, length);
    start_ = begin + length;
    return message;
  }

 private:
  static constexpr std::size_t kLong = std::size_t{1} << 17U;  // bytes, more than are read at a time

  std::string buffer_;
  std::size_t start_ = 0;
};

/// Where code that runs in a child process hands over what it found: whole messages, in order. They end the child where
/// the parent no longer listens.
class MessageSink {
 public:
  explicit MessageSink(int descriptor) : descriptor_(descriptor) {}
  /// At once, after all that was posted.
  void send(std::string_view message) const;
  /// With others, some hundredths of a second later or with the next that is sent: waking the parent for every small
  /// message takes both as long as what it tells of.
  void post(std::string_view message) const;

 private:
  void add(std::string_view message) const;
  void flush() const;

  int descriptor_;
  mutable std::string posted_;
  mutable std::chrono::steady_clock::time_point first_posted_;
};

/// How a child process ended.
struct ChildOutcome {
  enum class ChildEnd { complete, exited, killed, timed_out };
  ChildEnd end = ChildEnd::exited;
  int code = 0;        ///< exit status, signal or seconds, by `end`
  std::string output;  ///< what it wrote to standard output and standard error, the first 64 KiB
  bool complete() const { return end == ChildEnd::complete; }
  /// E.g. "was killed by signal 9 (Killed)"; empty if it is complete.
  std::string description() const;
  /// Whether it went where there is no memory of its: a fault of the code or of what it was given to run with, never a
  /// finding about what was simulated.
  bool crashed() const;
};

/// Where code that runs in a child process gets what the parent says.
class MessageSource {
 public:
  explicit MessageSource(int descriptor) : descriptor_(descriptor) {}
  /// The next message; the child ends where the parent has closed its end. Blocks.
  std::string next() const;

 private:
  int descriptor_;
  mutable MessageSplitter splitter_;
  mutable std::array<char, 16384> chunk_{};
};

/// A forked child with which this process talks, for code that can exit, abort or hang. It begins with the object and
/// is ended with it, or with this process. `body` runs with this thread alone: it must not use a thread pool. An
/// exception out of it is written to its output.
/// Whatever waits for the child throws Cancelled once the user has interrupted, and EnvironmentError where the system
/// denies a process or tells nobody how it ended: neither says anything about what the child was to do.
class ChildProcess {
 public:
  using Body = std::function<void(const MessageSink&, const MessageSource&)>;
  /// Throws EnvironmentError.
  explicit ChildProcess(const Body& body);
  ChildProcess(ChildProcess&&) = delete;
  ~ChildProcess();

  /// To the child, whole. It must be listening, or its messages be read meanwhile. False: it no longer listens.
  bool send(std::string_view message);
  /// The next message of the child; nothing once it has ended. `time_limit` in seconds from the beginning, 0 for none:
  /// after it the child is ended. Throws Cancelled.
  std::optional<std::string> next(double time_limit = 0);
  /// Waits for its end. `complete` if `body` returned. Throws Cancelled, EnvironmentError.
  ChildOutcome end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs `body` in a forked child, for code that can exit, abort or hang. `on_message` is called here for each message
/// as it arrives, also where the child fails later. The child is complete if `body` returns; an exception out of it is
/// written to its output. `time_limit` in seconds, 0 for none. If `on_message` throws, the child is ended first; it
/// also ends with this process. `body` runs with this thread alone: it must not use a thread pool.
/// Throws Cancelled, EnvironmentError.
ChildOutcome run_in_child(const std::function<void(const MessageSink&)>& body,
                          const std::function<void(std::string_view)>& on_message, double time_limit = 0);

}  // namespace dadsim::sim

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

// Form of messages in a pipe: 8 bytes of length, then the message.

inline std::string framed(std::string_view message) {
  const std::uint64_t length = message.size();
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  return bytes += message;
}

/// Splits the stream of bytes into messages.
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
      // Reserves memory for a long message at once; repeated doubling would take three times as much.
      if (length >= kLong) buffer_.reserve(sizeof length + length + kLong);
      return std::nullopt;
    }
    const std::size_t begin = start_ + sizeof length;
    if (length >= kLong && begin + length == buffer_.size()) {  // avoids a copy
      buffer_.erase(0, begin);
      start_ = 0;
      return std::exchange(buffer_, {});
    }
    std::string message = buffer_.substr(begin, length);
    start_ = begin + length;
    return message;
  }

 private:
  static constexpr std::size_t kLong = std::size_t{1} << 17U;  // bytes of a long message, which is longer than one read

  std::string buffer_;
  std::size_t start_ = 0;
};

/// Sends results from code in a child process as whole messages, in order. Ends the child if the parent no longer
/// reads.
class MessageSink {
 public:
  explicit MessageSink(int descriptor) : descriptor_(descriptor) {}
  /// Sends a message at once, after all posted messages.
  void send(std::string_view message) const;
  /// Sends a message together with others, some hundredths of a second later or with the next send(). Waking the parent
  /// for every small message would take as long as the work itself, in both processes.
  void post(std::string_view message) const;

 private:
  void add(std::string_view message) const;
  void flush() const;

  int descriptor_;
  mutable std::string posted_;
  mutable std::chrono::steady_clock::time_point first_posted_;
};

/// Describes the end of a child process.
struct ChildOutcome {
  enum class ChildEnd { complete, exited, killed, timed_out };
  ChildEnd end = ChildEnd::exited;
  int code = 0;        ///< exit status, signal or seconds, by `end`
  std::string output;  ///< its standard output and standard error, the first 64 KiB
  bool complete() const { return end == ChildEnd::complete; }
  /// Returns, for example, "was killed by signal 9 (Killed)"; empty if complete.
  std::string description() const;
  /// Returns whether the child accessed invalid memory. Such a crash is a fault of the code or its environment, never a
  /// result of the simulation.
  bool crashed() const;
};

/// Receives messages from the parent in a child process.
class MessageSource {
 public:
  explicit MessageSource(int descriptor) : descriptor_(descriptor) {}
  /// Returns the next message, and blocks until it arrives. Ends the child if the parent has closed its end of the
  /// pipe.
  std::string next() const;

 private:
  int descriptor_;
  mutable MessageSplitter splitter_;
  mutable std::array<char, 16384> chunk_{};
};

/// A forked child that exchanges messages with this process, for code that can exit, abort or hang. The child begins
/// with the object and ends with it, or with this process. `body` runs in a single thread: it must not use a thread
/// pool. Its exceptions are written to the child's output. Every wait for the child throws Cancelled after an interrupt
/// by the user. A wait throws EnvironmentError if the system denies a process or the status of its end, because neither
/// is a result of the child.
class ChildProcess {
 public:
  using Body = std::function<void(const MessageSink&, const MessageSource&)>;
  /// Starts the child. Throws EnvironmentError.
  explicit ChildProcess(const Body& body);
  ChildProcess(ChildProcess&&) = delete;
  ~ChildProcess();

  /// Sends a whole message to the child. The child must be reading, or its own messages must be read meanwhile. Returns
  /// false if the child no longer reads.
  bool send(std::string_view message);
  /// Returns the next message of the child; nothing once the child has ended or its time is up. `time_limit`: seconds
  /// from the child's beginning, after which it is ended; 0: no limit. Throws Cancelled.
  std::optional<std::string> next(double time_limit = 0);
  /// Waits for the end of the child. The outcome is `complete` if `body` returned. Throws Cancelled, EnvironmentError.
  ChildOutcome end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs `body` in a forked child, for code that can exit, abort or hang. Calls `on_message` in this process for each
/// message as it arrives, even if the child fails later. The outcome is complete if `body` returns; an exception is
/// written to its output. `time_limit`: seconds; 0: no limit. If `on_message` throws, the child is ended first; it also
/// ends with this process. `body` runs in a single thread: it must not use a thread pool. Throws Cancelled,
/// EnvironmentError.
ChildOutcome run_in_child(const std::function<void(const MessageSink&)>& body,
                          const std::function<void(std::string_view)>& on_message, double time_limit = 0);

}  // namespace dadsim::sim

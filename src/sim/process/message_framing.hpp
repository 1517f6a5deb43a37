#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// How messages go through a pipe: 8 bytes of length, then the message.

namespace dadsim::sim {

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

}  // namespace dadsim::sim

#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Between a process and its forked child, so of one build on one machine: numbers travel as they lie in memory.

namespace dadsim {

class WireWriter {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number> WireWriter& operator<<(Number value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  WireWriter& operator<<(std::string_view text) {
    *this << std::uint64_t{text.size()};
    bytes_ += text;
    return *this;
  }
  WireWriter& operator<<(const std::vector<double>& values) {
    *this << std::uint64_t{values.size()};
    for (const double value : values) *this << value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Throws std::out_of_range where a message is shorter than what is read from it.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  template <class Number>
  requires std::is_arithmetic_v<Number> WireReader& operator>>(Number& value) {
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return *this;
  }
  WireReader& operator>>(std::string& text) {
    std::uint64_t size = 0;
    *this >> size;
    text = take(size);
    return *this;
  }
  WireReader& operator>>(std::vector<double>& values) {
    std::uint64_t size = 0;
    *this >> size;
    if (size > bytes_.size() / sizeof(double)) throw std::out_of_range("message too short");
    values.resize(size);
    for (double& value : values) *this >> value;
    return *this;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) throw std::out_of_range("message too short");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view bytes_;
};

}  // namespace dadsim

#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace dadsim::test {

/// Writes Chakra execution traces in the wire format of protobuf, node by node.
class ChakraBytes {
 public:
  ChakraBytes() { add(text(1, "0.0.4")); }

  ChakraBytes& compute(std::uint64_t id, const std::string& name, double seconds) {
    return add(number(1, id) + text(2, name) + number(3, 4) + text(10, text(1, "is_cpu_op") + number(27, 0)) +
               text(10, text(1, "dadsim_seconds") + real(3, seconds)));
  }
  ChakraBytes& sum(std::uint64_t id, const std::string& name, std::uint64_t bytes) {
    return add(number(1, id) + text(2, name) + number(3, 7) + text(5, varint(id - 1)) +
               text(10, text(1, "comm_type") + number(9, 0)) + text(10, text(1, "comm_size") + number(9, bytes)));
  }
  ChakraBytes& add(const std::string& message) {
    bytes_ += varint(message.size()) + message;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

  static std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value > 0x7f; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
    return bytes + static_cast<char>(value);
  }
  static std::string number(std::uint64_t field, std::uint64_t value) { return varint(field << 3U) + varint(value); }
  static std::string text(std::uint64_t field, const std::string& value) {
    return varint(field << 3U | 2U) + varint(value.size()) + value;
  }

 private:
  static std::string real(std::uint64_t field, double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return varint(field << 3U | 1U) + std::string(reinterpret_cast<const char*>(&bits), sizeof bits);
  }

  std::string bytes_;
};

}  // namespace dadsim::test

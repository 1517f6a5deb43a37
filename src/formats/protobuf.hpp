#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace dadsim::formats {

/// Goes through the fields of a message in protobuf's wire format (protobuf.dev, "Encoding"). Throws std::runtime_error
/// where the bytes end within a field, or a field is of no known type.
class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view bytes) : bytes_(bytes) {}

  struct Field {
    std::uint32_t number = 0;
    std::uint64_t value = 0;  ///< of a varint, or the bits of a fixed number
    std::string_view text;    ///< of a length-delimited field
    bool has_text = false;
    double as_double() const { return std::bit_cast<double>(value); }
  };

  /// The next field; nullopt behind the last.
  std::optional<Field> next() {
    if (bytes_.empty()) return std::nullopt;
    const std::uint64_t key = varint();
    Field field;
    field.number = static_cast<std::uint32_t>(key >> 3);
    switch (key & 7) {
      case 0:
        field.value = varint();
        return field;
      case 1:
        field.value = fixed(8);
        return field;
      case 2:
        field.text = take(varint());
        field.has_text = true;
        return field;
      case 5:
        field.value = fixed(4);
        return field;
      default:
        throw std::runtime_error("has a field of no known type");
    }
  }

  bool empty() const { return bytes_.empty(); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) throw std::runtime_error("ends within a field");
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw std::runtime_error("has a number that is too long");
  }

  std::string_view take(std::uint64_t length) {
    if (length > bytes_.size()) throw std::runtime_error("ends within a field");
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }

 private:
  std::uint64_t fixed(std::uint64_t size) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const char byte : take(size)) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(byte)) << shift;
      shift += 8;
    }
    return value;
  }

  std::string_view bytes_;
};

}  // namespace dadsim::formats

#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

// Serialisation between a process and its forked child, and in files of one build; numbers are as in memory.
//
// The serialisation of a struct is defined once, in its namespace, for writing and reading:
//
//     void fields(auto& bytes, of<Bound> auto& bound) { bytes(bound.resource, bound.kind, bound.seconds); }
//
// Members may be numbers, texts, enumerations (`last_of` returns the last value), vectors, optionals, variants, shared
// pointers to constant data, and structs with fields.

namespace dadsim {

/// T, or const T.
template <class X, class T>
concept of = std::same_as<std::remove_const_t<X>, T>;

class WireWriter {
 public:
  /// Writes all values, one after the other.
  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }
  template <class Value>
  WireWriter& operator<<(const Value& value) {
    put(value);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  template <class Value>
  void put(const Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (std::is_enum_v<Value>) {
      static_assert(sizeof value == 1);
      put(static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      const std::string_view text = value;
      put(std::uint64_t{text.size()});
      bytes_ += text;
    } else {
      put_parts(value);
    }
  }
  template <class Part>
  void put_parts(const std::vector<Part>& parts) {
    put(std::uint64_t{parts.size()});
    for (const Part& part : parts) put(part);
  }
  template <class Value>
  void put_parts(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) put(*value);
  }
  template <class Value>
  void put_parts(const std::shared_ptr<const Value>& value) {
    put(value != nullptr);
    if (value) put(*value);
  }
  template <class... Kinds>
  void put_parts(const std::variant<Kinds...>& value) {
    put(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& kind) { put(kind); }, value);
  }
  template <class Struct>
  void put_parts(const Struct& value) {
    fields(*this, value);
  }

  std::string bytes_;
};

/// Throws std::out_of_range if the bytes do not fit the types: truncated, an invalid boolean, a value outside of its
/// enumeration. Memory is allocated only for bytes that are present.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  template <class... Values>
  void operator()(Values&... values) {
    (take(values), ...);
  }
  template <class Value>
  WireReader& operator>>(Value& value) {
    take(value);
    return *this;
  }
  template <class Value>
  Value read() {
    Value value{};
    take(value);
    return value;
  }

 private:
  template <class Value>
  void take(Value& value) {
    if constexpr (std::is_same_v<Value, bool>) {
      const auto byte = read<std::uint8_t>();
      if (byte > 1) throw std::out_of_range("neither true nor false");
      value = byte == 1;
    } else if constexpr (std::is_arithmetic_v<Value>) {
      std::memcpy(&value, next(sizeof value).data(), sizeof value);
    } else if constexpr (std::is_enum_v<Value>) {
      const auto byte = read<std::uint8_t>();
      if (byte > static_cast<std::uint8_t>(last_of(Value{}))) throw std::out_of_range("no such value");
      value = static_cast<Value>(byte);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value = next(read<std::uint64_t>());
    } else {
      take_parts(value);
    }
  }
  template <class Part>
  void take_parts(std::vector<Part>& parts) {
    constexpr std::size_t kLeast = std::is_arithmetic_v<Part> ? sizeof(Part) : 1;  // smallest number of bytes of a part
    const auto size = read<std::uint64_t>();
    if (size > bytes_.size() / kLeast) throw std::out_of_range("message too short");
    parts.clear();
    if constexpr (std::is_arithmetic_v<Part>) parts.reserve(size);
    for (std::uint64_t i = 0; i < size; ++i) take(parts.emplace_back());
  }
  template <class Value>
  void take_parts(std::optional<Value>& value) {
    value.reset();
    if (read<bool>()) take(value.emplace());
  }
  template <class Value>
  void take_parts(std::shared_ptr<const Value>& value) {
    value.reset();
    if (read<bool>()) value = std::make_shared<const Value>(read<Value>());
  }
  template <class... Kinds>
  void take_parts(std::variant<Kinds...>& value) {
    const auto kind = read<std::uint8_t>();
    std::uint8_t at = 0;
    if (!((at++ == kind && (take(value.template emplace<Kinds>()), true)) || ...))
      throw std::out_of_range("no such kind");
  }
  template <class Struct>
  void take_parts(Struct& value) {
    if (++depth_ > kDeepest) throw std::out_of_range("structs are nested too deeply");
    fields(*this, value);
    --depth_;
  }

  std::string_view next(std::uint64_t size) {
    if (size > bytes_.size()) throw std::out_of_range("message too short");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  /// largest depth of nested structs; nested functions of an expression are the deepest
  static constexpr int kDeepest = 80;

  std::string_view bytes_;
  int depth_ = 0;
};

}  // namespace dadsim

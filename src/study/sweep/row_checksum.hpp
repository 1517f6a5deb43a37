#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

#include "support/fingerprint.hpp"

namespace dadsim::study {

/// Of what a row of a file of results says, kept in the row: SQLite finds pages that hang together wrongly, but not
/// that a number in one of them is another one.
class RowChecksum {
 public:
  RowChecksum& operator<<(std::int64_t value) { return add(static_cast<std::uint64_t>(value)); }
  /// As SQLite gives it back: one kind of what is not a number, and no sign of zero.
  RowChecksum& operator<<(double value) {
    return add(std::bit_cast<std::uint64_t>(value != value ? std::numeric_limits<double>::quiet_NaN() : value + 0.0));
  }
  RowChecksum& operator<<(bool value) { return *this << std::int64_t{value}; }
  RowChecksum& operator<<(std::string_view bytes) {
    add(bytes.size());
    hash_ = fingerprint(bytes, hash_);
    return *this;
  }
  std::int64_t value() const { return static_cast<std::int64_t>(hash_); }

 private:
  RowChecksum& add(std::uint64_t word) {
    hash_ = fingerprint({reinterpret_cast<const char*>(&word), sizeof word}, hash_);
    return *this;
  }
  std::uint64_t hash_ = fingerprint({});
};

}  // namespace dadsim::study

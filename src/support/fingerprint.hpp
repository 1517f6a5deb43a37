#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dadsim {

/// Returns the 64-bit FNV-1a hash, which is not secure against adversaries.
inline std::uint64_t fingerprint(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace dadsim

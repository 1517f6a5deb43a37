#pragma once

#include <cstdint>

namespace dadsim::sim {

/// Combines two hashes; their order matters (the finalizer of MurmurHash3, A. Appleby).
inline std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = a * 0x9e3779b97f4a7c15ULL + b;
  h ^= h >> 33U;
  h *= 0xff51afd7ed558ccdULL;
  h ^= h >> 33U;
  h *= 0xc4ceb9fe1a85ec53ULL;
  return h ^ (h >> 33U);
}

}  // namespace dadsim::sim

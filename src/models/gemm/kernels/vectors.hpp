#pragma once

#include "models/gemm/kernels.hpp"

// Vectors of the instruction set of the including file. Everything here is private to that file (the unnamed
// namespace), like the loops.

namespace dadsim::models {
namespace {

using Index = KernelIndex;

// Sums per tile of a product fill the registers: 6 × 4 of 32 with AVX-512, 6 × 2 of 16 otherwise. A tile of a
// convolution has up to 12 adjacent windows × 1 or kWindowVectors vectors of filters; one of a gradient, up to 12
// filters × 1 to kGradientVectors vectors of numbers in a kernel row. A panel of kDepth terms takes 64 KiB and is
// streamed from the second-level cache, which costs less than storing and reloading sums more often. Without FMA, the
// depth is that of the narrowest vectors: portable kernels give the same bits with vectors of any width.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kTileVectors = 4;
constexpr int kSideBySide = 8;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kTileVectors = 2;
constexpr int kSideBySide = 4;
#else
constexpr int kVectorBytes = 16;
constexpr int kTileVectors = 2;
constexpr int kSideBySide = 4;
#endif
#if !defined(__FMA__)
constexpr Index kDepth = 2048;
#else
constexpr Index kDepth = kVectorBytes == 64 ? 256 : 1024;
#endif
constexpr int kWindowVectors = 2;
constexpr int kGradientVectors = 3;

template <class T, int bytes>
struct Vectors;
template <int bytes>
struct Vectors<float, bytes> {
  using Packet [[gnu::vector_size(bytes)]] = float;
};
template <int bytes>
struct Vectors<double, bytes> {
  using Packet [[gnu::vector_size(bytes)]] = double;
};
template <class T, int bytes = kVectorBytes>
using PacketOf = typename Vectors<T, bytes>::Packet;
template <class T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
// Shorter vectors, for few filters or few numbers in a kernel row, which would leave most of a long vector empty.
constexpr int kFewBytes = kVectorBytes < 32 ? kVectorBytes : 32;
template <class T>
constexpr int kFewLanes = kFewBytes / static_cast<int>(sizeof(T));
template <class T>
constexpr Index kLine = 64 / static_cast<Index>(sizeof(T));  ///< numbers per cache line
template <class T>
constexpr Index kPanelColumns = kTileVectors* kLanes<T>;
template <class T>
constexpr Index kPanelsAtOnce = kVectorBytes == 32 ? 4 : 1;

template <class T, int bytes = kVectorBytes>
PacketOf<T, bytes> load(const T* from) {
  PacketOf<T, bytes> packet;
  __builtin_memcpy(&packet, from, sizeof(packet));
  return packet;
}
template <class T, class Packet>
void store(T* to, const Packet& packet) {
  __builtin_memcpy(to, &packet, sizeof(packet));
}
template <class T, int bytes = kVectorBytes>
PacketOf<T, bytes> fill(T number) {
  return number - PacketOf<T, bytes>{};  // a number minus 0 is that number, −0 too
}

}  // namespace
}  // namespace dadsim::models

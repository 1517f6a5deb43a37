#pragma once

#include <Eigen/Core>

namespace dadsim::models {
namespace {

/// Computes √x rounded as IEEE 754 requires. Eigen's √ of floats starts from the processor's estimate (rsqrtps), which
/// differs between vendors, so results would differ between machines.
struct ExactRoot {
  EIGEN_STRONG_INLINE float operator()(float x) const { return Eigen::numext::sqrt(x); }
  template <class Packet>
  EIGEN_STRONG_INLINE Packet packetOp(const Packet& x) const {
#ifdef __AVX512F__
    if constexpr (sizeof(x) == 64) return _mm512_sqrt_ps(x);
#endif
#ifdef __AVX__
    if constexpr (sizeof(x) == 32) return _mm256_sqrt_ps(x);
#endif
#ifdef __SSE__
    if constexpr (sizeof(x) == 16) return _mm_sqrt_ps(x);
#else
    return Eigen::internal::psqrt(x);
#endif
  }
};

/// Returns the roots of an array of float, as an Eigen expression.
template <class Array>
EIGEN_STRONG_INLINE auto roots_of(const Array& x) {
  return x.unaryExpr(ExactRoot{});
}

}  // namespace
}  // namespace dadsim::models

template <>
struct Eigen::internal::functor_traits<dadsim::models::ExactRoot> {
  enum { Cost = 20, PacketAccess = Eigen::internal::packet_traits<float>::HasSqrt };
};

#pragma once

// Disables vector registers in Philox: their headers would add 50,000 lines to each file that uses random numbers.
#define R123_USE_SSE 0
#define R123_USE_X86INTRIN_H 0
#include <Random123/philox.h>

#include <cstdint>
#include <limits>

namespace dadsim {

/// Purpose of a stream of random numbers: part of the counter, so that streams never share numbers.
enum class Purpose : std::uint32_t {
  initial_weights = 1,
  shuffle,
  split,
  digits,
  factor_start,
  digit_noise,
  test,
  jitter,
  initial_vectors,
  dropout,
  held_back,
  shapes,
  utterances,
  phones,
  grammar,
  tabular,
  teacher,
  site_shift,
  sweep_points,
  rounding,
  graph,
  participation,
  outages,
  population,
  masks,
  drift,
  stragglers,
  speeds,
  coordinates,
  privacy_noise,
  privacy_sampling,
  perturbation,
  gossip_start,
  low_rank_start,
  gossip_graph,
  leak_control,
  presence,
};

/// Counter-based random numbers (Philox4x32-10, Salmon et al., SC 2011), which depend on (seed, purpose, worker, step)
/// alone, never on threads or their order. A UniformRandomBitGenerator for Boost.Random's distributions, because
/// distributions of the standard library differ between implementations.
class RandomStream {
 public:
  using result_type = std::uint32_t;

  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t worker = 0, std::uint32_t step = 0)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)}},
        counter_{{0, step, worker, static_cast<std::uint32_t>(purpose)}} {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()() {
    if (used_ == 4) {
      block_ = r123::Philox4x32()(counter_, key_);
      ++counter_[0];
      used_ = 0;
    }
    return block_[used_++];
  }

 private:
  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::ctr_type block_{};
  unsigned used_ = 4;
};

}  // namespace dadsim

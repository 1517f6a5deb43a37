#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/names.hpp"

// How the data of sites change while a simulation goes on.

namespace dadsim::spec {

/// What happens to the values of a sample; how much, models/data/corruption.hpp says.
enum class Corruption : std::uint8_t {
  none,
  noise,
  gain_offset,
  clip,
  gamma,
  exponential,
  blur,
  contrast,
  zigzag,
  edges,
  glass_blur,
};

constexpr auto names_of(Corruption) {
  using enum Corruption;
  return std::to_array<Name<Corruption>>({{none, "none"},
                                          {noise, "noise"},
                                          {gain_offset, "gain-offset"},
                                          {clip, "clip"},
                                          {gamma, "gamma"},
                                          {exponential, "exponential"},
                                          {blur, "blur"},
                                          {contrast, "contrast"},
                                          {zigzag, "zigzag"},
                                          {edges, "edges"},
                                          {glass_blur, "glass-blur"}});
}

/// Whether it is one of pictures alone.
inline bool needs_picture(Corruption corruption) { return corruption >= Corruption::blur; }

inline constexpr std::int64_t kMaxSeverity = 5;

/// From a time on, some sites see other samples. What a later drift of a site does not mention stays.
struct DriftSpec {
  std::string sites;                  ///< hosts as written; empty: all workers
  std::vector<std::int32_t> workers;  ///< the same as numbers from 0, in rising order
  double at = 0;                      ///< seconds of simulated time
  bool corrupts = false;              ///< whether the corruption changes, to the two that follow
  Corruption corruption = Corruption::none;
  std::int64_t severity = 3;  ///< 1 … kMaxSeverity
  double label_alpha = 0;     ///< above 0: the shares of the classes are drawn anew from a Dirichlet distribution
};

}  // namespace dadsim::spec

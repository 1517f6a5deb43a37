#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/names.hpp"

// Changes of the sites' data during a simulation.

namespace dadsim::spec {

/// Corruption of a sample's values; models/data/corruption.hpp defines its strength.
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

/// Returns whether the corruption is only for images.
inline bool needs_picture(Corruption corruption) { return corruption >= Corruption::blur; }

inline constexpr std::int64_t kMaxSeverity = 5;

/// A change of some sites' samples at one date of the simulation. Properties that a later drift does not set are kept.
struct DriftSpec {
  std::string sites;                  ///< patterns of hosts, as in the scenario; empty: all workers
  std::vector<std::int32_t> workers;  ///< numbers of the matching workers, from 0, ascending
  double at = 0;                      ///< simulated seconds
  bool corrupts = false;              ///< true: sets the corruption to `corruption` and `severity`
  Corruption corruption = Corruption::none;
  std::int64_t severity = 3;  ///< strength of the corruption, 1 … kMaxSeverity
  double label_alpha = 0;     ///< Dirichlet concentration of new class shares; 0: classes are unchanged
};

}  // namespace dadsim::spec

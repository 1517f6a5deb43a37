#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spec/parameter.hpp"
#include "world/history.hpp"

namespace dadsim::protocols {

/// Numbers of one outer step. The step updates θ and the rule's state in place.
struct OuterNumbers {
  std::span<float> theta;        ///< parameters of the model, θ
  std::span<float> state;        ///< OuterRule::states rows, each with as many numbers as θ; 0 at first
  std::span<const float> moved;  ///< Δ = θ − θ_i, the mean over workers: points uphill, like a gradient
  std::span<const float> apart;  ///< mean θ of a group − own θ; empty: all have the same θ
  std::span<const std::size_t> matrices = {};  ///< parameters of each matrix, one after the other
};

/// The outer optimizer: computes the next θ from the workers' changes.
///
/// EXAMPLE: nesterov() in src/protocols/local/outer_rule.cpp.
struct OuterRule {
  std::size_t states = 0;  ///< numbers of state per parameter
  /// Flops per parameter, and numbers read and written; 0: the sum of changes already includes the step.
  double flops = 0, floats = 0;
  /// Returns a text with all values that step `round` (from 0) depends on. It identifies the step among the operations
  /// of a History.
  std::function<std::string(std::int64_t round)> name;
  std::function<void(std::int64_t round, const OuterNumbers& numbers)> step;
  bool is_of_groups = false;  ///< true: uses OuterNumbers::apart, because every worker has its own θ

  /// Returns θ, followed by the rule's initial state. `parameters`: trained numbers of θ, which come first.
  world::Value begin(world::History& history, const world::Value& theta, std::size_t parameters) const;
  /// Returns θ and the state after step `round`. `matrices`: number of parameters of each matrix. Running statistics in
  /// θ are averaged: θ ← θ − Δ, or with `apart` θ − Δ + apart.
  world::Value after(world::History& history, const world::Value& theta_and_state, const world::Value& moved,
                     const std::vector<std::size_t>& matrices, std::int64_t round,
                     const world::Value& apart = {}) const;
};

/// Parameters of outer rules.
namespace outer {
inline constexpr spec::TextParameter kRule{"outer"};
inline constexpr spec::RealParameter kRate{"outer-rate", 1e-9, 1e3, "0.7", "learning rate of the outer optimizer"};
inline constexpr spec::RealParameter kMomentum{"outer-momentum", 0, 0.9999, "0.9", "its momentum"};
inline constexpr spec::RealParameter kSecondMoment{"outer-beta2", 0, 0.999999, "0.99",
                                                   "decay of the outer optimizer's mean of squares (adam)"};
inline constexpr spec::RealParameter kConsensus{
    "consensus", 0, 100, "0.7",
    "strength of the pull towards the mean of the partners (consensus); below 2 (1 - outer-momentum^2)"};
inline constexpr spec::IntegerParameter kBuffer{"outer-buffer", 1, 1e6, "2",
                                                "outer steps between updates of the momentum (delayed-nesterov)"};
inline constexpr spec::IntegerParameter kWarmUp{"outer-warm-up", 0, 1e9, "0",
                                                "outer steps over which the momentum rises from 0"};
inline constexpr spec::RealParameter kFinalMomentum{
    "outer-final-momentum", -1, 0.9999, "-1", "momentum at the last step, to which it changes linearly; -1: unchanged"};
inline constexpr spec::RealParameter kAlign{
    "outer-align", -1, 1, "0.5",
    "smallest cosine with the momentum at which a change is left as it is (nesterov-aligned)"};
inline constexpr spec::RealParameter kShrink{"outer-shrink", 0, 1, "0.5",
                                             "share removed from the component of a change against the momentum"};
inline constexpr spec::RealParameter kTurn{"outer-turn", 0, 1, "0.25",
                                           "largest share by which a change is rotated towards the momentum"};

struct RuleInfo {
  const char* name;                     ///< name in <run outer="…">
  const char* description;              ///< description in a few words
  std::vector<std::string> parameters;  ///< names of the parameters above that the rule uses
  OuterRule (*make)(const spec::ParameterValues&, std::int64_t rounds);
};
/// Returns all rules, in the order of presentation.
const std::vector<RuleInfo>& rules();

/// Returns the parameter `outer`, with `rule` as its default, and the parameters of all rules, with their own defaults.
std::vector<spec::ParameterSpec> parameters(const char* rule);
/// Makes the rule of a run with `rounds` outer steps.
OuterRule make(const spec::ParameterValues& values, std::int64_t rounds);
}  // namespace outer

}  // namespace dadsim::protocols

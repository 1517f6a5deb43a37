#pragma once

#include <memory>

#include "models/optimizer.hpp"

namespace dadsim::models {

/// A kind of optimizer, and the cost of an update per parameter (optimizer.hpp), without clipping.
struct OptimizerInfo {
  std::unique_ptr<Optimizer> (*make)(const spec::OptimizerSpec& spec, const Network& network);
  double (*floats)(const spec::OptimizerSpec& spec);
  double (*flops)(const spec::OptimizerSpec& spec);
};

template <class Kind>
std::unique_ptr<Optimizer> make_kind(const spec::OptimizerSpec& spec, const Network& network) {
  return std::make_unique<Kind>(spec, network);
}

OptimizerInfo sgd_info();
OptimizerInfo adam_info();  ///< Adam and AdamW
OptimizerInfo lamb_info();
OptimizerInfo lars_info();
OptimizerInfo muon_info();

/// Returns the norm of a whole gradient as one vector (Pascanu, Mikolov, Bengio, ICML 2013, arXiv 1211.5063).
double norm_of(const Gradient& gradient);

}  // namespace dadsim::models

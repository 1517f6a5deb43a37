#pragma once

#include <cstddef>
#include <vector>

#include "algorithms/pieces/factorise.hpp"
#include "step/operations.hpp"

namespace dadsim::algorithms {

/// Error feedback of factorisations: what a truncation left out of a matrix is added to the next one, so that over
/// steps nothing is lost. Held dense, out × in, as the sum of what is left out has soon as many components as a matrix
/// can have.
class FactorMemory {
 public:
  /// From here on for so many; before add() in several threads, each of its own `of`.
  void hold(std::size_t many) {
    if (held_.size() < many) held_.resize(many);
  }
  /// Δᵀ A and what is held for `of`, out × in. `delta` is rows × out, `input` rows × in.
  models::Matrix add(std::size_t of, const models::ConstBlock& delta, const models::ConstBlock& input);
  /// Holds for `of` what `sent` lacks of `whole`.
  void keep(std::size_t of, models::Matrix whole, const Factors& sent);
  /// What is held; empty before anything was.
  const models::Matrix& held(std::size_t of) const { return held_.at(of); }

 private:
  std::vector<models::Matrix> held_;
};

/// What factorising and remembering costs for so many rows and components.
step::Work factorise_and_keep_work(const step::Expression& rows, const step::Expression& rank,
                                   const FactoriseOptions& options);

}  // namespace dadsim::algorithms

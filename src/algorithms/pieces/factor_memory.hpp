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
  /// From here on for so many; before factorise() in several threads, each of its own `of`.
  void hold(std::size_t many) {
    if (held_.size() < many) held_.resize(many);
  }
  /// Factors of Δᵀ A and what is held for `of`, which from then on is what they lack of that. `delta` is rows × out,
  /// `input` rows × in; for the others see factorise().
  Factors factorise(std::size_t of, const models::ConstBlock& delta, const models::ConstBlock& input,
                    const FactoriseOptions& options, std::uint64_t seed, std::uint32_t stream, std::uint32_t step);
  /// What is held; empty before anything was.
  const models::Matrix& held(std::size_t of) const { return held_.at(of); }

 private:
  std::vector<models::Matrix> held_;
};

/// What factorising costs for so many rows and components, with a memory (may be null) or without.
std::vector<step::Work> factorise_work(const FactorMemory* memory, const step::Expression& rows,
                                       const step::Expression& rank, const FactoriseOptions& options);

}  // namespace dadsim::algorithms

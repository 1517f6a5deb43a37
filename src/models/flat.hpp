#pragma once

#include <span>
#include <vector>

#include "models/network.hpp"

// Learned parameters of a network, or a gradient of them, as one row of numbers: matrix by matrix the weights row by
// row, then the biases; then vector by vector.

namespace dadsim::models {

/// Returns the number of all parameters.
std::size_t flat_size(const Network& network);
/// Returns the numbers of a network: its parameters, then the running statistics of its batch norms.
std::vector<float> flat_state(const Network& network);
/// Restores them. Throws std::logic_error for a wrong number of them.
void set_flat_state(Network& network, std::span<const float> numbers);
/// Returns the numbers of a gradient of that network; flat_size() many.
std::vector<float> flat_gradient(const Gradient& gradient);
/// Returns a gradient of the shape of `network`.
Gradient gradient_of_flat(const Network& network, std::span<const float> numbers);

}  // namespace dadsim::models

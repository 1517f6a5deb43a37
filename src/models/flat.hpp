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
/// Restores the numbers of flat_state(). Throws std::logic_error for a wrong count.
void set_flat_state(Network& network, std::span<const float> numbers);
/// Returns the numbers of a gradient in the order of flat_state(), without running statistics: flat_size() many.
std::vector<float> flat_gradient(const Gradient& gradient);
/// Returns flat numbers as a gradient with the shapes of `network`.
Gradient gradient_of_flat(const Network& network, std::span<const float> numbers);

}  // namespace dadsim::models

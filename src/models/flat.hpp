#pragma once

#include <span>
#include <vector>

#include "models/network.hpp"

// What a network has learned, or a gradient of it, as one row of numbers: matrix by matrix the weights row by row, then
// the biases; then vector by vector.

namespace dadsim::models {

/// Numbers of all parameters.
std::size_t flat_size(const Network& network);
/// The numbers of a network: its parameters, and behind them the running statistics of its batch norms.
std::vector<float> flat_state(const Network& network);
/// Puts them back. Throws std::logic_error where there are not as many.
void set_flat_state(Network& network, std::span<const float> numbers);
/// The numbers of a gradient of that network; parameters() many.
std::vector<float> flat_gradient(const Gradient& gradient);
/// A gradient of the shape of `network`.
Gradient gradient_of_flat(const Network& network, std::span<const float> numbers);

}  // namespace dadsim::models

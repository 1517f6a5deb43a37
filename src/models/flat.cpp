#include "models/flat.hpp"

#include <algorithm>
#include <stdexcept>

namespace dadsim::models {
namespace {

/// Calls `body(numbers, count)` for every contiguous range of parameters, in their order.
template <class Parameters, class Body>
void for_stretches(Parameters& parameters, const Body& body) {
  for (auto& matrix : parameters.matrices) {
    body(matrix.weight.data(), static_cast<std::size_t>(matrix.weight.size()));
    body(matrix.bias.data(), static_cast<std::size_t>(matrix.bias.size()));
  }
  for (auto& vector : parameters.vectors) body(vector.data(), static_cast<std::size_t>(vector.size()));
}

}  // namespace

std::size_t flat_size(const Network& network) {
  std::size_t size = 0;
  for_stretches(network.parameters(), [&](const float*, std::size_t count) { size += count; });
  return size;
}

std::vector<float> flat_state(const Network& network) {
  std::vector<float> numbers;
  numbers.reserve(flat_size(network));
  const auto append = [&](const float* from, std::size_t count) { numbers.insert(numbers.end(), from, from + count); };
  for_stretches(network.parameters(), append);
  for (const auto& average : network.parameters().averages) {
    for (const double value : average) numbers.push_back(static_cast<float>(value));
  }
  return numbers;
}

void set_flat_state(Network& network, std::span<const float> numbers) {
  std::size_t averages = 0;
  for (const auto& average : network.parameters().averages) averages += static_cast<std::size_t>(average.size());
  if (numbers.size() != flat_size(network) + averages) throw std::logic_error("the numbers belong to another network");
  const float* next = numbers.data();
  for_stretches(network.parameters(), [&](float* into, std::size_t count) {
    std::copy_n(next, count, into);
    next += count;
  });
  for (auto& average : network.parameters().averages) {
    for (double& value : average) value = static_cast<double>(*next++);
  }
}

std::vector<float> flat_gradient(const Gradient& gradient) {
  std::vector<float> numbers;
  for_stretches(gradient,
                [&](const float* from, std::size_t count) { numbers.insert(numbers.end(), from, from + count); });
  return numbers;
}

Gradient gradient_of_flat(const Network& network, std::span<const float> numbers) {
  if (numbers.size() != flat_size(network)) throw std::logic_error("the gradient belongs to another network");
  Gradient gradient;
  for (const auto& matrix : network.parameters().matrices) {
    LayerGradient& layer = gradient.matrices.emplace_back();
    layer.weight.resize(matrix.weight.rows(), matrix.weight.cols());
    layer.bias.resize(matrix.bias.size());
  }
  for (const auto& vector : network.parameters().vectors) gradient.vectors.emplace_back(vector.size());
  const float* next = numbers.data();
  for_stretches(gradient, [&](float* into, std::size_t count) {
    std::copy_n(next, count, into);
    next += count;
  });
  return gradient;
}

}  // namespace dadsim::models

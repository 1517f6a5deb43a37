#include "models/operation.hpp"

#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "models/uniform.hpp"

namespace dadsim::models {

template <class T>
std::size_t ParameterBuilder<T>::matrix(std::int64_t out, std::int64_t in, bool bias, double limit) {
  WeightsOf<T>& weights = parameters_.matrices.emplace_back();
  weights.weight.resize(out, in);
  if (bias) weights.bias.setZero(out);
  RandomStream random(seed_, Purpose::initial_weights, static_cast<std::uint32_t>(parameters_.matrices.size() - 1));
  for (Eigen::Index i = 0; i < weights.weight.size(); ++i) {
    weights.weight.data()[i] = static_cast<T>(uniform(random, -limit, limit));
  }
  return parameters_.matrices.size() - 1;
}

template <class T>
std::size_t ParameterBuilder<T>::embedding(std::int64_t entries, std::int64_t width, double deviation) {
  WeightsOf<T>& weights = parameters_.matrices.emplace_back();
  weights.embedding = true;
  weights.weight.resize(entries, width);
  RandomStream random(seed_, Purpose::initial_weights, static_cast<std::uint32_t>(parameters_.matrices.size() - 1));
  boost::random::normal_distribution<double> normal(0.0, deviation);
  for (Eigen::Index i = 0; i < weights.weight.size(); ++i) weights.weight.data()[i] = static_cast<T>(normal(random));
  return parameters_.matrices.size() - 1;
}

template <class T>
std::size_t ParameterBuilder<T>::vector(VectorOf<T> initial) {
  parameters_.vectors.push_back(std::move(initial));
  return parameters_.vectors.size() - 1;
}

template <class T>
std::size_t ParameterBuilder<T>::vector(std::int64_t size, double deviation) {
  VectorOf<T> initial(size);
  RandomStream random(seed_, Purpose::initial_vectors, static_cast<std::uint32_t>(parameters_.vectors.size()));
  boost::random::normal_distribution<double> normal(0.0, deviation);
  for (T& value : initial) value = static_cast<T>(normal(random));
  return vector(std::move(initial));
}

template <class T>
std::size_t ParameterBuilder<T>::average(VectorOf<double> initial) {
  parameters_.averages.push_back(std::move(initial));
  return parameters_.averages.size() - 1;
}

double initial_limit(bool half_passes, std::int64_t in, std::int64_t out) {
  return std::sqrt(6.0 / static_cast<double>(half_passes ? in : in + out));
}

template class ParameterBuilder<float>;
template class ParameterBuilder<double>;

}  // namespace dadsim::models

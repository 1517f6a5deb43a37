#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/matrix.hpp"

// The arithmetic of gossip on the numbers of one site. Learning runs in float; double is for tests of what mixing
// keeps.

namespace dadsim::algorithms::gossip {

/// Numbers that have come from a site, and what they are weighed with.
template <class T>
struct Weighed {
  double weight = 0;
  const models::MatrixOf<T>* numbers = nullptr;
};

/// x + scale Σ_j w_j (y_j − own). With own = x it is Σ_j W_ij x_j, written such that sites that agree stay as they are
/// to the bit.
template <class T>
void pull(models::MatrixOf<T>& x, const models::MatrixOf<T>& own, const std::vector<Weighed<T>>& others,
          double scale = 1) {
  for (const Weighed<T>& other : others) {
    x += static_cast<T>(scale * other.weight) * (*other.numbers - own);
  }
}

/// x + scale·(Σ_j w_j y_j − given·own): what a site gets of numbers that are handed on, weighed by those who send them,
/// and what it gives away of its own. Over all sites that comes to nothing where `given` is what the others get of it.
template <class T>
void push(models::MatrixOf<T>& x, const models::MatrixOf<T>& own, double given, const std::vector<Weighed<T>>& others,
          double scale = 1) {
  models::MatrixOf<T> net = static_cast<T>(-given) * own;
  for (const Weighed<T>& other : others) net += static_cast<T>(other.weight) * *other.numbers;
  x += static_cast<T>(scale) * net;
}

}  // namespace dadsim::algorithms::gossip

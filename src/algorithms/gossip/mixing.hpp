#pragma once

#include <vector>

#include "models/matrix.hpp"

// Arithmetic of gossip on the numbers of one site. Learning runs in float; tests of conserved quantities use double.

namespace dadsim::algorithms::gossip {

/// Numbers received from a site, and their weight.
template <class T>
struct Weighed {
  double weight = 0;
  const models::MatrixOf<T>* numbers = nullptr;
};

/// Adds scale Σ_j w_j (y_j − own) to x. With own = x the result is Σ_j W_ij x_j, in a form that leaves equal sites
/// unchanged bit for bit.
template <class T>
void pull(models::MatrixOf<T>& x, const models::MatrixOf<T>& own, const std::vector<Weighed<T>>& others,
          double scale = 1) {
  for (const Weighed<T>& other : others) {
    x += static_cast<T>(scale * other.weight) * (*other.numbers - own);
  }
}

/// Adds scale (Σ_j w_j y_j − given · own) to x: received numbers, weighted by their senders, minus the part that the
/// site sends away. The sum over all sites is zero if `given` is the total weight of the receivers.
template <class T>
void push(models::MatrixOf<T>& x, const models::MatrixOf<T>& own, double given, const std::vector<Weighed<T>>& others,
          double scale = 1) {
  models::MatrixOf<T> net = static_cast<T>(-given) * own;
  for (const Weighed<T>& other : others) net += static_cast<T>(other.weight) * *other.numbers;
  x += static_cast<T>(scale) * net;
}

}  // namespace dadsim::algorithms::gossip

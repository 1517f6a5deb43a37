#pragma once

namespace dadsim::models {

/// Declares a network for headers that only name it: models/network.hpp includes Eigen.
template <class T>
class NetworkOf;
using Network = NetworkOf<float>;

}  // namespace dadsim::models

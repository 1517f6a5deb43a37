#pragma once

namespace dadsim::models {

/// For headers that only name a network: models/network.hpp brings Eigen with it.
template <class T>
class NetworkOf;
using Network = NetworkOf<float>;

}  // namespace dadsim::models

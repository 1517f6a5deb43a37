#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/matrix.hpp"
#include "step/step.hpp"

namespace dadsim::algorithms {

/// What every site hands to each of its neighbours: matrices one after the other in one message.
struct NeighbourMessage {
  struct Part {
    step::Expression elements;  ///< numbers of the matrix, in symbols
    /// What `site` has for `neighbour`; where all neighbours get the same, the latter says nothing.
    std::function<models::ConstBlock(std::size_t site, std::size_t neighbour)> of;
    /// Instead of `of`: whole numbers, which no compressor touches.
    std::function<std::span<const std::int32_t>(std::size_t site, std::size_t neighbour)> whole = nullptr;
    bool as_it_is = false;  ///< no compressor touches it
    /// 1 where the layer's message has this part, 0 (and an empty matrix) where it has not.
    step::Expression present = 1.0;
  };
  std::vector<Part> parts;
  /// All neighbours get the same message, which is encoded once; otherwise each gets one of its own.
  bool same_for_all = true;
};

/// What a site has received from one of its senders.
struct Arrived {
  std::int32_t sender = 0;
  std::vector<models::Matrix> parts;             ///< of the shapes that the sender had
  std::vector<std::vector<std::int32_t>> whole;  ///< of parts of whole numbers, in their order
};

/// Per site: what has arrived, in rising order of the senders.
using Arrivals = std::vector<std::vector<Arrived>>;

}  // namespace dadsim::algorithms

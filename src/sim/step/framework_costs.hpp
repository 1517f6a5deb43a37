#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "collectives/rounds.hpp"
#include "spec/framework_specification.hpp"

namespace dadsim::sim {

/// What a framework adds to a rank's part in a collective, seconds.
struct FrameworkCost {
  double before = 0;  ///< from its call to its first message
  double after = 0;   ///< from its last message until it is done
  double beside = 0;  ///< from its first message on it is done after so long at the earliest
  /// When a rank is done that began at `begin`, whose messages are through at `through`; dates.
  double done(double begin, double through) const {
    const double date = through + after;
    return begin + beside > date ? begin + beside : date;
  }
};

/// Of every rank. `payload`: bytes that it brings or gets, whatever it sends of them. Parts that are streamed are
/// packed and unpacked beside their journey, as far as the rank's connections are much alike (`path_rate`: byte/s from
/// a rank to another); otherwise packing comes before the first message, and unpacking behind the last. What is
/// exchanged among peers is summed as it is unpacked; who is the server sums at a rate of its own. Empty where the
/// framework changes nothing.
std::vector<FrameworkCost> framework_costs(const spec::FrameworkSpec& framework, const collectives::Rounds& rounds,
                                           const std::function<double(std::size_t rank)>& payload,
                                           const std::function<bool(std::size_t rank)>& is_server,
                                           const std::function<double(std::size_t from, std::size_t to)>& path_rate);

}  // namespace dadsim::sim

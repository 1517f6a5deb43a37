#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "collectives/rounds.hpp"
#include "spec/framework_specification.hpp"

namespace dadsim::sim {

/// Seconds that a framework adds to a rank's part in a collective.
struct FrameworkCost {
  double before = 0;  ///< seconds from the rank's call to its first message
  double after = 0;   ///< seconds from the rank's last message until it is done
  double beside = 0;  ///< least seconds from the rank's first message until it is done
  /// Returns the date at which a rank is done. `begin`: date of its call; `through`: date of its last message.
  double done(double begin, double through) const {
    const double date = through + after;
    return begin + beside > date ? begin + beside : date;
  }
};

/// Returns the costs of every rank; empty if the framework adds none. `payload`: bytes that a rank contributes or gets,
/// whichever part it sends. Streamed parts are packed and unpacked during transfers if the rank's connections are of
/// similar speed (`path_rate`: byte/s from a rank to another). Otherwise packing precedes the first message, and
/// unpacking follows the last. Peers sum while unpacking; a server sums at a separate rate.
std::vector<FrameworkCost> framework_costs(const spec::FrameworkSpec& framework, const collectives::Rounds& rounds,
                                           const std::function<double(std::size_t rank)>& payload,
                                           const std::function<bool(std::size_t rank)>& is_server,
                                           const std::function<double(std::size_t from, std::size_t to)>& path_rate);

}  // namespace dadsim::sim

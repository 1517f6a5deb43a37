#include <algorithm>
#include <array>
#include <string_view>

#include "sim/platform.hpp"
#include "sim/platform/links/efficiency.hpp"

namespace dadsim::sim {
namespace {

struct Measured {
  double megabits = 0;      ///< Mbit/s of payload
  double milliseconds = 0;  ///< there and back
};

#include "sim/platform/regions.inc"

std::optional<std::size_t> index_of(const std::string& name) {
  const auto* region = std::ranges::lower_bound(kRegions, name);
  if (region == kRegions.end() || *region != name) return std::nullopt;
  return static_cast<std::size_t>(region - kRegions.begin());
}

}  // namespace

const std::vector<std::string>& region_names() {
  static const std::vector<std::string> names(kRegions.begin(), kRegions.end());
  return names;
}

std::optional<spec::WanSpec::Pair> region_pair(const std::string& from, const std::string& to) {
  const std::optional<std::size_t> row = index_of(from);
  const std::optional<std::size_t> column = index_of(to);
  if (!row || !column) return std::nullopt;
  const Measured& one = kMeasured[*row][*column];
  if (!(one.megabits > 0)) return std::nullopt;
  spec::WanSpec::Pair pair;
  pair.from = from;
  pair.to = to;
  // What was measured is payload; bandwidths of platforms are those of the wire.
  pair.bandwidth = one.megabits * 1e6 / 8 / efficiency::kTcp;
  pair.round_trip = one.milliseconds / 1e3;
  pair.transport = spec::Transport::tcp;
  return pair;
}

}  // namespace dadsim::sim

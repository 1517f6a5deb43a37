#include "sim/regions.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/links/efficiency.hpp"

namespace dadsim {
namespace {

struct Measured {
  double megabits = 0;      ///< Mbit/s of payload
  double milliseconds = 0;  ///< there and back
};

#include "sim/regions.inc"

std::optional<std::size_t> index_of(const std::string& name) {
  const auto* region = std::ranges::lower_bound(regions, name);
  if (region == regions.end() || *region != name) return std::nullopt;
  return static_cast<std::size_t>(region - regions.begin());
}

}  // namespace

const std::vector<std::string>& region_names() {
  static const std::vector<std::string> names(regions.begin(), regions.end());
  return names;
}

std::optional<WanSpec::Pair> region_pair(const std::string& from, const std::string& to) {
  const std::optional<std::size_t> row = index_of(from);
  const std::optional<std::size_t> column = index_of(to);
  if (!row || !column) return std::nullopt;
  const Measured& one = measured[*row][*column];
  if (!(one.megabits > 0)) return std::nullopt;
  WanSpec::Pair pair;
  pair.from = from;
  pair.to = to;
  // What was measured is payload; bandwidths of platforms are those of the wire.
  pair.bandwidth = one.megabits * 1e6 / 8 / efficiency::tcp;
  pair.round_trip = one.milliseconds / 1e3;
  pair.transport = Transport::tcp;
  return pair;
}

}  // namespace dadsim

#include "world/presence.hpp"

#include <algorithm>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

namespace dadsim::world {

std::vector<std::size_t> draw_some(std::vector<std::size_t> there, std::size_t count, RandomStream random) {
  for (std::size_t i = 0; i < count && count < there.size(); ++i) {
    std::swap(there[i], there[boost::random::uniform_int_distribution<std::size_t>(i, there.size() - 1)(random)]);
  }
  there.resize(std::min(count, there.size()));
  std::ranges::sort(there);
  return there;
}

std::vector<std::int32_t> draw_each(const std::vector<std::int32_t>& there, const std::vector<double>& chances,
                                    std::uint64_t seed, std::int64_t step,
                                    const std::function<bool(std::int32_t site)>& counts) {
  std::vector<RandomStream> streams;
  for (const std::int32_t site : there) {
    streams.emplace_back(seed, Purpose::presence, static_cast<std::uint32_t>(site), static_cast<std::uint32_t>(step));
  }
  boost::random::uniform_01<double> uniform;
  for (;;) {
    std::vector<std::int32_t> who;
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (uniform(streams[i]) < chances[static_cast<std::size_t>(there[i])]) who.push_back(there[i]);
    }
    if (std::ranges::any_of(who, counts)) return who;
  }
}

}  // namespace dadsim::world

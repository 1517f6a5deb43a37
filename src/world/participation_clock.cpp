#include "world/participation_clock.hpp"

#include <algorithm>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>

#include "support/random.hpp"

namespace dadsim::world {

ParticipationClock::ParticipationClock(Rules rules) : rules_(std::move(rules)), present_(rules_.sites) {
  const double wanted = std::round(rules_.fraction * static_cast<double>(rules_.sites));
  needed_ = std::max<std::size_t>(1, std::min(static_cast<std::size_t>(wanted), rules_.sites));
}

std::vector<std::size_t> ParticipationClock::draw(std::int64_t round, std::vector<std::size_t> there) const {
  const double drawn = std::ceil(rules_.over_selection * static_cast<double>(needed_) - 1e-9);
  const std::size_t count = std::min(static_cast<std::size_t>(drawn), there.size());
  RandomStream random(rules_.seed, Purpose::participation, rules_.stream, static_cast<std::uint32_t>(round));
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(there[i], there[boost::random::uniform_int_distribution<std::size_t>(i, there.size() - 1)(random)]);
  }
  there.resize(count);
  std::ranges::sort(there);
  return there;
}

std::vector<std::int32_t> ParticipationClock::draw_each(std::int64_t step, const std::vector<std::int32_t>& there,
                                                        const std::function<bool(std::int32_t site)>& counts) const {
  if (rules_.chances.empty()) return there;
  std::vector<RandomStream> streams;
  for (const std::int32_t site : there) {
    streams.emplace_back(rules_.seed, Purpose::presence, static_cast<std::uint32_t>(site),
                         static_cast<std::uint32_t>(step));
  }
  boost::random::uniform_01<double> uniform;
  for (;;) {
    std::vector<std::int32_t> who;
    for (std::size_t i = 0; i < there.size(); ++i) {
      if (uniform(streams[i]) < rules_.chances[static_cast<std::size_t>(there[i])]) who.push_back(there[i]);
    }
    if (std::ranges::any_of(who, counts)) return who;
  }
}

bool ParticipationClock::is_complete(std::size_t answered, std::size_t awaited) const {
  return (awaited == 0 && !rules_.lasts) || (rules_.enough > 0 && rules_.grace == 0 && answered >= rules_.enough);
}

bool ParticipationClock::is_over(double now, std::size_t answered, std::size_t awaited) {
  if (is_complete(answered, awaited)) return true;
  if (rules_.enough > 0 && answered >= rules_.enough) date_ = std::min(date_, now + rules_.grace);
  return now >= date(answered);
}

void ParticipationClock::note(std::size_t site, bool there) {
  present_[site].first += there ? 1 : 0;
  ++present_[site].second;
}

std::vector<double> ParticipationClock::chances_of(const std::vector<std::int32_t>& sites,
                                                   const std::vector<std::int32_t>& there,
                                                   const std::function<bool(std::int32_t site)>& counts) const {
  double repeated = 1;  // probability that a draw is empty and must be repeated
  for (const std::int32_t site : there) {
    if (!rules_.chances.empty() && counts(site)) repeated *= 1 - rules_.chances[static_cast<std::size_t>(site)];
  }
  std::vector<double> chances;
  for (const std::int32_t site : sites) {
    const auto place = static_cast<std::size_t>(site);
    double chance = rules_.chances.empty() ? static_cast<double>(needed_) / static_cast<double>(rules_.sites)
                                           : rules_.chances[place] / (1 - repeated);
    if (rules_.counts_presence) chance *= (present_[place].first + 1) / (present_[place].second + 1);
    chances.push_back(std::min(1.0, chance));
  }
  return chances;
}

}  // namespace dadsim::world

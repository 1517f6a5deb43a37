// What a meter says at the end of a run.
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/leak/leak_meter.hpp"

namespace dadsim::algorithms {

std::optional<Statement> LeakMeter::why_not(std::size_t adversary, const step::LeakFigures& all) const {
  std::int64_t readings = 0, unread = 0;
  for (const KnownOfSite& site : known_[adversary]) {
    readings += site.readings();
    unread += site.unread();
  }
  if (unread > 0) {
    return Statement{"numbers-not-read"}
        .with("unread", static_cast<double>(unread))
        .with("of", static_cast<double>(unread + readings));
  }
  if (readings == 0) return Statement{"first-layer-not-sent"};
  return std::isnan(all.span_excess) ? std::optional(Statement{"no-samples-to-compare"}) : std::nullopt;
}

step::Leak LeakMeter::result() const {
  step::Leak leak{.adversaries = {}, .every = plan_.every, .measured = measured_};
  if (sampled_.size() < sites()) leak.sampled = sampled_;
  if (rows_.inputs() == 0) leak.why_not = Statement{"no-matrix-of-rows"};
  std::vector<std::size_t> samples;
  for (std::size_t s = 0; s < sampled_.size(); ++s) samples.push_back(partition(s).size());
  for (std::size_t a = 0; a < kAll; ++a) {
    const auto adversary = static_cast<step::Adversary>(a);
    const bool reads = (ever_read_ & (1U << a)) != 0;
    if (adversary == step::Adversary::aggregator && !setting_.has_aggregator) continue;
    const bool masked = (ever_read_first_ & (1U << a)) != 0 || (ever_read_first_ & kReadByAggregator) == 0;
    if (adversary == step::Adversary::secure_aggregator && !(reads && masked)) continue;
    step::AdversaryLeak one{.adversary = adversary, .all = {}, .sites = {}, .curve = curves_[a]};
    one.best_image = best_images_[a];
    const bool any = (ever_read_first_ & (1U << a)) != 0 && !(adversary == step::Adversary::site && sites() < 2);
    for (const KnownOfSite& site : known_[a]) one.sites.push_back(site.figures(any));
    one.all = of_all(one.sites, samples);
    if (any) one.why_not = why_not(a, one.all);
    leak.adversaries.push_back(std::move(one));
  }
  return leak;
}

}  // namespace dadsim::algorithms

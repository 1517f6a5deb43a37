#include "algorithms/leak/leak_meter.hpp"

#include <algorithm>

namespace dadsim::algorithms {

LeakMeter::LeakMeter(const LearningProblem& problem, const models::Network& network)
    : problem_(problem),
      rows_(problem.data, problem.partition, network),
      in_sample_(sites(), -1),
      place_(static_cast<std::size_t>(problem.data.train.size()), 0) {}

void LeakMeter::look_at(std::size_t site) {
  in_sample_[site] = static_cast<std::int32_t>(sampled_.size());
  sampled_.push_back(static_cast<std::int32_t>(site));
  const std::vector<std::int32_t>& samples = problem_.partition[site];
  for (std::size_t i = 0; i < samples.size(); ++i) {
    place_[static_cast<std::size_t>(samples[i])] = static_cast<std::int32_t>(i);
  }
  for (auto& of_sites : known_) of_sites.emplace_back(samples.size());
}

std::vector<std::int32_t> LeakMeter::labels_of(const std::vector<std::int32_t>& samples) const {
  const models::Samples& train = problem_.data.train;
  std::vector<std::int32_t> labels;
  for (const std::int32_t sample : samples) {
    const auto first = train.labels.begin() + sample * train.labels_per_sample;
    labels.insert(labels.end(), first, first + train.labels_per_sample);
  }
  return labels;
}

bool LeakMeter::reads(unsigned readers, std::size_t adversary) const {
  if ((readers & (1U << adversary)) == 0) return false;
  return adversary != static_cast<std::size_t>(step::Adversary::site) || sites() > 1;
}

LeakMeter::MeasuredBatch LeakMeter::batch_of(std::size_t s, std::int64_t number, std::vector<std::int32_t> samples,
                                             const std::vector<std::int32_t>& all) const {
  ControlSamples control = control_samples(problem_.data, samples_of(s), all, problem_.seed, number_of(s), number);
  if (control.of_site.size() > samples.size()) control.of_site.resize(samples.size());
  control.held_back.resize(std::min(control.held_back.size(), samples.size() - control.of_site.size()));
  return {.s = s, .number = number, .samples = std::move(samples), .control = std::move(control)};
}

std::optional<std::size_t> LeakMeter::read(std::size_t adversary, const MeasuredBatch& batch,
                                           KnownOfSite::Reading reading) {
  for (const std::int32_t sample : batch.samples) reading.samples.push_back(place_of(sample));
  for (const std::int32_t sample : batch.control.of_site) reading.others.push_back(place_of(sample));
  reading.held_back = batch.control.held_back;
  known_[adversary][batch.s].read(reading);
  if (!rows_.are_images() || reading.batch.empty()) return std::nullopt;
  const auto best = std::ranges::max_element(reading.batch, {}, &RevealedSpan::Energy::share);
  std::optional<step::ShownImage>& image = best_images_[adversary];
  if (image && best->share() <= image->share + kMoreShown) return std::nullopt;
  const auto place = static_cast<std::size_t>(best - reading.batch.begin());
  image = rows_.image(batch.number + 1, number_of(batch.s), batch.samples[place], best->share(), {});
  return place;
}

std::pair<std::int64_t, std::int64_t> LeakMeter::readings(std::size_t adversary) const {
  std::pair<std::int64_t, std::int64_t> sum;
  for (const KnownOfSite& site : known_[adversary]) {
    sum.first += site.readings();
    sum.second += site.unread();
  }
  return sum;
}

step::Leak LeakMeter::leak(std::int64_t every, std::int64_t measured) const {
  step::Leak leak{.adversaries = {}, .every = every, .measured = measured};
  if (sampled_.size() < sites()) leak.sampled = sampled_;
  return leak;
}

step::AdversaryLeak LeakMeter::told(std::size_t adversary, bool sent, bool counts) const {
  step::AdversaryLeak one{
      .adversary = static_cast<step::Adversary>(adversary), .all = {}, .sites = {}, .curve = curves_[adversary]};
  one.best_image = best_images_[adversary];
  // Sets unobserved figures to unknown, and figures of sites without messages to zero.
  const bool unknown = sent && !counts && readings(adversary).first == 0;
  std::vector<std::size_t> samples;
  for (const KnownOfSite& site : known_[adversary]) {
    samples.push_back(site.samples());
    one.sites.push_back(unknown ? step::LeakFigures{} : site.figures(sent));
  }
  if (!unknown) one.all = of_all(one.sites, samples);
  return one;
}

}  // namespace dadsim::algorithms

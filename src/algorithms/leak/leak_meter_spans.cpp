// What messages of a step span.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "algorithms/leak/leak_meter.hpp"
#include "algorithms/leak/span_reader.hpp"

namespace dadsim::algorithms {
namespace {

/// The first matrix above the second.
models::Matrix one_above_the_other(const models::ConstBlock& first, const models::Matrix& second) {
  models::Matrix both(first.rows() + second.rows(), first.cols());
  both.topRows(first.rows()) = first;
  if (second.rows() > 0) both.bottomRows(second.rows()) = second;
  return both;
}

}  // namespace

models::Matrix LeakMeter::sampled_rows(const models::ConstBlock& numbers) const {
  const Eigen::Index rows = numbers.rows();
  if (rows <= plan_.rows || sites_.empty()) return numbers;
  std::vector<char> chosen(static_cast<std::size_t>(rows), 0);
  for (Eigen::Index i = 0; i < plan_.rows; ++i) chosen[static_cast<std::size_t>(i * rows / plan_.rows)] = 1;
  for (std::size_t i = 0, measured = 0; i < sites_.size() && measured < plan_.sites; ++i) {
    const Site& site = sites_[(next_site_ + i) % sites_.size()];
    if (!site.samples.empty()) ++measured;
    const auto own = std::ssize(site.samples) * rows_.rows_per_sample();
    for (Eigen::Index r = site.first_row * rows / all_rows_; r < (site.first_row + own) * rows / all_rows_; ++r)
      chosen[static_cast<std::size_t>(r)] = 1;
  }
  models::Matrix result(std::ranges::count(chosen, 1), numbers.cols());
  for (Eigen::Index r = 0, to = 0; r < rows; ++r) {
    if (chosen[static_cast<std::size_t>(r)] != 0) result.row(to++) = numbers.row(r);
  }
  return result;
}

const RevealedSpan& LeakMeter::span_of(std::size_t message) {
  if (const auto known = spans_.find(message); known != spans_.end()) return known->second;
  const Held& held = held_[message];
  const Eigen::Index likely =
      held.of_all ? all_rows_ : std::ssize(batch_.at(static_cast<std::size_t>(held.sender))) * rows_.rows_per_sample();
  RevealedSpan span(rows_.inputs());
  span.add(held.numbers, held.noise, likely);
  return spans_.emplace(message, std::move(span)).first->second;
}

void LeakMeter::measure_spans(std::size_t s) {
  const Site& site = sites_[s];
  const ControlSamples others =
      control_samples(problem_.data, partition(s), site.samples, problem_.seed, number_of(s), number_);
  KnownOfSite::Reading reading;
  reading.samples = site.places;
  reading.held_back = others.held_back;
  for (const std::int32_t sample : others.of_site) reading.others.push_back(place_[static_cast<std::size_t>(sample)]);
  const models::Vector& mean = rows_.mean(number_of(s), *network_);
  models::Matrix rows(*site.rows);
  if (others.size() > 0) rows = one_above_the_other(*site.rows, rows_of(others, rows_, *network_));
  rows.rowwise() -= mean.transpose();
  SpanReader reader(std::move(rows), mean);
  const Eigen::Index per_sample = site.rows->rows() / static_cast<Eigen::Index>(site.samples.size());
  std::map<Messages, Energies> known;  // who reads the same sees the same
  for (std::size_t a = 0; a < kAll; ++a) {
    Messages messages;
    bool unread = false;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (!concerns(held_[i], a, s)) continue;
      unread = unread || held_[i].kind == SeenMatrix::Kind::unread;
      messages.push_back(i);
    }
    if (unread) known_[a][s].read_nothing();
    if (unread || messages.empty()) continue;  // what it spans is not known
    const auto [energies, is_new] = known.try_emplace(messages);
    if (is_new) {
      std::vector<const RevealedSpan*> spans;
      for (const std::size_t message : messages) spans.push_back(&span_of(message));
      energies->second = reader.energies(spans, per_sample);
    }
    const auto end_of_batch = energies->second.begin() + std::ssize(site.samples);
    reading.batch.assign(energies->second.begin(), end_of_batch);
    reading.control.assign(end_of_batch, energies->second.end());
    double found = 0, looked_for = 0;
    for (std::size_t row = 0; row < site.finder->rows(); ++row) {
      if (site.finder->is_zero(row)) continue;
      found += site.found[a][row];
      ++looked_for;
    }
    reading.rows_handed = looked_for > 0 ? found / looked_for : 0;
    known_[a][s].read(reading);
    if (rows_.are_images()) note_best_image(a, s, messages, reading.batch);
  }
}

void LeakMeter::note_best_image(std::size_t a, std::size_t s, const Messages& messages, const Energies& batch) {
  const auto best = std::ranges::max_element(batch, {}, &RevealedSpan::Energy::share);
  if (best == batch.end() || (best_images_[a] && best->share() <= best_images_[a]->share + kMoreShown)) return;
  const auto place = best - batch.begin();
  best_images_[a] =
      rows_.image(number_ + 1, number_of(s), sites_[s].samples[static_cast<std::size_t>(place)], best->share(), {});
  to_draw_[a] = {.site = s, .place = place, .messages = messages};
}

void LeakMeter::draw_best_images() {
  for (std::size_t a = 0; a < kAll; ++a) {
    if (!to_draw_[a]) continue;
    const BestImage best = *std::exchange(to_draw_[a], std::nullopt);
    RevealedSpan span(rows_.inputs());
    for (const std::size_t message : best.messages) span.add(span_of(message));
    const models::Vector shown =
        span.shown(sites_[best.site].rows->row(best.place).transpose(), rows_.mean(number_of(best.site), *network_));
    best_images_[a]->shown.assign(shown.begin(), shown.end());
  }
}

}  // namespace dadsim::algorithms

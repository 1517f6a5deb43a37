#include "algorithms/leak/known_of_site.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::algorithms {
namespace {

struct Shares {
  double all = 0, largest = 0;
};

Shares shares_of(const std::vector<RevealedSpan::Energy>& energies) {
  Shares shares;
  RevealedSpan::Energy sum;
  for (const RevealedSpan::Energy& one : energies) {
    sum.shown += one.shown;
    sum.all += one.all;
    shares.largest = std::max(shares.largest, one.share());
  }
  shares.all = sum.share();
  return shares;
}

void keep_largest(const std::vector<std::int32_t>& samples, const std::vector<RevealedSpan::Energy>& energies,
                  std::vector<float>& of) {
  for (std::size_t i = 0; i < samples.size() && i < energies.size(); ++i) {
    float& largest = of.at(static_cast<std::size_t>(samples[i]));
    largest = std::max(largest, static_cast<float>(energies[i].share()));
  }
}

/// Returns the mean of the measured values; NaN if there are none.
double mean_of(const std::vector<float>& values) {
  double sum = 0, count = 0;
  for (const float value : values) {
    if (value < 0) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / count : step::LeakFigures::kUnknown;
}

}  // namespace

double excess(double in, double out) {
  constexpr double kNearlyAll = 1e-3;
  if (std::isnan(in) || std::isnan(out)) return step::LeakFigures::kUnknown;
  return 1 - out < kNearlyAll ? 0.0 : std::clamp((in - out) / (1 - out), 0.0, 1.0);
}

void KnownOfSite::read(const Reading& reading) {
  if (reading.batch.empty()) return;
  const Shares batch = shares_of(reading.batch);
  in_ += batch.all;
  best_in_ += batch.largest;
  rows_handed_ += reading.rows_handed;
  ++readings_;
  accumulated_.reset();
  keep_largest(reading.samples, reading.batch, best_);
  if (reading.control.empty()) return;
  const Shares control = shares_of(reading.control);
  out_ += control.all;
  best_out_ += control.largest;
  ++controlled_;
  keep_largest(reading.others, reading.control, control_);
  for (std::size_t i = 0; i < reading.held_back.size(); ++i) {
    float& largest = held_back_.try_emplace(reading.held_back[i], -1.0F).first->second;
    largest = std::max(largest, static_cast<float>(reading.control.at(reading.others.size() + i).share()));
  }
}

void KnownOfSite::tell_labels(double share) {
  if (std::isnan(share)) return;
  labels_ += share;
  ++labelled_;
}

double KnownOfSite::work_out_accumulated() const {
  if (readings_ == 0) return step::LeakFigures::kUnknown;
  const double handed = rows_handed_ / static_cast<double>(readings_);
  std::vector<float> control = control_;
  for (const auto& [sample, largest] : held_back_) control.push_back(largest);
  const double seen = excess(mean_of(best_), mean_of(control));
  return handed == 1 ? 1.0 : handed + (1 - handed) * seen;
}

step::LeakFigures KnownOfSite::figures(bool ever_sent) const {
  step::LeakFigures figures;
  if (counts_) {
    figures.rows_handed_over = static_cast<double>(rows_);
    figures.samples_handed_over = samples() > 0 ? handed() / static_cast<double>(samples()) : 0.0;
  }
  if (!ever_sent) {
    figures.span_in = figures.span_out = figures.span_excess = figures.best_sample_excess = 0;
    figures.accumulated_excess = 0;
    figures.labels = labelled_ > 0 ? labels_ / static_cast<double>(labelled_) : 0.0;
    return figures;
  }
  if (labelled_ > 0) figures.labels = labels_ / static_cast<double>(labelled_);
  if (readings_ == 0) return figures;
  const auto count = static_cast<double>(readings_);
  const double handed = rows_handed_ / count;
  const auto with_rows = [&](double seen) { return handed == 1 ? 1.0 : handed + (1 - handed) * seen; };
  figures.span_in = in_ / count;
  if (controlled_ > 0) figures.span_out = out_ / static_cast<double>(controlled_);
  figures.span_excess = with_rows(excess(figures.span_in, figures.span_out));
  const double best_out = controlled_ > 0 ? best_out_ / static_cast<double>(controlled_) : figures.span_out;
  figures.best_sample_excess = handed > 0 ? 1.0 : excess(best_in_ / count, best_out);
  figures.accumulated_excess = accumulated();
  return figures;
}

step::LeakPoint point_of(const std::vector<KnownOfSite>& sites, std::int64_t step) {
  double samples = 0, handed = 0, sum = 0, weight = 0;
  for (const KnownOfSite& site : sites) {
    const auto of_site = static_cast<double>(site.samples());
    samples += of_site;
    handed += site.handed();
    const double known = site.accumulated();
    if (std::isnan(known)) continue;
    sum += known * of_site;
    weight += of_site;
  }
  return {.step = step,
          .samples_handed_over = handed / samples,
          .accumulated_excess = weight > 0 ? sum / weight : step::LeakFigures::kUnknown};
}

step::LeakFigures of_all(const std::vector<step::LeakFigures>& sites, const std::vector<std::size_t>& samples) {
  step::LeakFigures all;
  all.rows_handed_over = 0;
  for (const step::LeakFigures& site : sites) all.rows_handed_over += site.rows_handed_over;
  const auto mean = [&](double step::LeakFigures::*figure) {
    double sum = 0, weight = 0;
    for (std::size_t s = 0; s < sites.size(); ++s) {
      if (std::isnan(sites[s].*figure)) continue;
      sum += static_cast<double>(samples[s]) * (sites[s].*figure);
      weight += static_cast<double>(samples[s]);
    }
    all.*figure = weight > 0 ? sum / weight : step::LeakFigures::kUnknown;
  };
  for (double step::LeakFigures::*figure :
       {&step::LeakFigures::samples_handed_over, &step::LeakFigures::span_in, &step::LeakFigures::span_out,
        &step::LeakFigures::span_excess, &step::LeakFigures::best_sample_excess, &step::LeakFigures::accumulated_excess,
        &step::LeakFigures::labels}) {
    mean(figure);
  }
  return all;
}

}  // namespace dadsim::algorithms

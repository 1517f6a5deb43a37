#include "protocols/message_leak.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "algorithms/leak/leak_interval.hpp"
#include "algorithms/leak/revealed_labels.hpp"
#include "algorithms/leak/revealed_span.hpp"
#include "algorithms/leak/row_finder.hpp"

namespace dadsim::protocols {

using algorithms::KnownOfSite;
using algorithms::RevealedSpan;
using algorithms::SeenMatrix;
using world::Datum;
using world::History;
using world::Value;

namespace {

/// Largest number of samples measured per message; evenly spread among the samples that the message may reveal.
constexpr std::size_t kMostSamples = 256;
/// Largest number of sites whose part in a server's model is measured.
constexpr std::size_t kMostSites = 4;
constexpr std::size_t kSpreadSites = algorithms::kSampledSites / 2;

models::Matrix matrix_at(std::span<const float> numbers, std::size_t offset, Eigen::Index rows, Eigen::Index columns) {
  return Eigen::Map<const models::Matrix>(numbers.data() + offset, rows, columns);
}

}  // namespace

MessageLeak::MessageLeak(Learning& learning, const WatchSetting& setting)
    : learning_(learning),
      setting_(setting),
      network_(learning.problem().data.shape, learning.problem().model, learning.problem().seed),
      meter_(learning.problem(), network_),
      rows_(meter_.rows()),
      forward_macs_(algorithms::forward_macs(network_)) {
  std::size_t at = 0;
  for (std::size_t m = 0; m < network_.layers(); ++m) {
    const models::WeightsOf<float>& weights = network_.layer(m);
    if (m == rows_.matrix()) offset_ = at;
    if (!weights.embedding) last_offset_ = at;
    if (!weights.embedding) last_outputs_ = weights.out();
    at += static_cast<std::size_t>(weights.weight.size() + weights.bias.size());
  }
  // If there are more sites than are sampled, half of the sampled sites are evenly spread. The other half are the sites
  // that train first, because few of many sites may take part at all.
  const std::size_t sites = meter_.sites();
  const std::size_t most = sites <= algorithms::kSampledSites ? sites : kSpreadSites;
  for (const std::int32_t site : algorithms::sampled_sites(sites, most)) {
    look_at(static_cast<std::size_t>(site));
  }
}

void MessageLeak::look_at(std::size_t site) {
  meter_.look_at(site);
  looked_.emplace_back();
}

bool MessageLeak::is_due(std::int64_t number) const {
  if (setting_.every > 0) return number % setting_.every == 0;
  std::int64_t power = 4;
  while (power < number) power *= 4;
  return number == 0 || number == power;
}

void MessageLeak::trained(std::size_t site, SiteBatches::How batches, std::int64_t first, std::int64_t steps,
                          std::int64_t data_version) {
  if (site >= meter_.sites()) return;
  const algorithms::LearningProblem& problem = learning_.problem();
  const auto batch = std::min(static_cast<std::size_t>(problem.training.batch), problem.partition[site].size());
  trained_macs_ += 3 * forward_macs_ * static_cast<double>(steps) * static_cast<double>(batch);
  other_drift_ = other_drift_ || data_version != 0;
  if (meter_.s_of(site) < 0 && looked_.size() < algorithms::kSampledSites) look_at(site);
  if (data_version == 0 && meter_.s_of(site) >= 0) {
    looked_[static_cast<std::size_t>(meter_.s_of(site))].since_sent.push_back({batches, first, steps, data_version});
  }
}

bool MessageLeak::affords(std::size_t s, unsigned readers) {
  const auto samples = static_cast<double>(std::min(kMostSamples, meter_.samples_of(s).size()));
  const double rows = samples * static_cast<double>(rows_.rows_per_sample());
  // Multiply-adds for: a basis of the message, the batch and the earlier control batch, and projections of the batch's
  // rows.
  const double directions = std::min({rows, static_cast<double>(rows_.outputs()), static_cast<double>(rows_.inputs())});
  const double macs = algorithms::basis_macs(rows_, rows) + 2 * samples * forward_macs_ +
                      2 * rows * directions * static_cast<double>(rows_.inputs());
  const bool is_paid = setting_.every > 0 || measured_macs_ + macs <= algorithms::kLeakCost * trained_macs_;
  if (!is_paid && (readers & ~ever_measured_) == 0) return false;
  measured_macs_ += macs;
  ever_measured_ |= readers;
  return true;
}

void MessageLeak::sent(const world::Parcel& parcel) {
  if (parcel.values.empty()) return;
  const unsigned others = algorithms::kReadBySites | algorithms::kReadOnLine;
  if (parcel.from >= 0 && static_cast<std::size_t>(parcel.from) < meter_.sites()) {
    const std::int32_t place = meter_.s_of(static_cast<std::size_t>(parcel.from));
    ever_sent_ = ever_sent_ || place < 0;
    if (place < 0) return;
    const auto s = static_cast<std::size_t>(place);
    Looked& site = looked_[s];
    const Trainings trainings = std::exchange(site.since_sent, {});
    if (trainings.empty()) return;
    ever_sent_ = true;
    const std::int64_t number = site.sent++;
    const bool to_server = parcel.to == setting_.server;
    if (to_server) site.at_server.insert(site.at_server.end(), trainings.begin(), trainings.end());
    const unsigned readers = !to_server        ? others
                             : setting_.masked ? 0U
                                               : algorithms::kReadByAggregator | algorithms::kReadOnLine;
    const Value before = std::exchange(site.last, {});
    if (readers != 0 && is_due(number) && affords(s, readers)) {
      measure(parcel, number, s, trainings, before, readers);
    }
    if (readers != 0 && is_due(number + 1)) site.last = parcel.values.front();
    return;
  }
  if (parcel.from != setting_.server) return;
  const Value& model = parcel.values.front();
  if (last_model_ && model.key() == last_model_.key()) return;
  const Value before = std::exchange(last_model_, model);
  if (std::ranges::all_of(looked_, [](const Looked& one) { return one.at_server.empty(); })) return;
  const std::int64_t number = models_++;
  const bool due = is_due(number);
  const unsigned readers = others | (setting_.masked ? algorithms::kReadBySecureAggregator : 0U);
  std::size_t done = 0;
  for (std::size_t i = 0; i < looked_.size(); ++i) {
    const std::size_t s = (static_cast<std::size_t>(number) + i) % looked_.size();
    const Trainings there = std::exchange(looked_[s].at_server, {});
    if (!due || done == kMostSites || there.empty() || !affords(s, readers)) continue;
    measure(parcel, number, s, there, before, readers);
    ++done;
  }
}

std::vector<std::int32_t> MessageLeak::samples_of(std::size_t site, const Trainings& trainings) const {
  std::vector<std::int32_t> samples;
  const algorithms::LearningProblem& problem = learning_.problem();
  for (const Training& training : trainings) {
    SiteBatches batches(training.batches, problem.training, problem.partition, site, problem.seed);
    for (std::int64_t i = 0; i < training.steps; ++i) {
      const std::vector<std::int32_t> batch = batches[training.first + i];
      samples.insert(samples.end(), batch.begin(), batch.end());
      // Leaves out the rest of a training once there are more than twice as many entries as samples of the site.
      if (samples.size() > 2 * problem.partition[site].size()) break;
    }
  }
  std::ranges::sort(samples);
  samples.erase(std::unique(samples.begin(), samples.end()), samples.end());
  return samples;
}

void MessageLeak::measure(const world::Parcel& parcel, std::int64_t number, std::size_t s, const Trainings& trainings,
                          const Value& before, unsigned readers) {
  const std::size_t site = meter_.number_of(s);
  const std::vector<std::int32_t> all = samples_of(site, trainings);
  if (all.empty() || rows_.inputs() == 0) return;
  const std::size_t count = std::min(kMostSamples, all.size());
  std::vector<std::int32_t> samples;
  for (std::size_t i = 0; i < count; ++i) samples.push_back(all[i * all.size() / count]);
  MeasuredMessage measured{
      .batch = meter_.batch_of(s, number, std::move(samples), all), .readers = readers, .seconds = parcel.sent_at};
  const algorithms::LeakMeter::MeasuredBatch& batch = measured.batch;
  const std::string name = fmt::format("what is known and shown of site {} from {} and {}", site,
                                       fmt::join(batch.samples, " "), fmt::join(batch.control.of_site, " "));
  const auto operation = [this, samples = batch.samples, control = batch.control, labels = meter_.labels_of(all),
                          mean = meter_.rows().mean(site, network_)](History::Inputs in) {
    const std::span<const float> numbers(in[0]->numbers), earlier(in[1]->numbers);
    // Rows hold a whole model, possibly followed by the optimizer's state.
    if (numbers.size() < learning_.parameters() || earlier.size() < learning_.parameters()) return Datum{{}, {}};
    models::Matrix sent = matrix_at(numbers, offset_, rows_.outputs(), rows_.inputs());
    const models::Matrix change = sent - matrix_at(earlier, offset_, rows_.outputs(), rows_.inputs());
    const bool goes_on = algorithms::goes_on(change, sent);
    const models::Matrix& news = goes_on ? change : sent;
    RevealedSpan span(rows_.inputs());
    span.add(news, 0, static_cast<Eigen::Index>(samples.size()));
    const models::Matrix rows = rows_.of(samples, network_);
    const models::Matrix others = algorithms::rows_of(control, rows_, network_);
    algorithms::RowFinder finder(rows);
    std::vector<char> found(finder.rows(), 0);
    algorithms::RowFinder::FoundMessage message(sent, rows_.inputs());
    finder.find(message, algorithms::tolerance_of(0), 0, found);

    algorithms::RevealedLabels told(rows_.last_inputs());
    const Eigen::Index last_inputs = rows_.last_inputs();
    const std::size_t bias_at = last_offset_ + static_cast<std::size_t>(last_outputs_ * last_inputs);
    const float sign = goes_on ? -1.0F : 1.0F;  // changes of the weights point against the gradient
    const auto of_last = [&](std::size_t offset, Eigen::Index of_rows, Eigen::Index columns) {
      models::Matrix moved = matrix_at(numbers, offset, of_rows, columns);
      if (goes_on) moved -= matrix_at(earlier, offset, of_rows, columns);
      return models::Matrix(sign * moved);
    };
    const models::Matrix gradient = of_last(last_offset_, last_outputs_, last_inputs);
    told.add({.kind = SeenMatrix::Kind::gradient, .last = true, .numbers = gradient});
    if (network_.layer(network_.layers() - 1).has_bias() &&
        bias_at + static_cast<std::size_t>(last_outputs_) <= numbers.size()) {
      const models::Matrix biases = of_last(bias_at, 1, last_outputs_);
      told.add({.kind = SeenMatrix::Kind::biases, .last = true, .numbers = biases});
    }
    Datum reading{{}, {told.share(labels)}};
    const Eigen::Index per_sample = rows_.rows_per_sample();
    const auto energies = span.energies(rows, mean, per_sample);
    for (std::size_t i = 0; i < energies.size(); ++i) {
      double rows_found = 0;
      for (Eigen::Index r = 0; r < per_sample; ++r) {
        rows_found += found[i * static_cast<std::size_t>(per_sample) + static_cast<std::size_t>(r)];
      }
      reading.scalars.insert(reading.scalars.end(), {energies[i].shown, energies[i].all, rows_found});
    }
    if (rows_.are_images()) {
      const auto best = std::ranges::max_element(energies, {}, &RevealedSpan::Energy::share) - energies.begin();
      const models::Vector shown = span.shown(rows.row(best).transpose(), mean);
      reading.numbers.assign(shown.begin(), shown.end());
    }
    for (const RevealedSpan::Energy& one : span.energies(others, mean, per_sample)) {
      reading.scalars.insert(reading.scalars.end(), {one.shown, one.all});
    }
    return reading;
  };
  const Value earlier = before ? before : learning_.initial();
  measured.reading = learning_.history().make_beside(name, {parcel.values.front(), earlier}, operation);
  measured_.push_back(std::move(measured));
}

std::vector<Value> MessageLeak::values() const {
  std::vector<Value> values;
  for (const MeasuredMessage& one : measured_) values.push_back(one.reading);
  return values;
}

bool MessageLeak::exists(step::Adversary adversary) const {
  const bool central = setting_.server >= 0;
  if (adversary == step::Adversary::aggregator) return central && !setting_.masked;
  if (adversary == step::Adversary::secure_aggregator) return central && setting_.masked;
  return true;
}

void MessageLeak::read(const MeasuredMessage& measured, std::size_t a) {
  const world::DatumPtr datum = History::datum_of(measured.reading);
  const std::vector<double>& scalars = datum->scalars;
  const algorithms::LeakMeter::MeasuredBatch& batch = measured.batch;
  KnownOfSite& site = meter_.known(a, batch.s);
  if (scalars.empty()) return site.read_nothing();
  site.tell_labels(scalars.front());
  KnownOfSite::Reading reading;
  std::size_t at = 1;
  double found = 0;
  for (const std::int32_t sample : batch.samples) {
    reading.batch.push_back({scalars[at], scalars[at + 1]});
    for (double row = 0; row < scalars[at + 2]; ++row) site.hand_over(meter_.place_of(sample));
    found += scalars[at + 2];
    at += 3;
  }
  for (; at + 1 < scalars.size(); at += 2) reading.control.push_back({scalars[at], scalars[at + 1]});
  reading.rows_handed =
      found / static_cast<double>(batch.samples.size()) / static_cast<double>(rows_.rows_per_sample());
  if (meter_.read(a, batch, std::move(reading))) meter_.best_image(a).shown = datum->numbers;
  meter_.curve(a).push_back(meter_.point(a, batch.number + 1));
  meter_.curve(a).back().seconds = measured.seconds;
}

step::Leak MessageLeak::result() {
  step::Leak leak = meter_.leak(setting_.every, std::ssize(measured_));
  for (std::size_t a = 0; a < step::kAdversaries; ++a) {
    if (!exists(static_cast<step::Adversary>(a))) continue;
    for (const MeasuredMessage& measured : measured_) {
      if (meter_.reads(measured.readers, a)) read(measured, a);
    }
    const auto [read, unread] = meter_.readings(a);
    const bool sent = read + unread > 0 || ever_sent_;
    step::AdversaryLeak one = meter_.told(a, sent, false);
    if (unread > 0) {
      one.why_not = Statement{"messages-not-read"}
                        .with("unread", static_cast<double>(unread))
                        .with("of", static_cast<double>(unread + read));
    } else if (sent && read == 0) {
      one.why_not = Statement{other_drift_ ? "trained-with-changed-data" : "no-message-by-itself"};
    }
    leak.adversaries.push_back(std::move(one));
  }
  return leak;
}

}  // namespace dadsim::protocols

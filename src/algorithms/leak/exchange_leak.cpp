#include "algorithms/leak/exchange_leak.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algorithms/leak/span_reader.hpp"

namespace dadsim::algorithms {

ExchangeLeak::ExchangeLeak(const LearningProblem& problem, const models::Network& network, const LeakSetting& setting)
    : setting_(setting), meter_(problem, network), rows_(meter_.rows()) {
  for (const std::int32_t site : sampled_sites(meter_.sites())) meter_.look_at(static_cast<std::size_t>(site));
  plan_ = setting.every > 0 ? LeakPlan{.every = setting.every}
                            : leak_plan(rows_, network, problem.training.batch, meter_.sites(), setting_.steps);
  // Follows sites in 1/64 of the steps, since it takes about as much work as learning.
  constexpr std::int64_t kFollowed = 64;
  followed_ = setting.every > 0 ? setting.steps : (setting.steps + kFollowed - 1) / kFollowed;
}

bool ExchangeLeak::is_due(std::int64_t number) const {
  const bool last = plan_.last && (number + 1 == setting_.steps || (follows_ && number + 1 == followed_));
  return number % plan_.every == 0 || last;
}

void ExchangeLeak::start(std::int64_t number, const models::Network& network) {
  network_ = &network;
  number_ = number;
  due_ = due_ || is_due(number);
  held_.clear();
  labels_.clear();
  spans_.clear();
  count_.clear();
  for (WatchedSite& site : sites_) {
    for (auto& found : site.found) std::ranges::fill(found, 0);
  }
}

void ExchangeLeak::begin(std::int64_t number, const Batch& batch, RowsOfSite rows, const models::Network& network,
                         std::vector<std::int32_t> present) {
  sites_.clear();
  start(number, network);
  present_ = std::move(present);
  if (present_.empty()) {
    batch_ = batch;
    pending_rows_ = std::move(rows);
    return;
  }
  batch_.assign(meter_.sites(), {});
  for (std::size_t i = 0; i < present_.size(); ++i) batch_[static_cast<std::size_t>(present_[i])] = batch[i];
  pending_rows_ = [this, rows = std::move(rows)](std::size_t site) { return rows(place_among_present(site)); };
}

std::size_t ExchangeLeak::place_among_present(std::size_t site) const {
  return static_cast<std::size_t>(std::ranges::find(present_, static_cast<std::int32_t>(site)) - present_.begin());
}

void ExchangeLeak::begin(std::int64_t number, const models::Network& network) { start(number, network); }

void ExchangeLeak::passed(const Batch& batch, const RowsOfSite& rows) {
  // Measures messages sent before the forward pass, which concern the previous batch.
  if (!held_.empty()) measure();
  if (!due_ && !is_due(number_ + 1)) return sites_.clear();
  set_sites(batch, rows, false);
}

void ExchangeLeak::set_sites(const Batch& batch, const RowsOfSite& rows, bool stay) {
  sites_ = std::vector<WatchedSite>(meter_.looked_at());
  if (&batch != &batch_) batch_ = batch;
  Eigen::Index first = 0;
  for (std::size_t number = 0; number < meter_.sites(); ++number) {
    const Eigen::Index before = first;
    first += std::ssize(batch[number]) * rows_.rows_per_sample();
    if (meter_.s_of(number) < 0) continue;
    WatchedSite& site = sites_[static_cast<std::size_t>(meter_.s_of(number))];
    site.first_row = before;
    site.samples = batch[number];
    site.copied.resize(0, rows_.inputs());
    if (!site.samples.empty() && !stay) site.copied = rows(number);
    if (!site.samples.empty() && stay) {
      site.rows.emplace(rows(number));
    } else {
      site.rows.emplace(site.copied);
    }
    site.finder.emplace(*site.rows);
    if (rows_.has_table()) site.symbols = rows_.features(site.samples);
    if (rows_.has_table()) site.symbol_finder.emplace(site.symbols);
    for (auto& found : site.found) found.assign(static_cast<std::size_t>(site.rows->rows()), 0);
  }
  all_rows_ = first;
}

bool ExchangeLeak::concerns(const auto& message, std::size_t adversary, std::size_t s) const {
  return meter_.reads(message.readers, adversary) &&
         (message.of_all || message.sender == static_cast<std::int32_t>(meter_.number_of(s)));
}

void ExchangeLeak::see(const SeenMatrix& seen) {
  if (present_.empty()) return look_at(seen);
  SeenMatrix of_run = seen;
  if (seen.sender >= 0) of_run.sender = present_.at(static_cast<std::size_t>(seen.sender));
  if (seen.sent) of_run.sent = [&](std::size_t site) { return seen.sent(place_among_present(site)); };
  look_at(of_run);
}

void ExchangeLeak::look_at(const SeenMatrix& seen) {
  using enum SeenMatrix::Kind;
  const bool of_first = seen.first && (seen.kind == input_rows || seen.kind == gradient || seen.kind == unread);
  const bool of_last = seen.last && seen.kind != unread;
  ever_read_ |= seen.readers;
  if (of_first || seen.kind == symbols) ever_read_first_ |= seen.readers;
  const bool rows = seen.kind == symbols || (seen.first && seen.kind == input_rows);
  // Examines rows of gradients only when spans are measured, since each is a mixture of samples.
  if (!rows && !wants_all()) return;
  if (pending_rows_) set_sites(batch_, std::exchange(pending_rows_, nullptr), rows_.are_samples());
  if (!sites_.empty() && (rows || (seen.first && seen.kind == gradient))) find_rows(seen);
  if ((!of_first && !of_last) || (!due_ && !setting_.own_weights)) return;
  float sign = 1;
  const bool goes_on = setting_.own_weights && (seen.kind == gradient || seen.kind == biases);
  const bool sampled = of_first && rows && seen.of_all && !of_last && meter_.sites() > kSampledSites;
  models::Matrix numbers = goes_on   ? news(seen, sign)
                           : sampled ? sampled_rows(seen.numbers)
                                     : models::Matrix(seen.numbers);
  if (!due_ || sites_.empty()) return;  // no sites: weights were sent before the first batch
  if (of_last) {
    const auto same = [&](const HeldLabels& held) {
      return held.sender == seen.sender && held.of_all == seen.of_all && held.readers == seen.readers;
    };
    auto held = std::ranges::find_if(labels_, same);
    if (held == labels_.end()) {
      labels_.push_back({seen.sender, seen.of_all, seen.readers, RevealedLabels(rows_.last_inputs())});
      held = std::prev(labels_.end());
    }
    const models::Matrix turned = sign * numbers;
    held->labels.add({.kind = seen.kind, .last = true, .numbers = turned});
  }
  if (of_first) {
    held_.push_back({seen.kind, seen.sender, seen.of_all, seen.readers,
                     seen.kind == unread ? models::Matrix() : std::move(numbers), seen.noise});
  }
}

models::Matrix ExchangeLeak::news(const SeenMatrix& seen, float& sign) {
  std::int32_t& count = count_[{seen.sender, seen.first, seen.kind, 0}];
  const MessageKey key{seen.sender, seen.first, seen.kind, count++};
  const auto before = last_sent_.find(key);
  models::Matrix difference = seen.numbers;
  if (before != last_sent_.end()) {
    difference -= before->second;
  } else {
    std::size_t matrix = rows_.matrix();
    for (std::size_t m = 0; !seen.first && m < network_->layers(); ++m) {
      if (!network_->layer(m).embedding) matrix = m;
    }
    const LearningProblem& problem = meter_.problem();
    const models::Network start(problem.data.shape, problem.model, problem.seed);
    const models::WeightsOf<float>& weights = start.layer(matrix);
    if (seen.kind == SeenMatrix::Kind::gradient) difference -= weights.weight;
    if (seen.kind == SeenMatrix::Kind::biases) difference -= weights.bias.transpose();
  }
  last_sent_[key] = seen.numbers;
  if (!goes_on(difference, seen.numbers)) return seen.numbers;
  sign = -1;  // weights move against the gradient
  return difference;
}

void ExchangeLeak::find_rows(const SeenMatrix& seen) {
  const double tolerance = tolerance_of(seen.error);
  const bool symbols = seen.kind == SeenMatrix::Kind::symbols;
  models::Matrix sequences;
  const Eigen::Index columns = symbols ? sites_.front().symbols.cols() : rows_.inputs();
  if (symbols) {
    // Takes as many symbols per message row as a sample has.
    if (columns == 0 || seen.numbers.rows() % columns != 0) return;
    sequences = models::Matrix(seen.numbers).reshaped<Eigen::RowMajor>(seen.numbers.rows() / columns, columns);
  }
  RowFinder::FoundMessage message(symbols ? models::ConstBlock(sequences) : seen.numbers, columns);
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    WatchedSite& site = sites_[s];
    if (site.samples.empty() || (!seen.of_all && seen.sender != static_cast<std::int32_t>(meter_.number_of(s))))
      continue;
    const RowFinder& finder = symbols ? *site.symbol_finder : *site.finder;
    std::vector<char> found(finder.rows(), 0);
    const Eigen::Index per_sample = std::max<Eigen::Index>(
        1, static_cast<Eigen::Index>(finder.rows()) / static_cast<Eigen::Index>(site.samples.size()));
    const Eigen::Index first = symbols ? site.first_row / rows_.rows_per_sample() : site.first_row;
    if (symbols || !seen.sent || !finder.find_in_place(seen.sent(meter_.number_of(s)), found)) {
      finder.find(message, tolerance, seen.of_all ? first : 0, found);
    }
    // Counts a symbol for all rows that the network computes from it.
    const auto per = static_cast<std::size_t>(symbols ? rows_.rows_per_sample() : 1);
    for (std::size_t a = 0; a < kAll; ++a) {
      if (!concerns(seen, a, s)) continue;
      for (std::size_t row = 0; row < found.size(); ++row) {
        if (found[row] == 0) continue;
        meter_.known(a, s).hand_over(meter_.place_of(site.samples[row / static_cast<std::size_t>(per_sample)]));
        for (std::size_t r = row * per; r < (row + 1) * per; ++r) site.found[a][r] = 1;
      }
    }
  }
}

void ExchangeLeak::measure_labels(std::size_t s) {
  std::vector<std::int32_t> of_all;
  for (const std::vector<std::int32_t>& site : batch_) of_all.insert(of_all.end(), site.begin(), site.end());
  const std::vector<std::int32_t> own = meter_.labels_of(sites_[s].samples), all = meter_.labels_of(of_all);
  for (std::size_t a = 0; a < kAll; ++a) {
    double told = step::LeakFigures::kUnknown;
    for (const HeldLabels& held : labels_) {
      if (!concerns(held, a, s)) continue;
      // Takes the better result if two messages reveal labels.
      const double share = held.labels.share(held.of_all ? all : own);
      if (!std::isnan(share)) told = std::isnan(told) ? share : std::max(told, share);
    }
    meter_.known(a, s).tell_labels(told);
  }
}

void ExchangeLeak::measure() {
  for (std::size_t i = 0, done = 0; i < sites_.size() && done < plan_.sites; ++i) {
    const std::size_t site = next_site_;
    next_site_ = (next_site_ + 1) % sites_.size();
    if (sites_[site].samples.empty()) continue;
    measure_spans(site);
    measure_labels(site);
    ++done;
  }
  draw_best_images();
  held_.clear();
  labels_.clear();
  spans_.clear();
  read_ = true;
}

void ExchangeLeak::end() {
  pending_rows_ = nullptr;
  constexpr std::int64_t kPatience = 16;
  if (due_ && !sites_.empty() && (!held_.empty() || (!labels_.empty() && ++waited_ > kPatience))) measure();
  if (std::exchange(read_, false)) {
    ++measured_;
    waited_ = 0;
    due_ = false;
  }
  if (!setting_.takes_over) return note_point();
  Handed& handed = handed_[number_];
  handed.assign(meter_.looked_at(), {});
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    for (std::size_t a = 0; a < kAll; ++a) {
      for (std::size_t row = 0; row < sites_[s].finder->rows(); ++row) {
        if (sites_[s].finder->is_zero(row)) continue;
        handed[s][a].first += sites_[s].found[a][row];
        ++handed[s][a].second;
      }
    }
  }
  note_point();
}

void ExchangeLeak::take_over(std::int64_t number, const Batch& batch, std::int64_t like) {
  const Handed& handed = handed_.at(like);
  for (std::size_t s = 0; s < meter_.looked_at(); ++s) {
    for (std::size_t a = 0; a < kAll; ++a) {
      const auto& [found, rows] = handed[s][a];
      if (found == 0) continue;
      if (found < rows) {
        meter_.known(a, s).lose_count();
        continue;
      }
      for (const std::int32_t sample : batch[meter_.number_of(s)]) {
        for (Eigen::Index r = 0; r < rows_.rows_per_sample(); ++r) {
          meter_.known(a, s).hand_over(meter_.place_of(sample));
        }
      }
    }
  }
  number_ = number;
  note_point();
}

void ExchangeLeak::note_point() {
  constexpr double kFine = 1.0 / 64;
  for (std::size_t a = 0; a < kAll; ++a) {
    const step::LeakPoint now = meter_.point(a, number_ + 1);
    std::vector<step::LeakPoint>& curve = meter_.curve(a);
    const bool due = number_ + 1 == setting_.steps || number_ % plan_.every == 0;
    if (curve.empty() || due || now.samples_handed_over - curve.back().samples_handed_over >= kFine) {
      curve.push_back(now);
    }
  }
}

namespace {

/// Returns `first` stacked on `second`.
models::Matrix one_above_the_other(const models::ConstBlock& first, const models::Matrix& second) {
  models::Matrix both(first.rows() + second.rows(), first.cols());
  both.topRows(first.rows()) = first;
  if (second.rows() > 0) both.bottomRows(second.rows()) = second;
  return both;
}

}  // namespace

models::Matrix ExchangeLeak::sampled_rows(const models::ConstBlock& numbers) const {
  const Eigen::Index rows = numbers.rows();
  if (rows <= plan_.rows || sites_.empty()) return numbers;
  std::vector<char> chosen(static_cast<std::size_t>(rows), 0);
  for (Eigen::Index i = 0; i < plan_.rows; ++i) chosen[static_cast<std::size_t>(i * rows / plan_.rows)] = 1;
  for (std::size_t i = 0, measured = 0; i < sites_.size() && measured < plan_.sites; ++i) {
    const WatchedSite& site = sites_[(next_site_ + i) % sites_.size()];
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

const RevealedSpan& ExchangeLeak::span_of(std::size_t message) {
  if (const auto known = spans_.find(message); known != spans_.end()) return known->second;
  const HeldMessage& held = held_[message];
  const Eigen::Index likely =
      held.of_all ? all_rows_ : std::ssize(batch_.at(static_cast<std::size_t>(held.sender))) * rows_.rows_per_sample();
  RevealedSpan span(rows_.inputs());
  span.add(held.numbers, held.noise, likely);
  return spans_.emplace(message, std::move(span)).first->second;
}

void ExchangeLeak::measure_spans(std::size_t s) {
  const WatchedSite& site = sites_[s];
  const LeakMeter::MeasuredBatch batch = meter_.batch_of(s, number_, site.samples, site.samples);
  const ControlSamples& others = batch.control;
  const models::Vector& mean = meter_.rows().mean(meter_.number_of(s), *network_);
  models::Matrix rows(*site.rows);
  if (others.size() > 0) rows = one_above_the_other(*site.rows, rows_of(others, rows_, *network_));
  rows.rowwise() -= mean.transpose();
  SpanReader reader(std::move(rows), mean);
  const Eigen::Index per_sample = site.rows->rows() / static_cast<Eigen::Index>(site.samples.size());
  std::map<Messages, std::vector<RevealedSpan::Energy>> known;  // one reading per set of messages
  for (std::size_t a = 0; a < kAll; ++a) {
    Messages messages;
    bool unread = false;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (!concerns(held_[i], a, s)) continue;
      unread = unread || held_[i].kind == SeenMatrix::Kind::unread;
      messages.push_back(i);
    }
    if (unread) meter_.known(a, s).read_nothing();
    if (unread || messages.empty()) continue;  // the span of the message is unknown
    const auto [energies, is_new] = known.try_emplace(messages);
    if (is_new) {
      std::vector<const RevealedSpan*> spans;
      for (const std::size_t message : messages) spans.push_back(&span_of(message));
      energies->second = reader.energies(spans, per_sample);
    }
    const auto end_of_batch = energies->second.begin() + std::ssize(site.samples);
    KnownOfSite::Reading reading;
    reading.batch.assign(energies->second.begin(), end_of_batch);
    reading.control.assign(end_of_batch, energies->second.end());
    double found = 0, looked_for = 0;
    for (std::size_t row = 0; row < site.finder->rows(); ++row) {
      if (site.finder->is_zero(row)) continue;
      found += site.found[a][row];
      ++looked_for;
    }
    reading.rows_handed = looked_for > 0 ? found / looked_for : 0;
    if (const auto best = meter_.read(a, batch, std::move(reading))) {
      to_draw_[a] = {.site = s, .place = static_cast<Eigen::Index>(*best), .messages = messages};
    }
  }
}

void ExchangeLeak::draw_best_images() {
  for (std::size_t a = 0; a < kAll; ++a) {
    if (!to_draw_[a]) continue;
    const BestImage best = *std::exchange(to_draw_[a], std::nullopt);
    RevealedSpan span(rows_.inputs());
    for (const std::size_t message : best.messages) span.add(span_of(message));
    const models::Vector shown = span.shown(sites_[best.site].rows->row(best.place).transpose(),
                                            meter_.rows().mean(meter_.number_of(best.site), *network_));
    meter_.best_image(a).shown.assign(shown.begin(), shown.end());
  }
}

std::optional<Statement> ExchangeLeak::why_not(std::size_t adversary, const step::LeakFigures& all) const {
  const auto [readings, unread] = meter_.readings(adversary);
  if (unread > 0) {
    return Statement{"numbers-not-read"}
        .with("unread", static_cast<double>(unread))
        .with("of", static_cast<double>(unread + readings));
  }
  if (readings == 0) return Statement{"first-layer-not-sent"};
  return std::isnan(all.span_excess) ? std::optional(Statement{"no-samples-to-compare"}) : std::nullopt;
}

step::Leak ExchangeLeak::result() const {
  step::Leak leak = meter_.leak(plan_.every, measured_);
  if (rows_.inputs() == 0) leak.why_not = Statement{"no-matrix-of-rows"};
  for (std::size_t a = 0; a < kAll; ++a) {
    const auto adversary = static_cast<step::Adversary>(a);
    const bool reads = (ever_read_ & (1U << a)) != 0;
    if (adversary == step::Adversary::aggregator && !setting_.has_aggregator) continue;
    const bool masked = (ever_read_first_ & (1U << a)) != 0 || (ever_read_first_ & kReadByAggregator) == 0;
    if (adversary == step::Adversary::secure_aggregator && !(reads && masked)) continue;
    const bool any = meter_.reads(ever_read_first_, a);
    step::AdversaryLeak one = meter_.told(a, any, true);
    if (any) one.why_not = why_not(a, one.all);
    leak.adversaries.push_back(std::move(one));
  }
  return leak;
}

}  // namespace dadsim::algorithms

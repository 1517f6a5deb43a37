#include "protocols/flare/flare_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "methods/idle_parameters.hpp"
#include "models/uniform.hpp"
#include "protocols/methods.hpp"
#include "protocols/workspace.hpp"
#include "support/fingerprint.hpp"
#include "support/random.hpp"

namespace dadsim::protocols {

std::vector<std::size_t> SampleStream::next(std::size_t count) const {
  std::vector<std::size_t> places(std::min(count, left_.size()));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = left_[(at_ + i) % left_.size()];
  return places;
}

void SampleStream::pass(std::int64_t count) {
  at_ = (at_ + static_cast<std::size_t>(count % static_cast<std::int64_t>(left_.size()))) % left_.size();
}

void SampleStream::withdraw(const std::vector<std::size_t>& places) {
  if (spent_) return;
  const auto is_withdrawn = [&](std::size_t place) { return std::ranges::find(places, place) != places.end(); };
  const auto here = left_.begin() + static_cast<std::ptrdiff_t>(at_);
  at_ -= static_cast<std::size_t>(std::count_if(left_.begin(), here, is_withdrawn));
  std::erase_if(left_, is_withdrawn);
  withdrawn_.insert(withdrawn_.end(), places.begin(), places.end());
  if (left_.empty()) {
    spent_ = true;
    left_ = std::move(withdrawn_);
  }
  at_ %= left_.size();
}

namespace {

/// Returns a name for rows: their number and two 64-bit hashes, as wide as the names of values.
std::string name_of_rows(const std::vector<std::int32_t>& rows) {
  const std::string_view bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(std::int32_t));
  return fmt::format("{} {:016x}{:016x}", rows.size(), fingerprint(bytes), fingerprint(bytes, 0x84222325cbf29ce4ULL));
}

}  // namespace

double ks_distance(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) throw std::logic_error("a distance needs samples that are not empty");
  std::size_t i = 0, j = 0;
  double largest = 0;
  while (i < a.size() && j < b.size()) {
    const double at = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= at) ++i;
    while (j < b.size() && b[j] <= at) ++j;
    largest = std::max(largest, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                         static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return largest;
}

double ks_threshold(std::size_t m, std::size_t n, double level) {
  const auto first = static_cast<double>(m), second = static_cast<double>(n);
  return std::sqrt(-0.5 * std::log(level / 2)) * std::sqrt((first + second) / (first * second));
}

std::vector<double> quantiles(std::vector<double> values, std::size_t count) {
  std::ranges::sort(values);
  if (values.size() <= count) return values;
  std::vector<double> result;
  for (std::size_t k = 0; k < count; ++k) {
    const double at = (static_cast<double>(k) + 0.5) / static_cast<double>(count) * static_cast<double>(values.size());
    result.push_back(values[std::min(values.size() - 1, static_cast<std::size_t>(at))]);
  }
  return result;
}

std::vector<std::int32_t> FlareNumbers::draw(const std::vector<std::int32_t>& pool, std::int64_t first,
                                             std::int64_t steps) const {
  const algorithms::LearningProblem& problem = learning_.problem();
  RandomStream random(problem.seed, Purpose::shuffle, 0xffffffffU, static_cast<std::uint32_t>(first));
  boost::random::uniform_int_distribution<std::size_t> any(0, pool.size() - 1);
  std::vector<std::int32_t> rows;
  for (std::int64_t i = 0; i < steps * problem.training.batch; ++i) rows.push_back(pool[any(random)]);
  return rows;
}

Value FlareNumbers::train(const Value& weights_with_state, std::vector<std::int32_t> rows, std::int64_t first) {
  const std::string name = fmt::format("train from {} on {}", first, name_of_rows(rows));
  return learning_.history().make(
      name, {weights_with_state},
      [this, rows = std::move(rows), first](History::Inputs in) {
        const algorithms::LearningProblem& problem = learning_.problem();
        const auto workspace = learning_.borrow();
        const std::span<const float> start(in[0]->numbers);
        workspace->set_weights(start.first(learning_.state()));
        const auto optimizer = make_optimizer(problem.training.optimizer, workspace->network());
        optimizer->set_state(start.subspan(learning_.state()));
        const auto batch = static_cast<std::size_t>(problem.training.batch);
        std::int64_t step = first;
        for (std::size_t begin = 0; begin < rows.size(); begin += batch, ++step) {
          const std::size_t end = std::min(rows.size(), begin + batch);
          const std::vector<std::int32_t> own(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                                              rows.begin() + static_cast<std::ptrdiff_t>(end));
          const models::Gradient& gradient = workspace->gradient(step, own);
          optimizer->update(workspace->network(), gradient, learning_.rate(std::min(step, learning_.budget())));
          workspace->follow_statistics();
        }
        Datum result{models::flat_state(workspace->network()), {}};
        const std::vector<float> state = optimizer->state();
        result.numbers.insert(result.numbers.end(), state.begin(), state.end());
        return result;
      },
      true);
}

Value FlareNumbers::look(const Value& weights_with_state, std::vector<std::int32_t> rows) {
  const std::string name = fmt::format("look at {}", name_of_rows(rows));
  return learning_.history().make(
      name, {weights_with_state},
      [this, rows = std::move(rows)](History::Inputs in) {
        const models::Samples& samples = learning_.problem().data.train;
        const auto workspace = learning_.borrow();
        workspace->set_weights(std::span(in[0]->numbers).first(learning_.state()));
        const models::Network& network = workspace->network();
        models::Matrix inputs(static_cast<Eigen::Index>(rows.size()), samples.features.cols());
        for (std::size_t i = 0; i < rows.size(); ++i) {
          inputs.row(static_cast<Eigen::Index>(i)) = samples.features.row(rows[i]);
        }
        models::Tape tape;
        network.forward(inputs, models::Pass{}, tape);
        const auto logits = models::as_rows(tape.logits(), network.output_shape().channels);
        const auto labels = static_cast<std::size_t>(samples.labels_per_sample);
        Datum result{{}, {0}};
        for (std::size_t i = 0; i < rows.size(); ++i) {
          double confidence = 0;
          for (std::size_t k = 0; k < labels; ++k) {
            const Eigen::ArrayXd z =
                logits.row(static_cast<Eigen::Index>(i * labels + k)).transpose().cast<double>().array();
            const double largest = z.maxCoeff();
            const double total = (z - largest).exp().sum();
            const std::int32_t label = samples.labels[static_cast<std::size_t>(rows[i]) * labels + k];
            confidence += 1 / total / static_cast<double>(labels);
            result.scalars[0] += (std::log(total) + largest - z(label)) / static_cast<double>(rows.size() * labels);
          }
          // A diverged network has the confidence 0, because NaN cannot be sorted.
          result.scalars.push_back(std::isfinite(confidence) ? confidence : 0);
        }
        return result;
      },
      true);
}

std::vector<double> FlareNumbers::confidences(const Value& weights_with_state, std::vector<std::int32_t> rows) {
  const world::DatumPtr looked = learning_.history().get(look(weights_with_state, std::move(rows)));
  std::vector<double> result(looked->scalars.begin() + 1, looked->scalars.end());
  std::ranges::sort(result);
  return result;
}

namespace {

constexpr world::Channel kDeployment = "deployment";
constexpr world::Channel kUpload = "upload";

double spread_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1));
}

}  // namespace

FlareProtocol::FlareProtocol(const Setting& setting)
    : setting_(setting), numbers_(setting.learning), sensors_(setting.sites) {}

void FlareProtocol::begin() {
  weights_ = setting_.learning.initial_with_state();
  deployed_ = weights_;
  const double share = setting_.value(kHeld);
  const double validation = setting_.value(kValidation);
  for (std::size_t site = 0; site < sensors_.size(); ++site) {
    Sensor& own = sensors_[site];
    const std::vector<std::int32_t>& all = setting_.learning.partition(0).at(site);
    if (all.size() == 1) {  // a single sample is both held back and seen by the sensor
      own.held_back = all;
      own.stream = SampleStream({0});
      continue;
    }
    std::vector<std::size_t> places(all.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    RandomStream random(setting_.seed(), Purpose::drift, static_cast<std::uint32_t>(site) * 16 + 13);
    models::shuffle(std::span<std::size_t>(places), random);
    // At least one sample is held back, and at least one is seen.
    const auto count = static_cast<double>(all.size());
    const std::size_t held = std::clamp<std::size_t>(static_cast<std::size_t>(share * count), 1, all.size() - 1);
    const auto back = std::max<std::size_t>(1, static_cast<std::size_t>(validation * static_cast<double>(held)));
    for (std::size_t i = 0; i < held; ++i) (i < back ? own.held_back : pool_).push_back(all[places[i]]);
    own.stream = SampleStream({places.begin() + static_cast<std::ptrdiff_t>(held), places.end()});
  }
  if (pool_.empty()) pool_ = held_back();
  setting_.loop.join(setting_.server, "client", [this] { return client(); });
  setting_.loop.join(setting_.server, "clock", [this] { return clock(); });
  if (fixed()) setting_.loop.join(setting_.server, "deployer", [this] { return deployer(); });
  for (std::size_t number = 0; number < sensors_.size(); ++number) {
    setting_.loop.watch(setting_.server, static_cast<Node>(number), kUpload);
    setting_.loop.join(static_cast<Node>(number), "sensor", [this, number] { return sensor(number); });
  }
}

// ---- the client ----

std::vector<std::int32_t> FlareProtocol::held_back() const {
  std::vector<std::int32_t> rows;
  for (const Sensor& one : sensors_) rows.insert(rows.end(), one.held_back.begin(), one.held_back.end());
  return rows;
}

world::Work FlareProtocol::inference(std::size_t samples) const {
  return setting_.sizing.inference(static_cast<std::int64_t>(samples));
}

Task<> FlareProtocol::client() {
  world::EventLoop& loop = setting_.loop;
  const Node me = setting_.server;
  const std::int64_t steps = setting_.value(kLocalSteps);
  for (;;) {
    while (resting_ || loop.waiting(me, kUpload) > 0) {
      const Parcel parcel = co_await loop.receive(me, kUpload);
      take_in(parcel);
    }
    tick_rows_ = numbers_.draw(pool_, batches_, steps);
    const std::vector<std::int64_t> sizes(static_cast<std::size_t>(steps), setting_.training().batch);
    world::Work work = setting_.sizing.training(sizes, batches_) + inference(tick_rows_.size() + held_back().size());
    const bool done = co_await loop.compute(me, std::move(work));
    if (!done) continue;
    tick();
  }
}

void FlareProtocol::take_in(const Parcel& parcel) {
  const auto from = static_cast<std::size_t>(parcel.from);
  if (parcel.back && setting_.log.updates > 0) deploy_to(from, true);
  if (parcel.back || parcel.gone || parcel.lost) return;
  const auto found = uploads_.find(parcel.number);
  if (found == uploads_.end()) return;
  const Upload& got = found->second;
  Sensor& own = sensors_[got.sensor];
  const auto back = std::max<std::size_t>(
      1, static_cast<std::size_t>(setting_.value(kValidation) * static_cast<double>(got.rows.size())));
  // Deals the window's samples alternately, so that both parts cover all of it.
  own.held_back.clear();
  for (std::size_t i = 0; i < got.rows.size(); ++i) {
    const bool held = (i + 1) * back / got.rows.size() > i * back / got.rows.size();
    (held ? own.held_back : pool_).push_back(got.rows[i]);
  }
  own.held_back_version = got.version;
  ++setting_.log.took_part[got.sensor];
  uploads_.erase(found);
  own.has_sent = true;
  if (resting_) ticks_ = 0;
  resting_ = false;
  undisturbed_ = 0;
}

/// Trains for a tick, and tests whether training has settled or has become unstable.
void FlareProtocol::tick() {
  const auto window = static_cast<std::size_t>(setting_.value(kWindow));
  const std::int64_t patience = setting_.value(kPatience);
  weights_ = numbers_.train(weights_, tick_rows_, batches_);
  batches_ += setting_.value(kLocalSteps);
  setting_.log.samples += static_cast<double>(tick_rows_.size());
  losses_.push_back(numbers_.loss(weights_, tick_rows_));
  differences_.push_back(losses_.back() - numbers_.loss(weights_, held_back()));
  if (differences_.size() > window) differences_.erase(differences_.begin());
  if (losses_.size() > window) losses_.erase(losses_.begin());
  ++ticks_;
  ++undisturbed_;
  if (differences_.size() < window) return;
  const double spread = spread_of(differences_);
  if (setting_.log.updates > 0 && spread > setting_.value(kBeta) * deployed_spread_) unstable_ = true;
  largest_spread_ = std::max(largest_spread_, spread);
  const auto half = static_cast<std::ptrdiff_t>(window / 2);
  const double earlier = std::accumulate(losses_.begin(), losses_.begin() + half, 0.0);
  const double later = std::accumulate(losses_.end() - half, losses_.end(), 0.0);
  const bool flat = later >= (1 - setting_.value(kTolerance)) * earlier;
  const bool narrow = !unstable_ || spread <= setting_.value(kAlpha) * largest_spread_;
  const bool settled = flat && narrow && undisturbed_ >= 2 * static_cast<std::int64_t>(window);
  if (!settled && ticks_ < patience) return;
  resting_ = true;
  largest_spread_ = 0;
  if (unstable_ && (!fixed() || setting_.log.updates == 0)) {
    deployed_spread_ = spread;
    deploy();
  } else if (!fixed()) {
    for (std::size_t number = 0; number < sensors_.size(); ++number) {
      if (sensors_[number].has_sent) deploy_to(number, false);
    }
  }
  unstable_ = false;
}

void FlareProtocol::deploy() {
  deployed_ = weights_;
  ++setting_.log.updates;
  for (std::size_t number = 0; number < sensors_.size(); ++number) deploy_to(number, true);
  setting_.new_version(setting_.learning.without_state(deployed_), 1);
}

void FlareProtocol::deploy_to(std::size_t number, bool with_model) {
  Sensor& own = sensors_[number];
  const auto count = static_cast<std::size_t>(setting_.value(kQuantiles));
  const Deployment& sent = own.coming[++last_deployment_] =
      Deployment{.model = deployed_,
                 .quantiles = quantiles(numbers_.confidences(deployed_, own.held_back), count),
                 .held_back = own.held_back.size(),
                 .version = own.held_back_version};
  own.has_sent = false;
  // The message consists of the quantiles and their number of samples.
  Parcel parcel{.bytes = 4.0 * static_cast<double>(sent.quantiles.size() + 1), .number = last_deployment_};
  if (with_model) {
    parcel.values.push_back(deployed_);
    parcel.bytes += setting_.sizing.plain_bytes();
  }
  setting_.log.facts[with_model ? "deployments" : "quantiles sent alone"] += 1;
  setting_.log.facts["bytes of deployments"] += parcel.bytes;
  setting_.loop.send(setting_.server, static_cast<Node>(number), kDeployment, std::move(parcel));
}

Task<> FlareProtocol::deployer() {
  for (;;) {
    co_await setting_.loop.sleep(setting_.server, setting_.value(kDeployEvery));
    if (setting_.log.updates > 0) deploy();
  }
}

// ---- sensors ----

/// Returns the samples that arrive in the window that begins at `begin`, seconds.
FlareProtocol::Upload FlareProtocol::window_of(std::size_t number, double begin) const {
  const double interval = setting_.value(kInterval);
  Upload window{.sensor = number, .places = sensors_[number].stream.next(samples()), .rows = {}};
  for (std::size_t i = 0; i < samples(); ++i) {
    const double at = begin + static_cast<double>(i + 1) * interval;
    window.last_sample = at;
    const std::int64_t version = setting_.learning.data_version(number, at);
    if (i < window.places.size()) {
      window.rows.push_back(setting_.learning.partition(version).at(number)[window.places[i]]);
    }
    window.version = i == 0 || window.version == version ? version : -1;
  }
  return window;
}

void FlareProtocol::take_over(std::size_t number, const Parcel& model) {
  Sensor& own = sensors_[number];
  const auto found = own.coming.find(model.number);
  if (found == own.coming.end()) return;
  own.deployed = std::move(found->second);
  own.coming.erase(own.coming.begin(), std::next(found));
}

Task<> FlareProtocol::sensor(std::size_t number) {
  world::EventLoop& loop = setting_.loop;
  const auto me = static_cast<Node>(number);
  Sensor& own = sensors_[number];
  const double length = static_cast<double>(samples()) * setting_.value(kInterval);
  const double every = setting_.value(kUploadEvery);
  // Before the first model there is no inference, and the sensor drops its samples.
  Parcel model = co_await loop.receive(me, kDeployment);
  take_over(number, model);
  double begin = loop.now();
  double next_upload = begin + every;
  int pass = 0;  // windows to skip after an upload
  for (;;) {
    model = co_await loop.receive(me, kDeployment, begin + length);
    if (model.from >= 0) {
      // Confidences of different models are not mixed: a new window begins.
      take_over(number, model);
      own.stream.pass(static_cast<std::int64_t>((loop.now() - begin) / setting_.value(kInterval)));
      begin = loop.now();
      pass = 0;
      continue;
    }
    const Upload window = window_of(number, begin);
    own.stream.pass(setting_.value(kSamples));
    begin += length;
    const bool done = co_await loop.compute(me, inference(samples()));
    begin = std::max(begin, loop.now());  // a sensor that is too slow skips samples
    if (!done) continue;
    if (fixed()) {
      if (begin < next_upload - 1e-9) continue;
      upload(number, window);
      next_upload += every;
    } else if (pass > 0) {
      --pass;
    } else {
      const std::int64_t before = last_upload_;
      look_at_window(number, window);
      pass = last_upload_ == before ? 0 : 1;
    }
  }
}

void FlareProtocol::look_at_window(std::size_t number, const Upload& window) {
  auto& facts = setting_.log.facts;
  if (sensors_[number].stream.is_spent()) {
    facts["windows not tested: all samples uploaded before"] = static_cast<double>(++untested_);
    return;
  }
  const Deployment& deployed = *sensors_[number].deployed;
  const std::vector<double> live = numbers_.confidences(deployed.model, window.rows);
  const double phi = setting_.value(kPhi);
  const double allowed = phi > 0 ? phi : ks_threshold(live.size(), deployed.held_back, setting_.value(kLevel));
  const bool alarm = ks_distance(live, deployed.quantiles) > allowed;
  // A window is clean if its samples have the same data version as the quantiles: an alarm is then false.
  const bool clean = window.version >= 0 && window.version == deployed.version;
  ++tested_;
  tested_clean_ += clean ? 1 : 0;
  false_alarms_ += clean && alarm ? 1 : 0;
  facts["windows tested"] = static_cast<double>(tested_);
  facts["windows tested without drift"] = static_cast<double>(tested_clean_);
  facts["false alarms"] = static_cast<double>(false_alarms_);
  if (tested_clean_ > 0) {
    facts["share of false alarms"] = static_cast<double>(false_alarms_) / static_cast<double>(tested_clean_);
  }
  if (alarm) upload(number, window);
}

void FlareProtocol::upload(std::size_t number, const Upload& window) {
  Sensor& own = sensors_[number];
  const models::Dataset& data = setting_.learning.problem().data;
  const double given = setting_.value(kSampleBytes);
  const double sample_bytes = given > 0 ? given : 4.0 * static_cast<double>(data.shape.size());
  const double now = setting_.loop.now();
  auto& facts = setting_.log.facts;
  // The first upload with drifted samples detects a drift. If the next drift comes first, the earlier one is never
  // detected.
  const models::DriftedData* drift = setting_.learning.problem().drift;
  const std::vector<double> none;
  const std::vector<double>& dates = drift == nullptr ? none : drift->from.at(number);
  while (own.detected < dates.size() && dates[own.detected] < window.last_sample) {
    const double at = dates[own.detected++];
    if (own.detected < dates.size() && dates[own.detected] < window.last_sample) continue;
    ++detections_;
    latency_seconds_ += now - at;
    latency_samples_ += (now - at) / setting_.value(kInterval);
    facts["detections"] = static_cast<double>(detections_);
    facts["detection latency, seconds"] = latency_seconds_ / static_cast<double>(detections_);
    facts["detection latency, samples"] = latency_samples_ / static_cast<double>(detections_);
  }
  // If fewer samples are left than a window holds, some samples are sent twice.
  Parcel parcel{.bytes = static_cast<double>(samples()) * sample_bytes, .number = ++last_upload_};
  facts["uploads"] += 1;
  facts["bytes of uploads"] += parcel.bytes;
  uploads_.emplace(last_upload_, window);
  own.stream.withdraw(window.places);
  setting_.loop.send(static_cast<Node>(number), setting_.server, kUpload, std::move(parcel));
}

// ---- reporting ----

double FlareProtocol::accuracy(double seconds) {
  Learning& learning = setting_.learning;
  return learning.history().get(learning.evaluate_at(learning.without_state(deployed_), seconds))->scalars[1];
}

/// Measures how drift affects the model in use, and ends the simulation.
Task<> FlareProtocol::clock() {
  world::EventLoop& loop = setting_.loop;
  const double end = setting_.value(kDuration);
  auto& facts = setting_.log.facts;
  const models::DriftedData* drift = setting_.learning.problem().drift;
  std::vector<double> dates;
  if (drift != nullptr) {
    for (const models::DriftedData::HeldBack& mix : drift->held_back) dates.push_back(mix.from);
  }
  if (setting_.log.versions.empty()) setting_.new_version(setting_.learning.without_state(weights_), 1);
  for (std::size_t i = 0; i < dates.size() && dates[i] < end; ++i) {
    if (dates[i] <= loop.now()) continue;  // a drift while the aggregator was down
    co_await loop.sleep(setting_.server, dates[i] - loop.now());
    if (i == 0) facts["accuracy before the drift"] = accuracy(std::nextafter(dates[i], 0.0));
    if (i == 0) facts["accuracy after the drift"] = accuracy(dates[i]);
    if (setting_.log.updates > 0) setting_.new_version(setting_.learning.without_state(deployed_), 1);
  }
  if (end > loop.now()) co_await loop.sleep(setting_.server, end - loop.now());
  facts["accuracy at the end"] = accuracy(loop.now());
  facts["bytes on sensor links"] = facts["bytes of uploads"] + facts["bytes of deployments"];
  setting_.new_version(setting_.learning.without_state(deployed_), 1, true);
}

/// A method in the spirit of FLARE (arXiv 2305.08504); only its abstract was available. A client trains, and sensors
/// infer. The client sends its model when training has settled, and sensors send samples when confidences have changed,
/// instead of at fixed intervals. FlareProtocol lists the assumptions beyond the abstract.
EventDrivenMethod flare_method() {
  return {{.name = "flare",
           .family = "federated",
           .parameters = {FlareProtocol::kSchedule, FlareProtocol::kDuration, FlareProtocol::kInterval,
                          FlareProtocol::kSamples, FlareProtocol::kQuantiles, FlareProtocol::kLevel,
                          FlareProtocol::kPhi, FlareProtocol::kHeld, FlareProtocol::kValidation,
                          FlareProtocol::kLocalSteps, FlareProtocol::kWindow, FlareProtocol::kAlpha,
                          FlareProtocol::kBeta, FlareProtocol::kTolerance, FlareProtocol::kPatience,
                          FlareProtocol::kUploadEvery, FlareProtocol::kDeployEvery, FlareProtocol::kSampleBytes},
           .sharing = Sharing::event_driven,
           .compresses = false,
           .draws_samples = true,
           .decides_by = "losses and confidences to decide when to send",
           .check =
               [](const RunFacts& facts) {
                 using Of = FlareProtocol;
                 return methods::faults_of_idle_parameters(
                     facts.run.parameters, {{Of::kUploadEvery, Of::kSchedule, {"fixed"}},
                                            {Of::kDeployEvery, Of::kSchedule, {"fixed"}},
                                            {Of::kLevel, Of::kSchedule, {"dual"}},
                                            {Of::kPhi, Of::kSchedule, {"dual"}},
                                            {.parameter = Of::kLevel, .other = Of::kPhi, .without = true}});
               },
           .one_objective = "the aggregator trains, with the samples that have been uploaded to it"},
          [](const Setting& setting) { return std::make_unique<FlareProtocol>(setting); }};
}

}  // namespace dadsim::protocols

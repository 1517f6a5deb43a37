#include "protocols/partial/partial_participation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <stdexcept>
#include <utility>

#include "algorithms/attendance.hpp"
#include "algorithms/cost.hpp"
#include "algorithms/exact/dad.hpp"
#include "algorithms/exact/gradient_sharing.hpp"
#include "algorithms/low_rank/rank_dad.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/site_weights.hpp"
#include "algorithms/step/training_step.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {

/// A network, with the objects that carry out a step of the algorithm on it.
class SharedStep::PartialStage {
 public:
  PartialStage(const algorithms::LearningProblem& problem, const spec::RunSpec& run, const std::string& algorithm)
      : problem_(problem),
        info_(algorithms::algorithm_registry().at(algorithm)),
        network_(problem.data.shape, problem.model, problem.seed),
        algorithm_(make_algorithm(info_, run)),
        step_(network_, spec::ExchangeMode::aggregator, problem, run.compress),
        update_(algorithms::cost::update(problem.training.optimizer)) {}

  models::Network& network() { return network_; }
  const models::Gradient& gradient() const { return step_.gradient(); }

  /// Carries out a whole step, and returns its recording.
  std::pair<step::StepStructure, step::StepSizes> run(std::int64_t number,
                                                      const std::vector<std::vector<std::int32_t>>& batch,
                                                      const std::vector<float>& weights) {
    step_.begin(number, problem_.data.train, batch);
    step_.set_site_weights(weights);
    run_step(info_, *algorithm_, step_);
    step_.backward([&](std::size_t) { step_.charge(update_); });
    network_.update_running_statistics(step_.tape());
    return step_.recorder().take();
  }

 private:
  const algorithms::LearningProblem problem_;
  const algorithms::SynchronousMethod& info_;
  models::Network network_;
  std::unique_ptr<algorithms::Algorithm> algorithm_;
  algorithms::TrainingStep step_;
  std::vector<step::ComputeOp> update_;
};

SharedStep::SharedStep(Learning& learning, const Sizing& sizing, const spec::RunSpec& run, std::string algorithm)
    : learning_(learning), sizing_(sizing), run_(run), algorithm_(std::move(algorithm)) {
  const algorithms::LearningProblem& problem = learning.problem();
  auto stage = std::make_unique<PartialStage>(problem, run_, algorithm_);
  learned_ = stage->network().shape();
  PartialSites all{.there = std::vector<bool>(problem.partition.size(), true), .weights = {}};
  auto [structure, sizes] = stage->run(0, batches(all), {});
  structure_ = std::move(structure);
  for (const std::vector<std::int32_t>& slot : sizes.slots) none_in_slots_.emplace_back(slot.size(), 0);
}

SharedStep::~SharedStep() = default;

std::vector<std::vector<std::int32_t>> SharedStep::batches(const PartialSites& sites) const {
  std::vector<std::vector<std::int32_t>> batch(sites.there.size());
  for (std::size_t site = 0; site < batch.size(); ++site) {
    if (!sites.there[site]) continue;
    batch[site] = learning_.batches(SiteBatches::How::steps, site)[sites.number];
  }
  return batch;
}

/// Returns the gradient, then the running statistics. Scalars: for each slot in order, its length and values.
Value SharedStep::gradient(const Value& weights, const PartialSites& sites) {
  std::string name = fmt::format("{} of step {} of {:d} by {}", algorithm_, sites.number, fmt::join(sites.there, ""),
                                 fmt::join(sites.weights, " "));
  for (const auto& [parameter, value] : run_.parameters) name += fmt::format(" {}={}", parameter, value);
  name += " " + run_.compress.method;
  for (const auto& [parameter, value] : run_.compress.parameters) name += fmt::format(" {}={}", parameter, value);
  return learning_.history().make(
      name, {weights},
      [this, sites](History::Inputs in) {
        const auto stage =
            stages_.borrow([this] { return std::make_unique<PartialStage>(learning_.problem(), run_, algorithm_); });
        models::set_flat_state(stage->network(), std::span(in[0]->numbers).first(learning_.state()));
        const auto [structure, sizes] = stage->run(sites.number, batches(sites), sites.weights);
        if (structure != structure_) throw std::logic_error("a step differs from other steps of its algorithm");
        Datum result{models::flat_gradient(stage->gradient()), {}};
        const std::vector<float> state = models::flat_state(stage->network());
        result.numbers.insert(result.numbers.end(), state.begin() + static_cast<std::ptrdiff_t>(learning_.parameters()),
                              state.end());
        for (const std::vector<std::int32_t>& slot : sizes.slots) {
          result.scalars.push_back(static_cast<double>(slot.size()));
          result.scalars.insert(result.scalars.end(), slot.begin(), slot.end());
        }
        return result;
      },
      true);
}

Value SharedStep::after(const Value& weights, const PartialSites& sites) {
  const double rate = learning_.rate(sites.number);
  const auto parameters = static_cast<std::ptrdiff_t>(learning_.parameters());
  const Value all = gradient(weights, sites);
  Value applied = learning_.apply(weights, learning_.first_numbers(all, learning_.parameters()), rate);
  if (learning_.state() == learning_.parameters()) return applied;
  return learning_.history().make("with running statistics", {applied, all}, [parameters](History::Inputs in) {
    Datum result{in[0]->numbers, {}};
    std::copy(in[1]->numbers.begin() + parameters, in[1]->numbers.end(), result.numbers.begin() + parameters);
    return result;
  });
}

std::shared_ptr<const schedule::Schedule> SharedStep::schedule(const Value& weights, const PartialSites& sites) {
  step::StepSizes sizes;
  for (std::size_t site = 0; site < sites.there.size(); ++site) {
    const std::int64_t rows = learning_.batches(SiteBatches::How::steps, site).size(sites.number);
    sizes.samples.push_back(sites.there[site] ? static_cast<std::int32_t>(rows) : 0);
  }
  if (std::ranges::all_of(sizes.samples, [](std::int32_t samples) { return samples == 0; })) {
    sizes.slots = none_in_slots_;
  } else if (!none_in_slots_.empty()) {
    const world::DatumPtr datum = learning_.history().get(gradient(weights, sites));
    for (std::size_t at = 0; at < datum->scalars.size();) {
      const auto length = static_cast<std::size_t>(datum->scalars[at++]);
      std::vector<std::int32_t>& slot = sizes.slots.emplace_back();
      for (std::size_t i = 0; i < length; ++i) slot.push_back(static_cast<std::int32_t>(datum->scalars[at++]));
    }
  }
  const TimedNetwork& timed = sizing_.timed();
  return std::make_shared<const schedule::Schedule>(schedule::instantiate(
      structure_, sizes, learned_, timed.shape, timed.sample_scale, timed.precision, nullptr, {}, nullptr, true));
}

namespace {

/// Returns the run with the algorithm's own parameters; missing ones get their defaults.
spec::RunSpec run_with_all(const spec::RunSpec& run, const std::string& algorithm) {
  spec::RunSpec own = run;
  for (const auto& [name, value] : default_parameters(algorithms::algorithm_registry().at(algorithm).parameters)) {
    own.parameters.try_emplace(name, value);
  }
  return own;
}

}  // namespace

PartialParticipation::PartialParticipation(const Setting& setting, const std::string& algorithm)
    : setting_(setting),
      shared_(setting.learning, setting.sizing, run_with_all(setting.run, algorithm), algorithm),
      clock_({.sites = setting.sites,
              .seed = setting.seed(),
              .stream = 1,
              .fraction = setting.value(kFraction),
              .deadline = world::ParticipationClock::deadline_of(setting.value(kDeadline)),
              .least = 1,
              .counts_presence = setting.value(kDeadline) > 0}),
      factors_(algorithms::site_factors(setting.run.weights, setting.training(), setting.learning.problem().partition)),
      unbiased_(setting.value(kUnbiased)),
      barrier_(setting.value(kBarrier)),
      member_(setting.sites, true),
      site_at_(setting.sites, 0),
      began_(setting.sites, false),
      asking_(setting.sites, 0),
      answered_(setting.sites, 0),
      here_(setting.sites) {}

void PartialParticipation::begin() {
  models_[0] = setting_.learning.initial_with_state();
  setting_.loop.join(setting_.server, "aggregator", [this] { return server(); });
  setting_.loop.join(setting_.server, "sending again", [this] { return send_again(setting_.server); });
  for (std::size_t number = 0; number < setting_.sites; ++number) {
    setting_.loop.watch(setting_.server, node_of(number), kUp);
    setting_.loop.watch(node_of(number), setting_.server, kWeights);
    setting_.loop.join(node_of(number), "site", [this, number] { return site(number); });
    setting_.loop.join(node_of(number), "sending again", [this, number] { return send_again(node_of(number)); });
  }
}

// ---- steps ----

std::vector<bool> PartialParticipation::choose(std::int64_t number) const {
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < setting_.sites; ++i) {
    if (member_[i] && setting_.loop.is_up(node_of(i))) there.push_back(i);
  }
  std::vector<bool> asked(setting_.sites, false);
  for (const std::size_t site : clock_.draw(number, std::move(there))) asked[site] = true;
  return asked;
}

SharedStep::PartialSites PartialParticipation::sites_of(std::int64_t number, const std::vector<bool>& there,
                                                        bool weighted) const {
  SharedStep::PartialSites sites{.number = number, .there = there, .weights = {}};
  const bool everyone = std::ranges::find(there, false) == there.end();
  const bool present_alone = !unbiased_ || (everyone && clock_.needed() == setting_.sites && !clock_.has_deadline());
  if (!weighted || (present_alone && factors_.empty())) return sites;
  algorithms::Attendance::Present present;
  for (std::size_t site = 0; site < there.size(); ++site) {
    if (there[site]) present.sites.push_back(node_of(site));
  }
  if (!present_alone) present.chances = clock_.chances_of(present.sites);
  const std::vector<float> factors = algorithms::factors_of(present, rows_of(number), factors_);
  sites.weights.assign(there.size(), 0.0F);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    sites.weights[static_cast<std::size_t>(present.sites[i])] = factors[i];
  }
  return sites;
}

std::vector<std::int64_t> PartialParticipation::rows_of(std::int64_t number) const {
  std::vector<std::int64_t> rows;
  for (std::size_t site = 0; site < setting_.sites; ++site)
    rows.push_back(setting_.learning.batches(SiteBatches::How::steps, site).size(number));
  return rows;
}

PartialParticipation::PartialStep& PartialParticipation::step(std::int64_t number) {
  const auto found = steps_.find(number);
  if (found != steps_.end()) return found->second;
  PartialStep& step = steps_[number];
  step.asked = choose(number);
  setting_.log.set_at_work(setting_.loop.now(), static_cast<std::size_t>(std::ranges::count(step.asked, true)));
  step.schedule = shared_.schedule(models_.at(number), sites_of(number, step.asked, false));
  step.done.assign(setting_.sites, false);
  for (std::size_t task = 0; task < step.schedule->tasks.size(); ++task) {
    if (!is_gather(step.schedule->tasks[task])) continue;
    std::vector<bool>& arrived = step.arrived[task];
    arrived.assign(setting_.sites, false);
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      arrived[site] = !(collective_of(step.schedule->tasks[task])->bytes[site] > 0);  // no message is expected
    }
  }
  return step;
}

/// Returns true if nothing is sent back after the sites' last messages (for example with rank 0 in the last layer). A
/// notice must then end the step.
bool PartialParticipation::ends_with_a_notice(const PartialStep& step) {
  const auto sends_last = [](const schedule::Schedule& schedule) {
    const auto last = std::ranges::find_if(schedule.tasks | std::views::reverse, [](const schedule::Task& task) {
      return collective_of(task) != nullptr && !is_empty(*collective_of(task));
    });
    return last == schedule.tasks.rend() || is_gather(*last);
  };
  return sends_last(*step.schedule) || (step.merged && sends_last(*step.merged));
}

/// Returns the bytes of the aggregator's message for a task. If the sites in time had nothing to send, waiting sites
/// get a notice. Returns 0 if no site waits for a message.
double PartialParticipation::handed_back(const PartialStep& step, std::size_t task) {
  const schedule::CollectiveTask* asked = collective_of(step.schedule->tasks[task]);
  if (asked == nullptr || asked->kind != step::CollectiveKind::broadcast) return 0;
  const double bytes = step.merged ? collective_of(step.merged->tasks[task])->bytes[0] : asked->bytes[0];
  return bytes > 0 || is_empty(*asked) ? bytes : kNotice;
}

bool PartialParticipation::complete(const PartialStep& step, std::size_t site) const {
  return step.asked[site] &&
         std::ranges::all_of(step.arrived, [site](const auto& gather) { return gather.second[site]; });
}

/// Returns true if no asked site has anything to send.
bool PartialParticipation::expects_nothing(const PartialStep& step) {
  return std::ranges::all_of(step.arrived, [&](const auto& gather) {
    for (std::size_t site = 0; site < step.asked.size(); ++site) {
      if (step.asked[site] && !gather.second[site]) return false;
    }
    return true;
  });
}

Work PartialParticipation::piece(const SchedulePtr& schedule, step::Role who, std::size_t entry, std::size_t first,
                                 std::size_t behind, std::int64_t at) const {
  return {.pieces = {{.schedule = schedule, .who = who, .entry = entry, .first = first, .behind = behind}}, .step = at};
}

// ---- the aggregator ----

/// Handles a message or a notice of a site while the aggregator is at a step.
void PartialParticipation::take(const Parcel& parcel, std::int64_t at) {
  const auto from = static_cast<std::size_t>(parcel.from);
  if (parcel.back) return;  // the site will ask for the weights
  if (parcel.number <= kPull) {
    const std::int64_t time = kPull - parcel.number + 1;
    if (time <= answered_[from] || std::ranges::find(pulls_, from) != pulls_.end()) return;
    if (member_[from]) leave(from);  // the site was down at the same time as the aggregator
    pulls_.push_back(from);
    return;
  }
  if (parcel.gone) {
    std::erase(pulls_, from);
    if (member_[from]) leave(from);
    return;
  }
  const auto found = steps_.find(at);
  if (found == steps_.end() || parcel.number / kMostTasks != at || found->second.closed) {
    setting_.log.wasted_bytes += parcel.bytes;
    return;
  }
  found->second.arrived.at(static_cast<std::size_t>(parcel.number % kMostTasks))[from] = true;
}

/// Removes a site that went down, so that no step waits for it.
void PartialParticipation::leave(std::size_t site) {
  member_[site] = false;
  std::vector<std::int64_t> open;
  for (auto& [number, step] : steps_) {
    if (number < site_at_[site]) continue;
    if (step.asked[site] && !step.closed && !complete(step, site)) {
      step.asked[site] = false;
      ++setting_.log.failed;
    }
    open.push_back(number);
  }
  for (const std::int64_t number : open) through(number);
}

/// Waits until a gather is complete, or until the deadline has passed and at least one message has arrived.
Task<> PartialParticipation::gather(std::int64_t at, std::size_t task) {
  for (;;) {
    const PartialStep& now = steps_.at(at);
    const std::vector<bool>& arrived = now.arrived.at(task);
    std::size_t missing = 0, here = 0;
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      if (now.asked[site]) ++(arrived[site] ? here : missing);
    }
    if (clock_.is_over(setting_.loop.now(), here, missing)) co_return;
    const Parcel parcel = co_await setting_.loop.receive(setting_.server, kUp, clock_.date(here));
    if (parcel.from >= 0) take(parcel, at);
  }
}

/// Closes the gathers: determines the sites in time, the model after the step, and the rest of the step's work.
void PartialParticipation::merge(std::int64_t at) {
  PartialStep& now = steps_.at(at);
  ProtocolLog& log = setting_.log;
  std::vector<bool> there(setting_.sites, false);
  for (std::size_t site = 0; site < setting_.sites; ++site) there[site] = complete(now, site);
  now.closed = true;
  now.in_time = there;
  const std::vector<std::int64_t> rows = rows_of(at);
  now.given_up = true;  // until a site in time with samples is found
  for (std::size_t site = 0; site < setting_.sites; ++site) {
    if (there[site] && rows[site] > 0) now.given_up = false;
  }
  if (now.given_up) {
    models_[at + 1] = models_.at(at);
  } else {
    now.merged = there == now.asked ? now.schedule : shared_.schedule(models_.at(at), sites_of(at, there, false));
    models_[at + 1] = shared_.after(models_.at(at), sites_of(at, there, true));
  }
  for (std::size_t site = 0; site < setting_.sites; ++site) {
    if (!now.asked[site]) continue;
    clock_.note(site, there[site]);
    if (!there[site]) {
      ++log.late;
      continue;
    }
    log.count_used(site);
  }
}

/// Resends messages of earlier steps that sites may lack because the aggregator went down meanwhile.
void PartialParticipation::redistribute() {
  for (const auto& [number, step] : steps_) {
    if (!step.distributed) continue;
    const std::int64_t first = first_message(number);
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      if (!member_[site] || site_at_[site] > number || !setting_.loop.is_up(node_of(site))) continue;
      const auto send = [&, to = node_of(site)](double bytes, std::int64_t message) {
        Parcel parcel{.bytes = bytes, .number = message};
        setting_.loop.send(setting_.server, to, kDown, std::move(parcel), kLost);
      };
      if (step.given_up) send(kNotice, first);
      if (!step.given_up && ends_with_a_notice(step)) send(kNotice, over_message(number));
      for (std::size_t task = 0; task < step.schedule->tasks.size() && !step.given_up; ++task) {
        const double bytes = handed_back(step, task);
        if (bytes > 0) send(bytes, first + static_cast<std::int64_t>(task));
      }
    }
  }
}

/// Waits until a site has the weights and is up. Sites that ask for the weights get them now, between two steps.
/// Handles earlier messages first, because they may report that an asking site went down.
Task<> PartialParticipation::wait_for_sites() {
  world::EventLoop& loop = setting_.loop;
  for (;;) {
    while (loop.waiting(setting_.server, kUp) > 0) {
      const Parcel parcel = co_await loop.receive(setting_.server, kUp);
      take(parcel, server_at_);
    }
    for (const std::size_t site : std::exchange(pulls_, {})) {
      member_[site] = true;
      answered_[site] = asking_[site];
      site_at_[site] = server_at_;
      Parcel weights{.bytes = setting_.sizing.plain_bytes(), .number = server_at_};
      // The values distinguish this message from those to merged sites.
      weights.values.push_back(models_.at(server_at_));
      loop.send(setting_.server, node_of(site), kWeights, std::move(weights), kLost);
    }
    bool any = false;
    for (std::size_t site = 0; site < setting_.sites; ++site) any = any || (member_[site] && loop.is_up(node_of(site)));
    if (any) co_return;
    const Parcel parcel = co_await loop.receive(setting_.server, kUp);
    take(parcel, server_at_);
  }
}

Task<> PartialParticipation::server() {
  world::EventLoop& loop = setting_.loop;
  const Node me = setting_.server;
  const auto broadcast = [&](double bytes, std::int64_t number) {
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      if (!member_[site] || !loop.is_up(node_of(site))) continue;
      Parcel parcel{.bytes = bytes, .number = number};
      loop.send(me, node_of(site), kDown, std::move(parcel), kLost);
    }
  };
  if (!std::exchange(server_began_, true)) {
    if (setting_.new_version(setting_.learning.without_state(models_.at(0)), 1)) co_return;
  } else {
    // The aggregator has lost all received messages, including requests for weights. Sites get a notice that it is
    // back, and ask again. Sites that have gone down are removed.
    pulls_.clear();
    for (std::size_t site = 0; site < setting_.sites; ++site) {
      if (member_[site] && !loop.is_up(node_of(site))) leave(site);
    }
    redistribute();
    if (const auto found = steps_.find(server_at_); found != steps_.end()) {
      found->second.closed = found->second.given_up = found->second.distributed = true;
      found->second.in_time.assign(setting_.sites, false);
      models_[server_at_ + 1] = models_.at(server_at_);
      broadcast(kNotice, first_message(server_at_));
      through(server_at_++);  // ends the step here if all its sites have gone
      if (ended_) co_return;
    }
  }
  for (; server_at_ < setting_.learning.budget(); ++server_at_) {
    const std::int64_t at = server_at_;
    co_await wait_for_sites();
    clock_.begin(loop.now());
    step(at);
    const std::size_t count = steps_.at(at).schedule->tasks.size();
    const bool silent = expects_nothing(steps_.at(at));
    if (clock_.has_deadline()) {
      for (std::size_t task = 0; task < count; ++task) {
        if (steps_.at(at).arrived.contains(task)) co_await gather(at, task);
      }
      // Only the deadline shows that no site has anything to send.
      if (silent && loop.now() < clock_.date(1)) co_await loop.sleep(me, clock_.date(1) - loop.now());
      merge(at);
    }
    const std::int64_t first = first_message(at);
    for (std::size_t task = 0; task < count && !steps_.at(at).given_up; ++task) {
      const PartialStep& now = steps_.at(at);
      const SchedulePtr schedule = now.merged ? now.merged : now.schedule;
      const auto& what = schedule->tasks[task].what;
      if (const auto* wait = std::get_if<schedule::WaitTask>(&what)) {
        if (wait->who == step::Role::aggregator && !now.closed) {
          co_await gather(at, static_cast<std::size_t>(wait->collective));
        }
      } else if (const auto* compute = std::get_if<schedule::ComputeTask>(&what)) {
        if (compute->who == step::Role::aggregator) {
          co_await loop.compute(me, piece(schedule, step::Role::aggregator, 0, task, task + 1, at));
        }
      } else if (const double bytes = handed_back(now, task); bytes > 0) {
        broadcast(bytes, first + static_cast<std::int64_t>(task));
      }
    }
    if (!steps_.at(at).closed) merge(at);
    if (steps_.at(at).given_up) {
      broadcast(kNotice, first);
    } else if (ends_with_a_notice(steps_.at(at))) {
      broadcast(kNotice, over_message(at));
    }
    steps_.at(at).distributed = true;
    through(at);
    if (ended_) co_return;
  }
  // The last steps end when the merged sites have applied them; sites that fail meanwhile are not awaited.
  for (;;) {
    const Parcel parcel = co_await loop.receive(me, kUp);
    take(parcel, server_at_);
    if (ended_) co_return;
  }
}

// ---- the sites ----

/// Records that a site or the aggregator has finished a step. Reports progress and frees state.
void PartialParticipation::through(std::int64_t at) {
  const auto found = steps_.find(at);
  if (ended_ || found == steps_.end() || !found->second.closed) return;
  const PartialStep& now = found->second;
  bool all = true;
  bool merged = true;
  for (std::size_t site = 0; site < setting_.sites; ++site) {
    // A site that came back meanwhile begins with a later step.
    if (!member_[site] || site_at_[site] > at || now.done[site]) continue;
    all = false;
    merged = merged && !now.in_time[site];
  }
  ProtocolLog& log = setting_.log;
  if (log.updates == at && (barrier_ ? all : merged)) {
    log.updates = at + 1;
    const bool last = log.updates >= setting_.learning.budget();
    const Value weights = setting_.learning.without_state(models_.at(at + 1));
    ended_ = setting_.new_version(weights, setting_.learning.steps_per_epoch(), last);
    if (ended_) return;
    for (std::size_t site = 0; barrier_ && site < setting_.sites; ++site) {
      if (member_[site]) setting_.loop.hand(node_of(site), kGo, {.number = at});
    }
    through(at + 1);
  }
  if (!all || !now.distributed || log.updates <= at) return;
  steps_.erase(at);
  models_.erase(at);
}

void PartialParticipation::ask_for_weights(std::size_t site) {
  Parcel pull{.bytes = kNotice, .number = kPull - asking_[site] + 1};
  setting_.loop.send(node_of(site), setting_.server, kUp, std::move(pull), kLost);
}

Task<> PartialParticipation::site(std::size_t number) {
  world::EventLoop& loop = setting_.loop;
  const Node me = node_of(number);
  if (began_[number] || loop.now() > 0) {  // the site was away, or joins late
    ++asking_[number];
    ask_for_weights(number);
    here_[number].clear();
    for (;;) {  // answers to earlier requests may also arrive
      const Parcel weights = co_await loop.receive(me, kWeights);
      if (weights.back) {  // the aggregator lost its state: the site asks again
        ++asking_[number];
        ask_for_weights(number);
      }
      if (!weights.gone && !weights.back && weights.number == site_at_[number]) break;
    }
  }
  began_[number] = true;
  while (site_at_[number] < setting_.learning.budget()) {
    const std::int64_t at = site_at_[number];
    co_await play_site(number, at);
    steps_.at(at).done[number] = true;
    ++site_at_[number];
    through(at);
    if (ended_) co_return;
    // Waits for this step's barrier. The barrier of a step under way during the outage may open first.
    for (std::int64_t opened = at - 1; barrier_ && opened < at;) {
      const Parcel go = co_await loop.receive(me, kGo);
      opened = go.number;
    }
  }
}

/// Simulates a site's part of a step. Consecutive computations are merged into one.
Task<> PartialParticipation::play_site(std::size_t number, std::int64_t at) {
  world::EventLoop& loop = setting_.loop;
  const Node me = node_of(number);
  step(at);
  const SchedulePtr asked = steps_.at(at).schedule;
  const auto count = asked->tasks.size();
  const std::int64_t first = first_message(at);
  const bool takes_part = steps_.at(at).asked[number] && !steps_.at(at).closed;
  if (takes_part) {
    setting_.log.samples += static_cast<double>(setting_.learning.batches(SiteBatches::How::steps, number).size(at));
    ++setting_.log.asked;
  }
  bool waited = false;
  std::size_t computing_from = count;
  double measured = takes_part ? setting_.sizing.timed().step_seconds : 0;
  const double begin = loop.now();
  for (std::size_t task = 0; task <= count; ++task) {
    const SchedulePtr schedule = steps_.at(at).merged ? steps_.at(at).merged : asked;
    const schedule::Task* now = task < count ? &schedule->tasks[task] : nullptr;
    const auto* compute = now != nullptr ? std::get_if<schedule::ComputeTask>(&now->what) : nullptr;
    const bool mine = compute != nullptr && compute->who == step::Role::workers;
    if (mine && (takes_part || waited)) {
      computing_from = std::min(computing_from, task);
      continue;
    }
    const auto* wait = now != nullptr ? std::get_if<schedule::WaitTask>(&now->what) : nullptr;
    const bool sends = now != nullptr && is_gather(*now) && !is_empty(*collective_of(*now)) && takes_part;
    const bool waits = wait != nullptr && wait->who == step::Role::workers &&
                       handed_back(steps_.at(at), static_cast<std::size_t>(wait->collective)) > 0;
    if (task < count && !sends && !waits) continue;  // a task of the aggregator
    if (computing_from < task) {
      Work work = piece(waited ? schedule : asked, step::Role::workers, number, computing_from, task, at);
      computing_from = count;
      // The measured time of a step is spent before its first message.
      if (!waited) work.seconds = std::exchange(measured, 0);
      co_await loop.compute(me, std::move(work));
    }
    if (sends) {
      Parcel parcel{.bytes = collective_of(asked->tasks[task])->bytes[number],
                    .number = first + static_cast<std::int64_t>(task)};
      if (parcel.bytes > 0) loop.send(me, setting_.server, kUp, std::move(parcel), kLost);
    }
    if (!waits) continue;
    if (!waited && takes_part && steps_.at(at).closed && !complete(steps_.at(at), number)) {
      setting_.log.wasted_seconds += loop.now() - begin;
    }
    waited = true;
    // A message sent again may arrive after messages of the next step.
    std::set<std::int64_t>& here = here_[number];
    while (!here.contains(first + wait->collective)) {
      // A message for the first task, which sends nothing, is the notice that the step is given up.
      if (here.contains(first)) break;
      const Parcel parcel = co_await loop.receive(me, kDown);
      if (parcel.number >= first) here.insert(parcel.number);
    }
    if (here.contains(first)) break;
  }
  const auto is_here = [&](std::int64_t message) { return here_[number].contains(message); };
  while (ends_with_a_notice(steps_.at(at)) && !is_here(first) && !is_here(over_message(at))) {
    const Parcel parcel = co_await loop.receive(me, kDown);
    if (parcel.number >= first) here_[number].insert(parcel.number);
  }
  std::erase_if(here_[number], [behind = first_message(at + 1)](std::int64_t one) { return one < behind; });
}

/// Resends lost messages, concurrently with the node's other work. A site that went down gets none.
Task<> PartialParticipation::send_again(Node me) {
  world::EventLoop& loop = setting_.loop;
  double patience = 1;  // seconds until the next attempt
  for (;;) {
    Parcel parcel = co_await loop.receive(me, kLost);
    const Node to = parcel.from;
    co_await loop.sleep(me, patience);
    while (to == setting_.server && !loop.is_up(to)) {
      patience = std::min(2 * patience, 3600.0);
      co_await loop.sleep(me, patience);
    }
    const bool here = loop.is_up(to);
    patience = here ? 1 : patience;
    // A site that has been down since asks for the messages that it needs.
    if (!here || (to != setting_.server && !member_[static_cast<std::size_t>(to)])) continue;
    const world::Channel channel = to == setting_.server ? kUp : parcel.values.empty() ? kDown : kWeights;
    setting_.send_again(me, to, channel, std::move(parcel), kLost);
  }
}

namespace {

std::vector<spec::ParameterSpec> partial_parameters(const std::string& algorithm) {
  std::vector<spec::ParameterSpec> parameters = {
      PartialParticipation::kFraction,
      PartialParticipation::kDeadline,
      PartialParticipation::kUnbiased,
      PartialParticipation::kBarrier,
  };
  for (const spec::ParameterSpec& own : algorithms::algorithm_registry().at(algorithm).parameters) {
    // Leaves out parameters of state kept between steps: a step depends on its weights and sites alone.
    if (own.name != "separate" && own.name != "memory" && own.name != "islands") parameters.push_back(own);
  }
  return parameters;
}

/// Returns the algorithm's own state; parameters missing in a run have their defaults.
std::function<estimate::AlgorithmState(const spec::ParameterValues&)> state_of(const std::string& algorithm) {
  return [algorithm](const spec::ParameterValues& given) {
    const MethodInfo& info = algorithms::algorithm_registry().at(algorithm);
    return info.state(run_of(info, given).parameters);
  };
}

/// `decides_by`: see MethodInfo.
EventDrivenMethod partial_method(const std::string& name, const std::string& algorithm,
                                 const char* decides_by = nullptr) {
  const MethodInfo& info = algorithms::algorithm_registry().at(algorithm);
  return {{.name = name,
           .family = "federated",
           .parameters = partial_parameters(algorithm),
           .sharing = Sharing::event_driven,
           .forgets = methods::kSitesChange,
           .follows_drift = false,
           .decides_by = decides_by,
           .state = info.state ? state_of(algorithm) : nullptr},
          [algorithm](const Setting& setting) { return std::make_unique<PartialParticipation>(setting, algorithm); }};
}

}  // namespace

EventDrivenMethod partial_gradient_sharing_method() {
  return partial_method("partial-gradient-sharing", algorithms::GradientSharing::kName);
}

EventDrivenMethod partial_dad_method() { return partial_method("partial-dad", algorithms::Dad::kName); }

EventDrivenMethod partial_rank_dad_method() {
  return partial_method("partial-rank-dad", algorithms::RankDad::kName, "the learned ranks of every step");
}

}  // namespace dadsim::protocols

#include "protocols/partial/shared_step.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/step/training_step.hpp"
#include "support/fingerprint.hpp"

namespace dadsim::protocols {

using world::Datum;
using world::History;
using world::Value;

/// A network with what carries out a step of the algorithm on it.
class SharedStep::Stage {
 public:
  Stage(const algorithms::LearningProblem& problem, const spec::RunSpec& run, const std::string& algorithm)
      : problem_(problem),
        info_(algorithms::algorithm_registry().at(algorithm)),
        network_(problem.data.shape, problem.model, problem.seed),
        algorithm_(make_algorithm(info_, run)),
        step_(network_, spec::ExchangeMode::aggregator, problem, run.compress),
        update_(algorithms::cost::update(models::update_floats_per_parameter(problem.training.optimizer),
                                         models::update_flops_per_parameter(problem.training.optimizer))) {}

  models::Network& network() { return network_; }
  const models::Gradient& gradient() const { return step_.gradient(); }

  /// Carries out a whole step, and returns its recording.
  std::pair<step::StepStructure, step::StepSizes> run(std::int64_t number,
                                                      const std::vector<std::vector<std::int32_t>>& batch,
                                                      const std::vector<float>& weights) {
    step_.begin(number, problem_.data.train, batch);
    step_.set_site_weights(weights);
    run_step(info_, *algorithm_, step_);
    step_.backward(
        [&](std::size_t) { step_.charge(step::Phase::update, step::Role::workers, {update_}, false, true); });
    network_.update_running_statistics(step_.tape());
    return step_.recorder().take();
  }

 private:
  const algorithms::LearningProblem problem_;
  const algorithms::SynchronousMethod& info_;
  models::Network network_;
  std::unique_ptr<algorithms::Algorithm> algorithm_;
  algorithms::TrainingStep step_;
  step::Work update_;
};

struct SharedStep::Stages {
  std::mutex mutex;
  std::vector<std::unique_ptr<Stage>> free;
};

SharedStep::SharedStep(Learning& learning, const Sizing& sizing, const spec::RunSpec& run, std::string algorithm)
    : learning_(learning),
      sizing_(sizing),
      run_(run),
      algorithm_(std::move(algorithm)),
      stages_(std::make_unique<Stages>()) {
  const algorithms::LearningProblem& problem = learning.problem();
  auto stage = std::make_unique<Stage>(problem, run_, algorithm_);
  learned_ = stage->network().shape();
  Sites all{.there = std::vector<bool>(problem.partition.size(), true), .weights = {}};
  auto [structure, sizes] = stage->run(0, batches(all), {});
  structure_ = std::move(structure);
  for (const std::vector<std::int32_t>& slot : sizes.slots) none_in_slots_.emplace_back(slot.size(), 0);
}

SharedStep::~SharedStep() = default;

std::vector<std::vector<std::int32_t>> SharedStep::batches(const Sites& sites) const {
  const algorithms::LearningProblem& problem = learning_.problem();
  std::vector<std::vector<std::int32_t>> batch(sites.there.size());
  for (std::size_t site = 0; site < batch.size(); ++site) {
    if (!sites.there[site]) continue;
    SiteBatches own(SiteBatches::How::steps, problem.training, problem.partition, site, problem.seed);
    batch[site] = own[sites.number];
  }
  return batch;
}

/// The gradient, behind it the running statistics, and as scalars the slots one after the other, each with its length.
Value SharedStep::gradient(const Value& weights, const Sites& sites) {
  std::string name = fmt::format("{} of step {} of {:d} by {}", algorithm_, sites.number, fmt::join(sites.there, ""),
                                 fmt::join(sites.weights, " "));
  for (const auto& [parameter, value] : run_.parameters) name += fmt::format(" {}={}", parameter, value);
  name += " " + run_.compress.method;
  for (const auto& [parameter, value] : run_.compress.parameters) name += fmt::format(" {}={}", parameter, value);
  return learning_.history().make(
      name, {weights},
      [this, sites](History::Inputs in) {
        std::unique_ptr<Stage> stage;
        {
          const std::lock_guard lock(stages_->mutex);
          if (!stages_->free.empty()) {
            stage = std::move(stages_->free.back());
            stages_->free.pop_back();
          }
        }
        if (!stage) stage = std::make_unique<Stage>(learning_.problem(), run_, algorithm_);
        models::set_flat_state(stage->network(), std::span(in[0]->numbers).first(learning_.state()));
        const auto [structure, sizes] = stage->run(sites.number, batches(sites), sites.weights);
        if (structure != structure_) throw std::logic_error("a step that is not like the others of its algorithm");
        Datum result{models::flat_gradient(stage->gradient()), {}};
        const std::vector<float> state = models::flat_state(stage->network());
        result.numbers.insert(result.numbers.end(), state.begin() + static_cast<std::ptrdiff_t>(learning_.parameters()),
                              state.end());
        for (const std::vector<std::int32_t>& slot : sizes.slots) {
          result.scalars.push_back(static_cast<double>(slot.size()));
          result.scalars.insert(result.scalars.end(), slot.begin(), slot.end());
        }
        const std::lock_guard lock(stages_->mutex);
        stages_->free.push_back(std::move(stage));
        return result;
      },
      true);
}

Value SharedStep::after(const Value& weights, const Sites& sites) {
  const double rate = learning_.rate(sites.number);
  const auto parameters = static_cast<std::ptrdiff_t>(learning_.parameters());
  const Value all = gradient(weights, sites);
  const Value alone = learning_.history().make("the gradient alone", {all}, [parameters](History::Inputs in) {
    return Datum{{in[0]->numbers.begin(), in[0]->numbers.begin() + parameters}, {}};
  });
  Value applied = learning_.apply(weights, alone, rate);
  if (learning_.state() == learning_.parameters()) return applied;
  return learning_.history().make("with running statistics", {applied, all}, [parameters](History::Inputs in) {
    Datum result{in[0]->numbers, {}};
    std::copy(in[1]->numbers.begin() + parameters, in[1]->numbers.end(), result.numbers.begin() + parameters);
    return result;
  });
}

std::shared_ptr<const schedule::Schedule> SharedStep::schedule(const Value& weights, const Sites& sites) {
  step::StepSizes sizes;
  const algorithms::LearningProblem& problem = learning_.problem();
  for (std::size_t site = 0; site < sites.there.size(); ++site) {
    const SiteBatches own(SiteBatches::How::steps, problem.training, problem.partition, site, problem.seed);
    sizes.samples.push_back(sites.there[site] ? static_cast<std::int32_t>(own.size(sites.number)) : 0);
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
  return std::make_shared<const schedule::Schedule>(
      schedule::instantiate(structure_, sizes, learned_, timed.shape, timed.sample_scale, timed.precision));
}

}  // namespace dadsim::protocols

#include "protocols/learned_operation.hpp"

#include <span>
#include <stdexcept>
#include <vector>

#include "algorithms/learning_problem.hpp"
#include "protocols/workspace.hpp"
#include "support/wire.hpp"

namespace dadsim::protocols {

using world::Datum;
using world::History;

constexpr LearnedOperation::Kind last_of(LearnedOperation::Kind /*type*/) { return LearnedOperation::Kind::evaluate; }
constexpr SiteBatches::How last_of(SiteBatches::How /*type*/) { return SiteBatches::How::passes; }
void fields(auto& bytes, of<LocalTraining::PerSample> auto& how) { bytes(how.clip, how.noise_multiplier); }
void fields(auto& bytes, of<LocalTraining> auto& how) {
  bytes(how.site, how.batches, how.first, how.steps, how.schedule_step, how.rate_factor, how.proximal, how.data_version,
        how.per_sample, how.keeps_state);
}
void fields(auto& bytes, of<LearnedOperation> auto& operation) {
  bytes(operation.kind, operation.training, operation.held_back);
}

namespace {

Datum trained(Learning& learning, const LocalTraining& how, History::Inputs in) {
  const algorithms::LearningProblem& problem = learning.problem();
  const auto workspace = learning.borrow();
  models::Network& network = workspace->network();
  const std::span<const float> start(in[0]->numbers);
  workspace->set_weights(start.first(learning.state()));
  const auto optimizer = make_optimizer(problem.training.optimizer, network);
  if (how.keeps_state) optimizer->set_state(start.subspan(learning.state()));
  SiteBatches batches(how.batches, problem.training, learning.partition(how.data_version), how.site, problem.seed);
  for (std::int64_t i = 0; i < how.steps; ++i) {
    const std::int64_t number = how.first + i;
    if (!how.per_sample && batches.size(number) == 0) continue;  // skips a step without samples
    const auto sites = static_cast<std::int64_t>(problem.partition.size());
    const models::Gradient& own =
        how.per_sample ? workspace->gradient_per_sample(number * sites + static_cast<std::int64_t>(how.site),
                                                        batches[number], batches.expected(), *how.per_sample)
                       : workspace->gradient(number, batches[number]);
    const double rate_now = how.rate_factor * learning.rate(how.schedule_step + i);
    if (how.proximal == 0 && in.size() == 1) {
      optimizer->update(network, own, rate_now);
    } else {
      std::vector<float> sum = models::flat_gradient(own);
      if (in.size() > 1) {
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += in[1]->numbers[k];
      }
      if (how.proximal != 0) {
        const std::vector<float> here = models::flat_state(network);
        const auto mu = static_cast<float>(how.proximal);
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += mu * (here[k] - start[k]);
      }
      optimizer->update(network, models::gradient_of_flat(network, sum), rate_now);
    }
    workspace->follow_statistics();
  }
  Datum result{models::flat_state(network), {}};
  if (how.keeps_state) {
    const std::vector<float> state = optimizer->state();
    result.numbers.insert(result.numbers.end(), state.begin(), state.end());
  }
  return result;
}

Datum gradient_of(Learning& learning, const LocalTraining& how, bool with_statistics, History::Inputs in) {
  const auto workspace = learning.borrow();
  workspace->set_weights(std::span(in[0]->numbers).first(learning.state()));
  SiteBatches own = learning.batches(how.batches, how.site);
  Datum result{std::vector<float>(learning.parameters(), 0.0F), {}};
  // A small site's batch is often empty, because all sites take as many steps as the largest.
  const bool has_samples = own.size(how.first) > 0;
  if (has_samples) result.numbers = models::flat_gradient(workspace->gradient(how.first, own[how.first]));
  if (!with_statistics) return result;
  if (has_samples) workspace->follow_statistics();
  const std::vector<float> after = models::flat_state(workspace->network());
  result.numbers.insert(result.numbers.end(), after.begin() + static_cast<std::ptrdiff_t>(learning.parameters()),
                        after.end());
  return result;
}

Datum quality_of(Learning& learning, std::uint64_t held_back, History::Inputs in) {
  const algorithms::LearningProblem& problem = learning.problem();
  if (held_back > 0 && problem.drift == nullptr)
    throw std::out_of_range("the scenario has no drift, so no held-back data of drifts");
  const models::Samples& samples =
      held_back == 0 ? problem.data.test : problem.drift->held_back.at(static_cast<std::size_t>(held_back - 1)).samples;
  const auto workspace = learning.borrow();
  workspace->set_weights(std::span(in[0]->numbers).first(learning.state()));
  const models::Quality quality = models::evaluate(workspace->network(), samples);
  return Datum{{}, {quality.loss, quality.accuracy, quality.auc}};
}

}  // namespace

std::string to_bytes(const LearnedOperation& operation) {
  WireWriter wire;
  wire << operation;
  return wire.bytes();
}

LearnedOperation learned_operation_from_bytes(std::string_view bytes) {
  return WireReader(bytes).read<LearnedOperation>();
}

Datum carry_out(Learning& learning, const LearnedOperation& operation, History::Inputs inputs) {
  if (inputs.empty() || inputs[0]->numbers.size() < learning.state())
    throw std::out_of_range("an operation lacks its initial weights");
  if (inputs.size() > 1 && inputs[1]->numbers.size() < learning.parameters())
    throw std::out_of_range("a correction is shorter than a gradient");
  switch (operation.kind) {
    case LearnedOperation::Kind::train:
      return trained(learning, operation.training, inputs);
    case LearnedOperation::Kind::gradient:
      return gradient_of(learning, operation.training, false, inputs);
    case LearnedOperation::Kind::gradient_with_statistics:
      return gradient_of(learning, operation.training, true, inputs);
    case LearnedOperation::Kind::evaluate:
      return quality_of(learning, operation.held_back, inputs);
  }
  throw std::logic_error("an operation of unknown kind");
}

}  // namespace dadsim::protocols

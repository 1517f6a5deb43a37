#include "study/event_driven/evaluation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "models/distribution_correction.hpp"
#include "models/flat.hpp"

namespace dadsim::study {
namespace {

using models::Correction;

/// Quantiles of more samples are no closer to those of training by much, and all of them are in memory at once.
constexpr std::size_t kMostSourceSamples = 2000;

struct Arm {
  const char* name;
  Correction correction;
  bool of_norms;  ///< means nothing without batch norms
};
constexpr std::array<Arm, 4> kArms = {{{"source", Correction::source, false},
                                       {"batch statistics", Correction::batch_statistics, true},
                                       {"DMC on norms", Correction::norms, true},
                                       {"DMC on inputs", Correction::inputs, false}}};

std::vector<Arm> arms_of(const models::Network& network) {
  const bool norms = !network.batch_norms().empty();
  std::vector<Arm> arms;
  for (const Arm& arm : kArms) {
    if (norms || !arm.of_norms) arms.push_back(arm);
  }
  return arms;
}

/// One kind of held-back data.
struct HeldBackKind {
  spec::Corruption corruption = spec::Corruption::none;
  std::int64_t severity = 1;
  double label_alpha = 0;
};

std::vector<HeldBackKind> kinds_of(const spec::EvaluationSpec& asked) {
  std::vector<double> alphas = {0};
  if (asked.label_alpha > 0) alphas.push_back(asked.label_alpha);
  std::vector<HeldBackKind> kinds;
  for (const double alpha : alphas) {
    kinds.push_back({.label_alpha = alpha});
    for (const spec::EvaluationSpec::SiteShift& shift : asked.shifts) {
      for (const std::int64_t severity : shift.severities) kinds.push_back({shift.corruption, severity, alpha});
    }
  }
  return kinds;
}

models::SourceQuantiles source_of(const models::Network& network, const algorithms::LearningProblem& problem,
                                  std::int64_t quantiles) {
  std::vector<models::UnitQuantiles> inputs;
  std::vector<std::vector<models::UnitQuantiles>> norms(network.batch_norms().size());
  for (const auto& site : problem.partition) {
    if (site.empty()) continue;
    // As samples are dealt in any order, every so many-th stands for all.
    const std::size_t count = std::min(site.size(), kMostSourceSamples);
    models::Matrix features(static_cast<Eigen::Index>(count), problem.data.train.features.cols());
    for (std::size_t i = 0; i < count; ++i) {
      features.row(static_cast<Eigen::Index>(i)) = problem.data.train.features.row(site[i * site.size() / count]);
    }
    models::SourceQuantiles own = models::source_quantiles(network, features, quantiles);
    inputs.push_back(std::move(own.inputs));
    for (std::size_t n = 0; n < norms.size(); ++n) norms[n].push_back(std::move(own.norms[n]));
  }
  models::SourceQuantiles mean{models::barycentre(inputs), {}};
  for (const auto& norm : norms) mean.norms.push_back(models::barycentre(norm));
  return mean;
}

/// The share of the samples of all sites together that each arm gets right, where `batch` are corrected together.
std::vector<double> accuracies_of(const models::Network& network, const std::vector<Arm>& arms,
                                  const std::vector<models::Samples>& sites, std::int64_t batch,
                                  const models::SourceQuantiles& source) {
  std::vector<double> accuracies;
  for (const Arm& arm : arms) {
    double right = 0;
    double all = 0;
    for (const models::Samples& samples : sites) {
      if (samples.size() == 0) continue;
      const auto count = static_cast<double>(samples.size());
      right += count * models::evaluate_corrected(network, samples, batch, arm.correction, source).accuracy;
      all += count;
    }
    accuracies.push_back(right / all);
  }
  return accuracies;
}

/// Everything that it depends on beside the weights and the problem.
std::string operation_name(const spec::EvaluationSpec& asked) {
  std::string name = fmt::format("shifts quantiles {} alpha {} batch {}", asked.quantiles, asked.label_alpha,
                                 fmt::join(asked.batches, " "));
  for (const spec::EvaluationSpec::SiteShift& shift : asked.shifts) {
    name += fmt::format(" {} {}", to_string(shift.corruption), fmt::join(shift.severities, " "));
  }
  return name;
}

}  // namespace

world::Value shift_evaluation(protocols::Learning& learning, const world::Value& weights,
                              const spec::EvaluationSpec& asked) {
  return learning.history().make(
      operation_name(asked), {weights},
      [&learning, asked](world::History::Inputs in) {
        const algorithms::LearningProblem& problem = learning.problem();
        models::Network network(problem.data.shape, problem.model, problem.seed);
        models::set_flat_state(network, std::span(in[0]->numbers).first(learning.state()));
        const models::SourceQuantiles source = source_of(network, problem, asked.quantiles);
        const std::vector<Arm> arms = arms_of(network);
        world::Datum result;
        std::vector<Eigen::Index> sizes;
        for (const HeldBackKind& kind : kinds_of(asked)) {
          const std::vector<models::Samples> sites = models::held_back_of_sites(
              kind.corruption, kind.severity, kind.label_alpha, problem.data, problem.partition, problem.seed);
          sizes.clear();
          for (const models::Samples& samples : sites) sizes.push_back(samples.size());
          for (const std::int64_t batch : asked.batches) {
            const std::vector<double> accuracies = accuracies_of(network, arms, sites, batch, source);
            result.scalars.insert(result.scalars.end(), accuracies.begin(), accuracies.end());
          }
        }
        const double input_bytes = 4 * static_cast<double>(source.inputs.values.size());
        result.scalars.push_back(input_bytes);
        result.scalars.push_back(source.bytes() - input_bytes);
        const auto [fewest, most] = std::ranges::minmax(sizes);
        result.scalars.push_back(static_cast<double>(fewest));
        result.scalars.push_back(static_cast<double>(most));
        return result;
      },
      true);
}

report::ShiftEvaluation told_of(const world::Value& accuracies, const protocols::Learning& learning,
                                const spec::EvaluationSpec& asked) {
  const algorithms::LearningProblem& problem = learning.problem();
  const world::DatumPtr datum = world::History::datum_of(accuracies);
  report::ShiftEvaluation told;
  for (const Arm& arm : arms_of(models::Network(problem.data.shape, problem.model, problem.seed))) {
    told.arms.emplace_back(arm.name);
  }
  auto next = datum->scalars.begin();
  for (const HeldBackKind& kind : kinds_of(asked)) {
    const bool corrupted = kind.corruption != spec::Corruption::none;
    for (const std::int64_t batch : asked.batches) {
      report::ShiftEvaluation::Row row{
          to_string(kind.corruption), corrupted ? kind.severity : 0, kind.label_alpha, batch, {}};
      for (std::size_t arm = 0; arm < told.arms.size(); ++arm) row.accuracies.push_back(*next++);
      told.rows.push_back(std::move(row));
    }
  }
  told.input_bytes = *next++;
  told.norm_bytes = *next++;
  told.quantiles = asked.quantiles;
  told.fewest = static_cast<std::int64_t>(*next++);
  told.most = static_cast<std::int64_t>(*next++);
  told.samples = problem.data.test.size();
  return told;
}

}  // namespace dadsim::study

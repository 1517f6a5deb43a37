#include "schedule/censored_rank.hpp"

#include <algorithm>
#include <vector>

#include "schedule/layer_positions.hpp"
#include "schedule/op_sizing.hpp"

namespace dadsim::schedule {
namespace {

/// A rank search at a layer: the layer's position in the network, and the function call.
struct Look {
  std::size_t position = 0;
  bool embeddings = false;  ///< true: the sweep includes tables
  step::Call call;
  bool operator==(const Look&) const = default;
};

/// Returns the rank searches of a step without repetitions: one for each position and call.
std::vector<Look> looks_of(const step::StepStructure& structure, const spec::ModelShape& learned) {
  std::vector<Look> looks;
  for (const step::Sweep& sweep : structure.sweeps) {
    const Positions positions = positions_of(learned, sweep.embeddings);
    for (const step::Group& group : sweep.groups) {
      if (group.layer < 0) continue;
      const std::size_t position = positions.at(static_cast<std::size_t>(group.layer));
      const auto note = [&](const step::Call& call) {
        if (call.function != step::Function::censored_rank) return;
        if (Look look{position, sweep.embeddings, call}; std::ranges::find(looks, look) == looks.end())
          looks.push_back(std::move(look));
      };
      for (const step::Op& op : group.ops) {
        const auto* collective = std::get_if<step::CollectiveOp>(&op.what);
        if (collective != nullptr) {
          for (const step::Payload& payload : collective->payload) payload.elements.visit(note);
        } else if (const auto* compute = std::get_if<step::ComputeOp>(&op.what); compute != nullptr) {
          for (const step::Work& work : compute->branches) work.flops.visit(note);
        }
      }
    }
  }
  return looks;
}

/// Returns the rank searches of each structure of the trajectory.
std::vector<std::vector<Look>> looks_of(const step::Trajectory& trajectory, const spec::ModelShape& learned) {
  std::vector<std::vector<Look>> looks;
  for (const step::StepStructure& structure : trajectory.structures) looks.push_back(looks_of(structure, learned));
  return looks;
}

step::WorkerClasses classes_in(const step::Expression& expression, const step::StepSizes& sizes) {
  step::Numbers numbers;
  expression.collect(numbers);
  return step::worker_classes(sizes, numbers);
}

}  // namespace

std::set<std::size_t> censored_layers(const step::Trajectory& trajectory, const spec::ModelShape& learned,
                                      const spec::ModelShape& timed, double sample_scale) {
  const std::vector<std::vector<Look>> looks = looks_of(trajectory, learned);
  std::set<std::size_t> layers;
  for (const step::Step& step : trajectory.distinct_steps) {
    const step::StepSizes sizes = scale_samples(step.sizes, sample_scale);
    for (const Look& look : looks.at(static_cast<std::size_t>(step.structure))) {
      const Positions there = positions_of(timed, look.embeddings);
      const Positions here = positions_of(learned, look.embeddings);
      const step::Expression found(step::Function::censored_rank, look.call.arguments);
      const step::WorkerClasses classes = classes_in(found, step.sizes);
      step::KnownSums learned_sums;
      const step::LearnedLayer stand_in{&learned.layers[look.position], &step.sizes,
                                        spec::delta_relations(learned, look.position), &learned_sums};
      for (std::size_t i = 0; i < there.size(); ++i) {
        if (layers.contains(there[i])) continue;
        if (here[layer_at_same_depth(i, there.size(), here.size())] != look.position) continue;
        step::KnownSums sums;
        bool censored = false;
        step::Scope scope{&timed.layers[there[i]],
                          &sizes,
                          0,
                          &sums,
                          spec::delta_relations(timed, there[i]),
                          &stand_in,
                          &censored,
                          &classes};
        for (const std::int32_t worker : classes.first) {
          scope.worker = worker;
          if (!censored) found.evaluate(scope);
        }
        if (censored) layers.insert(there[i]);
      }
    }
  }
  return layers;
}

CensoredCount count_censored(const step::Trajectory& trajectory, const spec::ModelShape& learned) {
  const std::vector<std::vector<Look>> looks = looks_of(trajectory, learned);
  std::vector<double> occurrences(trajectory.distinct_steps.size());
  for (const std::int32_t step : trajectory.steps) ++occurrences[static_cast<std::size_t>(step)];
  CensoredCount count;
  for (std::size_t i = 0; i < trajectory.distinct_steps.size(); ++i) {
    const step::Step& step = trajectory.distinct_steps[i];
    for (const Look& look : looks.at(static_cast<std::size_t>(step.structure))) {
      const step::WorkerClasses classes =
          classes_in(step::Expression(step::Function::censored_rank, look.call.arguments), step.sizes);
      step::KnownSums sums;
      step::Scope scope{&learned.layers[look.position], &step.sizes, 0, &sums,
                        spec::delta_relations(learned, look.position)};
      scope.classes = &classes;
      std::vector<bool> leaves_out;  // result of each class of workers
      for (const std::int32_t worker : classes.first) {
        scope.worker = worker;
        leaves_out.push_back(look.call.arguments[0].evaluate(scope) < look.call.arguments[3].evaluate(scope));
      }
      for (std::size_t worker = 0; worker < step.sizes.samples.size(); ++worker) {
        count.looked += occurrences[i];
        const std::int32_t own = classes.class_of.empty() ? 0 : classes.class_of[worker];
        if (leaves_out[static_cast<std::size_t>(own)]) count.left_out += occurrences[i];
      }
    }
  }
  return count;
}

double assume_rank_cap(step::Trajectory& trajectory) {
  double most = 0;
  for (step::Step& step : trajectory.distinct_steps) {
    const auto replace = [&](const step::Call& call) {
      if (call.function != step::Function::censored_rank) return;
      const double asked = call.arguments[1].evaluate({});
      step::Numbers noted;
      call.arguments[0].collect(noted);
      for (const std::int32_t slot : noted.slots)
        std::ranges::fill(step.sizes.slots.at(static_cast<std::size_t>(slot)), static_cast<std::int32_t>(asked));
      most = std::max(most, asked);
    };
    const auto visit = [&](const step::Op& op) {
      if (const auto* collective = std::get_if<step::CollectiveOp>(&op.what)) {
        for (const step::Payload& payload : collective->payload) payload.elements.visit(replace);
      } else if (const auto* compute = std::get_if<step::ComputeOp>(&op.what)) {
        for (const step::Work& work : compute->branches) {
          for (const step::Expression* size : {&work.flops, &work.bytes_moved, &work.launches}) size->visit(replace);
        }
      }
    };
    for (const step::Sweep& sweep : trajectory.structures.at(static_cast<std::size_t>(step.structure)).sweeps) {
      for (const step::Group& group : sweep.groups) std::ranges::for_each(group.ops, visit);
    }
  }
  return most;
}

}  // namespace dadsim::schedule

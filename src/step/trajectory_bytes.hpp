#pragma once

#include <memory>
#include <stdexcept>
#include <type_traits>

#include "step/trajectory.hpp"
#include "support/statement_bytes.hpp"
#include "support/wire.hpp"

// Serialisation of a trajectory, stored and read by the same build. Enumerations are written as their numbers: raise
// kTrajectoryFormat after reordering one, or after changing the members named here.

namespace dadsim::step {

inline constexpr std::uint32_t kTrajectoryFormat = 7;

constexpr Phase last_of(Phase /*type*/) { return Phase::orthogonalise; }
constexpr Role last_of(Role /*type*/) { return Role::aggregator; }
constexpr CollectiveKind last_of(CollectiveKind /*type*/) { return CollectiveKind::reduce; }
constexpr Over last_of(Over /*type*/) { return Over::all_layers; }
constexpr Alternatives::ChosenBy last_of(Alternatives::ChosenBy /*type*/) { return Alternatives::ChosenBy::time; }
constexpr ElementType last_of(ElementType /*type*/) { return ElementType::int8; }
constexpr Symbol last_of(Symbol /*type*/) { return Symbol::hidden_matrix; }
constexpr Function last_of(Function /*type*/) { return Function::censored_rank; }
constexpr Adversary last_of(Adversary /*type*/) { return Adversary::secure_aggregator; }

/// Sums and products of an expression.
struct ExpressionBytes {
  using Term = Expression::Term;
  using Factor = Expression::Factor;
  static auto& terms(auto& expression) { return expression.terms_; }
};

void fields(auto& bytes, of<Call> auto& call) {
  bytes(call.function, call.arguments);
  if (!takes(call.function, call.arguments.size()))
    throw std::out_of_range("a function has too few or too many arguments");
}
void fields(auto& bytes, of<ExpressionBytes::Factor> auto& factor) {
  bytes(factor.symbol, factor.slot);
  if (factor.symbol != Symbol::call) return;
  if constexpr (std::is_const_v<std::remove_reference_t<decltype(factor)>>) {
    bytes(*factor.call);
  } else {
    factor.call = std::make_shared<const Call>(bytes.template read<Call>());
  }
}
void fields(auto& bytes, of<ExpressionBytes::Term> auto& term) { bytes(term.coefficient, term.factors); }
void fields(auto& bytes, of<Expression> auto& expression) { bytes(ExpressionBytes::terms(expression)); }
void fields(auto& bytes, of<Work> auto& work) { bytes(work.flops, work.bytes_moved, work.launches); }
void fields(auto& bytes, of<Payload> auto& payload) { bytes(payload.elements, payload.type); }

void fields(auto& bytes, of<ComputeOp> auto& op) {
  bytes(op.phase, op.who, op.branches, op.except_first_layer, op.every_layer);
}
void fields(auto& bytes, of<Neighbours> auto& neighbours) { bytes(neighbours.to); }
void fields(auto& bytes, of<CollectiveOp> auto& op) {
  bytes(op.kind, op.payload, op.neighbours);
  if (op.kind > CollectiveKind::neighbour_exchange) throw std::out_of_range("not a collective of a training step");
}
void fields(auto& bytes, of<WaitOp> auto& op) { bytes(op.who, op.collective); }
void fields(auto& bytes, of<Op> auto& op) { bytes(op.serial, op.alternatives, op.what); }
void fields(auto& bytes, of<Group> auto& group) { bytes(group.layer, group.ops); }
void fields(auto& bytes, of<Sweep> auto& sweep) { bytes(sweep.over, sweep.groups, sweep.embeddings, sweep.stage); }
void fields(auto& bytes, of<Alternative> auto& alternative) {
  bytes(alternative.name, alternative.from_above, alternative.passes_down);
}
void fields(auto& bytes, of<Alternatives> auto& choice) { bytes(choice.all, choice.offered, choice.by); }
void fields(auto& bytes, of<StepStructure> auto& structure) { bytes(structure.sweeps, structure.alternatives); }
void fields(auto& bytes, of<StepSizes> auto& sizes) { bytes(sizes.samples, sizes.slots, sizes.earlier); }
void fields(auto& bytes, of<Step> auto& step) { bytes(step.structure, step.sizes, step.sites); }

void fields(auto& bytes, of<SitesEvaluation> auto& sites) {
  bytes(sites.average_loss, sites.average_accuracy, sites.consensus_distance, sites.accuracies);
}
void fields(auto& bytes, of<Evaluation> auto& at) { bytes(at.step, at.loss, at.accuracy, at.auc, at.sites); }
void fields(auto& bytes, of<EpochRanks> auto& ranks) { bytes(ranks.epoch, ranks.site, ranks.merged); }
void fields(auto& bytes, of<LeakFigures> auto& f) {
  bytes(f.rows_handed_over, f.samples_handed_over, f.span_in, f.span_out, f.span_excess, f.best_sample_excess,
        f.accumulated_excess, f.labels);
}
void fields(auto& bytes, of<LeakPoint> auto& at) { bytes(at.step, at.samples_handed_over, at.accumulated_excess); }
void fields(auto& bytes, of<AdversaryLeak> auto& one) {
  bytes(one.adversary, one.all, one.sites, one.curve, one.epsilon, one.delta, one.why_not);
}
void fields(auto& bytes, of<Leak> auto& leak) {
  bytes(leak.adversaries, leak.every, leak.measured, leak.sampled, leak.why_not);
}
void fields(auto& bytes, of<Trajectory> auto& trajectory) {
  bytes(trajectory.structures, trajectory.distinct_steps, trajectory.steps, trajectory.curve, trajectory.ranks,
        trajectory.steps_per_epoch, trajectory.diverged_at, trajectory.leak);
}

}  // namespace dadsim::step

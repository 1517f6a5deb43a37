#include "step/trajectory_bytes.hpp"

#include <stdexcept>
#include <type_traits>

namespace dadsim::step {

/// Sums and products of an expression.
struct ExpressionBytes {
  static void write(WireWriter& bytes, const Expression& expression) {
    bytes << std::uint64_t{expression.terms_.size()};
    for (const Expression::Term& term : expression.terms_) {
      bytes << term.coefficient << std::uint64_t{term.factors.size()};
      for (const Expression::Factor& factor : term.factors) {
        bytes << static_cast<std::uint8_t>(factor.symbol) << factor.slot;
        if (factor.symbol == Symbol::call) write(bytes, *factor.call);
      }
    }
  }
  static Expression read(WireReader& bytes, int depth = 0);

 private:
  /// Functions within functions that are read: more are no expression of ours.
  static constexpr int kDeepest = 16;

  static void write(WireWriter& bytes, const Call& call) {
    bytes << static_cast<std::uint8_t>(call.function) << std::uint64_t{call.arguments.size()};
    for (const Expression& argument : call.arguments) write(bytes, argument);
  }
};

namespace {

void write(WireWriter& bytes, bool value) { bytes << static_cast<std::uint8_t>(value ? 1 : 0); }
template <class Number>
requires std::is_arithmetic_v<Number>
void write(WireWriter& bytes, Number value) { bytes << value; }
template <class Enum>
requires std::is_enum_v<Enum>
void write(WireWriter& bytes, Enum value) { bytes << static_cast<std::uint8_t>(value); }
void write(WireWriter& bytes, const Expression& expression) { ExpressionBytes::write(bytes, expression); }

template <class Part>
void write(WireWriter& bytes, const std::vector<Part>& parts);

void write(WireWriter& bytes, const Work& work) {
  write(bytes, work.flops);
  write(bytes, work.bytes_moved);
  write(bytes, work.launches);
}

void write(WireWriter& bytes, const Payload& payload) {
  write(bytes, payload.elements);
  write(bytes, payload.type);
}

void write(WireWriter& bytes, const ComputeOp& op) {
  write(bytes, op.phase);
  write(bytes, op.who);
  write(bytes, op.branches);
  write(bytes, op.except_first_layer);
  write(bytes, op.every_layer);
}

void write(WireWriter& bytes, const CollectiveOp& op) {
  write(bytes, op.kind);
  write(bytes, op.payload);
  write(bytes, op.neighbours != nullptr);
  if (op.neighbours != nullptr) write(bytes, op.neighbours->to);
}

void write(WireWriter& bytes, const WaitOp& op) {
  write(bytes, op.who);
  write(bytes, op.collective);
}

void write(WireWriter& bytes, const Op& op) {
  bytes << op.serial << op.only_in << static_cast<std::uint8_t>(op.what.index());
  std::visit([&](const auto& what) { write(bytes, what); }, op.what);
}

void write(WireWriter& bytes, const Group& group) {
  bytes << group.layer;
  write(bytes, group.ops);
}

void write(WireWriter& bytes, const Sweep& sweep) {
  write(bytes, sweep.over);
  write(bytes, sweep.groups);
  write(bytes, sweep.embeddings);
  bytes << sweep.stage;
}

void write(WireWriter& bytes, const Alternative& alternative) {
  bytes << std::string_view(alternative.name);
  write(bytes, alternative.from_above);
  write(bytes, alternative.passes_down);
}

void write(WireWriter& bytes, const StepStructure& structure) {
  write(bytes, structure.sweeps);
  write(bytes, structure.choices.alternatives);
  write(bytes, structure.choices.offered);
  write(bytes, structure.choices.by);
}

void write(WireWriter& bytes, const Step& step) {
  bytes << step.structure;
  write(bytes, step.sizes.samples);
  write(bytes, step.sizes.slots);
  write(bytes, step.sizes.earlier);
}

void write(WireWriter& bytes, const Evaluation& at) {
  bytes << at.step << at.loss << at.accuracy << at.auc;
  write(bytes, at.sites.has_value());
  if (!at.sites) return;
  bytes << at.sites->average_loss << at.sites->average_accuracy << at.sites->consensus_distance << at.sites->accuracies;
}

void write(WireWriter& bytes, const EpochRanks& ranks) { bytes << ranks.epoch << ranks.site << ranks.merged; }

void write(WireWriter& bytes, const spec::LayerShape& layer) {
  bytes << std::string_view(layer.name);
  write(bytes, layer.kind);
  bytes << layer.in << layer.out;
  write(bytes, layer.bias);
  bytes << layer.rows_per_sample << layer.parameters << layer.forward_macs_per_sample << layer.outputs_per_sample
        << layer.sequential << layer.inputs_per_sample;
  write(bytes, layer.delta_follows);
}

template <class Part>
void write(WireWriter& bytes, const std::vector<Part>& parts) {
  bytes << std::uint64_t{parts.size()};
  for (const Part& part : parts) write(bytes, part);
}

bool read_truth(WireReader& bytes) {
  std::uint8_t value = 0;
  bytes >> value;
  if (value > 1) throw std::out_of_range("neither true nor false");
  return value == 1;
}

/// `last`: the greatest of the enumeration.
template <class Enum>
Enum read_enum(WireReader& bytes, Enum last) {
  std::uint8_t value = 0;
  bytes >> value;
  if (value > static_cast<std::uint8_t>(last)) throw std::out_of_range("no such value of an enumeration");
  return static_cast<Enum>(value);
}

/// A vector of what `read_part` reads.
template <class ReadPart>
auto read_all(WireReader& bytes, const ReadPart& read_part) {
  std::uint64_t size = 0;
  bytes >> size;
  std::vector<std::decay_t<decltype(read_part())>> parts;
  for (std::uint64_t i = 0; i < size; ++i) parts.push_back(read_part());  // no memory before there are bytes for it
  return parts;
}

template <class Number>
std::vector<Number> read_numbers(WireReader& bytes) {
  return read_all(bytes, [&] {
    Number value{};
    bytes >> value;
    return value;
  });
}

Work read_work(WireReader& bytes) {
  Work work;
  work.flops = ExpressionBytes::read(bytes);
  work.bytes_moved = ExpressionBytes::read(bytes);
  work.launches = ExpressionBytes::read(bytes);
  return work;
}

Payload read_payload(WireReader& bytes) {
  Payload payload;
  payload.elements = ExpressionBytes::read(bytes);
  payload.type = read_enum(bytes, ElementType::int8);
  return payload;
}

Op read_op(WireReader& bytes) {
  Op op;
  std::uint8_t kind = 0;
  bytes >> op.serial >> op.only_in >> kind;
  if (kind == 0) {
    ComputeOp compute;
    compute.phase = read_enum(bytes, Phase::decode);
    compute.who = read_enum(bytes, Role::aggregator);
    compute.branches = read_all(bytes, [&] { return read_work(bytes); });
    compute.except_first_layer = read_truth(bytes);
    compute.every_layer = read_truth(bytes);
    op.what = std::move(compute);
  } else if (kind == 1) {
    CollectiveOp collective;
    collective.kind = read_enum(bytes, CollectiveKind::neighbour_exchange);
    collective.payload = read_all(bytes, [&] { return read_payload(bytes); });
    if (read_truth(bytes)) {
      collective.neighbours = std::make_shared<const Neighbours>(
          Neighbours{read_all(bytes, [&] { return read_numbers<std::int32_t>(bytes); })});
    }
    op.what = std::move(collective);
  } else if (kind == 2) {
    WaitOp wait;
    wait.who = read_enum(bytes, Role::aggregator);
    bytes >> wait.collective;
    op.what = wait;
  } else {
    throw std::out_of_range("no such operation");
  }
  return op;
}

Choices read_choices(WireReader& bytes) {
  Choices choices;
  choices.alternatives = read_all(bytes, [&] {
    Alternative alternative;
    bytes >> alternative.name;
    alternative.from_above = read_truth(bytes);
    alternative.passes_down = read_truth(bytes);
    return alternative;
  });
  choices.offered = read_numbers<AlternativeSet>(bytes);
  choices.by = read_enum(bytes, Choices::By::time);
  return choices;
}

Sweep read_sweep(WireReader& bytes) {
  Sweep sweep;
  sweep.over = read_enum(bytes, Over::all_layers);
  sweep.groups = read_all(bytes, [&] {
    Group group;
    bytes >> group.layer;
    group.ops = read_all(bytes, [&] { return read_op(bytes); });
    return group;
  });
  sweep.embeddings = read_truth(bytes);
  bytes >> sweep.stage;
  return sweep;
}

}  // namespace

Expression ExpressionBytes::read(WireReader& bytes, int depth) {
  if (depth > kDeepest) throw std::out_of_range("functions within functions without end");
  Expression expression;
  expression.terms_ = read_all(bytes, [&] {
    Expression::Term term{};
    bytes >> term.coefficient;
    term.factors = read_all(bytes, [&] {
      Expression::Factor factor{};
      factor.symbol = read_enum(bytes, Symbol::rows_per_sample);
      bytes >> factor.slot;
      if (factor.symbol == Symbol::call) {
        Call call{read_enum(bytes, Function::found), read_all(bytes, [&] { return read(bytes, depth + 1); })};
        if (!takes(call.function, call.arguments.size())) throw std::out_of_range("a function of too few or many");
        factor.call = std::make_shared<const Call>(std::move(call));
      }
      return factor;
    });
    return term;
  });
  return expression;
}

void write_trajectory(WireWriter& bytes, const Trajectory& trajectory) {
  write(bytes, trajectory.structures);
  write(bytes, trajectory.distinct_steps);
  write(bytes, trajectory.steps);
  write(bytes, trajectory.curve);
  write(bytes, trajectory.ranks);
  bytes << trajectory.steps_per_epoch << trajectory.diverged_at;
}

Trajectory read_trajectory(WireReader& bytes) {
  Trajectory trajectory;
  trajectory.structures = read_all(bytes, [&] {
    StepStructure structure;
    structure.sweeps = read_all(bytes, [&] { return read_sweep(bytes); });
    structure.choices = read_choices(bytes);
    return structure;
  });
  trajectory.distinct_steps = read_all(bytes, [&] {
    Step step;
    bytes >> step.structure;
    step.sizes.samples = read_numbers<std::int32_t>(bytes);
    step.sizes.slots = read_all(bytes, [&] { return read_numbers<std::int32_t>(bytes); });
    step.sizes.earlier = read_all(bytes, [&] { return read_numbers<std::int32_t>(bytes); });
    return step;
  });
  trajectory.steps = read_numbers<std::int32_t>(bytes);
  trajectory.curve = read_all(bytes, [&] {
    Evaluation at;
    bytes >> at.step >> at.loss >> at.accuracy >> at.auc;
    if (read_truth(bytes)) {
      SitesEvaluation& sites = at.sites.emplace();
      bytes >> sites.average_loss >> sites.average_accuracy >> sites.consensus_distance >> sites.accuracies;
    }
    return at;
  });
  trajectory.ranks = read_all(bytes, [&] {
    EpochRanks ranks;
    bytes >> ranks.epoch >> ranks.site >> ranks.merged;
    return ranks;
  });
  bytes >> trajectory.steps_per_epoch >> trajectory.diverged_at;
  return trajectory;
}

void write_shape(WireWriter& bytes, const spec::ModelShape& shape) {
  bytes << std::string_view(shape.name);
  write(bytes, shape.layers);
}

spec::ModelShape read_shape(WireReader& bytes) {
  spec::ModelShape shape;
  bytes >> shape.name;
  shape.layers = read_all(bytes, [&] {
    spec::LayerShape layer;
    bytes >> layer.name;
    layer.kind = read_enum(bytes, spec::LayerKind::element_wise);
    bytes >> layer.in >> layer.out;
    layer.bias = read_truth(bytes);
    bytes >> layer.rows_per_sample >> layer.parameters >> layer.forward_macs_per_sample >> layer.outputs_per_sample >>
        layer.sequential >> layer.inputs_per_sample;
    layer.delta_follows = read_truth(bytes);
    return layer;
  });
  return shape;
}

}  // namespace dadsim::step

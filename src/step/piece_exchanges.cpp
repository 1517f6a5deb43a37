// What the devices of a stage hand one another inside a pass.
#include <utility>

#include "spec/expert_parallel.hpp"
#include "step/piece.hpp"

namespace dadsim::step {

// ---- devices that divide layers ----

double Piece::rows(const spec::LayerShape& layer) const {
  return samples_ * static_cast<double>(layer.rows_per_sample);
}

/// Its inputs are whole, its outputs are divided.
bool Piece::is_column(std::size_t position) const {
  if (!layers_.holds(position)) return false;
  const spec::LayerShape& layer = whole_.layers[position];
  return layer.split == spec::TensorSplit::column ||
         (layer.split == spec::TensorSplit::vocabulary && layer.kind != spec::LayerKind::embedding);
}

/// Whether the devices of a layer have a part of its rows each before and behind it. Of experts that they divide they
/// always do: rows come to each of them for all.
bool Piece::divides_sequence(const spec::LayerShape& layer) const {
  return how_.sequence_parallel || layer.expert_group > 1;
}

/// What the devices of a stage tell one another before or behind a computation of a layer. What TensorOverlap lets them
/// do beside it is begun before and waited for behind.
void Piece::add_layer_sums(const spec::LayerShape& layer, std::size_t position, Phase phase, bool before, Schedule& out,
                           std::int32_t stage) {
  if (how_.tensor == 1 || layer.split == spec::TensorSplit::whole || layer.split == spec::TensorSplit::heads) return;
  const bool column = is_column(position);
  // Column layers side by side read the same inputs.
  const bool first = column && !(position > 0 && is_column(position - 1));
  const bool last = column && !is_column(position + 1);
  const bool table = layer.kind == spec::LayerKind::embedding;
  const double inputs = element_ * rows(layer) * static_cast<double>(layer.in);
  const double outputs = element_ * rows(layer) * static_cast<double>(table ? layer.in : layer.out);
  const bool sequence = divides_sequence(layer);
  const bool products = how_.tensor_overlap == spec::TensorOverlap::products && sequence;
  const CollectiveKind sum = sequence ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const auto add = [&](CollectiveKind kind, double bytes) { add_tensor(kind, layer.name, bytes, out, stage); };
  const auto begin = [&](int which, CollectiveKind kind, double bytes) {
    if (bytes > 0) beside_[which].push_back(begin_among(Among::tensor, kind, layer.name, bytes, out, stage));
  };
  const auto end = [&](int which) { wait_for(beside_[which], layer.name, out, stage); };
  constexpr int kComing = 0;
  constexpr int kLeaving = 1;
  if (is_forward(phase)) {
    const bool leaves = !column && products && !table;
    if (before && sequence && first) {
      if (products) {
        begin(kComing, CollectiveKind::all_gather, inputs / how_.tensor);
      } else {
        add(CollectiveKind::all_gather, inputs / how_.tensor);
      }
    }
    if (!before && last) end(kComing);
    if (before && leaves) begin(kLeaving, sum, outputs);
    if (!before && leaves) end(kLeaving);
    if (!before && !column && !leaves) add(sum, outputs);
    // Cross-entropy of divided scores: their maxima, their sums, and the scores that are right.
    if (!before && layer.split == spec::TensorSplit::vocabulary && column) {
      for (int i = 0; i < 3; ++i) add(CollectiveKind::all_reduce, 4 * rows(layer));
    }
  } else if (phase == Phase::backpropagate) {
    const bool comes = sequence && !column && !table;
    if (before && comes && products && hides_sums_) {
      begin(kComing, CollectiveKind::all_gather, outputs / how_.tensor);
    } else if (before && comes) {
      add(CollectiveKind::all_gather, outputs / how_.tensor);
    }
    if (!before && comes) end(kComing);
    // The inputs were not kept whole, and gradients of weights that wait need them.
    if (before && last && sequence && hides_sums_) begin(kComing, CollectiveKind::all_gather, inputs / how_.tensor);
    if (before || !first) return;
    if (!hides_sums_) {
      add(sum, inputs);
      return;
    }
    begin(kLeaving, sum, inputs);
    add_held_back(out, stage);
    end(kLeaving);
  } else if (before && sequence && last && phase == Phase::weight_gradient) {
    if (beside_[kComing].empty()) {
      add(CollectiveKind::all_gather, inputs / how_.tensor);  // as above
    } else {
      end(kComing);
    }
  }
}

// ---- devices that have a part of each sequence ----

/// Keys and values of the other parts are gathered for attention in both passes; behind it the gradients of all that a
/// device has used go to those whose they are.
void Piece::exchange_keys(const spec::LayerShape& layer, Phase phase, bool before, Schedule& out, std::int32_t stage) {
  const bool backward = phase == Phase::backpropagate;
  if (how_.context == 1 || layer.kind != spec::LayerKind::attention || (!is_forward(phase) && !backward)) return;
  const bool beside = how_.context_exchange == spec::ContextExchange::ring;
  const double own = element_ * rows(layer) * static_cast<double>(layer.keys_and_values) / how_.tensor;
  const auto add = [&](CollectiveKind kind, double bytes) {
    keys_.push_back(static_cast<std::int32_t>(out.tasks.size()));
    CollectiveTask task;
    task.kind = kind;
    task.among = Among::context;
    task.algorithm = algorithm_of(kind);
    task.bytes = PerWorker({bytes});
    out.tasks.push_back({layer.name, std::move(task), stage});
  };
  if (before) add(CollectiveKind::all_gather, own);
  if (backward && before == beside) add(CollectiveKind::reduce_scatter, own * how_.context);
  if (before && beside) return;
  for (const std::int32_t at : std::exchange(keys_, {}))
    out.tasks.push_back({layer.name, WaitTask{Role::workers, at}, stage});
}

// ---- devices that divide experts ----

bool Piece::has_divided_experts(std::size_t position) const {
  return layers_.holds(position) && whole_.layers[position].expert_group > 1;
}

/// Rows go to the devices whose experts the router chose, and what comes out of these goes back; on the way back Δ does
/// the same. Each of the devices of a layer sends its part of the rows.
void Piece::exchange_rows(const spec::LayerShape& layer, std::size_t position, Phase phase, bool before, Schedule& out,
                          std::int32_t stage) const {
  if (!has_divided_experts(position) || (!is_forward(phase) && phase != Phase::backpropagate)) return;
  const bool first = !(position > 0 && has_divided_experts(position - 1));
  const bool last = !has_divided_experts(position + 1);
  const bool sends = before && (is_forward(phase) ? first : last);
  const bool returns = !before && (is_forward(phase) ? last : first);
  if (!sends && !returns) return;
  const auto width = static_cast<double>(first && (is_forward(phase) ? sends : returns) ? layer.in : layer.out);
  constexpr double kScaled = 1 + 4.0 / 128;  // bytes
  const double element = sends && how_.expert_dispatch == spec::ExpertDispatch::fp8 ? kScaled : element_;
  const double sent = how_.expert_exchange == spec::ExpertExchange::once
                          ? spec::bytes_sent_once(layer.expert_group, layer.experts_per_token)
                          : 1;
  add_among(Among::experts, CollectiveKind::all_to_all, layer.name,
            sent * element * rows(layer) * width / (layer.expert_group * how_.expert_tensor), out, stage);
}

/// The devices go on when it is done.
void Piece::add_tensor(CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                       std::int32_t stage) const {
  if (how_.tensor > 1) add_among(Among::tensor, kind, layer, bytes, out, stage);
}

void Piece::add_among(Among among, CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                      std::int32_t stage) const {
  if (!(bytes > 0)) return;
  const std::int32_t at = begin_among(among, kind, layer, bytes, out, stage);
  out.tasks.push_back({layer, WaitTask{Role::workers, at}, stage});
}

/// A collective that goes on beside what follows, until it is waited for: its task.
std::int32_t Piece::begin_among(Among among, CollectiveKind kind, const std::string& layer, double bytes, Schedule& out,
                                std::int32_t stage) const {
  CollectiveTask task;
  task.kind = kind;
  task.among = among;
  task.algorithm = algorithm_of(kind);
  task.bytes = PerWorker({bytes});
  out.tasks.push_back({layer, std::move(task), stage});
  return static_cast<std::int32_t>(out.tasks.size()) - 1;
}

void Piece::wait_for(std::vector<std::int32_t>& begun, const std::string& layer, Schedule& out, std::int32_t stage) {
  for (const std::int32_t at : std::exchange(begun, {}))
    out.tasks.push_back({layer, WaitTask{Role::workers, at}, stage});
}

void Piece::gather_received(double bytes, Schedule& out, std::int32_t stage) const {
  if (!how_.sequence_parallel) add_tensor(CollectiveKind::all_gather, last_layer(), bytes / how_.tensor, out, stage);
}

/// As the run has it.
const std::string& Piece::algorithm_of(CollectiveKind kind) const {
  static const std::string kLibrary = "auto";
  switch (kind) {
    case CollectiveKind::all_reduce:
      return all_reduce_;
    case CollectiveKind::all_gather:
      return all_gather_;
    case CollectiveKind::reduce_scatter:
      return reduce_scatter_;
    default:
      return kLibrary;
  }
}

}  // namespace dadsim::step

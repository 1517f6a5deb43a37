#include "algorithms/pieces/table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <variant>

#include "algorithms/cost.hpp"
#include "spec/model_specification.hpp"

namespace dadsim::algorithms {
namespace {

/// Work of zeroing the table, and adding every row to one of the table's rows.
step::Work scatter_work() {
  const step::Expression entries = step::extent::all_rows() * step::extent::in();
  return {.flops = entries,
          .bytes_moved = cost::kFloatBytes * (step::extent::in() * step::extent::out() + 3.0 * entries),
          .launches = 2.0};
}

}  // namespace

void sweep_back(TrainingStep& step, bool table_rows, const std::function<void(std::size_t l)>& body) {
  if (table_rows) {
    step.backward_with_embeddings(body);
  } else {
    step.backward(body);
  }
}

Pending<Rows> share_table_rows(TrainingStep& step, std::size_t l) {
  std::vector<std::vector<std::int32_t>> symbols;
  for (std::size_t site = 0; site < step.sites(); ++site) symbols.push_back(step.symbols(site, l));
  const Contribution::Part deltas{step::extent::in(), [&](std::size_t s) { return step.table_delta(s, l); }};
  const Contribution::Part read{1.0, nullptr, [&](std::size_t s) { return std::span<const std::int32_t>(symbols[s]); }};
  return step.exchange().combine({step::extent::rows(), {deltas, read}}, concatenation());
}

void add_table_rows(TrainingStep& step, std::size_t l, const Rows& rows) {
  step.charge(step::Phase::weight_gradient, step::Role::workers, {scatter_work()});
  models::Matrix& sum = step.gradient(l).weight;
  sum.setZero(step.weights(l).out(), step.weights(l).in());
  const std::vector<std::int32_t>& symbols = rows.whole.front();
  for (std::size_t row = 0; row < symbols.size(); ++row) {
    sum.row(symbols[row]) += rows[0].row(static_cast<Eigen::Index>(row));
  }
}

RunFaults faults_of_idle_tables(const RunFacts& facts) {
  if (facts.model == nullptr || facts.model->layers.empty() || facts.stand_in || !kTables.of(facts.run.parameters))
    return {};
  const std::function<bool(const spec::LayerSpec&)> has_table = [&](const spec::LayerSpec& layer) {
    if (std::holds_alternative<spec::EmbeddingSpec>(layer.what)) return true;
    const auto* residual = std::get_if<spec::ResidualSpec>(&layer.what);
    return residual != nullptr && std::ranges::any_of(residual->layers, has_table);
  };
  if (std::ranges::any_of(facts.model->layers, has_table)) return {};
  return {Fault{fmt::format("{}=\"rows\" needs a network with embeddings", kTables.name),
                fmt::format("remove {}", kTables.name)}};
}

}  // namespace dadsim::algorithms

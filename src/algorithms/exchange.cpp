#include "algorithms/exchange.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "algorithms/cost.hpp"

namespace dadsim::algorithms {
namespace {

constexpr double kFloatBytes = 4.0;

std::vector<step::Payload> payload_of(const std::vector<Exchange::Part>& parts) {
  std::vector<step::Payload> payload;
  payload.reserve(parts.size());
  for (const Exchange::Part& part : parts) payload.push_back({part.elements, part.type, part.last_layer_only});
  return payload;
}

/// The sum of `elements` per worker, at the aggregator.
step::Work add(const step::Expression& elements, double workers) {
  return {.flops = workers * elements, .bytes_moved = kFloatBytes * (workers + 1.0) * elements, .launches = 1.0};
}

}  // namespace

Exchange::Exchange(step::StepRecorder& recorder, const spec::ModelShape& shape, spec::ExchangeMode mode)
    : recorder_(recorder), shape_(shape), mode_(mode) {
  for (const spec::LayerShape& layer : shape_.layers) {
    if (layer.has_outer_product()) outer_products_.push_back(&layer);
    if (layer.has_matrix()) matrices_.push_back(&layer);
  }
}

void Exchange::begin_step() {
  handed_over_.assign(sites(), 0.0);
  handed_down_ = 0;
}

const spec::LayerShape& Exchange::layer() const {
  const std::int32_t index = recorder_.layer();
  if (index < 0) return *outer_products_.back();
  return *(recorder_.over_embeddings() ? matrices_ : outer_products_).at(static_cast<std::size_t>(index));
}

void Exchange::check(const step::Expression& elements, std::int32_t worker, std::int64_t actual) const {
  const double said = elements.evaluate({&layer(), &recorder_.sizes(), worker});
  if (said != static_cast<double>(actual)) {
    throw std::logic_error(fmt::format("layer {}: {} elements were handed over where the tag {} says {}", layer().name,
                                       actual, elements.to_string(), said));
  }
}

std::int32_t Exchange::record(step::CollectiveKind kind, std::vector<step::Payload> payload) {
  return recorder_.add(step::CollectiveOp{kind, std::move(payload)});
}

void Exchange::require_aggregator() const {
  if (mode_ != spec::ExchangeMode::aggregator) throw std::logic_error("there is no aggregator among peers");
}

std::vector<models::Matrix> Exchange::collect(const std::vector<Part>& parts) {
  std::vector<models::Matrix> whole;
  for (const Part& part : parts) {
    Eigen::Index rows = 0;
    Eigen::Index columns = 0;
    for (std::size_t site = 0; site < sites(); ++site) {
      const models::ConstBlock block = part.of(site);
      check(part.elements, static_cast<std::int32_t>(site), block.size());
      handed_over_[site] += kFloatBytes * static_cast<double>(block.size());
      rows += block.rows();
      columns = std::max(columns, block.cols());
    }
    models::Matrix& all = whole.emplace_back(rows, columns);
    Eigen::Index at = 0;
    for (std::size_t site = 0; site < sites(); ++site) {
      const models::ConstBlock block = part.of(site);
      if (block.rows() > 0) all.middleRows(at, block.rows()) = block;
      at += block.rows();
    }
  }
  return whole;
}

Pending<std::vector<models::Matrix>> Exchange::concatenate(const std::vector<Part>& parts,
                                                           const std::vector<step::Expression>& all_elements) {
  if (mode_ == spec::ExchangeMode::peer) {
    const std::int32_t serial = record(step::CollectiveKind::all_gather, payload_of(parts));
    return {collect(parts), recorder_, serial, step::Role::workers};
  }
  std::vector<step::Payload> whole = payload_of(parts);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i].elements = all_elements.at(i);
  return broadcast(gather(parts).wait(), std::move(whole));
}

Pending<std::vector<models::Matrix>> Exchange::gather(const std::vector<Part>& parts) {
  require_aggregator();
  const std::int32_t serial = record(step::CollectiveKind::gather, payload_of(parts));
  return {collect(parts), recorder_, serial, step::Role::aggregator};
}

Pending<std::vector<models::Matrix>> Exchange::broadcast(std::vector<models::Matrix> matrices,
                                                         std::vector<step::Payload> payload) {
  require_aggregator();
  if (matrices.size() != payload.size()) throw std::logic_error("one size per matrix");
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    check(payload[i].elements, -1, matrices[i].size());
    handed_down_ += kFloatBytes * static_cast<double>(matrices[i].size());
  }
  const std::int32_t serial = record(step::CollectiveKind::broadcast, std::move(payload));
  return {std::move(matrices), recorder_, serial, step::Role::workers};
}

Pending<models::LayerGradient> Exchange::sum(
    const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to) {
  const spec::LayerShape& shape = layer();
  models::LayerGradient sum{models::Matrix::Zero(shape.out, shape.in),
                            models::Vector::Zero(shape.bias ? shape.out : 0)};
  for (std::size_t site = 0; site < sites(); ++site) add_to(site, sum);
  count_sum(step::extent::parameters(), sum.weight.size() + sum.bias.size());
  return {std::move(sum), recorder_,
          record_sum(step::extent::parameters(), cost::add_gradients(static_cast<double>(sites()))),
          step::Role::workers};
}

Pending<models::Matrix> Exchange::sum(const step::Expression& elements, models::Matrix sum) {
  count_sum(elements, sum.size());
  return {std::move(sum), recorder_, record_sum(elements, add(elements, static_cast<double>(sites()))),
          step::Role::workers};
}

void Exchange::count_sum(const step::Expression& elements, Eigen::Index size) {
  const double bytes = kFloatBytes * static_cast<double>(size);
  for (std::size_t site = 0; site < sites(); ++site) {
    check(elements, static_cast<std::int32_t>(site), size);
    handed_over_[site] += bytes;
  }
  if (mode_ == spec::ExchangeMode::aggregator) handed_down_ += bytes;
}

std::int32_t Exchange::record_sum(const step::Expression& elements, const step::Work& adding) {
  const std::vector<step::Payload> payload{{elements, step::ElementType::float32}};
  if (mode_ == spec::ExchangeMode::peer) return record(step::CollectiveKind::all_reduce, payload);
  recorder_.add(step::WaitOp{step::Role::aggregator, record(step::CollectiveKind::gather, payload)});
  recorder_.add(step::ComputeOp{step::Phase::add, step::Role::aggregator, {adding}, false, false});
  return record(step::CollectiveKind::broadcast, payload);
}

std::int32_t Exchange::sum_other_layers(Eigen::Index size, bool embeddings_seen_to) {
  recorder_.begin_sweep(step::Over::other_layers);
  recorder_.begin_group(-1);
  Eigen::Index known = 0;
  for (const spec::LayerShape& layer : shape_.layers) {
    if (!layer.has_outer_product() && !(embeddings_seen_to && layer.has_matrix())) known += layer.parameters;
  }
  if (known != size) {
    throw std::logic_error(fmt::format("{} numbers beside the matrices where the shapes say {}", size, known));
  }
  const double bytes = kFloatBytes * static_cast<double>(size);
  for (double& handed_over : handed_over_) handed_over += bytes;
  if (mode_ == spec::ExchangeMode::aggregator) handed_down_ += bytes;
  return record_sum(step::extent::parameters(), cost::add_gradients(static_cast<double>(sites())));
}

}  // namespace dadsim::algorithms

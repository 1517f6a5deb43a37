#include "algorithms/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "algorithms/cost.hpp"
#include "algorithms/message_check.hpp"

namespace dadsim::algorithms {
namespace {

constexpr double kFloatBytes = 4.0;

/// The sum of `elements` per worker.
step::Work add(const step::Expression& elements, double workers) {
  return {.flops = workers * elements, .bytes_moved = kFloatBytes * (workers + 1.0) * elements, .launches = 1.0};
}

compress::Message message_of(models::ConstBlock numbers) {
  compress::Encoder encoder;
  encoder.fp32(numbers);
  return encoder.take();
}

}  // namespace

Exchange::Exchange(step::StepRecorder& recorder, const spec::ModelShape& shape, spec::ExchangeMode mode,
                   const spec::CompressSpec& compress, std::uint64_t seed)
    : recorder_(recorder), shape_(shape), mode_(mode), wire_(compress, seed) {
  for (const spec::LayerShape& layer : shape_.layers) {
    if (layer.has_outer_product()) outer_products_.push_back(&layer);
    if (layer.has_matrix()) matrices_.push_back(&layer);
  }
}

void Exchange::begin_step(std::int64_t number) {
  handed_over_.assign(sites(), 0.0);
  handed_down_ = 0;
  sums_ = 0;
  wire_.begin_step(static_cast<std::uint32_t>(number));
}

const spec::LayerShape& Exchange::layer() const {
  const std::int32_t index = recorder_.layer();
  if (index < 0) return *outer_products_.back();
  return *(recorder_.over_embeddings() ? matrices_ : outer_products_).at(static_cast<std::size_t>(index));
}

void Exchange::check(const Payloads& said, std::int32_t worker, const compress::Message& message) const {
  check_message(said, {&layer(), &recorder_.sizes(), worker}, message);
}

void Exchange::hand_over(const Payloads& said, std::int32_t worker, const compress::Message& message) {
  check(said, worker, message);
  (worker < 0 ? handed_down_ : handed_over_[static_cast<std::size_t>(worker)]) += static_cast<double>(message.size());
}

std::int32_t Exchange::record(step::CollectiveKind kind, Payloads payload) {
  return recorder_.add(step::CollectiveOp{kind, std::move(payload)});
}

void Exchange::charge(step::Phase phase, step::Role who, const step::Work& work) {
  recorder_.add(step::ComputeOp{phase, who, {work}});
}

void Exchange::charge_encoding(step::Role who, const step::Expression& elements) {
  if (compresses()) charge(step::Phase::encode, who, wire_.compressor().encode_work(elements));
}

void Exchange::charge_decoding(step::Role who, const step::Expression& elements) {
  if (compresses()) charge(step::Phase::decode, who, wire_.compressor().decode_work(elements));
}

Exchange::Payloads Exchange::payloads_of(const Contribution& own, const step::Expression& rows) const {
  Payloads all;
  for (const Contribution::Part& part : own.parts) {
    Payloads of_part = part.whole ? Payloads{{rows * part.width, step::ElementType::int32}}
                                  : wire_.compressor().size(rows * part.width);
    for (step::Payload& payload : of_part) {
      payload.last_layer_only = part.last_layer_only;
      all.push_back(std::move(payload));
    }
  }
  return all;
}

step::Expression Exchange::numbers_of(const Contribution& own, const step::Expression& rows) {
  step::Expression width;
  for (const Contribution::Part& part : own.parts) {
    if (!part.whole) width += part.width;
  }
  return rows * width;
}

Rows Exchange::collect(const Contribution& own, const Payloads& said) {
  Rows all{step::extent::over_workers(own.rows), {}, {}};
  // What each part arrives in, and how many rows of it have arrived.
  std::vector<Eigen::Index> at(own.parts.size(), 0);
  for (const Contribution::Part& part : own.parts) {
    if (part.whole) {
      all.whole.emplace_back();
      continue;
    }
    Eigen::Index rows = 0;
    Eigen::Index columns = 0;
    for (std::size_t site = 0; site < sites(); ++site) {
      const models::ConstBlock block = part.of(site);
      rows += block.rows();
      columns = std::max(columns, block.cols());
    }
    all.parts.emplace_back(rows, columns);
  }
  for (std::size_t site = 0; site < sites(); ++site) {
    compress::Encoder encoder;
    for (const Contribution::Part& part : own.parts) {
      if (part.whole) {
        encoder.int32(part.whole(site));
      } else {
        wire_.encode(part.of(site), encoder);
      }
    }
    const compress::Message message = encoder.take();
    hand_over(said, static_cast<std::int32_t>(site), message);
    compress::Decoder decoder(message);
    std::size_t matrix = 0;
    std::size_t list = 0;
    for (std::size_t i = 0; i < own.parts.size(); ++i) {
      if (own.parts[i].whole) {
        std::vector<std::int32_t>& whole = all.whole[list++];
        whole.resize(whole.size() + own.parts[i].whole(site).size());
        decoder.int32(std::span(whole).last(own.parts[i].whole(site).size()));
      } else {
        models::Matrix& rows = all.parts[matrix++];
        const Eigen::Index count = own.parts[i].of(site).rows();
        wire_.decode(decoder, rows.middleRows(at[i], count));
        at[i] += count;
      }
    }
  }
  return all;
}

Rows Exchange::hand_back(const Rows& result, const Contribution& like, const Payloads& said) {
  compress::Encoder encoder;
  std::size_t matrix = 0;
  std::size_t list = 0;
  for (const Contribution::Part& part : like.parts) {
    if (part.whole) {
      encoder.int32(result.whole.at(list++));
    } else {
      wire_.encode(result.parts.at(matrix++), encoder);
    }
  }
  const compress::Message message = encoder.take();
  hand_over(said, -1, message);
  compress::Decoder decoder(message);
  Rows arrived{result.rows, {}, {}};
  for (const Contribution::Part& part : like.parts) {
    if (part.whole) {
      std::vector<std::int32_t>& whole = arrived.whole.emplace_back(result.whole[arrived.whole.size()].size());
      decoder.int32(whole);
    } else {
      const models::Matrix& sent = result.parts[arrived.parts.size()];
      wire_.decode(decoder, arrived.parts.emplace_back(sent.rows(), sent.cols()));
    }
  }
  return arrived;
}

Pending<Rows> Exchange::combine(const Contribution& own, Combination how) {
  const Payloads said = payloads_of(own, own.rows);
  charge_encoding(step::Role::workers, numbers_of(own, own.rows));
  const step::Expression all_numbers = numbers_of(own, step::extent::over_workers(own.rows));
  if (mode_ == spec::ExchangeMode::peer) {
    const std::int32_t serial = record(step::CollectiveKind::all_gather, said);
    return {collect(own, said), recorder_, serial, step::Role::workers,
            [this, all_numbers, how = std::move(how)](Rows& rows) {
              charge_decoding(step::Role::workers, all_numbers);
              rows = how(std::move(rows), step::Role::workers);
            }};
  }
  const std::int32_t gathered = record(step::CollectiveKind::gather, said);
  Rows all = collect(own, said);
  recorder_.add(step::WaitOp{step::Role::aggregator, gathered});
  charge_decoding(step::Role::aggregator, all_numbers);
  const Rows result = how(std::move(all), step::Role::aggregator);
  const step::Expression numbers = numbers_of(own, result.rows);
  charge_encoding(step::Role::aggregator, numbers);
  const Payloads back = payloads_of(own, result.rows);
  Rows arrived = hand_back(result, own, back);
  const std::int32_t serial = record(step::CollectiveKind::broadcast, back);
  return {std::move(arrived), recorder_, serial, step::Role::workers,
          [this, numbers](Rows&) { charge_decoding(step::Role::workers, numbers); }};
}

std::int32_t Exchange::record_sum(const step::Expression& elements, const step::Work& adding) {
  const Payloads payload{{elements, step::ElementType::float32}};
  if (mode_ == spec::ExchangeMode::peer) return record(step::CollectiveKind::all_reduce, payload);
  recorder_.add(step::WaitOp{step::Role::aggregator, record(step::CollectiveKind::gather, payload)});
  charge(step::Phase::add, step::Role::aggregator, adding);
  return record(step::CollectiveKind::broadcast, payload);
}

void Exchange::count_linear_sum(const step::Expression& elements, const compress::Message& message) {
  const Payloads said{{elements, step::ElementType::float32}};
  for (std::size_t site = 0; site < sites(); ++site) hand_over(said, static_cast<std::int32_t>(site), message);
  if (mode_ == spec::ExchangeMode::aggregator) hand_over(said, -1, message);
}

Pending<models::LayerGradient> Exchange::sum(
    const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to) {
  const spec::LayerShape& shape = layer();
  const auto zero = [&] {
    return models::LayerGradient{models::Matrix::Zero(shape.out, shape.in),
                                 models::Vector::Zero(shape.bias ? shape.out : 0)};
  };
  const step::Expression elements = step::extent::parameters();
  const step::Work adding = cost::add_gradients(count());
  models::LayerGradient sum = zero();
  if (!compresses()) {
    for (std::size_t site = 0; site < sites(); ++site) add_to(site, sum);
    compress::Encoder encoder;
    encoder.fp32(sum.weight);
    encoder.fp32(sum.bias.transpose());
    count_linear_sum(elements, encoder.take());
    return {std::move(sum), recorder_, record_sum(elements, adding), step::Role::workers};
  }
  // Matrix and biases are one row of numbers on the wire.
  const Eigen::Index weights = sum.weight.size();
  const Eigen::Index biases = sum.bias.size();
  auto [arrived, serial, receive] = sum_encoded(
      elements, 1, weights + biases,
      [&](std::size_t site) {
        models::LayerGradient own = zero();
        add_to(site, own);
        models::Matrix row(1, weights + biases);
        row.leftCols(weights) = own.weight.reshaped<Eigen::RowMajor>().transpose();
        row.rightCols(biases) = own.bias.transpose();
        return row;
      },
      adding);
  sum.weight.reshaped<Eigen::RowMajor>() = arrived.leftCols(weights).transpose();
  sum.bias = arrived.rightCols(biases).transpose();
  return {std::move(sum), recorder_, serial, step::Role::workers,
          [receive = std::move(receive)](models::LayerGradient&) { receive(); }};
}

Pending<models::Matrix> Exchange::sum(const step::Expression& elements, std::vector<models::Matrix> of_sites) {
  if (!compresses()) {
    if (of_sites.size() != 1) throw std::logic_error("a sum that is linear comes in summed");
    return sum_as_it_is(elements, std::move(of_sites.front()));
  }
  if (of_sites.size() != sites()) throw std::logic_error("what is compressed comes from every site");
  auto [arrived, serial, receive] = sum_encoded(
      elements, of_sites.front().rows(), of_sites.front().cols(),
      [&](std::size_t site) { return std::move(of_sites[site]); }, add(elements, count()));
  return {std::move(arrived), recorder_, serial, step::Role::workers,
          [receive = std::move(receive)](models::Matrix&) { receive(); }};
}

Pending<models::Matrix> Exchange::sum_as_it_is(const step::Expression& elements, models::Matrix sum) {
  count_linear_sum(elements, message_of(sum));
  return {std::move(sum), recorder_, record_sum(elements, add(elements, count())), step::Role::workers};
}

models::Matrix Exchange::sent(std::int32_t site, models::Matrix matrix, const Payloads& said, std::int64_t key) {
  const bool remembers = wire_.remembers() && site >= 0;
  if (remembers) {
    models::Matrix& memory = wire_.memory(static_cast<std::size_t>(site), key);
    if (memory.size() > 0) matrix += memory;
  }
  compress::Encoder encoder;
  wire_.encode(matrix, encoder);
  const compress::Message message = encoder.take();
  hand_over(said, site, message);
  models::Matrix arrived(matrix.rows(), matrix.cols());
  compress::Decoder decoder(message);
  wire_.decode(decoder, arrived);
  if (remembers) wire_.memory(static_cast<std::size_t>(site), key) = matrix - arrived;
  return arrived;
}

Exchange::EncodedSum Exchange::sum_encoded(const step::Expression& elements, Eigen::Index rows, Eigen::Index columns,
                                           const std::function<models::Matrix(std::size_t site)>& of,
                                           const step::Work& adding) {
  const Payloads said = wire_.compressor().size(elements);
  const std::int64_t key = sums_++;
  charge_encoding(step::Role::workers, elements);
  models::Matrix total = models::Matrix::Zero(rows, columns);
  for (std::size_t site = 0; site < sites(); ++site)
    total += sent(static_cast<std::int32_t>(site), of(site), said, key);
  if (mode_ == spec::ExchangeMode::peer && !wire_.adds()) {
    const std::int32_t serial = record(step::CollectiveKind::all_gather, said);
    return {std::move(total), serial, [this, elements, adding] {
              charge_decoding(step::Role::workers, count() * elements);
              charge(step::Phase::add, step::Role::workers, adding);
            }};
  }
  std::int32_t serial = 0;
  if (mode_ == spec::ExchangeMode::peer) {
    // What sums up on the way is rounded at every hop; here it is once, at the end.
    serial = record(step::CollectiveKind::all_reduce, said);
    compress::Encoder encoder;
    wire_.encode(total, encoder);
    const compress::Message message = encoder.take();
    compress::Decoder decoder(message);
    wire_.decode(decoder, total);
  } else {
    recorder_.add(step::WaitOp{step::Role::aggregator, record(step::CollectiveKind::gather, said)});
    charge_decoding(step::Role::aggregator, count() * elements);
    charge(step::Phase::add, step::Role::aggregator, adding);
    charge_encoding(step::Role::aggregator, elements);
    total = sent(-1, std::move(total), said, key);
    serial = record(step::CollectiveKind::broadcast, said);
  }
  return {std::move(total), serial, [this, elements] { charge_decoding(step::Role::workers, elements); }};
}

std::int32_t Exchange::sum_other_layers(const std::vector<models::Vector>& vectors,
                                        const std::vector<const models::Matrix*>& embeddings, bool embeddings_seen_to) {
  recorder_.begin_sweep(step::Over::other_layers);
  recorder_.begin_group(-1);
  std::int64_t known = 0;
  for (const spec::LayerShape& layer : shape_.layers) {
    if (!layer.has_outer_product() && !(embeddings_seen_to && layer.has_matrix())) known += layer.parameters;
  }
  compress::Encoder encoder;
  std::int64_t size = 0;
  for (const models::Vector& vector : vectors) {
    encoder.fp32(vector.transpose());
    size += vector.size();
  }
  for (const models::Matrix* matrix : embeddings) {
    encoder.fp32(*matrix);
    size += matrix->size();
  }
  if (known != size) {
    throw std::logic_error(fmt::format("{} numbers beside the matrices where the shapes say {}", size, known));
  }
  const compress::Message message = encoder.take();
  for (double& handed_over : handed_over_) handed_over += static_cast<double>(message.size());
  if (mode_ == spec::ExchangeMode::aggregator) handed_down_ += static_cast<double>(message.size());
  return record_sum(step::extent::parameters(), cost::add_gradients(count()));
}

Pending<std::vector<std::vector<models::Matrix>>> Exchange::neighbours(
    const std::shared_ptr<const step::Neighbours>& graph, const step::Expression& elements,
    const std::function<models::ConstBlock(std::size_t site)>& of) {
  const Payloads said = wire_.compressor().size(elements);
  charge_encoding(step::Role::workers, elements);
  std::vector<std::vector<models::Matrix>> arrived(sites());
  std::size_t most = 0;
  for (std::size_t site = 0; site < sites(); ++site) {
    const models::ConstBlock own = of(site);
    compress::Encoder encoder;
    wire_.encode(own, encoder);
    const compress::Message message = encoder.take();
    check(said, static_cast<std::int32_t>(site), message);
    for (const std::int32_t neighbour : graph->to.at(site)) {
      hand_over(said, static_cast<std::int32_t>(site), message);
      std::vector<models::Matrix>& inbox = arrived.at(static_cast<std::size_t>(neighbour));
      compress::Decoder decoder(message);
      wire_.decode(decoder, inbox.emplace_back(own.rows(), own.cols()));
      most = std::max(most, inbox.size());
    }
  }
  step::CollectiveOp op{step::CollectiveKind::neighbour_exchange, said, graph};
  const std::int32_t serial = recorder_.add(std::move(op));
  return {
      std::move(arrived), recorder_, serial, step::Role::workers,
      [this, numbers = static_cast<double>(most) * elements](auto&) { charge_decoding(step::Role::workers, numbers); }};
}

}  // namespace dadsim::algorithms

// Sums over sites: an all-reduce among peers, or by way of the aggregator.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/exchange.hpp"

namespace dadsim::algorithms {
namespace {

/// The sum of `elements` per worker.
step::Work add(const step::Expression& elements, double workers) {
  return {.flops = workers * elements, .bytes_moved = cost::kFloatBytes * (workers + 1.0) * elements, .launches = 1.0};
}

compress::Message message_of(models::ConstBlock numbers) {
  compress::Encoder encoder;
  encoder.fp32(numbers);
  return encoder.take();
}

}  // namespace

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
  if (wire_.leaves_biases()) return sum_without_biases(add_to);
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

Pending<models::LayerGradient> Exchange::sum_without_biases(
    const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to) {
  const spec::LayerShape& shape = layer();
  models::LayerGradient sum{models::Matrix(shape.out, shape.in), models::Vector()};
  models::Matrix biases = models::Matrix::Zero(shape.bias ? shape.out : 0, 1);
  auto [arrived, serial, receive] = sum_encoded(
      weights_of_matrix(), 1, sum.weight.size(),
      [&](std::size_t site) {
        models::LayerGradient own{models::Matrix::Zero(shape.out, shape.in), models::Vector::Zero(biases.size())};
        add_to(site, own);
        biases += own.bias;
        return own.weight.reshaped<Eigen::RowMajor>().transpose().eval();
      },
      add(weights_of_matrix(), count()));
  sum.weight.reshaped<Eigen::RowMajor>() = arrived.transpose();
  auto beside = std::make_shared<Pending<models::Matrix>>(sum_as_it_is(beside_matrix(), std::move(biases)));
  return {std::move(sum), recorder_, serial, step::Role::workers,
          [this, receive = std::move(receive), beside = std::move(beside)](models::LayerGradient& gradient) {
            receive();
            gradient.bias = beside->wait().reshaped();
            remember_uncompressed(beside_matrix(), std::span(&gradient.bias, 1));
          }};
}

void Exchange::remember_uncompressed(const step::Expression& elements, std::span<models::Vector> sums) {
  if (!wire_.has_momentum()) return;
  // u ← m u + g: two read, one written.
  const step::Work momentum{
      .flops = 2.0 * elements, .bytes_moved = 3.0 * cost::kFloatBytes * elements, .launches = 1.0};
  charge(step::Phase::update, step::Role::workers, cost::only_where(step::extent::exceeds(elements, 0.0), momentum));
  for (models::Vector& sum : sums) {
    compress::Memory& memory = wire_.memory_of_uncompressed(wire_.begin_uncompressed_sum(), sites());
    const models::Matrix applied = memory.add(sum);
    memory.keep(applied, applied);
    sum = applied.reshaped();
  }
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

void Exchange::agree_on_most(float most) {
  count_linear_sum(1.0, message_of(models::Matrix::Constant(1, 1, most)));
  recorder_.add(step::WaitOp{step::Role::workers, record(step::CollectiveKind::all_reduce, {{1.0}})});
}

Exchange::Sent Exchange::sent(std::int32_t site, models::Matrix matrix, std::uint32_t number, bool sum) {
  compress::Memory* memory = wire_.remembers() && !sum ? &wire_.memory(site, number) : nullptr;
  if (memory != nullptr) matrix = memory->add(std::move(matrix));
  compress::Encoder encoder;
  const std::int64_t kept = wire_.encode(matrix, site, number, encoder, sum);
  Sent sent{models::Matrix(matrix.rows(), matrix.cols()), encoder.take(), kept};
  compress::Decoder decoder(sent.message);
  wire_.decode(decoder, number, sent.arrived);
  // What the message points to in the matrix has been read; it is counted by its length alone from here on.
  if (memory != nullptr) memory->keep(std::move(matrix), sent.arrived);
  return sent;
}

Exchange::EncodedSum Exchange::sum_encoded(const step::Expression& elements, Eigen::Index rows, Eigen::Index columns,
                                           const std::function<models::Matrix(std::size_t site)>& of,
                                           const step::Work& adding) {
  const std::uint32_t number = wire_.begin_matrix();
  models::Matrix total = models::Matrix::Zero(rows, columns);
  std::vector<compress::Message> messages;
  std::vector<std::int32_t> shares;
  for (std::size_t site = 0; site < sites(); ++site) {
    Sent own = sent(static_cast<std::int32_t>(site), of(site), number);
    total += own.arrived;
    messages.push_back(std::move(own.message));
    shares.push_back(compress::share_of(own.kept, rows * columns));
  }
  std::optional<std::int32_t> slot;
  if (wire_.adapts()) slot = recorder_.add_slot(std::move(shares));
  const compress::Amount own = amount(elements, slot);
  const compress::Amount all{step::extent::over_workers(own.elements), step::extent::over_workers(own.kept)};
  const Payloads said = wire_.compressor().size(own);
  for (std::size_t site = 0; site < sites(); ++site) hand_over(said, static_cast<std::int32_t>(site), messages[site]);
  if (wire_.remembers()) charge(step::Phase::encode, step::Role::workers, wire_.compressor().memory_work(own));
  charge_encoding(step::Role::workers, own);
  const auto decode_and_add = [this, elements, all, adding](step::Role who) {
    charge_decoding_into_sum(who, elements, all, adding);
  };
  if (mode_ == spec::ExchangeMode::peer) {
    if (!wire_.adds()) {
      const std::int32_t serial = record(step::CollectiveKind::all_gather, said);
      return {std::move(total), serial, [decode_and_add] { decode_and_add(step::Role::workers); }};
    }
    // What sums up on the way is rounded at every hop; here it is once, at the end.
    const std::int32_t serial = record(step::CollectiveKind::all_reduce, said);
    total = sent(-1, std::move(total), number, true).arrived;
    return {std::move(total), serial, [this, own] { charge_decoding(step::Role::workers, own); }};
  }
  recorder_.add(step::WaitOp{step::Role::aggregator, record(step::CollectiveKind::gather, said)});
  if (wire_.forwards()) {
    Payloads back = said;
    const double before = handed_down_;
    for (step::Payload& payload : back) payload.elements = step::extent::over_workers(payload.elements);
    for (const compress::Message& message : messages) handed_down_ += static_cast<double>(message.size());
    double bytes = 0;
    for (const step::Payload& payload : back) bytes += payload.bytes({&layer(), &recorder_.sizes(), -1});
    if (bytes != handed_down_ - before) throw std::logic_error("messages that are handed on keep their sizes");
    const std::int32_t serial = record(step::CollectiveKind::broadcast, back);
    return {std::move(total), serial, [decode_and_add] { decode_and_add(step::Role::workers); }};
  }
  decode_and_add(step::Role::aggregator);
  Sent back = sent(-1, std::move(total), number, wire_.adds());
  if (slot) slot = recorder_.add_slot({compress::share_of(back.kept, rows * columns)});
  const compress::Amount down = amount(elements, slot);
  const Payloads said_back = wire_.compressor().size(down);
  hand_over(said_back, -1, back.message);
  // What all have encoded alike is added as it is: nothing more is lost, and there is nothing to remember.
  if (wire_.remembers() && !wire_.adds()) {
    charge(step::Phase::encode, step::Role::aggregator, wire_.compressor().memory_work(down));
  }
  charge_encoding(step::Role::aggregator, down);
  const std::int32_t serial = record(step::CollectiveKind::broadcast, said_back);
  return {std::move(back.arrived), serial, [this, down] { charge_decoding(step::Role::workers, down); }};
}

Pending<models::Matrix> Exchange::sum_of_model(Eigen::Index numbers,
                                               const std::function<models::Matrix(std::size_t site)>& of) {
  const step::Expression elements = step::extent::parameters();
  auto [arrived, serial, receive] = sum_encoded(elements, 1, numbers, of, add(elements, count()));
  return {std::move(arrived), recorder_, serial, step::Role::workers,
          [receive = std::move(receive)](models::Matrix&) { receive(); }};
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

}  // namespace dadsim::algorithms

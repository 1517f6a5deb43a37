// Sums over sites: an all-reduce among peers, or by way of the aggregator.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/exchange/exchange.hpp"

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
    if (const std::optional<Subject> on = subject()) {
      const auto biases = [](const models::LayerGradient& of) { return models::Matrix(of.bias.transpose()); };
      for (std::size_t site = 0; observer_->wants_parts() && site < sites(); ++site) {
        if (!looks_at(site)) continue;
        models::LayerGradient own = zero();
        add_to(site, own);
        show_part(*on, site, own.weight, weights_of_matrix());
        show_part(*on, site, biases(own), beside_matrix());
      }
      show_sum(*on, sum.weight, weights_of_matrix());
      show_sum(*on, biases(sum), beside_matrix());
    }
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
  EncodedSum encoded = sum_encoded({elements, adding, 1, weights + biases}, [&](std::size_t site) {
    models::LayerGradient own = zero();
    add_to(site, own);
    models::Matrix row(1, weights + biases);
    row.leftCols(weights) = own.weight.reshaped<Eigen::RowMajor>().transpose();
    row.rightCols(biases) = own.bias.transpose();
    return row;
  });
  const models::Matrix& arrived = encoded.sums.front();
  sum.weight.reshaped<Eigen::RowMajor>() = arrived.leftCols(weights).transpose();
  sum.bias = arrived.rightCols(biases).transpose();
  return {std::move(sum), recorder_, encoded.serial, step::Role::workers,
          [this, encoded = std::move(encoded)](models::LayerGradient&) { receive(encoded); }};
}

Pending<models::LayerGradient> Exchange::sum_without_biases(
    const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to) {
  const spec::LayerShape& shape = layer();
  models::LayerGradient sum{models::Matrix(shape.out, shape.in), models::Vector()};
  models::Matrix biases = models::Matrix::Zero(shape.bias ? shape.out : 0, 1);
  EncodedSum encoded = sum_encoded(
      {weights_of_matrix(), add(weights_of_matrix(), count()), 1, sum.weight.size()}, [&](std::size_t site) {
        models::LayerGradient own{models::Matrix::Zero(shape.out, shape.in), models::Vector::Zero(biases.size())};
        add_to(site, own);
        biases += own.bias;
        return own.weight.reshaped<Eigen::RowMajor>().transpose().eval();
      });
  sum.weight.reshaped<Eigen::RowMajor>() = encoded.sums.front().transpose();
  auto beside = std::make_shared<Pending<models::Matrix>>(sum_as_it_is(beside_matrix(), std::move(biases)));
  return {std::move(sum), recorder_, encoded.serial, step::Role::workers,
          [this, encoded = std::move(encoded), beside = std::move(beside)](models::LayerGradient& gradient) {
            receive(encoded);
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
    compress::Memory& memory = wire_.memory_of_uncompressed(wire_.begin_uncompressed_sum(recorder_.layer()), sites());
    const models::Matrix applied = memory.add(sum);
    memory.keep(applied, applied);
    sum = applied.reshaped();
  }
}

Pending<models::Matrix> Exchange::sum(const step::Expression& elements, std::vector<models::Matrix> of_sites,
                                      const PartOfSum& part) {
  if (!compresses()) {
    if (of_sites.size() != 1) throw std::logic_error("a sum that is linear comes in summed");
    return sum_as_it_is(elements, std::move(of_sites.front()), part);
  }
  if (of_sites.size() != sites()) throw std::logic_error("what is compressed comes from every site");
  return pending(sum_encoded({elements, add(elements, count()), of_sites.front().rows(), of_sites.front().cols()},
                             [&](std::size_t site) { return std::move(of_sites[site]); }));
}

Pending<models::Matrix> Exchange::sum_as_it_is(const step::Expression& elements, models::Matrix sum,
                                               const PartOfSum& part, const AddedNoise& noise) {
  if (const std::optional<Subject> on = subject(); on && sum.size() > 0) {
    for (std::size_t site = 0; observer_->wants_parts() && site < sites(); ++site) {
      if (!looks_at(site)) continue;
      if (part) {
        show_part(*on, site, part(site), elements, 0, noise.of_site);
      } else if (is_of_inputs(*on, elements)) {
        // No site's part of the sum is available.
        show(*on, SeenMatrix::Kind::unread, sum, {static_cast<std::int32_t>(site), false, readers_of_parts(), 0, 0});
      }
    }
    show_sum(*on, sum, elements, 0, noise.of_all);
  }
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
  if (subject() && (site < 0 || looks_at(static_cast<std::size_t>(site)))) sent.error = error_of(sent.arrived, matrix);
  // What the message points to in the matrix has been read; it is counted by its length alone from here on.
  if (memory != nullptr) memory->keep(std::move(matrix), sent.arrived);
  return sent;
}

Exchange::EncodedSum Exchange::hand_over_encoded(
    std::vector<Summand> parts, const std::function<models::Matrix(std::size_t site, std::size_t part)>& of) {
  EncodedSum sum{.sums = {}, .serial = 0, .of = std::move(parts), .messages = {}};
  for (Summand& part : sum.of) {
    part.number = wire_.begin_matrix(recorder_.layer());
    sum.sums.push_back(models::Matrix::Zero(part.rows, part.columns));
  }
  std::vector<std::vector<std::int32_t>> shares(sum.of.size());
  const std::optional<Subject> on = subject();
  for (std::size_t site = 0; site < sites(); ++site) {
    for (std::size_t p = 0; p < sum.of.size(); ++p) {
      Sent own;
      if (!sum.of[p].is_absent) {
        own = sent(static_cast<std::int32_t>(site), of(site, p), sum.of[p].number);
        sum.sums[p] += own.arrived;
        if (on && looks_at(site)) show_part(*on, site, own.arrived, sum.of[p].elements, own.error);
      }
      shares[p].push_back(compress::share_of(own.kept, std::max<Eigen::Index>(1, sum.sums[p].size())));
      sum.messages.push_back(std::move(own.message));
    }
  }
  Payloads said;
  for (std::size_t p = 0; p < sum.of.size(); ++p) {
    Summand& part = sum.of[p];
    std::optional<std::int32_t> slot;
    if (wire_.adapts()) slot = recorder_.add_slot(std::move(shares[p]));
    part.own = amount(part.elements, slot);
    part.all = {step::extent::over_workers(part.own.elements), step::extent::over_workers(part.own.kept)};
    const Payloads of_part = payloads_of(part, part.own);
    for (std::size_t site = 0; site < sites(); ++site) {
      hand_over(of_part, static_cast<std::int32_t>(site), sum.messages[site * sum.of.size() + p]);
    }
    said.insert(said.end(), of_part.begin(), of_part.end());
  }
  for (const Summand& part : sum.of) {
    if (wire_.remembers()) {
      charge(step::Phase::encode, step::Role::workers,
             cost::only_where(part.present, wire_.compressor().memory_work(part.own)));
    }
    charge_encoding(step::Role::workers, part.own, part.present);
  }
  if (mode_ == spec::ExchangeMode::aggregator) {
    sum.serial = record(step::CollectiveKind::gather, said);
    return sum;
  }
  sum.serial = record(wire_.adds() ? step::CollectiveKind::all_reduce : step::CollectiveKind::all_gather, said);
  for (std::size_t p = 0; p < sum.of.size() && wire_.adds(); ++p) {
    // Sums on the way are rounded at every hop; here once, at the end.
    if (sum.sums[p].size() == 0) continue;
    Sent all = sent(-1, std::move(sum.sums[p]), sum.of[p].number, true);
    sum.sums[p] = std::move(all.arrived);
    if (on) show_sum(*on, sum.sums[p], sum.of[p].elements, all.error);
  }
  return sum;
}

void Exchange::combine(EncodedSum& sum) {
  const std::vector<compress::Message> messages = std::exchange(sum.messages, {});
  if (mode_ == spec::ExchangeMode::peer) return;
  recorder_.add(step::WaitOp{step::Role::aggregator, sum.serial});
  Payloads said;
  if (wire_.forwards()) {
    const double before = downlink_bytes_;
    for (const Summand& part : sum.of) {
      for (step::Payload& payload : payloads_of(part, part.own)) {
        said.push_back({step::extent::over_workers(payload.elements), payload.type});
      }
    }
    for (const compress::Message& message : messages) downlink_bytes_ += static_cast<double>(message.size());
    double bytes = 0;
    for (const step::Payload& payload : said) bytes += payload.bytes({&layer(), &recorder_.sizes(), -1});
    if (bytes != downlink_bytes_ - before) throw std::logic_error("messages that are handed on keep their sizes");
    sum.serial = record(step::CollectiveKind::broadcast, said);
    return;
  }
  for (const Summand& part : sum.of) decode_and_add(step::Role::aggregator, part);
  for (std::size_t p = 0; p < sum.of.size(); ++p) {
    Summand& part = sum.of[p];
    Sent back;
    if (!part.is_absent) {
      back = sent(-1, std::move(sum.sums[p]), part.number, wire_.adds());
      sum.sums[p] = std::move(back.arrived);
      if (const std::optional<Subject> on = subject()) show_sum(*on, sum.sums[p], part.elements, back.error);
    }
    std::optional<std::int32_t> slot;
    if (wire_.adapts()) {
      slot = recorder_.add_slot({compress::share_of(back.kept, std::max<Eigen::Index>(1, part.rows * part.columns))});
    }
    part.down = amount(part.elements, slot);
    const Payloads of_part = payloads_of(part, part.down);
    hand_over(of_part, -1, back.message);
    said.insert(said.end(), of_part.begin(), of_part.end());
    // If all sites encode in the same way, messages are added as they are: nothing more is lost or to be remembered.
    if (wire_.remembers() && !wire_.adds()) {
      charge(step::Phase::encode, step::Role::aggregator,
             cost::only_where(part.present, wire_.compressor().memory_work(part.down)));
    }
    charge_encoding(step::Role::aggregator, part.down, part.present);
  }
  sum.serial = record(step::CollectiveKind::broadcast, said);
}

void Exchange::receive(const EncodedSum& sum) {
  for (const Summand& part : sum.of) {
    if (mode_ == spec::ExchangeMode::aggregator && !wire_.forwards()) {
      charge_decoding(step::Role::workers, part.down, part.present);
    } else if (mode_ == spec::ExchangeMode::peer && wire_.adds()) {
      charge_decoding(step::Role::workers, part.own, part.present);
    } else {
      decode_and_add(step::Role::workers, part);
    }
  }
}

Exchange::Payloads Exchange::payloads_of(const Summand& part, const compress::Amount& numbers) const {
  Payloads payloads = wire_.compressor().size(numbers);
  for (step::Payload& payload : payloads) payload.elements = part.present * payload.elements;
  return payloads;
}

/// The messages of all sites become a sum: decoded into it, or decoded and then added.
void Exchange::decode_and_add(step::Role who, const Summand& part) {
  if (const auto work = wire_.compressor().decode_into_sum_work(part.elements, part.all)) {
    charge(step::Phase::decode, who, cost::only_where(part.present, *work));
    return;
  }
  charge_decoding(who, part.all, part.present);
  charge(step::Phase::add, who, cost::only_where(part.present, part.adding));
}

Exchange::EncodedSum Exchange::sum_encoded(Summand part, const std::function<models::Matrix(std::size_t site)>& of) {
  EncodedSum sum = hand_over_encoded({std::move(part)}, [&](std::size_t site, std::size_t) { return of(site); });
  combine(sum);
  return sum;
}

Pending<models::Matrix> Exchange::pending(EncodedSum sum) {
  models::Matrix arrived = std::move(sum.sums.front());
  const std::int32_t serial = sum.serial;
  return {std::move(arrived), recorder_, serial, step::Role::workers,
          [this, sum = std::move(sum)](models::Matrix&) { receive(sum); }};
}

Pending<models::Matrix> Exchange::sum_of_model(Eigen::Index numbers,
                                               const std::function<models::Matrix(std::size_t site)>& of) {
  const step::Expression elements = step::extent::parameters();
  return pending(sum_encoded({elements, add(elements, count()), 1, numbers}, of));
}

Exchange::EncodedSum Exchange::hand_over_tensors(
    const std::function<void(std::size_t site, models::LayerGradient& sum)>& add_to) {
  const spec::LayerShape& shape = layer();
  const step::Expression matrix = weights_of_matrix();
  const step::Expression biases = beside_matrix();
  std::vector<models::LayerGradient> own(sites());
  for (std::size_t site = 0; site < sites(); ++site) {
    own[site] = {models::Matrix::Zero(shape.out, shape.in), models::Vector::Zero(shape.bias ? shape.out : 0)};
    add_to(site, own[site]);
  }
  std::vector<Summand> parts{{matrix, add(matrix, count()), shape.out, shape.in},
                             {biases, add(biases, count()), 1, shape.bias ? shape.out : 0}};
  parts.back().present = step::extent::min({1.0, biases});
  parts.back().is_absent = !shape.bias;
  return hand_over_encoded(std::move(parts), [&](std::size_t site, std::size_t part) {
    return part == 0 ? std::move(own[site].weight) : models::Matrix(own[site].bias.transpose());
  });
}

models::LayerGradient Exchange::receive_tensors(EncodedSum& sum) {
  recorder_.add(step::WaitOp{step::Role::workers, sum.serial});
  receive(sum);
  return {std::move(sum.sums[0]), sum.sums[1].transpose()};
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
  for (double& uplink_bytes : uplink_bytes_) uplink_bytes += static_cast<double>(message.size());
  if (mode_ == spec::ExchangeMode::aggregator) downlink_bytes_ += static_cast<double>(message.size());
  return record_sum(step::extent::parameters(), cost::add_gradients(count()));
}

}  // namespace dadsim::algorithms

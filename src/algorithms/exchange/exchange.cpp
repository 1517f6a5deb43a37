#include "algorithms/exchange/exchange.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "algorithms/cost.hpp"
#include "compress/message.hpp"
#include "step/expression.hpp"

namespace dadsim::algorithms {
namespace {

/// Segments of a message; neighbours of one type are merged, empty ones dropped.
using Segments = std::vector<std::pair<step::ElementType, double>>;

void append(Segments& segments, step::ElementType type, double elements) {
  if (elements == 0) return;
  if (!segments.empty() && segments.back().first == type) {
    segments.back().second += elements;
  } else {
    segments.emplace_back(type, elements);
  }
}

std::string in_words(const Segments& segments) {
  std::string text;
  for (const auto& [type, elements] : segments) {
    text += fmt::format("{}{} of {}", text.empty() ? "" : " and ", elements, to_string(type));
  }
  return text.empty() ? "nothing" : text;
}

/// Throws std::logic_error unless the symbolic sizes evaluate to the message's segments: the same element types in the
/// same order, with the same counts. So no algorithm can record a length that differs from its message, in a 16-bit run
/// either.
void check_message(const std::vector<step::Payload>& said, const step::Scope& scope, const compress::Message& message) {
  Segments expected, actual;
  for (const step::Payload& payload : said) append(expected, payload.type, payload.elements.evaluate(scope));
  for (std::size_t i = 0; i < message.segments(); ++i) {
    append(actual, message.segment(i).type, static_cast<double>(message.segment(i).elements));
  }
  if (expected == actual) return;
  std::vector<std::string> symbols;
  for (const step::Payload& payload : said) symbols.push_back(payload.elements.to_string());
  throw std::logic_error(fmt::format("layer {}: a message of {} has {} bytes, but its size formula {} gives {}",
                                     scope.layer->name, in_words(actual), message.size(), fmt::join(symbols, "; "),
                                     in_words(expected)));
}

}  // namespace

Exchange::Exchange(step::StepRecorder& recorder, const spec::ModelShape& shape, spec::ExchangeMode mode,
                   const spec::CompressSpec& compress, std::uint64_t seed)
    : recorder_(recorder),
      shape_(shape),
      layers_(shape),
      mode_(mode),
      wire_(compress, seed),
      tap_(recorder, layers_, mode, wire_) {}

void Exchange::begin_step(std::int64_t number, std::vector<std::int32_t> sites_there) {
  uplink_bytes_.assign(sites(), 0.0);
  downlink_bytes_ = 0;
  tap_.begin_step();
  wire_.begin_step(static_cast<std::uint32_t>(number), std::move(sites_there));
}

void Exchange::forget(const std::vector<double>& over, double down) {
  for (std::size_t site = 0; site < uplink_bytes_.size(); ++site) uplink_bytes_[site] -= over.at(site);
  downlink_bytes_ -= down;
}

void Exchange::check(const Payloads& said, std::int32_t worker, const compress::Message& message) const {
  check_message(said, {&layer(), &recorder_.sizes(), worker, nullptr, layers_.deltas_of(layer())}, message);
}

void Exchange::hand_over(const Payloads& said, std::int32_t worker, const compress::Message& message) {
  check(said, worker, message);
  (worker < 0 ? downlink_bytes_ : uplink_bytes_[static_cast<std::size_t>(worker)]) +=
      static_cast<double>(message.size());
}

std::int32_t Exchange::record(step::CollectiveKind kind, Payloads payload) {
  return recorder_.add(step::CollectiveOp{kind, std::move(payload)});
}

void Exchange::charge(step::Phase phase, step::Role who, const step::Work& work) {
  recorder_.add(step::ComputeOp{phase, who, {work}});
}

void Exchange::charge_codes(step::Phase phase, step::Role who, const Contribution& own, const step::Expression& rows) {
  step::Work work;
  for (const Contribution::Part& part : own.parts) {
    if (!part.codes) continue;
    // Counts a shift per code, to its place in the message or from it.
    work.flops += rows * part.width;
    work.bytes_moved += (sizeof(std::uint32_t) + part.bits / 8.0) * rows * part.width;
    work.launches = 1.0;
  }
  if (!work.flops.is_zero()) charge(phase, who, work);
}

void Exchange::charge_encoding(step::Role who, const compress::Amount& numbers, const step::Expression& present) {
  if (!compresses()) return;
  charge(step::Phase::encode, who, cost::only_where(present, wire_.compressor().encode_work(numbers)));
}

void Exchange::charge_decoding(step::Role who, const compress::Amount& numbers, const step::Expression& present) {
  if (!compresses()) return;
  charge(step::Phase::decode, who, cost::only_where(present, wire_.compressor().decode_work(numbers)));
}

compress::Amount Exchange::amount(const step::Expression& elements, const std::optional<std::int32_t>& slot) const {
  if (!slot) return elements;
  return {elements, compress::kept_of(step::extent::slot(*slot), elements)};
}

Exchange::Payloads Exchange::payloads_of(const Contribution& own, const step::Expression& rows,
                                         const PartsOnWire& parts) const {
  Payloads all;
  for (std::size_t i = 0; i < own.parts.size(); ++i) {
    const Contribution::Part& part = own.parts[i];
    Payloads of_part = part.whole ? Payloads{{rows * part.width, step::ElementType::int32}}
                       : part.codes
                           ? Payloads{{static_cast<double>(part.bits) * rows * part.width, step::ElementType::bit}}
                           : wire_.compressor().size(amount(rows * part.width, parts[i].slot));
    for (step::Payload& payload : of_part) {
      payload.elements = part.present * payload.elements;
      all.push_back(std::move(payload));
    }
  }
  return all;
}

compress::Amount Exchange::numbers_of(const Contribution& own, const step::Expression& rows,
                                      const PartsOnWire& parts) const {
  compress::Amount all{step::Expression()};
  for (std::size_t i = 0; i < own.parts.size(); ++i) {
    if (!own.parts[i].has_numbers()) continue;
    const compress::Amount of_part = amount(rows * own.parts[i].width, parts[i].slot);
    all.elements += own.parts[i].present * of_part.elements;
    all.kept += own.parts[i].present * of_part.kept;
  }
  return all;
}

bool Exchange::is_absent(const Contribution::Part& part) const {
  for (std::size_t site = 0; site < sites(); ++site) {
    if (part.of(site).cols() > 0) return false;
  }
  return true;
}

std::vector<compress::Message> Exchange::encode_all(const Contribution& own, PartsOnWire& parts) {
  parts.resize(own.parts.size());
  for (PartOnWire& part : parts) part.matrix = wire_.begin_matrix(recorder_.layer());
  std::vector<std::vector<std::int32_t>> shares(parts.size(), std::vector<std::int32_t>(sites()));
  std::vector<compress::Message> messages;
  for (std::size_t site = 0; site < sites(); ++site) {
    compress::Encoder encoder;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (own.parts[i].whole) {
        encoder.int32(own.parts[i].whole(site));
        continue;
      }
      if (own.parts[i].codes) {
        encoder.packed(own.parts[i].codes(site), own.parts[i].bits);
        continue;
      }
      const models::ConstBlock block = own.parts[i].of(site);
      if (is_absent(own.parts[i])) continue;
      const std::int64_t kept = wire_.encode(block, static_cast<std::int32_t>(site), parts[i].matrix, encoder);
      shares[i][site] = compress::share_of(kept, block.size());
    }
    messages.push_back(encoder.take());
  }
  for (std::size_t i = 0; wire_.adapts() && i < parts.size(); ++i) {
    if (own.parts[i].has_numbers()) parts[i].slot = recorder_.add_slot(std::move(shares[i]));
  }
  return messages;
}

Rows Exchange::receive_all(const Contribution& own, const PartsOnWire& parts,
                           const std::vector<compress::Message>& messages) {
  Rows all{step::extent::over_workers(own.rows), {}, {}};
  // Received rows per part so far.
  std::vector<Eigen::Index> at(own.parts.size(), 0);
  for (const Contribution::Part& part : own.parts) {
    if (part.whole) all.whole.emplace_back();
    if (part.codes) all.codes.emplace_back();
    if (!part.has_numbers()) continue;
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
    compress::Decoder decoder(messages[site]);
    std::size_t matrix = 0;
    std::size_t list = 0;
    std::size_t coded = 0;
    for (std::size_t i = 0; i < own.parts.size(); ++i) {
      if (own.parts[i].whole) {
        std::vector<std::int32_t>& whole = all.whole[list++];
        whole.resize(whole.size() + own.parts[i].whole(site).size());
        decoder.int32(std::span(whole).last(own.parts[i].whole(site).size()));
      } else if (own.parts[i].codes) {
        std::vector<std::uint32_t>& codes = all.codes[coded++];
        codes.resize(codes.size() + own.parts[i].codes(site).size());
        decoder.packed(std::span(codes).last(own.parts[i].codes(site).size()), own.parts[i].bits);
      } else {
        models::Matrix& rows = all.parts[matrix++];
        if (is_absent(own.parts[i])) continue;
        const Eigen::Index count = own.parts[i].of(site).rows();
        wire_.decode(decoder, parts[i].matrix, rows.middleRows(at[i], count));
        at[i] += count;
      }
    }
  }
  return all;
}

Rows Exchange::hand_back(const Rows& result, const Contribution& like, PartsOnWire& parts, std::int32_t from) {
  compress::Encoder encoder;
  std::size_t matrix = 0;
  std::size_t list = 0;
  std::size_t coded = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (like.parts[i].whole) {
      encoder.int32(result.whole.at(list++));
      continue;
    }
    if (like.parts[i].codes) {
      encoder.packed(result.codes.at(coded++), like.parts[i].bits);
      continue;
    }
    const models::Matrix& numbers = result.parts.at(matrix++);
    if (is_absent(like.parts[i])) {
      if (parts[i].slot) parts[i].slot = recorder_.add_slot({0});
      continue;
    }
    parts[i].matrix = wire_.begin_matrix(recorder_.layer());  // a new number, because the result has another shape
    const std::int64_t kept = wire_.encode(numbers, -1, parts[i].matrix, encoder);
    if (parts[i].slot) parts[i].slot = recorder_.add_slot({compress::share_of(kept, numbers.size())});
  }
  const compress::Message message = encoder.take();
  hand_over(payloads_of(like, result.rows, parts), from, message);
  compress::Decoder decoder(message);
  Rows arrived{result.rows, {}, {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (like.parts[i].whole) {
      std::vector<std::int32_t>& whole = arrived.whole.emplace_back(result.whole[arrived.whole.size()].size());
      decoder.int32(whole);
    } else if (like.parts[i].codes) {
      std::vector<std::uint32_t>& codes = arrived.codes.emplace_back(result.codes[arrived.codes.size()].size());
      decoder.packed(codes, like.parts[i].bits);
    } else {
      const models::Matrix& sent = result.parts[arrived.parts.size()];
      models::Matrix& into = arrived.parts.emplace_back(sent.rows(), sent.cols());
      if (!is_absent(like.parts[i])) wire_.decode(decoder, parts[i].matrix, into);
    }
  }
  return arrived;
}

Pending<Rows> Exchange::combine(const Contribution& own, Combination how) {
  PartsOnWire parts;
  const std::vector<compress::Message> messages = encode_all(own, parts);
  const Payloads said = payloads_of(own, own.rows, parts);
  step::KnownSums sums;  // sums over all sites, evaluated once instead of for each site's message
  for (std::size_t site = 0; site < sites(); ++site) {
    check_message(said, {&layer(), &recorder_.sizes(), static_cast<std::int32_t>(site), &sums}, messages[site]);
    uplink_bytes_[site] += static_cast<double>(messages[site].size());
  }
  const compress::Amount numbers = numbers_of(own, own.rows, parts);
  const compress::Amount all_numbers{step::extent::over_workers(numbers.elements),
                                     step::extent::over_workers(numbers.kept)};
  charge_encoding(step::Role::workers, numbers);
  charge_codes(step::Phase::encode, step::Role::workers, own, own.rows);
  const step::Expression all_rows = step::extent::over_workers(own.rows);
  Rows all = receive_all(own, parts, messages);
  const double error = tap_.show_rows_of_sites(own, all);
  if (mode_ == spec::ExchangeMode::peer) {
    const std::int32_t serial = record(step::CollectiveKind::all_gather, said);
    return {std::move(all), recorder_, serial, step::Role::workers,
            [this, all_numbers, own, all_rows, how = std::move(how)](Rows& rows) {
              charge_decoding(step::Role::workers, all_numbers);
              charge_codes(step::Phase::decode, step::Role::workers, own, all_rows);
              rows = how(std::move(rows), step::Role::workers);
            }};
  }
  const std::int32_t gathered = record(step::CollectiveKind::gather, said);
  recorder_.add(step::WaitOp{step::Role::aggregator, gathered});
  charge_decoding(step::Role::aggregator, all_numbers);
  charge_codes(step::Phase::decode, step::Role::aggregator, own, all_rows);
  const Rows result = how(std::move(all), step::Role::aggregator);
  Rows arrived = hand_back(result, own, parts, -1);
  tap_.show_result(own, arrived, result, error, how.keeps_rows());
  const compress::Amount back = numbers_of(own, result.rows, parts);
  charge_encoding(step::Role::aggregator, back);
  charge_codes(step::Phase::encode, step::Role::aggregator, own, result.rows);
  const std::int32_t serial = record(step::CollectiveKind::broadcast, payloads_of(own, result.rows, parts));
  return {std::move(arrived), recorder_, serial, step::Role::workers, [this, back, own, rows = result.rows](Rows&) {
            charge_decoding(step::Role::workers, back);
            charge_codes(step::Phase::decode, step::Role::workers, own, rows);
          }};
}

Pending<std::vector<Rows>> Exchange::scatter(const std::vector<Contribution>& own) {
  if (own.size() != blocks()) throw std::logic_error("scatter needs a contribution for every block");
  const Contribution& like = own.front();
  for (const Contribution& block : own) {
    if (!std::ranges::all_of(block.parts, [](const auto& part) { return static_cast<bool>(part.codes); })) {
      throw std::logic_error("scatter needs blocks as codes");
    }
  }
  const step::Expression rows = step::extent::over_workers(like.rows);
  std::vector<Rows> all;
  Payloads said;
  for (std::size_t block = 0; block < own.size(); ++block) {
    PartsOnWire parts;
    const std::vector<compress::Message> messages = encode_all(own[block], parts);
    if (block == 0) said = payloads_of(like, like.rows, parts);
    for (std::size_t site = 0; site < sites(); ++site) {
      // A site's own block stays local.
      const bool stays = mode_ == spec::ExchangeMode::peer && site == block;
      stays ? check(said, static_cast<std::int32_t>(site), messages[site])
            : hand_over(said, static_cast<std::int32_t>(site), messages[site]);
    }
    all.push_back(receive_all(own[block], parts, messages));
  }
  tap_.show_blocks(own);
  charge_codes(step::Phase::encode, step::Role::workers, like, static_cast<double>(blocks()) * like.rows);
  const std::int32_t serial =
      record(mode_ == spec::ExchangeMode::peer ? step::CollectiveKind::all_to_all : step::CollectiveKind::gather, said);
  return {std::move(all), recorder_, serial, combiner(),
          [this, like, rows](std::vector<Rows>&) { charge_codes(step::Phase::decode, combiner(), like, rows); }};
}

Pending<std::vector<Rows>> Exchange::all_gather(const std::vector<Rows>& made, const Contribution& like) {
  if (made.size() != blocks()) throw std::logic_error("all_gather needs rows for every block");
  std::vector<Rows> arrived;
  const step::Expression rows = made.front().rows;
  PartsOnWire parts(like.parts.size());
  const bool by_peers = mode_ == spec::ExchangeMode::peer;
  for (std::size_t block = 0; block < made.size(); ++block) {
    arrived.push_back(hand_back(made[block], like, parts, by_peers ? static_cast<std::int32_t>(block) : -1));
  }
  tap_.show_made_blocks(arrived, like);
  charge_codes(step::Phase::encode, combiner(), like, rows);
  const std::int32_t serial = record(by_peers ? step::CollectiveKind::all_gather : step::CollectiveKind::broadcast,
                                     payloads_of(like, rows, parts));
  return {std::move(arrived), recorder_, serial, step::Role::workers,
          [this, like, all = static_cast<double>(blocks()) * rows](std::vector<Rows>&) {
            charge_codes(step::Phase::decode, step::Role::workers, like, all);
          }};
}

namespace {

/// Returns all parameters outside the matrices as one layer.
spec::LayerShape beside_matrices(const spec::ModelShape& shape) {
  spec::LayerShape rest;
  rest.name = "other layers";
  rest.kind = spec::LayerKind::element_wise;
  for (const spec::LayerShape& layer : shape.layers) {
    if (layer.has_outer_product()) continue;
    rest.parameters += layer.parameters - (layer.has_matrix() ? layer.in * layer.out : 0);
  }
  return rest;
}

}  // namespace

Pending<Arrivals> Exchange::neighbours(const std::shared_ptr<const step::Neighbours>& graph,
                                       const NeighbourMessage& message) {
  using Part = NeighbourMessage::Part;
  const bool beside = recorder_.over() == step::Over::other_layers;
  const spec::LayerShape rest = beside_matrices(shape_);
  // Sends parts uncompressed if an adaptive compressor would encode one message per neighbour: the recorded amount is
  // one number per site, and cannot describe several messages.
  const auto plain = [&](const Part& part) {
    return beside || part.as_it_is || (!message.same_for_all && wire_.adapts());
  };
  std::vector<std::uint32_t> numbers;  // wire number of each matrix of a message
  for (const Part& part : message.parts)
    numbers.push_back(part.whole || plain(part) ? 0 : wire_.begin_matrix(recorder_.layer()));

  std::vector<std::vector<std::int32_t>> shares(message.parts.size(), std::vector<std::int32_t>(sites(), 0));
  const auto encode = [&](std::size_t site, std::size_t neighbour) {
    compress::Encoder encoder;
    for (std::size_t p = 0; p < message.parts.size(); ++p) {
      const Part& part = message.parts[p];
      if (part.whole) {
        encoder.int32(part.whole(site, neighbour));
      } else if (plain(part)) {
        encoder.fp32(part.of(site, neighbour));
      } else {
        const models::ConstBlock own = part.of(site, neighbour);
        const std::int64_t kept = wire_.encode(own, static_cast<std::int32_t>(site), numbers[p], encoder);
        shares[p][site] = compress::share_of(kept, own.size());
      }
    }
    return encoder.take();
  };
  const auto decode = [&](std::size_t site, std::size_t neighbour, const compress::Message& encoded, Arrived& into) {
    compress::Decoder decoder(encoded);
    for (std::size_t p = 0; p < message.parts.size(); ++p) {
      const Part& part = message.parts[p];
      if (part.whole) {
        decoder.int32(into.whole.emplace_back(part.whole(site, neighbour).size()));
        continue;
      }
      const models::ConstBlock own = part.of(site, neighbour);
      models::Matrix& arrived = into.parts.emplace_back(own.rows(), own.cols());
      if (plain(part)) {
        decoder.fp32(arrived);
      } else {
        wire_.decode(decoder, numbers[p], arrived);
      }
    }
  };

  // Encodes messages first, because an adaptive compressor knows the kept amount only after encoding.
  std::vector<std::vector<compress::Message>> messages(sites());  // messages per site: one, or one per neighbour
  std::size_t most_sent = 0;
  for (std::size_t site = 0; site < sites(); ++site) {
    const auto& to = graph->to.at(site);
    most_sent = std::max(most_sent, to.size());
    const std::size_t count = message.same_for_all ? std::min<std::size_t>(1, to.size()) : to.size();
    for (std::size_t i = 0; i < count; ++i) messages[site].push_back(encode(site, static_cast<std::size_t>(to[i])));
  }
  Payloads said;
  compress::Amount compressed{0.0};  // numbers of a message that are compressed
  for (std::size_t p = 0; p < message.parts.size(); ++p) {
    const Part& part = message.parts[p];
    Payloads of_part;
    if (part.whole) {
      of_part = {{part.elements, step::ElementType::int32}};
    } else if (plain(part)) {
      of_part = {{part.elements, step::ElementType::float32}};
    } else {
      std::optional<std::int32_t> slot;
      if (wire_.adapts()) slot = recorder_.add_slot(std::move(shares[p]));
      const compress::Amount of_this = amount(part.elements, slot);
      compressed.elements += of_this.elements;
      compressed.kept += of_this.kept;
      of_part = wire_.compressor().size(of_this);
    }
    for (step::Payload& payload : of_part) {
      payload.elements = part.present * payload.elements;
      said.push_back(std::move(payload));
    }
  }

  const spec::DeltaRelations deltas = beside ? spec::DeltaRelations{} : layers_.deltas_of(layer());
  Arrivals arrivals(sites());
  std::size_t most_received = 0;
  for (std::size_t site = 0; site < sites(); ++site) {
    const auto& to = graph->to.at(site);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const compress::Message& encoded = messages[site][message.same_for_all ? 0 : i];
      check_message(said,
                    {beside ? &rest : &layer(), &recorder_.sizes(), static_cast<std::int32_t>(site), nullptr, deltas},
                    encoded);
      uplink_bytes_[site] += static_cast<double>(encoded.size());
      const auto neighbour = static_cast<std::size_t>(to[i]);
      std::vector<Arrived>& inbox = arrivals.at(neighbour);
      decode(site, neighbour, encoded, inbox.emplace_back(Arrived{static_cast<std::int32_t>(site), {}, {}}));
      most_received = std::max(most_received, inbox.size());
    }
  }
  tap_.show_neighbours(message, arrivals);
  const auto times = [&](std::size_t count) {
    const auto factor = static_cast<double>(count);
    return compress::Amount{factor * compressed.elements, factor * compressed.kept};
  };
  if (!compressed.elements.is_zero()) charge_encoding(step::Role::workers, times(message.same_for_all ? 1 : most_sent));
  const std::int32_t serial =
      recorder_.add(step::CollectiveOp{step::CollectiveKind::neighbour_exchange, std::move(said), graph});
  return {std::move(arrivals), recorder_, serial, step::Role::workers, [this, all = times(most_received)](Arrivals&) {
            if (!all.elements.is_zero()) charge_decoding(step::Role::workers, all);
          }};
}

namespace {

/// Returns the work of summing `elements` numbers of each of `workers` workers.
step::Work work_of_sum(const step::Expression& elements, double workers) {
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
    if (tap_.listens()) {
      const auto biases = [](const models::LayerGradient& of) { return models::Matrix(of.bias.transpose()); };
      for (const std::size_t site : tap_.asked_parts()) {
        models::LayerGradient own = zero();
        add_to(site, own);
        tap_.show_part(site, own.weight, weights_of_matrix());
        tap_.show_part(site, biases(own), beside_matrix());
      }
      tap_.show_sum(sum.weight, weights_of_matrix());
      tap_.show_sum(biases(sum), beside_matrix());
    }
    compress::Encoder encoder;
    encoder.fp32(sum.weight);
    encoder.fp32(sum.bias.transpose());
    count_linear_sum(elements, encoder.take());
    return {std::move(sum), recorder_, record_sum(elements, adding), step::Role::workers};
  }
  if (wire_.leaves_biases()) return sum_without_biases(add_to);
  // Matrix and biases form one row of numbers on the wire.
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
      {weights_of_matrix(), work_of_sum(weights_of_matrix(), count()), 1, sum.weight.size()}, [&](std::size_t site) {
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
    if (of_sites.size() != 1) throw std::logic_error("an uncompressed sum needs one contribution, already summed");
    return sum_as_it_is(elements, std::move(of_sites.front()), part);
  }
  if (of_sites.size() != sites()) throw std::logic_error("a compressed sum needs a contribution of every site");
  return pending(
      sum_encoded({elements, work_of_sum(elements, count()), of_sites.front().rows(), of_sites.front().cols()},
                  [&](std::size_t site) { return std::move(of_sites[site]); }));
}

Pending<models::Matrix> Exchange::sum_as_it_is(const step::Expression& elements, models::Matrix sum,
                                               const PartOfSum& part, const AddedNoise& noise) {
  if (tap_.listens() && sum.size() > 0) {
    for (const std::size_t site : tap_.asked_parts()) {
      if (part) {
        tap_.show_part(site, part(site), elements, 0, noise.of_site);
      } else {
        tap_.show_unknown_part(site, sum, elements);
      }
    }
    tap_.show_sum(sum, elements, 0, noise.of_all);
  }
  count_linear_sum(elements, message_of(sum));
  return {std::move(sum), recorder_, record_sum(elements, work_of_sum(elements, count())), step::Role::workers};
}

void Exchange::agree_on_most(float most) {
  count_linear_sum(1.0, message_of(models::Matrix::Constant(1, 1, most)));
  recorder_.add(step::WaitOp{step::Role::workers, record(step::CollectiveKind::all_reduce, {{1.0}})});
}

Exchange::SentMatrix Exchange::sent(std::int32_t site, models::Matrix matrix, std::uint32_t number, bool sum) {
  compress::Memory* memory = wire_.remembers() && !sum ? &wire_.memory(site, number) : nullptr;
  if (memory != nullptr) matrix = memory->add(std::move(matrix));
  compress::Encoder encoder;
  const std::int64_t kept = wire_.encode(matrix, site, number, encoder, sum);
  SentMatrix sent{models::Matrix(matrix.rows(), matrix.cols()), encoder.take(), kept};
  compress::Decoder decoder(sent.message);
  wire_.decode(decoder, number, sent.arrived);
  sent.error = tap_.error_at(site, sent.arrived, matrix);
  // Moves the matrix, although the message may point into it: the bytes have been decoded, and only the length is used
  // from here on.
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
  for (std::size_t site = 0; site < sites(); ++site) {
    for (std::size_t p = 0; p < sum.of.size(); ++p) {
      SentMatrix own;
      if (!sum.of[p].is_absent) {
        own = sent(static_cast<std::int32_t>(site), of(site, p), sum.of[p].number);
        sum.sums[p] += own.arrived;
        if (tap_.looks_at(site)) tap_.show_part(site, own.arrived, sum.of[p].elements, own.error);
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
    // Rounds sums once, at the end; a sum inside the network rounds at every hop.
    if (sum.sums[p].size() == 0) continue;
    SentMatrix all = sent(-1, std::move(sum.sums[p]), sum.of[p].number, true);
    sum.sums[p] = std::move(all.arrived);
    tap_.show_sum(sum.sums[p], sum.of[p].elements, all.error);
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
    if (bytes != downlink_bytes_ - before) throw std::logic_error("a forwarded message changed its size");
    sum.serial = record(step::CollectiveKind::broadcast, said);
    return;
  }
  for (const Summand& part : sum.of) decode_and_add(step::Role::aggregator, part);
  for (std::size_t p = 0; p < sum.of.size(); ++p) {
    Summand& part = sum.of[p];
    SentMatrix back;
    if (!part.is_absent) {
      back = sent(-1, std::move(sum.sums[p]), part.number, wire_.adds());
      sum.sums[p] = std::move(back.arrived);
      tap_.show_sum(sum.sums[p], part.elements, back.error);
    }
    std::optional<std::int32_t> slot;
    if (wire_.adapts()) {
      slot = recorder_.add_slot({compress::share_of(back.kept, std::max<Eigen::Index>(1, part.rows * part.columns))});
    }
    part.down = amount(part.elements, slot);
    const Payloads of_part = payloads_of(part, part.down);
    hand_over(of_part, -1, back.message);
    said.insert(said.end(), of_part.begin(), of_part.end());
    // Charges no memory if all sites encode in the same way: encoded messages are then added directly, without further
    // loss.
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

/// Charges the sum of all sites' messages: each is decoded into the sum, or decoded and then added.
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
  return pending(sum_encoded({elements, work_of_sum(elements, count()), 1, numbers}, of));
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
  std::vector<Summand> parts{{matrix, work_of_sum(matrix, count()), shape.out, shape.in},
                             {biases, work_of_sum(biases, count()), 1, shape.bias ? shape.out : 0}};
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
    throw std::logic_error(
        fmt::format("the message has {} numbers besides the matrices, but the shapes have {}", size, known));
  }
  const compress::Message message = encoder.take();
  for (double& uplink_bytes : uplink_bytes_) uplink_bytes += static_cast<double>(message.size());
  if (mode_ == spec::ExchangeMode::aggregator) downlink_bytes_ += static_cast<double>(message.size());
  return record_sum(step::extent::parameters(), cost::add_gradients(count()));
}

}  // namespace dadsim::algorithms

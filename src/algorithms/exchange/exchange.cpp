#include "algorithms/exchange/exchange.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/cost.hpp"
#include "compress/message.hpp"
#include "compress/registry.hpp"
#include "step/expression.hpp"

namespace dadsim::algorithms {
namespace {

/// Throws std::logic_error unless the sizes in symbols evaluate to what the message holds: as many elements of each
/// type in the same order, so that neither its length nor what a run in 16 bit makes of it can be made up.
void check_message(const std::vector<step::Payload>& said, const step::Scope& scope, const compress::Message& message);

/// Segments of one type that follow each other are one; empty ones are none.
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

void check_message(const std::vector<step::Payload>& said, const step::Scope& scope, const compress::Message& message) {
  Segments expected, actual;
  for (const step::Payload& payload : said) append(expected, payload.type, payload.elements.evaluate(scope));
  for (std::size_t i = 0; i < message.segments(); ++i) {
    append(actual, message.segment(i).type, static_cast<double>(message.segment(i).elements));
  }
  if (expected == actual) return;
  std::vector<std::string> symbols;
  for (const step::Payload& payload : said) symbols.push_back(payload.elements.to_string());
  throw std::logic_error(fmt::format("layer {}: a message of {} ({} bytes) where its size in symbols, {}, says {}",
                                     scope.layer->name, in_words(actual), message.size(), fmt::join(symbols, "; "),
                                     in_words(expected)));
}

}  // namespace

Wire::Wire(const spec::CompressSpec& asked, std::uint64_t seed)
    : info_(&compress::compressors().at(asked.method)),
      compressor_(info_->make(asked.parameters)),
      adds_(info_->adds(asked.parameters)),
      forwards_(info_->forwards(asked.parameters)),
      unbiased_(!info_->biased(asked.parameters)),
      remembers_(asked.memory),
      scope_(asked.scope),
      seed_(seed) {}

std::int64_t Wire::encode(models::ConstBlock numbers, std::int32_t site, std::uint32_t matrix, compress::Encoder& into,
                          bool sum) {
  const auto [state, is_new] = state_.try_emplace({of_all(site), matrices_.places.at(matrix)});
  if (is_new) state->second = compressor_->make_state();
  return compressor_->encode(numbers, {seed_, step_, message_++, matrix, state->second.get(), sum}, into);
}

void Wire::decode(compress::Decoder& from, std::uint32_t matrix, models::MutableBlock into) const {
  compressor_->decode(from, {seed_, step_, 0, matrix}, into);
}

compress::Memory& Wire::memory(std::int32_t site, std::uint32_t matrix) {
  const auto [memory, is_new] = memory_.try_emplace({of_all(site), matrices_.places.at(matrix)});
  if (is_new) memory->second = compressor_->make_memory();
  return *memory->second;
}

compress::Memory& Wire::memory_of_uncompressed(std::uint32_t sum, std::size_t sites) {
  const auto [memory, is_new] = uncompressed_.try_emplace(uncompressed_sums_.places.at(sum));
  if (is_new) memory->second = compressor_->make_memory_of_uncompressed(sites);
  return *memory->second;
}

Exchange::Exchange(step::StepRecorder& recorder, const spec::ModelShape& shape, spec::ExchangeMode mode,
                   const spec::CompressSpec& compress, std::uint64_t seed)
    : recorder_(recorder),
      shape_(shape),
      all_layers_(spec::all_as_one(shape, true)),
      mode_(mode),
      wire_(compress, seed) {
  for (const spec::LayerShape& layer : shape_.layers) {
    if (layer.has_outer_product()) outer_products_.push_back(&layer);
    if (layer.has_matrix()) matrices_.push_back(&layer);
  }
}

void Exchange::begin_step(std::int64_t number, std::vector<std::int32_t> sites_there) {
  uplink_bytes_.assign(sites(), 0.0);
  downlink_bytes_ = 0;
  growths_.clear();
  wire_.begin_step(static_cast<std::uint32_t>(number), std::move(sites_there));
}

void Exchange::forget(const std::vector<double>& over, double down) {
  for (std::size_t site = 0; site < uplink_bytes_.size(); ++site) uplink_bytes_[site] -= over.at(site);
  downlink_bytes_ -= down;
}

const spec::LayerShape& Exchange::layer() const {
  const std::int32_t index = recorder_.layer();
  if (index < 0) return recorder_.over() == step::Over::all_layers ? all_layers_ : *outer_products_.back();
  return *(recorder_.over_embeddings() ? matrices_ : outer_products_).at(static_cast<std::size_t>(index));
}

void Exchange::check(const Payloads& said, std::int32_t worker, const compress::Message& message) const {
  check_message(said, {&layer(), &recorder_.sizes(), worker}, message);
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
    // Each is shifted to its place, or from it.
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
  // What each part arrives in, and how many rows of it have arrived.
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
    parts[i].matrix = wire_.begin_matrix(recorder_.layer());  // of another shape: it needs places of its own
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
  step::KnownSums sums;  // over all sites: each site's message would have them added up anew
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
  const std::optional<ObservedMatrix> on = subject();
  const double error = on ? show_rows_of_sites(*on, own, all) : 0;
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
  if (on) show_result(*on, own, arrived, result, error, how.keeps_rows());
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
  if (own.size() != blocks()) throw std::logic_error("a contribution for every block");
  const Contribution& like = own.front();
  for (const Contribution& block : own) {
    if (!std::ranges::all_of(block.parts, [](const auto& part) { return static_cast<bool>(part.codes); })) {
      throw std::logic_error("blocks are handed out as codes");
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
      // A site's own block is not sent.
      const bool stays = mode_ == spec::ExchangeMode::peer && site == block;
      stays ? check(said, static_cast<std::int32_t>(site), messages[site])
            : hand_over(said, static_cast<std::int32_t>(site), messages[site]);
    }
    all.push_back(receive_all(own[block], parts, messages));
  }
  if (const std::optional<ObservedMatrix> on = subject()) show_blocks(*on, own);
  charge_codes(step::Phase::encode, step::Role::workers, like, static_cast<double>(blocks()) * like.rows);
  const std::int32_t serial =
      record(mode_ == spec::ExchangeMode::peer ? step::CollectiveKind::all_to_all : step::CollectiveKind::gather, said);
  return {std::move(all), recorder_, serial, combiner(),
          [this, like, rows](std::vector<Rows>&) { charge_codes(step::Phase::decode, combiner(), like, rows); }};
}

Pending<std::vector<Rows>> Exchange::all_gather(const std::vector<Rows>& made, const Contribution& like) {
  if (made.size() != blocks()) throw std::logic_error("something for every block");
  std::vector<Rows> arrived;
  const step::Expression rows = made.front().rows;
  PartsOnWire parts(like.parts.size());
  const bool by_peers = mode_ == spec::ExchangeMode::peer;
  for (std::size_t block = 0; block < made.size(); ++block) {
    arrived.push_back(hand_back(made[block], like, parts, by_peers ? static_cast<std::int32_t>(block) : -1));
  }
  if (const std::optional<ObservedMatrix> on = subject()) show_made_blocks(*on, arrived, like);
  charge_codes(step::Phase::encode, combiner(), like, rows);
  const std::int32_t serial = record(by_peers ? step::CollectiveKind::all_gather : step::CollectiveKind::broadcast,
                                     payloads_of(like, rows, parts));
  return {std::move(arrived), recorder_, serial, step::Role::workers,
          [this, like, all = static_cast<double>(blocks()) * rows](std::vector<Rows>&) {
            charge_codes(step::Phase::decode, step::Role::workers, like, all);
          }};
}

namespace {

/// Everything beside the matrices as one layer: parameters alone.
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
  // Where each neighbour gets a message of its own, one number per site does not say what was kept of each: then a
  // compressor that adapts is left out.
  const auto plain = [&](const Part& part) {
    return beside || part.as_it_is || (!message.same_for_all && wire_.adapts());
  };
  std::vector<std::uint32_t> numbers;  // the number of each matrix of a message
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

  // Messages first: what a compressor that adapts has kept is known after it.
  std::vector<std::vector<compress::Message>> messages(sites());  // one, or one per neighbour
  std::size_t most_sent = 0;
  for (std::size_t site = 0; site < sites(); ++site) {
    const auto& to = graph->to.at(site);
    most_sent = std::max(most_sent, to.size());
    const std::size_t count = message.same_for_all ? std::min<std::size_t>(1, to.size()) : to.size();
    for (std::size_t i = 0; i < count; ++i) messages[site].push_back(encode(site, static_cast<std::size_t>(to[i])));
  }
  Payloads said;
  compress::Amount compressed{0.0};  // numbers of a message that the compressor sees
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

  const spec::DeltaRelations last{.last_matrix = !beside && &layer() == outer_products_.back()};
  Arrivals arrivals(sites());
  std::size_t most_received = 0;
  for (std::size_t site = 0; site < sites(); ++site) {
    const auto& to = graph->to.at(site);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const compress::Message& encoded = messages[site][message.same_for_all ? 0 : i];
      check_message(said,
                    {beside ? &rest : &layer(), &recorder_.sizes(), static_cast<std::int32_t>(site), nullptr, last},
                    encoded);
      uplink_bytes_[site] += static_cast<double>(encoded.size());
      const auto neighbour = static_cast<std::size_t>(to[i]);
      std::vector<Arrived>& inbox = arrivals.at(neighbour);
      decode(site, neighbour, encoded, inbox.emplace_back(Arrived{static_cast<std::int32_t>(site), {}, {}}));
      most_received = std::max(most_received, inbox.size());
    }
  }
  if (const std::optional<ObservedMatrix> on = subject()) show_neighbours(*on, message, arrivals);
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
    if (const std::optional<ObservedMatrix> on = subject()) {
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
  if (const std::optional<ObservedMatrix> on = subject(); on && sum.size() > 0) {
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

Exchange::SentMatrix Exchange::sent(std::int32_t site, models::Matrix matrix, std::uint32_t number, bool sum) {
  compress::Memory* memory = wire_.remembers() && !sum ? &wire_.memory(site, number) : nullptr;
  if (memory != nullptr) matrix = memory->add(std::move(matrix));
  compress::Encoder encoder;
  const std::int64_t kept = wire_.encode(matrix, site, number, encoder, sum);
  SentMatrix sent{models::Matrix(matrix.rows(), matrix.cols()), encoder.take(), kept};
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
  const std::optional<ObservedMatrix> on = subject();
  for (std::size_t site = 0; site < sites(); ++site) {
    for (std::size_t p = 0; p < sum.of.size(); ++p) {
      SentMatrix own;
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
    SentMatrix all = sent(-1, std::move(sum.sums[p]), sum.of[p].number, true);
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
    SentMatrix back;
    if (!part.is_absent) {
      back = sent(-1, std::move(sum.sums[p]), part.number, wire_.adds());
      sum.sums[p] = std::move(back.arrived);
      if (const std::optional<ObservedMatrix> on = subject()) show_sum(*on, sum.sums[p], part.elements, back.error);
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

namespace {

using Kind = SeenMatrix::Kind;

/// ‖a − b‖ ÷ ‖b‖.
double relative_distance(const models::ConstBlock& a, const models::ConstBlock& b) {
  const double norm = std::sqrt(b.cast<double>().squaredNorm());
  return norm > 0 ? std::sqrt((a - b).cast<double>().squaredNorm()) / norm : 0;
}

/// Whether a size in symbols is another one in a layer that `change` makes a little different.
template <class Change>
bool depends(const step::Expression& size, const spec::LayerShape& layer, const step::StepSizes& sizes, Change change) {
  spec::LayerShape other = layer;
  change(other);
  other.parameters +=
      other.in * other.out + (other.bias ? other.out : 0) - layer.in * layer.out - (layer.bias ? layer.out : 0);
  return size.evaluate({&layer, &sizes, 0}) != size.evaluate({&other, &sizes, 0});
}

std::span<const float> flat(const models::Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.size())};
}

/// Votes and signs: of one bit, whether it is below zero; of two, one more for above.
float of_code(std::uint32_t code, int bits) {
  const auto bit = [&](unsigned place) { return static_cast<float>((code >> place) & 1U); };
  return bits == 1 ? 1.0F - 2.0F * bit(0) : bit(1) - bit(0);
}

}  // namespace

std::optional<Exchange::ObservedMatrix> Exchange::subject() const {
  if (observer_ == nullptr || recorder_.over() == step::Over::other_layers || outer_products_.empty()) return {};
  ObservedMatrix on{&layer()};
  on.undecided = recorder_.in_alternative();
  if (on.layer == &all_layers_) {
    on.layer = outer_products_.front();
    on.first = on.whole = true;
    return on;
  }
  on.table = on.layer->kind == spec::LayerKind::embedding && on.layer == matrices_.front();
  on.first = on.layer == outer_products_.front();
  on.last = on.layer == outer_products_.back() && observer_->wants_all();
  if (!on.first && !on.last && !on.table) return {};
  return on;
}

double Exchange::error_of(const models::ConstBlock& arrived, const models::ConstBlock& sent) const {
  return compresses() && arrived.size() > 0 ? relative_distance(arrived, sent) : 0;
}

void Exchange::show(const ObservedMatrix& on, Kind kind, const models::ConstBlock& numbers, const Showing& how) {
  SeenMatrix seen{.kind = on.undecided ? Kind::unread : kind,
                  .first = on.first,
                  .last = on.last,
                  .sender = how.sender,
                  .of_all = how.of_all,
                  .readers = how.readers,
                  .numbers = numbers,
                  .error = how.error,
                  .noise = how.noise};
  if (how.put_in != nullptr) seen.sent = *how.put_in;
  if (wire_.is_unbiased() && how.error > 0) {
    // Stochastic rounding is noise of a deviation that the receiver knows.
    const double rms = std::sqrt(numbers.cast<double>().squaredNorm() / static_cast<double>(numbers.size()));
    seen.noise = std::hypot(how.noise, how.error * rms);
  }
  observer_->see(seen);
}

void Exchange::show_flat(const ObservedMatrix& on, std::span<const float> numbers, bool biases_first,
                         const Showing& how) {
  const spec::LayerShape& of = *on.layer;
  const std::int64_t weights = of.in * of.out;
  // A compressor may leave the biases to a message of their own.
  const std::int64_t biases = of.bias && std::ssize(numbers) > weights ? of.out : 0;
  show(on, Kind::gradient,
       Eigen::Map<const models::Matrix>(numbers.data() + (biases_first ? biases : 0), of.out, of.in), how);
  if (biases == 0) return;
  show(on, Kind::biases, Eigen::Map<const models::Matrix>(numbers.data() + (biases_first ? 0 : weights), 1, biases),
       how);
}

const Exchange::Growth& Exchange::growth_of(const step::Expression& size, const spec::LayerShape& layer) {
  for (const Growth& known : growths_) {
    if (known.layer == &layer && known.size == size) return known;
  }
  const bool with_in = depends(size, layer, recorder_.sizes(), [](spec::LayerShape& other) { ++other.in; });
  const bool with_out = depends(size, layer, recorder_.sizes(), [](spec::LayerShape& other) { ++other.out; });
  return growths_.emplace_back(Growth{&layer, size, with_in, with_out});
}

void Exchange::show_matrix(const ObservedMatrix& on, const models::ConstBlock& numbers, const step::Expression& size,
                           const Showing& how) {
  if (numbers.size() == 0 || how.readers == 0 || on.table) return;
  const spec::LayerShape& of = *on.layer;
  const Eigen::Index in = of.in, out = of.out, biases = of.bias ? out : 0;
  if (on.whole) {
    if (!observer_->wants_all()) return;
    const models::Matrix first = numbers.leftCols(in * out + biases);
    return show_flat(on, flat(first), false, how);
  }
  // As many rows as outputs are a gradient where their size grows with both.
  const Growth& growth = growth_of(size, of);
  const bool wide_in = growth.with_in, wide_out = growth.with_out;
  const bool is_gradient = wide_in && wide_out && numbers.rows() == out && numbers.cols() == in;
  if (is_gradient) return show(on, Kind::gradient, numbers, how);
  const bool is_row = numbers.rows() == 1, is_column = numbers.cols() == 1;
  if ((is_row || is_column) && (numbers.size() == in * out || numbers.size() == in * out + biases)) {
    const models::Matrix whole = numbers;
    return show_flat(on, flat(whole), is_column && numbers.size() > in * out, how);
  }
  if ((is_row || is_column) && numbers.size() == biases && wide_out && !wide_in &&
      depends(size, of, recorder_.sizes(), [](spec::LayerShape& other) { other.bias = false; })) {
    const models::Matrix whole = numbers;
    return show(on, Kind::biases, Eigen::Map<const models::Matrix>(whole.data(), 1, biases), how);
  }
  if (wide_in != wide_out) {
    const Eigen::Index width = wide_in ? in : out;
    const Kind kind = wide_in ? Kind::input_rows : Kind::output_rows;
    if (numbers.cols() == width || (wide_in && numbers.cols() == in + 1)) return show(on, kind, numbers, how);
    if (numbers.rows() == width) return show(on, kind, models::Matrix(numbers.transpose()), how);
  }
  // A size that does not grow with the inputs cannot be that of their rows.
  if (wide_in || !on.first) show(on, Kind::unread, numbers, how);
}

bool Exchange::is_of_inputs(const ObservedMatrix& on, const step::Expression& size) const {
  return on.first && depends(size, *on.layer, recorder_.sizes(), [](spec::LayerShape& other) { ++other.in; });
}

void Exchange::show_codes(const ObservedMatrix& on, std::span<const std::uint32_t> codes, int bits,
                          const Showing& how) {
  if (codes.empty() || on.table) return;
  const spec::LayerShape& of = *on.layer;
  const std::int64_t numbers = of.in * of.out + (of.bias ? of.out : 0);
  models::Matrix row(1, static_cast<Eigen::Index>(codes.size()));
  for (std::size_t i = 0; i < codes.size(); ++i) row(static_cast<Eigen::Index>(i)) = of_code(codes[i], bits);
  // Padding fills up the last of equal blocks.
  if (bits <= 2 && row.size() >= numbers) return show_flat(on, flat(row), false, how);
  show(on, Kind::unread, row, how);
}

void Exchange::show_rows(const ObservedMatrix& on, const Contribution& own, const Rows& arrived,
                         const std::function<models::ConstBlock(std::size_t part)>& sent, std::size_t first_row,
                         std::size_t rows, const Showing& how) {
  std::size_t matrix = 0, list = 0, coded = 0;
  const auto slice = [&](const auto& numbers, Eigen::Index per_row) {
    return std::span(numbers).subspan(first_row * static_cast<std::size_t>(per_row),
                                      rows * static_cast<std::size_t>(per_row));
  };
  for (std::size_t i = 0; i < own.parts.size(); ++i) {
    const Contribution::Part& part = own.parts[i];
    if (part.whole) {
      const std::vector<std::int32_t>& numbers = arrived.whole[list++];
      if (on.table && numbers.size() >= first_row + rows) {
        models::Matrix symbols(static_cast<Eigen::Index>(rows), 1);
        for (std::size_t r = 0; r < rows; ++r) {
          symbols(static_cast<Eigen::Index>(r)) = static_cast<float>(numbers[first_row + r]);
        }
        show(on, Kind::symbols, symbols, how);
      }
      continue;
    }
    if (part.codes) {
      const std::vector<std::uint32_t>& numbers = arrived.codes[coded++];
      std::size_t most = 0;
      for (std::size_t site = 0; site < sites(); ++site) most = std::max(most, part.codes(site).size());
      const auto per_row = static_cast<Eigen::Index>(most);
      if (rows > 0 && numbers.size() >= (first_row + rows) * static_cast<std::size_t>(per_row)) {
        show_codes(on, slice(numbers, per_row), part.bits, how);
      }
      continue;
    }
    const models::Matrix& numbers = arrived.parts[matrix++];
    const bool is_there = numbers.rows() >= static_cast<Eigen::Index>(first_row + rows);
    if (own.entries || !is_there) continue;
    const auto block = numbers.middleRows(static_cast<Eigen::Index>(first_row), static_cast<Eigen::Index>(rows));
    Showing of_part = how;
    of_part.error = std::max(how.error, error_of(block, sent(i)));
    if (how.as_sent) of_part.put_in = &part.of;
    show_matrix(on, block, part.width, of_part);
  }
  if (!own.entries || on.table || arrived.parts.empty() || arrived.whole.empty() || !observer_->wants_all()) return;
  const spec::LayerShape& of = *on.layer;
  models::Matrix gradient = models::Matrix::Zero(of.out, of.in);
  for (std::size_t r = first_row; r < first_row + rows; ++r) {
    gradient.data()[arrived.whole[0][r]] += arrived.parts[0](static_cast<Eigen::Index>(r), 0);
  }
  show(on, Kind::gradient, gradient, how);
}

double Exchange::show_rows_of_sites(const ObservedMatrix& on, const Contribution& own, const Rows& all) {
  const bool by_peers = mode_ == spec::ExchangeMode::peer;
  const bool has_numbers = std::ranges::any_of(own.parts, &Contribution::Part::has_numbers);
  std::size_t first = 0;
  double largest = 0;
  for (std::size_t site = 0; site < sites(); ++site) {
    std::size_t rows = 0;
    for (const Contribution::Part& part : own.parts) {
      if (part.has_numbers()) rows = std::max(rows, static_cast<std::size_t>(part.of(site).rows()));
      // A row may have several words beside its numbers.
      if (part.whole && !own.entries && !has_numbers) rows = std::max(rows, part.whole(site).size());
      if (part.codes) rows = std::max<std::size_t>(rows, part.codes(site).empty() ? 0 : 1);
    }
    const std::size_t own_first = std::exchange(first, first + rows);
    if (!looks_at(site)) continue;
    const Showing how{.sender = static_cast<std::int32_t>(site),
                      .of_all = false,
                      .readers = (by_peers ? kReadBySites : kReadByAggregator) | unsigned{kReadOnLine},
                      .error = 0,
                      .noise = own.noise.of_site,
                      .as_sent = !compresses()};
    show_rows(
        on, own, all, [&](std::size_t part) { return own.parts[part].of(site); }, own_first, rows, how);
    std::size_t matrix = 0;
    for (const Contribution::Part& part : own.parts) {
      if (!part.has_numbers()) continue;
      const models::Matrix& numbers = all.parts[matrix++];
      const models::ConstBlock sent = part.of(site);
      const auto there = static_cast<Eigen::Index>(own_first);
      if (sent.size() == 0 || numbers.rows() < there + sent.rows()) continue;
      largest = std::max(largest, error_of(numbers.middleRows(there, sent.rows()), sent));
    }
  }
  return largest;
}

void Exchange::show_result(const ObservedMatrix& on, const Contribution& like, const Rows& arrived, const Rows& sent,
                           double error, bool kept) {
  std::size_t rows = 0;
  for (const models::Matrix& part : arrived.parts) rows = std::max(rows, static_cast<std::size_t>(part.rows()));
  if (arrived.parts.empty() && !arrived.whole.empty()) rows = arrived.whole[0].size();
  if (arrived.parts.empty() && !arrived.codes.empty()) rows = arrived.codes[0].empty() ? 0 : 1;
  std::vector<std::size_t> place(like.parts.size());
  std::size_t matrix = 0;
  for (std::size_t i = 0; i < like.parts.size(); ++i) place[i] = like.parts[i].has_numbers() ? matrix++ : 0;
  show_rows(on, like, arrived, [&](std::size_t part) { return models::ConstBlock(sent.parts[place[part]]); }, 0, rows,
            {.sender = SeenMatrix::kAggregator,
             .of_all = true,
             .readers = unsigned{kReadBySites} | kReadOnLine,
             .error = error,
             .noise = like.noise.of_all,
             .as_sent = kept && !compresses()});
}

void Exchange::show_blocks(const ObservedMatrix& on, const std::vector<Contribution>& own) {
  // A site's blocks go to different peers: only its own line carries all of them.
  const unsigned readers =
      (mode_ == spec::ExchangeMode::peer ? 0U : unsigned{kReadByAggregator}) | unsigned{kReadOnLine};
  for (std::size_t site = 0; site < sites(); ++site) {
    if (!looks_at(site)) continue;
    std::vector<std::uint32_t> codes;
    for (const Contribution& block : own) {
      const std::span<const std::uint32_t> of_block = block.parts.front().codes(site);
      codes.insert(codes.end(), of_block.begin(), of_block.end());
    }
    show_codes(on, codes, own.front().parts.front().bits, {static_cast<std::int32_t>(site), false, readers, 0, 0});
  }
}

void Exchange::show_made_blocks(const ObservedMatrix& on, const std::vector<Rows>& arrived, const Contribution& like) {
  std::vector<std::uint32_t> codes;
  for (const Rows& block : arrived) codes.insert(codes.end(), block.codes.front().begin(), block.codes.front().end());
  show_codes(on, codes, like.parts.front().bits,
             {SeenMatrix::kAggregator, true, unsigned{kReadBySites} | kReadOnLine, 0, 0});
}

unsigned Exchange::readers_of_parts() const {
  const bool by_peers = mode_ == spec::ExchangeMode::peer;
  unsigned readers = unsigned{kReadOnLine} | (by_peers ? 0U : unsigned{kReadByAggregator});
  // Messages that do not add up go on to every site as they are.
  if (compresses() && (by_peers ? !wire_.adds() : wire_.forwards())) readers |= kReadBySites;
  return readers;
}

unsigned Exchange::readers_of_sums() const {
  const bool masked = mode_ == spec::ExchangeMode::aggregator && (!compresses() || wire_.adds());
  return unsigned{kReadBySites} | kReadOnLine | (masked ? unsigned{kReadBySecureAggregator} : 0U);
}

void Exchange::show_part(const ObservedMatrix& on, std::size_t site, const models::ConstBlock& numbers,
                         const step::Expression& size, double error, double noise) {
  show_matrix(on, numbers, size, {static_cast<std::int32_t>(site), false, readers_of_parts(), error, noise});
}

void Exchange::show_sum(const ObservedMatrix& on, const models::ConstBlock& numbers, const step::Expression& size,
                        double error, double noise) {
  show_matrix(on, numbers, size, {SeenMatrix::kAggregator, true, readers_of_sums(), error, noise});
}

void Exchange::show_neighbours(const ObservedMatrix& on, const NeighbourMessage& message, const Arrivals& arrivals) {
  std::vector<char> shown(sites(), 0);
  for (std::size_t to = 0; to < arrivals.size(); ++to) {
    for (const Arrived& arrived : arrivals[to]) {
      const auto from = static_cast<std::size_t>(arrived.sender);
      if (!looks_at(from) || (message.same_for_all && std::exchange(shown[from], 1) != 0)) continue;
      Showing how{arrived.sender, false, unsigned{kReadBySites} | kReadOnLine, 0, 0};
      std::size_t matrix = 0;
      for (const NeighbourMessage::Part& part : message.parts) {
        if (part.whole) continue;
        const models::Matrix& numbers = arrived.parts[matrix++];
        how.error = error_of(numbers, part.of(from, to));
        show_matrix(on, numbers, part.elements, how);
      }
    }
  }
}

}  // namespace dadsim::algorithms

#include "algorithms/exchange/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "algorithms/cost.hpp"
#include "algorithms/exchange/message_check.hpp"

namespace dadsim::algorithms {

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
  const std::optional<Subject> on = subject();
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

}  // namespace dadsim::algorithms

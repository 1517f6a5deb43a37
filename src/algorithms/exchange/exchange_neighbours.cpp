// What goes from neighbour to neighbour in a graph.
#include <algorithm>
#include <optional>

#include "algorithms/exchange/exchange.hpp"
#include "algorithms/exchange/message_check.hpp"

namespace dadsim::algorithms {
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
  std::vector<std::uint32_t> numbers;  // of the matrices of a message
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
  if (const std::optional<Subject> on = subject()) show_neighbours(*on, message, arrivals);
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

}  // namespace dadsim::algorithms

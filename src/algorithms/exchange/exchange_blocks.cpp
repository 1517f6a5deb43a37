// What is combined block by block: each site sees to one block among peers, the aggregator to all as one.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "algorithms/exchange/exchange.hpp"

namespace dadsim::algorithms {

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
  if (const std::optional<Subject> on = subject()) show_blocks(*on, own);
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
  if (const std::optional<Subject> on = subject()) show_made_blocks(*on, arrived, like);
  charge_codes(step::Phase::encode, combiner(), like, rows);
  const std::int32_t serial = record(by_peers ? step::CollectiveKind::all_gather : step::CollectiveKind::broadcast,
                                     payloads_of(like, rows, parts));
  return {std::move(arrived), recorder_, serial, step::Role::workers,
          [this, like, all = static_cast<double>(blocks()) * rows](std::vector<Rows>&) {
            charge_codes(step::Phase::decode, step::Role::workers, like, all);
          }};
}

}  // namespace dadsim::algorithms

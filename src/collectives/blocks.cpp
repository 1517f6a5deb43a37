#include "collectives/blocks.hpp"

#include <bit>

namespace dadsim::collectives {

BlockSizes::BlockSizes(const std::vector<double>& bytes) : blocks_(static_cast<std::int64_t>(bytes.size())) {
  if (bytes.empty()) return;
  const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
  each_ = *most;
  if (*least == *most) return;
  before_.reserve(bytes.size() + 1);
  before_.push_back(0);
  for (const double size : bytes) before_.push_back(before_.back() + size);
}

double BlockSizes::run(std::int64_t first, std::int64_t blocks) const {
  if (equal()) return each_ * static_cast<double>(blocks);
  const auto before = [this](std::int64_t block) { return before_[static_cast<std::size_t>(block)]; };
  const std::int64_t end = first + blocks;
  if (end <= blocks_) return before(end) - before(first);
  return before(blocks_) - before(first) + before(end - blocks_);
}

void BlockRounds::to_transfers(const std::vector<BlockParcel>& parcels, bool by_channel,
                               std::vector<Transfer>& out) const {
  bool any = false;
  for (const BlockParcel& parcel : parcels) {
    const double bytes = parcel.weight * run_bytes(parcel.first, parcel.blocks);
    const std::int32_t channel = by_channel ? parcel.channel : 0;
    if (any && out.back().peer == parcel.peer && out.back().channel == channel) {
      out.back().bytes += bytes;
    } else {
      out.push_back({parcel.peer, bytes, channel});
      any = true;
    }
  }
}

void BlockRounds::sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const {
  std::vector<BlockParcel> parcels;
  sent(rank, round, parcels);
  to_transfers(parcels, false, out);
}

void BlockRounds::receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const {
  std::vector<BlockParcel> parcels;
  received(rank, round, parcels);
  to_transfers(parcels, false, out);
}

void BlockRounds::lane_sends(Rank rank, Rank lane, std::int64_t round, std::vector<Transfer>& out) const {
  std::vector<BlockParcel> parcels;
  sent_in_lane(rank, lane, round, parcels);
  to_transfers(parcels, true, out);
}

void BlockRounds::lane_receives(Rank rank, Rank lane, std::int64_t round, std::vector<Transfer>& out) const {
  std::vector<BlockParcel> parcels;
  received_in_lane(rank, lane, round, parcels);
  to_transfers(parcels, true, out);
}

std::vector<RoundPhase> BlockRounds::phases() const {
  if (count() == 0) return {};
  return {{0, count(), count() == 1}};
}

double BlockRounds::busiest_bytes(std::int64_t round) const {
  double most = 0;
  std::vector<BlockParcel> parcels;
  const auto total = [&] {
    double bytes = 0;
    for (const BlockParcel& parcel : parcels) bytes += parcel.weight * run_bytes(parcel.first, parcel.blocks);
    parcels.clear();
    return bytes;
  };
  for (Rank rank = 0; rank < ranks_; ++rank) {
    sent(rank, round, parcels);
    most = std::max(most, total());
    received(rank, round, parcels);
    most = std::max(most, total());
  }
  return most;
}

int ceil_log2(std::int64_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1))); }

Rank power_of_two_within(Rank n) { return static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(n))); }

bool is_power_of_two(Rank n) { return std::has_single_bit(static_cast<std::uint32_t>(n)); }

}  // namespace dadsim::collectives

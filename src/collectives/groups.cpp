#include "collectives/groups.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace dadsim::collectives {
namespace {

class GroupRounds final : public Rounds {
 public:
  GroupRounds(std::vector<RankGroup> groups, Rank ranks)
      : groups_(std::move(groups)), place_of_(static_cast<std::size_t>(ranks)) {
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      const RankGroup& own = groups_[group];
      if (own.rounds->ranks() != static_cast<Rank>(own.ranks.size())) {
        throw std::logic_error("the size of a group differs from that of its rounds");
      }
      count_ = std::max(count_, own.rounds->count());
      same_rounds_ = (group == 0 || same_rounds_) && own.rounds == groups_.front().rounds;
      lanes_ = std::max(lanes_, own.rounds->lanes());
      set_post_seconds(std::max(post_seconds(), own.rounds->post_seconds()));
      if (own.rounds->start_seconds() > start_seconds()) {
        set_start_seconds(own.rounds->start_seconds());
        set_lost_seconds(own.rounds->lost_seconds());
      }
      // If groups prefer different protocols, Simple represents them, because all paths support it.
      set_protocol(group == 0 || own.rounds->protocol() == protocol() ? own.rounds->protocol() : Protocol::simple);
      for (std::size_t place = 0; place < own.ranks.size(); ++place) {
        GroupPlace& of_rank = place_of_.at(static_cast<std::size_t>(own.ranks[place]));
        if (of_rank.group >= 0) throw std::logic_error("a rank is in two groups");
        of_rank = {static_cast<std::int32_t>(group), static_cast<Rank>(place)};
      }
    }
  }

  Rank ranks() const override { return static_cast<Rank>(place_of_.size()); }
  std::int64_t count() const override { return count_; }

  /// All groups carry out the same algorithm.
  Pace pace() const override { return groups_.empty() ? Pace{} : groups_.front().rounds->pace(); }

  Rank lanes() const override { return lanes_; }

  void sends(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
    of_group(rank, round, out, [&](const Rounds& own, Rank place) { own.sends(place, round, out); });
  }

  void receives(Rank rank, std::int64_t round, std::vector<Transfer>& out) const override {
    of_group(rank, round, out, [&](const Rounds& own, Rank place) { own.receives(place, round, out); });
  }

  /// A small group sends nothing in lanes that only larger groups have.
  void lane_sends(Rank rank, Rank lane, std::int64_t round, std::vector<Transfer>& out) const override {
    of_group(rank, round, out, [&](const Rounds& own, Rank place) {
      if (lane < own.lanes()) own.lane_sends(place, lane, round, out);
    });
  }

  void lane_receives(Rank rank, Rank lane, std::int64_t round, std::vector<Transfer>& out) const override {
    of_group(rank, round, out, [&](const Rounds& own, Rank place) {
      if (lane < own.lanes()) own.lane_receives(place, lane, round, out);
    });
  }

  /// Returns the sizes of a round, if all groups share the same rounds.
  bool sizes_of(std::int64_t round, RoundSizes& out) const override {
    return same_rounds_ && groups_.front().rounds->sizes_of(round, out);
  }

  std::int32_t kind_of(Rank from, Rank to) const override {
    const GroupPlace& own = place_of_[static_cast<std::size_t>(from)];
    const GroupPlace& peer = place_of_[static_cast<std::size_t>(to)];
    return groups_[static_cast<std::size_t>(own.group)].rounds->kind_of(own.rank, peer.rank);
  }

  double lane_share(Rank from, Rank to) const override {
    const GroupPlace& own = place_of_[static_cast<std::size_t>(from)];
    const GroupPlace& peer = place_of_[static_cast<std::size_t>(to)];
    if (own.group < 0 || own.group != peer.group) return 1;
    return groups_[static_cast<std::size_t>(own.group)].rounds->lane_share(own.rank, peer.rank);
  }

  /// A phase ends when any group's phase ends. It is uniform if it is uniform in every group.
  std::vector<RoundPhase> phases() const override {
    std::set<const Rounds*> distinct;
    for (const RankGroup& group : groups_) distinct.insert(group.rounds.get());
    if (distinct.size() == 1) return (*distinct.begin())->phases();
    std::set<std::int64_t> begins;
    std::vector<RoundPhase> varying;
    for (const Rounds* rounds : distinct) {
      for (const RoundPhase& phase : rounds->phases()) {
        begins.insert(phase.first);
        begins.insert(phase.first + phase.rounds);
        if (!phase.uniform) varying.push_back(phase);
      }
    }
    std::vector<RoundPhase> result;
    for (auto begin = begins.begin(); begin != begins.end() && std::next(begin) != begins.end(); ++begin) {
      const bool uniform = std::ranges::none_of(varying, [&](const RoundPhase& phase) {
        return phase.first <= *begin && *begin < phase.first + phase.rounds;
      });
      result.push_back({*begin, *std::next(begin) - *begin, uniform});
    }
    return result;
  }

 private:
  struct GroupPlace {
    std::int32_t group = -1;
    Rank rank = 0;  ///< rank within the group
  };

  /// Appends the messages of a rank of a group, with peers renumbered among all ranks.
  template <class Add>
  void of_group(Rank rank, std::int64_t round, std::vector<Transfer>& out, Add&& add) const {
    const GroupPlace& place = place_of_[static_cast<std::size_t>(rank)];
    if (place.group < 0) return;
    const RankGroup& group = groups_[static_cast<std::size_t>(place.group)];
    if (round >= group.rounds->count()) return;
    const std::size_t before = out.size();
    add(*group.rounds, place.rank);
    number_peers(group, before, out);
  }

  static void number_peers(const RankGroup& group, std::size_t from, std::vector<Transfer>& out) {
    for (std::size_t i = from; i < out.size(); ++i) out[i].peer = group.ranks[static_cast<std::size_t>(out[i].peer)];
  }

  std::vector<RankGroup> groups_;
  std::vector<GroupPlace> place_of_;  ///< group of each rank, and its place there
  std::int64_t count_ = 0;
  Rank lanes_ = 1;
  bool same_rounds_ = false;
};

class OneMessage final : public Rounds {
 public:
  explicit OneMessage(double bytes) : bytes_(bytes) {}
  Rank ranks() const override { return 2; }
  std::int64_t count() const override { return 1; }
  void sends(Rank rank, std::int64_t, std::vector<Transfer>& out) const override {
    if (rank == 0) out.push_back({1, bytes_});
  }
  void receives(Rank rank, std::int64_t, std::vector<Transfer>& out) const override {
    if (rank == 1) out.push_back({0, bytes_});
  }
  std::vector<RoundPhase> phases() const override { return {{0, 1, true}}; }

 private:
  double bytes_;
};

}  // namespace

std::unique_ptr<Rounds> in_groups(std::vector<RankGroup> groups, Rank ranks) {
  return std::make_unique<GroupRounds>(std::move(groups), ranks);
}

std::unique_ptr<Rounds> one_message(double bytes) { return std::make_unique<OneMessage>(bytes); }

}  // namespace dadsim::collectives

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "compress/registry.hpp"
#include "protocols/local/local_rounds.hpp"
#include "protocols/send_later.hpp"

namespace dadsim::protocols {
namespace {

/// Rounds without a server. A collective sums the workers' rows: an all-reduce, or an all-gather for encodings that do
/// not add up. Every worker then takes the same outer step (DiLoCo as OpenDiLoCo and torchft run it). With a random
/// subset (SPARTA; exo-explore/gym, 9fa323c, strategy/sparta.py) each worker keeps its own weights, and only the
/// weights drawn for the round are replaced by their mean. The mean of all workers is evaluated.
///
/// With to="region", the first worker of each region is its speaker. A reduce brings the region's mean to the speaker;
/// speakers sum their rows as peers do, and broadcast the result. All workers continue together. Only speakers encode,
/// and keep compression errors.
///
/// The collective begins when all participants are ready. If it fails, it is repeated after some seconds among the
/// remaining participants, and the sum is divided by their number. After an outage, a worker gets θ and the outer
/// rule's state from the first worker to end the current round. It takes part from the next round on.
class PeerRounds final : public LocalRounds {
 public:
  explicit PeerRounds(const Setting& setting)
      : LocalRounds(setting),
        adds_(adds_up(encoding()) && average() != Average::direction),
        is_ring_(setting.value(kEncoding) == SentBy::int8_ring),
        by_region_(setting.value(kTo) == SentTo::region),
        every_{every(setting, kFirstMoments), every(setting, kSecondMoments)},
        peers_(setting.sites) {}
  void begin() override {
    world::EventLoop& loop = setting().loop;
    outer_ = outer_begin();
    if (setting().new_version(theta_of(outer_), 1)) return;
    for (std::size_t number = 0; number < peers_.size(); ++number) {
      for (std::size_t other = 0; other < peers_.size(); ++other) {
        if (other != number) loop.watch(node_of(number), node_of(other), kRound);
      }
      loop.join(node_of(number), "worker", [this, number] { return worker(number); });
      loop.join(node_of(number), "sends again", [this, number] {
        return sends_again(number, kRound, kBack, [this](const Parcel& weights) {
          return weights.number == -next_ - 1 && peers_[static_cast<std::size_t>(weights.from)].takes_part;
        });
      });
    }
  }

 private:
  static constexpr world::Channel kRound = "round";   ///< sums, notices about others, and θ for a worker that is back
  static constexpr world::Channel kBack = "weights";  ///< to the sender of θ for a worker that is back: notices that
                                                      ///< this message was lost

  struct Peer {
    Value own;     ///< weights and optimizer's state, as it has trained them
    Value memory;  ///< its compressor's memory
    Value row;     ///< row for the collective
    bool takes_part = false;
    std::int64_t ready_for = -1;  ///< first step of the round that the worker has finished
    double asked_at = 0;
  };

  /// Workers of a region in the current collectives; without regions, a single worker.
  struct PeerGroup {
    std::vector<std::size_t> members;  ///< workers of the group; the first one is the speaker
    Value row, memory;
    double weight = 0;
  };
  enum class ExchangeStage : std::uint8_t { to_speakers, among_speakers, from_speakers, over };
  static constexpr std::int64_t kStages = 4;
  static ExchangeStage next_of(ExchangeStage stage) { return static_cast<ExchangeStage>(static_cast<int>(stage) + 1); }
  /// Returns the message number of a stage in the current attempt.
  std::int64_t number_of(ExchangeStage stage) const { return attempt_ * kStages + static_cast<std::int64_t>(stage); }

  static bool adds_up(const spec::CompressSpec& encoding) {
    const compress::CompressorInfo& info = compress::encoding(encoding.method);
    return info.lossless || info.adds(encoding.parameters);
  }
  static std::int64_t every(const Setting& setting, const spec::IntegerParameter& moments) {
    return setting.parameters().contains(moments.name) ? setting.value(moments) : 0;
  }
  bool own_weights() const { return sends() == SentNumbers::subset; }
  /// Returns whether Adam's moment 0 or 1 is averaged after the current round.
  bool is_due(std::size_t moment) const {
    return every_[moment] > 0 && (setting().log.updates + 1) % every_[moment] == 0;
  }
  /// Returns one moment from the optimizer's state, which follows the weights (steps, m, v).
  Value moment_of(std::size_t number, std::size_t moment) const {
    const std::size_t count = learning().parameters(), first = learning().state() + 1 + moment * count;
    return learning().history().make(fmt::format("moments {}", moment), {peers_[number].own},
                                     [first, count](History::Inputs in) {
                                       if (in[0]->numbers.size() < first + count)
                                         throw std::logic_error("the optimizer has no moments");
                                       const auto begin = in[0]->numbers.begin() + static_cast<std::ptrdiff_t>(first);
                                       return Datum{{begin, begin + static_cast<std::ptrdiff_t>(count)}, {}};
                                     });
  }
  double bytes() const {
    const double moments = ((is_due(0) ? 1 : 0) + (is_due(1) ? 1 : 0)) * setting().sizing.numbers_bytes();
    if (!is_ring_) return row_bytes() + moments;
    std::vector<std::size_t> pieces(learning().pieces().size());
    std::iota(pieces.begin(), pieces.end(), std::size_t{0});
    return setting().sizing.bytes_of(pieces, quantised_ring::encoding(groups_.size())) + moments;
  }
  /// Returns the group whose speaker is this worker; nullptr if there is none.
  const PeerGroup* spoken_for(std::size_t number) const {
    const auto found = std::ranges::find(groups_, number, [](const PeerGroup& group) { return group.members.front(); });
    return found == groups_.end() ? nullptr : &*found;
  }
  /// Returns the work of a speaker in the exchange; the group may be the worker alone.
  Work exchange_work() const {
    const Sizing& sizing = setting().sizing;
    const std::size_t rows = groups_.size();
    if ((is_ring_ || by_region_) && rows == 1) return {};
    if (is_ring_) {
      const spec::CompressSpec ring = quantised_ring::encoding(rows);
      return sizing.encode_by(ring, step::Role::workers) +
             sizing.decode_by(ring, step::Role::workers, 2 - 2 / static_cast<double>(rows));
    }
    Work work = sizing.decode_by(encoding(), step::Role::workers, adds_ ? 1 : static_cast<double>(rows));
    if (by_region_) work = std::move(work) + sizing.encode_by(encoding(), step::Role::workers);
    return adds_ ? work : std::move(work) + mean_work(step::Role::workers, rows);
  }

  Task<> worker(std::size_t number) {
    world::EventLoop& loop = setting().loop;
    const Node node = node_of(number);
    Peer& me = peers_[number];
    me.memory = {};
    me.ready_for = -1;
    std::erase(joining_, number);
    co_await joins(number);
    for (;;) {
      const std::int64_t first = next_;
      const std::int64_t count = steps_of_round(first);
      const Value theta = theta_of(outer_);
      me.asked_at = loop.now();
      ++setting().log.asked;
      Work work =
          local().begin_training(number, first, count) + setting().sizing.per_parameter(step::Role::workers, 1, 3);
      if (!by_region_) work = std::move(work) + setting().sizing.encode_by(encoding(), step::Role::workers);
      co_await loop.compute(node, std::move(work));
      me.own = local().train(number, me.own, first, count);
      const Value weights = learning().without_state(me.own);
      me.row = own_weights() ? weights : learning().difference(theta, weights);
      if (!by_region_) me.row = encoded(me.row, me.memory, number, first);
      me.ready_for = first;
      const std::int64_t before = attempt_;
      begin_if_complete();
      for (double again_at = world::kNever;;) {
        const Parcel parcel = co_await loop.receive(node, kRound, again_at);
        if (parcel.from < 0) {
          again_at = world::kNever;
          if (!underway_) ++setting().log.retried;
          begin_if_complete();
        } else if (parcel.gone || parcel.back) {
          if (again_at == world::kNever) begin_if_complete();
        } else if (parcel.number < 0 || parcel.number / kStages != attempt_ || attempt_ == before) {
          continue;  // a notice of an earlier exchange
        } else if (parcel.lost) {
          underway_ = false;
          again_at = loop.now() + kRetrySeconds;
        } else if (by_region_ && parcel.from != parcel.to) {
          heard(number, parcel);
        } else {
          break;
        }
      }
      Work made = outer_work(step::Role::workers) + merge_work();
      if (spoken_for(number) != nullptr) made = std::move(made) + exchange_work();
      co_await loop.compute(node, std::move(made));
      if (next_ == first && complete(number)) co_return;
    }
  }
  /// After an outage, a worker waits for weights. Without other participants it continues with θ of the last round.
  Task<> joins(std::size_t number) {
    world::EventLoop& loop = setting().loop;
    Peer& me = peers_[number];
    const auto takes_part = [&](std::size_t other) { return peers_[other].takes_part && loop.is_up(node_of(other)); };
    me.takes_part = false;
    me.own = local().with_state_of(theta_of(outer_), local().initial());
    if (next_ == 0 && !underway_) {  // before the first round: all workers have the initial weights
      me.takes_part = true;
      co_return;
    }
    joining_.push_back(number);
    begin_if_complete();
    for (;;) {
      bool alone = true;
      for (std::size_t other = 0; other < peers_.size(); ++other) alone = alone && !takes_part(other);
      if (alone) {
        std::erase(joining_, number);
        underway_ = false;
        me.takes_part = true;
        co_return;
      }
      const Parcel parcel = co_await loop.receive(node_of(number), kRound);
      if (parcel.number >= 0 || parcel.values.empty()) continue;
      me.own = local().with_state_of(parcel.values.front(), local().initial());
      co_return;
    }
  }
  /// Begins the collective once all participants have finished the round.
  void begin_if_complete() {
    world::EventLoop& loop = setting().loop;
    if (underway_) return;
    std::vector<std::size_t> members;
    for (std::size_t number = 0; number < peers_.size(); ++number) {
      Peer& peer = peers_[number];
      if (!peer.takes_part) continue;
      if (!loop.is_up(node_of(number))) {
        peer.takes_part = false;
        ++setting().log.failed;
      } else if (peer.ready_for != next_) {
        return;
      } else {
        members.push_back(number);
      }
    }
    if (members.empty()) return;
    underway_ = true;
    ++attempt_;
    members_ = std::move(members);
    make_groups();
    begin_stage(by_region_ ? ExchangeStage::to_speakers : ExchangeStage::among_speakers);
  }
  /// Groups the participants by region, and encodes the rows that the speakers send.
  void make_groups() {
    std::map<std::size_t, std::vector<std::size_t>> by_region;
    for (const std::size_t number : members_) {
      const std::vector<std::size_t>& regions = setting().regions;
      by_region[!by_region_ ? number : regions.empty() ? 0 : regions.at(number)].push_back(number);
    }
    groups_.clear();
    for (auto& [region, members] : by_region) {
      std::vector<Value> rows;
      std::vector<double> weights;
      for (const std::size_t number : members) {
        rows.push_back(peers_[number].row);
        weights.push_back(local().weight(number, next_, steps_of_round(next_)));
      }
      PeerGroup& group = groups_.emplace_back(std::move(members));
      group.weight = std::accumulate(weights.begin(), weights.end(), 0.0);
      group.row = rows.size() == 1 ? rows.front() : weighted_mean(learning(), rows, std::move(weights));
    }
    if (!by_region_ || groups_.size() == 1) return;
    for (PeerGroup& group : groups_) {
      group.memory = peers_[group.members.front()].memory;
      group.row = encoded(group.row, group.memory, group.members.front(), next_);
    }
  }
  /// Begins the collectives of a stage; a stage without collectives is skipped. After the last stage all workers
  /// continue.
  void begin_stage(ExchangeStage stage) {
    stage_ = stage;
    open_ = 0;
    if (stage == ExchangeStage::among_speakers) {
      std::vector<std::size_t> speakers;
      for (const PeerGroup& group : groups_) speakers.push_back(group.members.front());
      const auto kind = adds_ ? step::CollectiveKind::all_reduce : step::CollectiveKind::all_gather;
      if (speakers.size() > 1) exchange(kind, speakers, bytes());
    } else if (stage != ExchangeStage::over) {
      const bool up = stage == ExchangeStage::to_speakers;
      for (const PeerGroup& group : groups_) {
        if (group.members.size() == 1) continue;
        exchange(up ? step::CollectiveKind::reduce : step::CollectiveKind::broadcast, group.members, plain_bytes());
      }
    }
    if (open_ > 0) return;
    if (by_region_ && stage != ExchangeStage::over) return begin_stage(next_of(stage));
    for (const std::size_t number : members_) {
      if (setting().loop.is_up(node_of(number)))
        setting().loop.hand(node_of(number), kRound, {.number = number_of(stage_)});
    }
  }
  void exchange(step::CollectiveKind kind, const std::vector<std::size_t>& ranks, double bytes) {
    const spec::RunSpec& run = setting().run;
    world::Collective what{.kind = kind, .nodes = {}, .bytes = bytes};
    if (kind == step::CollectiveKind::all_reduce) what.algorithm = is_ring_ ? "ring" : run.all_reduce;
    if (kind == step::CollectiveKind::all_gather) what.algorithm = run.all_gather;
    std::vector<Parcel> parcels;
    for (const std::size_t number : ranks) {
      what.nodes.push_back(node_of(number));
      Parcel& parcel = parcels.emplace_back();
      parcel.number = number_of(stage_);
      if (stage_ == ExchangeStage::to_speakers) parcel.values = {peers_[number].row};
      if (stage_ == ExchangeStage::among_speakers) parcel.values = {spoken_for(number)->row};
    }
    ++open_;
    setting().loop.collective(std::move(what), kRound, std::move(parcels));
    setting().log.facts["collectives among participants"] += 1;
  }
  /// Handles the end of a collective of a stage. Only the notice to the collective's first rank counts.
  void heard(std::size_t number, const Parcel& parcel) {
    const bool among = parcel.number == number_of(ExchangeStage::among_speakers);
    if (among) setting().log.facts["bytes between regions"] += parcel.bytes;
    const bool is_first = among ? number == groups_.front().members.front() : spoken_for(number) != nullptr;
    if (is_first && --open_ == 0) begin_stage(next_of(stage_));
  }
  /// Ends the round. `first_one`: the first worker that finished its outer step. Returns true if training is over.
  bool complete(std::size_t first_one) {
    world::EventLoop& loop = setting().loop;
    ProtocolLog& log = setting().log;
    const std::int64_t count = steps_of_round(next_);
    std::vector<Value> rows;
    std::vector<double> weights;
    for (const PeerGroup& group : groups_) {
      rows.push_back(group.row);
      weights.push_back(group.weight);
      if (by_region_) peers_[group.members.front()].memory = group.memory;
    }
    for (const std::size_t number : members_) {
      log.count_used(number);
      log.note({log.updates + 1, node_of(number), peers_[number].asked_at, loop.now(), ProtocolLog::Part::End::used});
    }
    for (std::size_t moment = 0; moment < 2; ++moment) {
      mean_moments_[moment] = {};
      if (!is_due(moment)) continue;
      std::vector<Value> moments;
      for (const std::size_t number : members_) moments.push_back(moment_of(number, moment));
      mean_moments_[moment] = weighted_mean(learning(), moments, weights);
    }
    mean_row_ = is_ring_ ? quantised_ring::mean(learning(), rows, weights) : mean_of(rows, weights);
    const Value before = theta_of(outer_);
    if (!own_weights()) outer_ = outer_after(outer_, mean_row_, log.updates);
    for (const std::size_t number : members_) take_in(number, before);
    if (own_weights()) {
      std::vector<Value> models;
      for (const std::size_t number : members_) models.push_back(learning().without_state(peers_[number].own));
      outer_ = weighted_mean(learning(), models, std::move(weights));
    }
    underway_ = false;
    next_ += count;
    ++log.updates;
    const std::int64_t usual = own_weights() ? learning().steps_per_epoch() : 1;
    if (setting().new_version(theta_of(outer_), usual, next_ >= local().steps())) return true;
    for (const std::size_t number : std::exchange(joining_, {})) {
      if (!loop.is_up(node_of(number))) continue;
      peers_[number].takes_part = true;
      Parcel all{.values = {own_weights() ? learning().without_state(peers_[first_one].own) : theta_of(outer_)},
                 .bytes = (own_weights() ? 1.0 : 1.0 + static_cast<double>(rule().states)) * plain_bytes(),
                 .number = -next_ - 1};
      loop.send(node_of(first_one), node_of(number), kRound, std::move(all), kBack);
    }
    log.set_at_work(loop.now(), static_cast<std::size_t>(std::ranges::count(peers_, true, &Peer::takes_part)));
    return false;
  }
  /// Merges the result of the last round into a worker's weights. `before`: θ before that round.
  void take_in(std::size_t number, const Value& before) {
    Peer& peer = peers_[number];
    History& history = learning().history();
    if (own_weights()) {
      peer.own = history.make("own but for the mean of some", {peer.own, peer.row, mean_row_}, [](History::Inputs in) {
        Datum result = *in[0];
        for (std::size_t k = 0; k < in[1]->numbers.size(); ++k)
          result.numbers[k] = (result.numbers[k] - in[1]->numbers[k]) + in[2]->numbers[k];
        return result;
      });
    } else {
      peer.own = merged(peer.own, before, theta_of(outer_));
    }
    for (std::size_t moment = 0; moment < 2; ++moment) {
      if (!mean_moments_[moment]) continue;
      const std::size_t first = learning().state() + 1 + moment * learning().parameters();
      peer.own = history.make(
          fmt::format("with moments {}", moment), {peer.own, mean_moments_[moment]}, [first](History::Inputs in) {
            Datum result = *in[0];
            std::ranges::copy(in[1]->numbers, result.numbers.begin() + static_cast<std::ptrdiff_t>(first));
            return result;
          });
    }
  }

  bool adds_, is_ring_, by_region_;
  std::array<std::int64_t, 2> every_;  ///< rounds between averages of each moment; 0: never
  std::vector<Peer> peers_;
  Value outer_;               ///< θ and the rule's state, equal at all workers; if workers keep their own weights, the
                              ///< mean of these
  std::int64_t next_ = 0;     ///< first step of the present round
  bool underway_ = false;     ///< true: from the collective's beginning until its first worker has taken the outer step
  std::int64_t attempt_ = 0;  ///< number of the last exchange
  std::vector<std::size_t> members_;  ///< workers in the current exchange, or in the last one
  std::vector<PeerGroup> groups_;     ///< groups of these workers by region; without regions, one per worker
  ExchangeStage stage_ = ExchangeStage::among_speakers;
  std::size_t open_ = 0;  ///< collectives of the stage that have not ended
  std::vector<std::size_t> joining_;
  Value mean_row_;                          ///< mean of the last round's rows
  std::array<Value, 2> mean_moments_ = {};  ///< mean of each moment; no value: not due
};

}  // namespace

std::unique_ptr<Protocol> peer_rounds(const Setting& setting) { return std::make_unique<PeerRounds>(setting); }

}  // namespace dadsim::protocols


#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocols/local/local_rounds.hpp"
#include "protocols/send_later.hpp"

namespace dadsim::protocols {
namespace {

/// Streaming DiLoCo, in the spirit of Douillard et al., arXiv 2501.18512: DiLoCo one fragment at a time. The model is
/// divided into P fragments. Piece k of Learning::pieces() (a matrix with its biases, or all other parameters) belongs
/// to fragment k mod P. After inner step t ≡ ⌊(p + 1) H / P⌋ mod H, each worker sends for fragment p
///   Δ_p = θ_p (as last merged) − θ_{i,p}
/// with four bits per number (compressor e3m0), or as `outer-gradients` says, and continues training. The server takes
/// a step of the outer optimizer with the mean over workers, in fp32, and sends the new θ_p uncompressed. A worker
/// merges θ_p τ inner steps after it has sent Δ_p; it waits if θ_p has not arrived yet:
///   θ_{i,p} ← α θ_{i,p} + (1 − α) θ_p
/// Assumptions beyond the paper: the order of fragments and their offsets; the scale and rounding of e3m0; a server
/// with plain numbers in place of an all-reduce. Every fragment is sent at the end of training, so no step is lost.
/// Running statistics belong to the last fragment and are averaged.
class StreamingDiLoCo final : public LocalRounds {
 public:
  explicit StreamingDiLoCo(const Setting& setting)
      : LocalRounds(setting),
        delay_(setting.value(kDelay)),
        alpha_(setting.value(kFragmentAlpha)),
        workers_(setting.sites) {
    cut();
  }
  void begin() override {
    const Value initial = learning().without_state(local().initial());
    for (std::size_t p = 0; p < fragments_.size(); ++p) {
      fragments_[p].outer = rule().begin(learning().history(), taken_from(p, initial), fragments_[p].parameters);
    }
    setting().log.facts["fragments"] = static_cast<double>(fragments_.size());
    setting().loop.join(setting().server, "server", [this] { return server(); });
    for (std::size_t number = 0; number < setting().sites; ++number) {
      setting().loop.watch(setting().server, node_of(number), kOuter);
      setting().loop.watch(node_of(number), setting().server, kAll);
      setting().loop.join(node_of(number), "worker", [this, number] { return worker(number); });
    }
  }

 private:
  static constexpr world::Channel kFragment = "fragment";     ///< fragments to workers, and notices for workers
  static constexpr world::Channel kOuter = "outer gradient";  ///< Δ_p to the server; a message without numbers requests
                                                              ///< all fragments
  static constexpr world::Channel kAll = "all fragments";  ///< all fragments, to a worker that is back

  struct Fragment {
    std::vector<std::size_t> pieces, sizes;                   ///< pieces of the fragment, and the numbers of each piece
    std::vector<std::pair<std::size_t, std::size_t>> ranges;  ///< ranges in a row of weights: first, count
    std::size_t parameters = 0, numbers = 0;                  ///< `numbers` includes running statistics
    double share = 0;                                         ///< share of the parameters
    double bytes_up = 0, bytes_down = 0;
    world::Value outer;      ///< θ_p, followed by the momentum of the outer optimizer
    std::int64_t last = -1;  ///< synchronisation that made `outer`; −1: initial model
    std::int64_t steps = 0;  ///< number of outer steps
  };
  struct StreamingWorkerState {
    bool started = false;
    world::Value own;                ///< weights and the optimizer's state
    std::vector<world::Value> base;  ///< last merged θ_p, per fragment
    std::vector<std::int64_t> have;  ///< synchronisation that made `base`, per fragment; −1: the beginning
    std::map<std::size_t, std::pair<std::int64_t, world::Value>> arrived;  ///< last arrived, not merged:
                                                                           ///< synchronisation and θ_p, by fragment
    std::vector<world::Value> memory;                                      ///< compression error, per fragment
    // The server's view.
    bool takes_part = false;
    std::int64_t since = -1;  ///< step after which the worker takes part
  };
  /// A synchronisation of one fragment. Its number is step × fragments + fragment.
  struct Sync {
    std::vector<bool> awaited;
    std::vector<world::Value> differences;
  };
  struct DueFragment {
    std::int64_t at = 0;  ///< step after which the fragment is merged
    std::int64_t sync = 0;
  };

  void cut() {
    const std::vector<std::size_t>& pieces = learning().pieces();
    const auto count = std::min({static_cast<std::size_t>(setting().value(kFragments)), pieces.size(),
                                 static_cast<std::size_t>(local().period())});
    fragments_.resize(count);
    std::size_t at = 0;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      Fragment& fragment = fragments_[piece % count];
      fragment.pieces.push_back(piece);
      fragment.sizes.push_back(pieces[piece]);
      fragment.ranges.emplace_back(at, pieces[piece]);
      fragment.parameters += pieces[piece];
      at += pieces[piece];
    }
    for (Fragment& fragment : fragments_) {
      fragment.numbers = fragment.parameters;
      fragment.share = setting().sizing.share_of(fragment.pieces);
      fragment.bytes_up = setting().sizing.bytes_of(fragment.pieces, encoding());
      fragment.bytes_down = setting().sizing.bytes_of(fragment.pieces, {});
    }
    if (learning().state() > at) {
      fragments_.back().ranges.emplace_back(at, learning().state() - at);
      fragments_.back().numbers += learning().state() - at;
    }
  }
  std::size_t fragment_of(std::int64_t sync) const { return static_cast<std::size_t>(sync) % fragments_.size(); }
  std::int64_t name_of(std::int64_t step, std::size_t fragment) const {
    return step * static_cast<std::int64_t>(fragments_.size()) + static_cast<std::int64_t>(fragment);
  }
  std::int64_t step_of(std::int64_t sync) const { return sync / static_cast<std::int64_t>(fragments_.size()); }
  bool is_sent(std::size_t fragment, std::int64_t step) const {
    const std::int64_t period = local().period();
    const auto count = static_cast<std::int64_t>(fragments_.size());
    return step == local().steps() ||
           (step % period == (static_cast<std::int64_t>(fragment) + 1) * period / count % period && step > 0);
  }
  /// Returns the next step after which a fragment is sent or merged.
  std::int64_t next_stop(std::int64_t step, const std::deque<DueFragment>& open) const {
    for (std::int64_t next = step + 1; next < local().steps(); ++next) {
      if (!open.empty() && open.front().at <= next) return next;
      for (std::size_t p = 0; p < fragments_.size(); ++p) {
        if (is_sent(p, next)) return next;
      }
    }
    return local().steps();
  }

  world::Value taken_from(std::size_t fragment, const world::Value& weights) const {
    return learning().history().make(fmt::format("fragment {} of {}", fragment, fragments_.size()), {weights},
                                     [ranges = fragments_[fragment].ranges](History::Inputs in) {
                                       Datum result;
                                       for (const auto& [first, count] : ranges) {
                                         const auto begin = in[0]->numbers.begin() + static_cast<std::ptrdiff_t>(first);
                                         result.numbers.insert(result.numbers.end(), begin,
                                                               begin + static_cast<std::ptrdiff_t>(count));
                                       }
                                       return result;
                                     });
  }
  world::Value mixed(std::size_t fragment, const world::Value& own, const world::Value& theta, double alpha) const {
    return learning().history().make(
        fmt::format("mixed {} of {} alpha {}", fragment, fragments_.size(), alpha), {own, theta},
        [ranges = fragments_[fragment].ranges, share = static_cast<float>(alpha)](History::Inputs in) {
          Datum result = *in[0];
          std::size_t next = 0;
          for (const auto& [first, count] : ranges) {
            for (std::size_t k = first; k < first + count; ++k) {
              result.numbers[k] = share * result.numbers[k] + (1 - share) * in[1]->numbers[next++];
            }
          }
          return result;
        });
  }
  world::Value theta(std::size_t fragment) const {
    return learning().first_numbers(fragments_[fragment].outer, fragments_[fragment].numbers);
  }
  /// Returns the server's weights.
  world::Value whole() const {
    std::vector<Value> parts;
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> ranges;
    for (const Fragment& fragment : fragments_) {
      parts.push_back(fragment.outer);
      ranges.push_back(fragment.ranges);
    }
    return learning().history().make(fmt::format("all of {} fragments", fragments_.size()), std::move(parts),
                                     [ranges = std::move(ranges), state = learning().state()](History::Inputs in) {
                                       Datum result{std::vector<float>(state), {}};
                                       for (std::size_t p = 0; p < in.size(); ++p) {
                                         auto from = in[p]->numbers.begin();
                                         for (const auto& [first, count] : ranges[p]) {
                                           std::copy_n(from, count,
                                                       result.numbers.begin() + static_cast<std::ptrdiff_t>(first));
                                           from += static_cast<std::ptrdiff_t>(count);
                                         }
                                       }
                                       return result;
                                     });
  }

  world::Task<> server() {
    world::EventLoop& loop = setting().loop;
    const auto usual = static_cast<std::int64_t>(fragments_.size());
    if (setting().log.versions.empty()) {
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers_[i].takes_part = loop.is_up(node_of(i));
        workers_[i].started = !workers_[i].takes_part;  // a worker that comes later asks for all fragments
      }
      if (setting().new_version(whole(), usual)) co_return;
    }
    // Messages under way when the server went down are sent again.
    later_.clear();
    for (std::size_t p = 0; p < fragments_.size(); ++p) {
      for (std::size_t i = 0; i < workers_.size() && fragments_[p].last >= 0; ++i) {
        if (workers_[i].takes_part && loop.is_up(node_of(i))) send_fragment(p, i);
      }
    }
    for (;;) {
      while (const auto name = complete()) {
        const std::int64_t before = setting().log.updates;
        co_await finish(*name);
        const bool last = done_at_end_ == fragments_.size();
        if (setting().log.updates > before || last) {
          if (setting().new_version(whole(), usual, last)) co_return;
        }
      }
      Parcel parcel = co_await loop.receive(setting().server, kOuter, later_.next());
      while (const auto due = later_.take(loop.now())) {
        setting().send_again(setting().server, due->from, kFragment, *due, kOuter);
      }
      if (parcel.from >= 0) heard(std::move(parcel));
    }
  }
  void heard(world::Parcel parcel) {
    const auto from = static_cast<std::size_t>(parcel.from);
    if (parcel.back) return;  // the worker will ask for all fragments
    if (parcel.gone) {
      left(from);
    } else if (parcel.lost) {  // a fragment was lost
      if (setting().loop.is_up(parcel.from)) later_.add(setting().loop.now() + kRetrySeconds, std::move(parcel));
    } else if (parcel.values.empty()) {
      joins(from);
    } else {
      contribution(from, std::move(parcel));
    }
  }
  void contribution(std::size_t from, world::Parcel parcel) {
    const std::int64_t name = parcel.number;
    if (done_.contains(name)) {
      ++setting().log.late;
      return;
    }
    auto found = open_.find(name);
    if (found == open_.end()) {
      last_step_ = std::max(last_step_, step_of(name));
      Sync sync{std::vector<bool>(workers_.size()), std::vector<Value>(workers_.size())};
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        sync.awaited[i] = workers_[i].takes_part && workers_[i].since < step_of(name);
      }
      found = open_.emplace(name, std::move(sync)).first;
    }
    Sync& sync = found->second;
    if (!sync.awaited[from]) return;
    sync.awaited[from] = false;
    sync.differences[from] = std::move(parcel.values.front());
    setting().log.count_used(from);
  }
  /// Admits a worker after an outage. It takes part in the synchronisations after the last step for which one has
  /// begun.
  void joins(std::size_t number) {
    StreamingWorkerState& worker = workers_[number];
    worker.takes_part = true;
    worker.since = std::min(last_step_, local().steps() - 1);
    Parcel all{.values = {}, .bytes = setting().sizing.plain_bytes(), .number = worker.since};
    for (std::size_t p = 0; p < fragments_.size(); ++p) all.values.push_back(theta(p));
    setting().loop.send(setting().server, node_of(number), kAll, std::move(all));
  }
  void left(std::size_t number) {
    workers_[number].takes_part = false;
    for (auto& [name, sync] : open_) {
      if (!sync.awaited[number]) continue;
      sync.awaited[number] = false;
      ++setting().log.failed;
    }
  }
  void send_fragment(std::size_t fragment, std::size_t to) {
    Parcel parcel{.values = {theta(fragment)}, .bytes = fragments_[fragment].bytes_down};
    parcel.number = fragments_[fragment].last;
    setting().loop.send(setting().server, node_of(to), kFragment, std::move(parcel), kOuter);
  }
  std::optional<std::int64_t> complete() const {
    for (const auto& [name, sync] : open_) {
      if (std::ranges::find(sync.awaited, true) == sync.awaited.end()) return name;
    }
    return std::nullopt;
  }
  world::Task<> finish(std::int64_t sync);

  world::Task<> worker(std::size_t number) {
    world::EventLoop& loop = setting().loop;
    const Node me = node_of(number);
    StreamingWorkerState& own = workers_[number];
    std::int64_t step = 0;
    own.own = local().initial();
    own.memory.assign(fragments_.size(), {});
    own.have.assign(fragments_.size(), -1);
    own.arrived.clear();
    if (std::exchange(own.started, true)) {
      co_await ask_for_all(number, step);
    } else {
      own.base.clear();
      for (std::size_t p = 0; p < fragments_.size(); ++p) own.base.push_back(theta(p));
    }
    std::deque<DueFragment> due;
    Work owed;
    while (step < local().steps()) {
      const std::int64_t next = next_stop(step, due);
      Work work = local().begin_training(number, step, next - step) + std::exchange(owed, {}) + sending_work(next);
      co_await loop.compute(me, std::move(work));
      own.own = local().train(number, own.own, step, next - step);
      step = next;
      // Before the last differences are sent, merges all fragments under way; otherwise their change would count twice.
      const bool last = step == local().steps();
      for (; !due.empty() && (last || due.front().at <= step); due.pop_front()) {
        co_await hear(number, due.front().sync);
        owed = std::move(owed) + take_in(number, fragment_of(due.front().sync));
      }
      for (std::size_t p = 0; p < fragments_.size(); ++p) {
        if (!is_sent(p, step)) continue;
        owed = std::move(owed) + take_in(number, p);  // fragments sent without a request, after an absence
        send_difference(number, p, name_of(step, p));
        if (!last) due.push_back({step + delay_, name_of(step, p)});
      }
      for (; delay_ == 0 && !due.empty(); due.pop_front()) {
        co_await hear(number, due.front().sync);
        owed = std::move(owed) + take_in(number, fragment_of(due.front().sync));
      }
    }
    for (;;) {  // resends the last differences if they are lost
      Parcel parcel = co_await loop.receive(me, kFragment);
      if (!parcel.lost) continue;
      co_await loop.sleep(me, kRetrySeconds);
      setting().send_again(me, setting().server, kOuter, std::move(parcel), kFragment);
    }
  }
  /// Requests the server's weights, and the step that other workers have reached, after an outage.
  world::Task<> ask_for_all(std::size_t number, std::int64_t& step) {
    world::EventLoop& loop = setting().loop;
    const Node me = node_of(number);
    loop.send(me, setting().server, kOuter, {}, kAll);
    for (;;) {
      Parcel parcel = co_await loop.receive(me, kAll, loop.now() + 60 * kRetrySeconds);
      if (parcel.gone) continue;
      if (parcel.from < 0 || parcel.lost || parcel.back) {
        co_await loop.sleep(me, kRetrySeconds);
        ++setting().log.retried;
        loop.send(me, setting().server, kOuter, {}, kAll);
        continue;
      }
      StreamingWorkerState& own = workers_[number];
      own.base = std::move(parcel.values);
      for (std::size_t p = 0; p < fragments_.size(); ++p) own.own = mixed(p, own.own, own.base[p], 0);
      step = parcel.number;
      co_return;
    }
  }
  world::Task<> hear(std::size_t number, std::int64_t sync);
  world::Work take_in(std::size_t number, std::size_t fragment);
  /// Returns the work of sending fragments after a step: differences and their encoding.
  world::Work sending_work(std::int64_t step) const {
    double share = 0;
    for (std::size_t p = 0; p < fragments_.size(); ++p) {
      if (is_sent(p, step)) share += fragments_[p].share;
    }
    if (share == 0) return {};
    return share_of(setting().sizing.per_parameter(step::Role::workers, 1, 3) +
                        setting().sizing.encode_by(encoding(), step::Role::workers),
                    share);
  }
  void send_difference(std::size_t number, std::size_t fragment, std::int64_t sync);

  std::int64_t delay_ = 0;
  double alpha_ = 0;
  std::vector<Fragment> fragments_;
  std::vector<StreamingWorkerState> workers_;
  std::map<std::int64_t, Sync> open_;
  std::set<std::int64_t> done_;  ///< done synchronisations of the last two periods, and of the last step
  std::int64_t last_step_ = 0;   ///< last step after which a worker has begun a synchronisation
  std::size_t done_at_end_ = 0;  ///< number of fragments synchronised in the last step
  SendLater later_;
};

}  // namespace

/// Completes a synchronisation, once all awaited workers have sent their Δ_p.
Task<> StreamingDiLoCo::finish(std::int64_t name) {
  Fragment& fragment = fragments_[fragment_of(name)];
  std::vector<Value> differences;
  std::vector<double> weights;
  const std::int64_t step = step_of(name);
  const std::int64_t begun = std::max<std::int64_t>(0, fragment.last < 0 ? 0 : step_of(fragment.last));
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Value& difference = open_.at(name).differences[i];
    if (!difference) continue;
    differences.push_back(difference);
    weights.push_back(local().weight(i, begun, step - begun));
  }
  if (!differences.empty()) {
    Work work =
        setting().sizing.decode_by(encoding(), step::Role::aggregator, static_cast<double>(differences.size())) +
        setting().sizing.sum(step::Role::aggregator, differences.size()) +
        setting().sizing.per_parameter(step::Role::aggregator, rule().flops, rule().floats);
    co_await setting().loop.compute(setting().server, share_of(std::move(work), fragment.share));
    const Value mean = mean_of(differences, std::move(weights));
    fragment.outer = rule().after(learning().history(), fragment.outer, mean, fragment.sizes, fragment.steps++);
    fragment.last = name;
    ++setting().log.updates;
    if (step < local().steps()) {  // after the last step workers need no fragment
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (workers_[i].takes_part) send_fragment(fragment_of(name), i);
      }
    }
  }
  open_.erase(name);
  done_.insert(name);
  while (step_of(*done_.begin()) < step - 2 * local().period()) done_.erase(done_.begin());
  if (step == local().steps()) ++done_at_end_;
}

void StreamingDiLoCo::send_difference(std::size_t number, std::size_t p, std::int64_t name) {
  StreamingWorkerState& own = workers_[number];
  const Fragment& fragment = fragments_[p];
  const Value moved = learning().difference(own.base[p], taken_from(p, own.own));
  Learning::SentValue sent = learning().send(moved, own.memory[p], encoding(), static_cast<std::uint32_t>(number),
                                             static_cast<std::uint32_t>(name), fragment.sizes);
  own.memory[p] = sent.memory;
  ++setting().log.asked;
  Parcel parcel{.values = {std::move(sent.arrives)}, .bytes = fragment.bytes_up, .number = name};
  setting().loop.send(node_of(number), setting().server, kOuter, std::move(parcel), kFragment);
}

/// Handles arrived messages, and waits for the fragment of a synchronisation, or for a later version of that fragment.
Task<> StreamingDiLoCo::hear(std::size_t number, std::int64_t name) {
  world::EventLoop& loop = setting().loop;
  const Node me = node_of(number);
  StreamingWorkerState& own = workers_[number];
  const auto is_there = [&] {
    const auto found = own.arrived.find(fragment_of(name));
    return found != own.arrived.end() && found->second.first >= name;
  };
  while (loop.waiting(me, kFragment) > 0 || !is_there()) {
    Parcel parcel = co_await loop.receive(me, kFragment);
    if (parcel.lost) {  // the worker's message to the server was lost
      co_await loop.sleep(me, kRetrySeconds);
      setting().send_again(me, setting().server, kOuter, std::move(parcel), kFragment);
      continue;
    }
    own.arrived[fragment_of(parcel.number)] = {parcel.number, std::move(parcel.values.front())};
  }
}

/// Merges the arrived fragment into the worker's weights, if it is newer than the present one. Returns the work: mixing
/// reads two rows and writes one.
Work StreamingDiLoCo::take_in(std::size_t number, std::size_t p) {
  StreamingWorkerState& own = workers_[number];
  const auto found = own.arrived.find(p);
  if (found == own.arrived.end() || found->second.first <= own.have[p]) return {};
  own.have[p] = found->second.first;
  own.base[p] = found->second.second;
  own.own = mixed(p, own.own, own.base[p], alpha_);
  own.arrived.erase(found);
  return share_of(setting().sizing.per_parameter(step::Role::workers, 3, 3), fragments_[p].share);
}

std::unique_ptr<Protocol> fragment_rounds(const Setting& setting) { return std::make_unique<StreamingDiLoCo>(setting); }

}  // namespace dadsim::protocols

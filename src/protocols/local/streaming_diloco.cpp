#include "protocols/local/streaming_diloco.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dadsim::protocols {

using world::Datum;
using world::History;
using world::Node;
using world::Parcel;
using world::Task;
using world::Value;
using world::Work;

StreamingDiLoCo::StreamingDiLoCo(const Setting& setting)
    : setting_(setting),
      local_(setting),
      outer_(setting.value(LocalSteps::kOuterRate), setting.value(LocalSteps::kOuterMomentum)),
      delay_(setting.value(kDelay)),
      alpha_(setting.value(kAlpha)),
      compress_(setting.run.compress),
      workers_(setting.sites) {
  if (!setting.value(kOuterGradients)) {
    compress_ = {.method = "e3m0", .parameters = {{"rounding", "stochastic"}}, .memory = false};
  }
  cut();
}

void StreamingDiLoCo::cut() {
  const Learning& learning = setting_.learning;
  const std::vector<std::size_t>& pieces = learning.pieces();
  const auto count = std::min(
      {static_cast<std::size_t>(setting_.value(kFragments)), pieces.size(), static_cast<std::size_t>(local_.period())});
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
    fragment.share = setting_.sizing.share_of(fragment.pieces);
    fragment.bytes_up = setting_.sizing.bytes_of(fragment.pieces, compress_);
    fragment.bytes_down = setting_.sizing.bytes_of(fragment.pieces, {});
  }
  if (learning.state() > at) {
    fragments_.back().ranges.emplace_back(at, learning.state() - at);
    fragments_.back().numbers += learning.state() - at;
  }
}

void StreamingDiLoCo::begin() {
  const Value initial = setting_.learning.without_state(local_.initial());
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    fragments_[p].outer =
        OuterOptimizer::begin(setting_.learning.history(), taken_from(p, initial), fragments_[p].parameters);
  }
  setting_.log.took_part.assign(setting_.sites, 0);
  setting_.log.facts["fragments"] = static_cast<double>(fragments_.size());
  setting_.loop.join(setting_.server, "server", [this] { return server(); });
  for (std::size_t number = 0; number < setting_.sites; ++number) {
    setting_.loop.watch(setting_.server, node_of(number), kOuter);
    setting_.loop.watch(node_of(number), setting_.server, kAll);
    setting_.loop.join(node_of(number), "worker", [this, number] { return worker(number); });
  }
}

// ---- which step does what ----

bool StreamingDiLoCo::is_sent(std::size_t fragment, std::int64_t step) const {
  const std::int64_t period = local_.period();
  const auto count = static_cast<std::int64_t>(fragments_.size());
  return step == local_.steps() ||
         (step % period == (static_cast<std::int64_t>(fragment) + 1) * period / count % period && step > 0);
}

/// The next step after which something is sent or taken in.
std::int64_t StreamingDiLoCo::next_stop(std::int64_t step, const std::deque<Due>& open) const {
  for (std::int64_t next = step + 1; next < local_.steps(); ++next) {
    if (!open.empty() && open.front().at <= next) return next;
    for (std::size_t p = 0; p < fragments_.size(); ++p) {
      if (is_sent(p, next)) return next;
    }
  }
  return local_.steps();
}

// ---- the mathematics ----

Value StreamingDiLoCo::taken_from(std::size_t fragment, const Value& weights) const {
  return setting_.learning.history().make(
      fmt::format("fragment {} of {}", fragment, fragments_.size()), {weights},
      [ranges = fragments_[fragment].ranges](History::Inputs in) {
        Datum result;
        for (const auto& [first, count] : ranges) {
          const auto begin = in[0]->numbers.begin() + static_cast<std::ptrdiff_t>(first);
          result.numbers.insert(result.numbers.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
        }
        return result;
      });
}

Value StreamingDiLoCo::mixed(std::size_t fragment, const Value& own, const Value& theta, double alpha) const {
  return setting_.learning.history().make(
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

Value StreamingDiLoCo::theta(std::size_t fragment) const {
  return first_numbers(setting_.learning.history(), fragments_[fragment].outer, fragments_[fragment].numbers);
}

/// The server's weights.
Value StreamingDiLoCo::whole() const {
  std::vector<Value> parts;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> ranges;
  for (const Fragment& fragment : fragments_) {
    parts.push_back(fragment.outer);
    ranges.push_back(fragment.ranges);
  }
  return setting_.learning.history().make(
      fmt::format("all of {} fragments", fragments_.size()), std::move(parts),
      [ranges = std::move(ranges), state = setting_.learning.state()](History::Inputs in) {
        Datum result{std::vector<float>(state), {}};
        for (std::size_t p = 0; p < in.size(); ++p) {
          auto from = in[p]->numbers.begin();
          for (const auto& [first, count] : ranges[p]) {
            std::copy_n(from, count, result.numbers.begin() + static_cast<std::ptrdiff_t>(first));
            from += static_cast<std::ptrdiff_t>(count);
          }
        }
        return result;
      });
}

// ---- the server ----

void StreamingDiLoCo::send_fragment(std::size_t fragment, std::size_t to) {
  Parcel parcel{.values = {theta(fragment)}, .bytes = fragments_[fragment].bytes_down};
  parcel.number = fragments_[fragment].last;
  setting_.loop.send(setting_.server, node_of(to), kFragment, std::move(parcel), kOuter);
}

/// A worker that is back goes on where the others are: it takes part in what nobody has begun yet.
void StreamingDiLoCo::joins(std::size_t number) {
  Worker& worker = workers_[number];
  worker.takes_part = true;
  worker.since = std::min(last_step_, local_.steps() - 1);
  Parcel all{.values = {}, .bytes = setting_.sizing.plain_bytes(), .number = worker.since};
  for (std::size_t p = 0; p < fragments_.size(); ++p) all.values.push_back(theta(p));
  setting_.loop.send(setting_.server, node_of(number), kAll, std::move(all));
}

void StreamingDiLoCo::left(std::size_t number) {
  workers_[number].takes_part = false;
  for (auto& [name, sync] : open_) {
    if (!sync.awaited[number]) continue;
    sync.awaited[number] = false;
    ++setting_.log.failed;
  }
}

void StreamingDiLoCo::contribution(std::size_t from, Parcel parcel) {
  const std::int64_t name = parcel.number;
  if (done_.contains(name)) {
    ++setting_.log.late;
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
  ++setting_.log.answered;
  ++setting_.log.took_part[from];
}

void StreamingDiLoCo::heard(Parcel parcel) {
  const auto from = static_cast<std::size_t>(parcel.from);
  if (parcel.back) return;  // it will ask
  if (parcel.gone) {
    left(from);
  } else if (parcel.lost) {  // a fragment
    if (setting_.loop.is_up(parcel.from)) later_.add(setting_.loop.now() + kRetrySeconds, std::move(parcel));
  } else if (parcel.values.empty()) {
    joins(from);
  } else {
    contribution(from, std::move(parcel));
  }
}

std::optional<std::int64_t> StreamingDiLoCo::complete() const {
  for (const auto& [name, sync] : open_) {
    if (std::ranges::find(sync.awaited, true) == sync.awaited.end()) return name;
  }
  return std::nullopt;
}

/// All that were waited for have sent their part.
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
    weights.push_back(local_.weight(i, begun, step - begun));
  }
  if (!differences.empty()) {
    Work work = setting_.sizing.decode_by(compress_, step::Role::aggregator, static_cast<double>(differences.size())) +
                setting_.sizing.sum(step::Role::aggregator, differences.size()) +
                setting_.sizing.per_parameter(step::Role::aggregator, OuterOptimizer::kFlops, OuterOptimizer::kFloats);
    co_await setting_.loop.compute(setting_.server, share_of(std::move(work), fragment.share));
    const Value mean = weighted_mean(setting_.learning, differences, std::move(weights));
    fragment.outer = outer_.step(setting_.learning.history(), fragment.outer, mean, fragment.parameters);
    fragment.last = name;
    ++setting_.log.updates;
    if (step < local_.steps()) {  // there is nothing to go on with after the last
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (workers_[i].takes_part) send_fragment(fragment_of(name), i);
      }
    }
  }
  open_.erase(name);
  done_.insert(name);
  while (step_of(*done_.begin()) < step - 2 * local_.period()) done_.erase(done_.begin());
  if (step == local_.steps()) ++done_at_end_;
}

Task<> StreamingDiLoCo::server() {
  world::EventLoop& loop = setting_.loop;
  const auto usual = static_cast<std::int64_t>(fragments_.size());
  if (setting_.log.versions.empty()) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i].takes_part = loop.is_up(node_of(i));
      workers_[i].started = !workers_[i].takes_part;  // one that comes later asks
    }
    if (setting_.new_version(whole(), usual)) co_return;
  }
  // What was on its way when the server went down is sent anew.
  later_.clear();
  for (std::size_t p = 0; p < fragments_.size(); ++p) {
    for (std::size_t i = 0; i < workers_.size() && fragments_[p].last >= 0; ++i) {
      if (workers_[i].takes_part && loop.is_up(node_of(i))) send_fragment(p, i);
    }
  }
  for (;;) {
    while (const auto name = complete()) {
      const std::int64_t before = setting_.log.updates;
      co_await finish(*name);
      const bool last = done_at_end_ == fragments_.size();
      if (setting_.log.updates > before || last) {
        if (setting_.new_version(whole(), usual, last)) co_return;
      }
    }
    Parcel parcel = co_await loop.receive(setting_.server, kOuter, later_.next());
    while (const auto due = later_.take(loop.now())) {
      ++setting_.log.retried;
      Parcel again{.values = due->values, .bytes = due->bytes, .number = due->number};
      loop.send(setting_.server, due->from, kFragment, std::move(again), kOuter);
    }
    if (parcel.from >= 0) heard(std::move(parcel));
  }
}

}  // namespace dadsim::protocols

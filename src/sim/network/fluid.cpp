#include "sim/network/fluid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dadsim::sim {

std::int32_t Fluid::add(std::span<const std::int32_t> links, std::span<const double> flows, double most) {
  FluidTransfer& transfer = transfers_.emplace_back();
  transfer.first = hops_.size();
  transfer.hops = static_cast<std::uint32_t>(links.size());
  transfer.most = most;
  for (std::size_t i = 0; i < links.size(); ++i) hops_.push_back({links[i], 0, flows.empty() ? 1 : flows[i]});
  return static_cast<std::int32_t>(transfers_.size()) - 1;
}

void Fluid::set_capacity(std::int32_t index, double capacity) {
  if (static_cast<std::size_t>(index) >= links_.size()) links_.resize(static_cast<std::size_t>(index) + 1);
  link(index).capacity = capacity;
}

/// Marks the links of a transfer as dirty: the shares of other transfers change.
void Fluid::soil(const FluidTransfer& transfer) {
  for (const Hop& hop : hops_of(transfer)) {
    if (std::exchange(link(hop.link).dirty, true)) continue;
    dirty_.push_back(hop.link);
  }
}

void Fluid::begin(std::int32_t number, double bytes, double date) {
  FluidTransfer& transfer = at(number);
  transfer.left = bytes;
  transfer.since = date;
  transfer.rate = 0;
  transfer.active = true;
  std::uint32_t which = 0;
  for (Hop& hop : hops_of(transfer)) {
    FluidLink& on_path = link(hop.link);
    hop.place = static_cast<std::int32_t>(on_path.active.size());
    on_path.active.push_back({number, which++, hop.flows});
  }
  soil(transfer);
  if (transfer.hops == 0) {  // the transfer shares no link
    transfer.bottleneck = -1;
    transfer.rate = transfer.most;
    ends_.push({date + bytes / transfer.most, number, ++transfer.version});
  }
}

double Fluid::next() {
  while (!ends_.empty() && ends_.top().version != at(ends_.top().transfer).version) ends_.pop();
  return ends_.empty() ? std::numeric_limits<double>::infinity() : ends_.top().date;
}

std::int32_t Fluid::end(double date) {
  if (next() > date) return -1;
  const std::int32_t number = ends_.top().transfer;
  ends_.pop();
  stop(number);
  return number;
}

void Fluid::stop(std::int32_t number) {
  FluidTransfer& transfer = at(number);
  ++transfer.version;
  transfer.active = false;
  for (const Hop& hop : hops_of(transfer)) {
    auto& active = link(hop.link).active;
    OnLink& left = active[static_cast<std::size_t>(hop.place)];
    left = active.back();
    hops_[at(left.transfer).first + left.which].place = hop.place;
    active.pop_back();
  }
  soil(transfer);
}

void Fluid::join(std::int32_t number) {
  FluidTransfer& transfer = at(number);
  if (transfer.member == epoch_) return;
  transfer.member = epoch_;
  members_.push_back(number);
  for (const Hop& hop : hops_of(transfer)) {
    FluidLink& on_path = link(hop.link);
    if (on_path.touched == epoch_) continue;
    on_path.touched = epoch_;
    on_path.fair = -1;
    touched_.push_back(hop.link);
  }
}

void Fluid::fix(FluidTransfer& transfer, double rate, std::int32_t bottleneck) {
  transfer.next_rate = rate;
  transfer.bottleneck = bottleneck;
  for (const Hop& hop : hops_of(transfer)) {
    FluidLink& on_path = link(hop.link);
    const double taken = hop.flows * rate;
    on_path.left = on_path.left > taken ? on_path.left - taken : 0;
    on_path.open -= hop.flows;
  }
}

/// Sets the rate of a transfer whose links have no other member: its limit, or the least capacity left on its links.
/// Returns false if a link has other members.
bool Fluid::fill_alone(FluidTransfer& transfer) {
  double rate = std::numeric_limits<double>::infinity();
  std::int32_t tightest = -1;
  for (const Hop& hop : hops_of(transfer)) {
    const FluidLink& on_path = link(hop.link);
    if (on_path.open != hop.flows) return false;
    const double share = on_path.left / on_path.open;
    if (share > rate || (share == rate && hop.link > tightest)) continue;
    rate = share;
    tightest = hop.link;
  }
  if (transfer.most <= rate) {
    fix(transfer, transfer.most, -1);
  } else {
    link(tightest).fair = rate;
    fix(transfer, rate, tightest);
  }
  return true;
}

/// Computes max-min rates of the members within the capacity that other transfers leave, by progressive filling: the
/// tightest link fixes the rates of its members, repeatedly.
void Fluid::fill() {
  const auto later = std::greater<std::pair<double, std::int32_t>>();
  shares_.clear();
  limited_.clear();
  for (const std::int32_t index : touched_) {
    FluidLink& on_path = link(index);
    on_path.left = on_path.capacity;
    on_path.fair = -1;
    on_path.open = 0;
    for (const auto& [number, which, flows] : on_path.active) {
      if (at(number).member == epoch_) {
        on_path.open += flows;
      } else {
        on_path.left -= flows * at(number).rate;
      }
    }
    on_path.left = std::max(0.0, on_path.left);
  }
  for (const std::int32_t number : members_) {
    FluidTransfer& transfer = at(number);
    transfer.next_rate = -1;
    if (fill_alone(transfer)) continue;
    if (std::isfinite(transfer.most)) limited_.emplace_back(transfer.most, number);
  }
  for (const std::int32_t index : touched_) {
    const FluidLink& on_path = link(index);
    if (on_path.open > kNone) shares_.emplace_back(on_path.left / on_path.open, index);
  }
  std::ranges::make_heap(shares_, later);
  std::ranges::sort(limited_);
  std::size_t next_limited = 0;
  while (!shares_.empty()) {
    const auto [then, index] = shares_.front();
    FluidLink& on_path = link(index);
    const bool is_open = on_path.open > kNone;
    const double rate = is_open ? on_path.left / on_path.open : 0;
    if (!is_open || rate > then * (1 + 1e-12)) {
      std::ranges::pop_heap(shares_, later);
      shares_.pop_back();
      if (!is_open) continue;
      shares_.emplace_back(rate, index);  // moves the link back in the heap, since shares only grow while other members
                                          // are fixed
      std::ranges::push_heap(shares_, later);
      continue;
    }
    if (next_limited < limited_.size() && limited_[next_limited].first <= rate) {
      const auto [most, number] = limited_[next_limited++];
      if (at(number).next_rate < 0) fix(at(number), most, -1);
      continue;
    }
    on_path.fair = rate;
    for (const auto& [number, which, flows] : on_path.active) {
      FluidTransfer& transfer = at(number);
      if (transfer.member == epoch_ && transfer.next_rate < 0) fix(transfer, rate, index);
    }
  }
}

/// Adds transfers to the members until the rates of all others are max-min fair too. The bottleneck of a non-member
/// must be full, and no transfer on it may be faster. A non-member must also not be faster than a member on the
/// member's bottleneck.
void Fluid::complete() {
  for (std::size_t i = 0; i < touched_.size(); ++i) {  // NOLINT(modernize-loop-convert): new members touch more links
    FluidLink& on_path = link(touched_[i]);
    double most = 0;  // greatest rate of a member, byte/s
    double used = 0;
    std::size_t inside = 0;
    for (const auto& [number, which, flows] : on_path.active) {
      const FluidTransfer& transfer = at(number);
      // Uses the present rate of a member that has just joined, since its new rate is not known yet.
      const bool settled = transfer.member == epoch_ && transfer.next_rate >= 0;
      if (settled) {
        most = std::max(most, transfer.next_rate);
        ++inside;
      }
      used += flows * (settled ? transfer.next_rate : transfer.rate);
    }
    if (inside == on_path.active.size()) continue;
    const bool full = used >= on_path.capacity * (1 - kAlike);
    for (std::size_t k = 0; k < on_path.active.size(); ++k) {
      const std::int32_t number = on_path.active[k].transfer;
      FluidTransfer& transfer = at(number);
      if (transfer.member == epoch_) continue;
      const bool held_here = transfer.bottleneck == touched_[i];
      const bool too_little = held_here && (!full || transfer.rate < most * (1 - kAlike));
      const bool too_much = on_path.fair >= 0 && transfer.rate > on_path.fair * (1 + kAlike);
      if (!too_little && !too_much) continue;
      transfer.next_rate = -1;
      join(number);
    }
  }
}

std::size_t Fluid::share(double date) {
  if (dirty_.empty()) return 0;
  std::size_t looked_at = 0;
  ++epoch_;
  members_.clear();
  touched_.clear();
  for (const std::int32_t index : dirty_) {
    link(index).dirty = false;
    for (const auto& [number, which, flows] : link(index).active) join(number);
  }
  dirty_.clear();
  for (std::size_t before = 0; before != members_.size();) {
    before = members_.size();
    looked_at += before;
    fill();
    complete();
  }
  for (const std::int32_t number : members_) {
    FluidTransfer& transfer = at(number);
    if (std::abs(transfer.next_rate - transfer.rate) <= 1e-12 * transfer.rate) continue;
    transfer.left = std::max(0.0, transfer.left - transfer.rate * (date - transfer.since));
    transfer.since = date;
    transfer.rate = transfer.next_rate;
    ends_.push({date + transfer.left / transfer.rate, number, ++transfer.version});
  }
  return looked_at;
}

}  // namespace dadsim::sim

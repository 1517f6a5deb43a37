#include "sim/network/link_sharing.hpp"

#include <algorithm>

namespace dadsim::sim {
namespace {

/// seconds within which events count as simultaneous, as in SimGrid (settings of its engine)
constexpr double kSameMoment = 1e-12;

}  // namespace

void LinkSharing::set_link(std::int32_t index, double capacity, bool shared) {
  if (static_cast<std::size_t>(index) >= links_.size()) links_.resize(static_cast<std::size_t>(index) + 1);
  link(index).capacity = capacity;
  link(index).shared = shared;
  if (fluid_) fluid_->set_capacity(index, capacity);
}

std::int32_t LinkSharing::add(std::span<const std::int32_t> links, double most) {
  const auto number = static_cast<std::int32_t>(transfers_.size());
  SharedTransfer& transfer = transfers_.emplace_back();
  transfer.links.assign(links.begin(), links.end());
  transfer.most = most;
  for (const std::int32_t index : links) {
    Link& on_path = link(index);
    on_path.users.push_back(number);
    if (!on_path.shared || on_path.users.size() != 2) continue;
    stale_ = true;
    if (!std::exchange(on_path.is_hub, true)) hubs_.push_back(index);
  }
  classify(at(number));
  return number;
}

/// Determines the transfer's hub and cap from the users of its links.
void LinkSharing::classify(SharedTransfer& transfer) {
  transfer.hub = kNone;
  transfer.cap = transfer.most;
  for (const std::int32_t index : transfer.links) {
    if (link(index).shared && link(index).users.size() > 1) {
      transfer.hub = index;
    } else {
      transfer.cap = std::min(transfer.cap, link(index).capacity);
    }
  }
}

double LinkSharing::left_of(const SharedTransfer& transfer, double date) {
  if (transfer.held_by_hub) {
    advance(link(transfer.hub), date);
    return std::max(0.0, transfer.end - link(transfer.hub).v);
  }
  return std::max(0.0, transfer.left - transfer.cap * (date - transfer.since));
}

void LinkSharing::advance(Link& hub, double date) const {
  if (!hub.held.empty()) hub.v += hub.fair * (date - hub.at);
  hub.at = date;
  if (hub.held.empty()) hub.v = 0;  // removes accumulated rounding
}

/// Moves a transfer from the set limited by their own lines to the set held by the hub.
void LinkSharing::hold(Link& hub, std::int32_t number, double date) {
  SharedTransfer& transfer = at(number);
  const double left = left_of(transfer, date);
  ends_.erase({transfer.end, number});
  hub.others.erase({transfer.cap, number});
  hub.taken -= transfer.cap;
  if (hub.others.empty()) hub.taken = 0;  // removes accumulated rounding
  transfer.held_by_hub = true;
  transfer.end = hub.v + left;
  hub.held.emplace(transfer.cap, number);
  hub.ends.emplace(transfer.end, number);
}

void LinkSharing::let_go(Link& hub, std::int32_t number, double date) {
  SharedTransfer& transfer = at(number);
  transfer.left = left_of(transfer, date);
  transfer.since = date;
  hub.held.erase({transfer.cap, number});
  hub.ends.erase({transfer.end, number});
  transfer.held_by_hub = false;
  transfer.end = date + transfer.left / transfer.cap;
  hub.others.emplace(transfer.cap, number);
  hub.taken += transfer.cap;
  ends_.emplace(transfer.end, number);
}

/// Restores max-min fairness on a hub. All transfers held by the hub get the same rate, which is at most the cap of
/// each. Any other transfer gets its cap, which is at most that rate.
void LinkSharing::balance(Link& hub, double date) {
  constexpr double kAlike = 1e-12;  // relative difference of equal rates
  advance(hub, date);
  while (!hub.others.empty()) {
    const auto [cap, number] = *hub.others.rbegin();
    const double open = hub.capacity - hub.taken + cap;
    if (cap * static_cast<double>(hub.held.size() + 1) <= open * (1 + kAlike)) break;
    hold(hub, number, date);
  }
  // Releases held transfers with caps below their share. The share of the others only grows meanwhile.
  for (; !hub.held.empty(); let_go(hub, hub.held.begin()->second, date)) {
    hub.fair = std::max(0.0, hub.capacity - hub.taken) / static_cast<double>(hub.held.size());
    if (hub.held.begin()->first > hub.fair * (1 + kAlike)) break;
  }
}

void LinkSharing::enter(std::int32_t number, double bytes, double date) {
  SharedTransfer& transfer = at(number);
  transfer.active = true;
  transfer.held_by_hub = false;
  transfer.left = bytes;
  transfer.since = date;
  transfer.end = date + bytes / transfer.cap;
  ends_.emplace(transfer.end, number);
  if (transfer.hub == kNone) return;
  Link& hub = link(transfer.hub);
  advance(hub, date);
  hub.others.emplace(transfer.cap, number);
  hub.taken += transfer.cap;
  dirty_.insert(transfer.hub);
}

void LinkSharing::take_out(std::int32_t number, double date) {
  SharedTransfer& transfer = at(number);
  transfer.active = false;
  if (!transfer.held_by_hub) ends_.erase({transfer.end, number});
  if (transfer.hub == kNone) return;
  Link& hub = link(transfer.hub);
  advance(hub, date);
  if (transfer.held_by_hub) {
    hub.held.erase({transfer.cap, number});
    hub.ends.erase({transfer.end, number});
  } else {
    hub.others.erase({transfer.cap, number});
    hub.taken -= transfer.cap;
    if (hub.others.empty()) hub.taken = 0;
  }
  transfer.held_by_hub = false;
  dirty_.insert(transfer.hub);
}

/// Assigns all transfers again, because new links are shared.
void LinkSharing::rebuild(double date) {
  stale_ = false;
  std::vector<std::pair<std::int32_t, double>> under_way;  // transfers to assign again, and their bytes left
  for (std::int32_t number = 0; number < static_cast<std::int32_t>(transfers_.size()); ++number) {
    if (at(number).active) under_way.emplace_back(number, left_of(at(number), date));
  }
  for (const auto& [number, left] : under_way) take_out(number, date);
  bool general = false;
  for (SharedTransfer& transfer : transfers_) {
    const auto meets = [&](std::int32_t index) { return link(index).shared && link(index).users.size() > 1; };
    general = general || std::ranges::count_if(transfer.links, meets) > 1;
    classify(transfer);
  }
  if (general) {
    dirty_.clear();
    fluid_ = std::make_unique<Fluid>();
    for (std::size_t index = 0; index < links_.size(); ++index)
      fluid_->set_capacity(static_cast<std::int32_t>(index), links_[index].capacity);
  }
  for (const auto& [number, left] : under_way) begin(number, std::max(left, 1e-9), date);
}

void LinkSharing::begin(std::int32_t number, double bytes, double date) {
  if (stale_ && !fluid_) rebuild(date);
  SharedTransfer& transfer = at(number);
  if (!fluid_) return enter(number, bytes, date);
  if (transfer.fluid == kNone) {
    std::vector<std::int32_t> shared;
    double most = transfer.most;
    for (const std::int32_t index : transfer.links) {
      if (link(index).shared) {
        shared.push_back(index);
      } else {
        most = std::min(most, link(index).capacity);
      }
    }
    transfer.fluid = fluid_->add(shared, most);
    of_fluid_[transfer.fluid] = number;
  }
  transfer.active = true;
  fluid_->begin(transfer.fluid, bytes, date);
}

void LinkSharing::stop(std::int32_t number, double date) {
  SharedTransfer& transfer = at(number);
  for (const std::int32_t index : transfer.links) std::erase(link(index).users, number);
  if (!transfer.active) return;
  if (!fluid_) return take_out(number, date);
  transfer.active = false;
  fluid_->stop(transfer.fluid);
}

std::vector<std::int32_t> LinkSharing::settle(double date) {
  std::vector<std::int32_t> over;
  if (fluid_) {
    for (std::int32_t one = fluid_->end(date); one >= 0; one = fluid_->end(date)) {
      over.push_back(of_fluid_.at(one));
      at(over.back()).active = false;
    }
    fluid_->share(date);
    return over;
  }
  const double by = date + std::max(kSameMoment, 4 * std::numeric_limits<double>::epsilon() * date);
  for (auto first = ends_.begin(); first != ends_.end() && first->first <= by; ++first) over.push_back(first->second);
  for (const std::int32_t index : hubs_) {
    Link& hub = link(index);
    advance(hub, date);
    const double until = hub.v + std::max(hub.fair * (by - date), 4 * std::numeric_limits<double>::epsilon() * hub.v);
    for (auto first = hub.ends.begin(); first != hub.ends.end() && first->first <= until; ++first)
      over.push_back(first->second);
  }
  for (const std::int32_t number : over) take_out(number, date);
  for (const std::int32_t index : dirty_) balance(link(index), date);
  dirty_.clear();
  std::ranges::sort(over);  // ends that coincide are reported in the order of the transfers
  return over;
}

double LinkSharing::next() {
  if (fluid_) return fluid_->next();
  double date = ends_.empty() ? std::numeric_limits<double>::infinity() : ends_.begin()->first;
  for (const std::int32_t index : hubs_) {
    const Link& hub = link(index);
    if (hub.ends.empty()) continue;
    date = std::min(date, hub.at + std::max(0.0, hub.ends.begin()->first - hub.v) / hub.fair);
  }
  return date;
}

}  // namespace dadsim::sim

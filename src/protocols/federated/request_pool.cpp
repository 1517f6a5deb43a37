#include "protocols/federated/request_pool.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dadsim::protocols {

using world::Parcel;

namespace {
constexpr double kRest = 1;  ///< seconds
}  // namespace

void IndexSet::set(std::size_t index, bool in) {
  if (in_[index] == in) return;
  in_[index] = in;
  count_ += in ? 1 : static_cast<std::size_t>(-1);
  for (std::size_t i = index + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += in ? 1 : -1;
}

std::size_t IndexSet::nth(std::size_t k) const {
  std::size_t at = 0;
  std::size_t stride = 1;
  while (2 * stride < sums_.size()) stride *= 2;
  for (auto left = static_cast<std::int32_t>(k + 1); stride > 0; stride /= 2) {
    if (at + stride >= sums_.size() || sums_[at + stride] >= left) continue;
    at += stride;
    left -= sums_[at];
  }
  return at;
}

RequestPool::RequestPool(const Setting& setting, Options options)
    : setting_(setting), options_(std::move(options)), requests_(options_.others.size()), free_(requests_.size()) {
  for (std::size_t i = 0; i < options_.others.size(); ++i) indices_[options_.others[i]] = i;
}

void RequestPool::watch() {
  for (const world::Node other : options_.others) setting_.loop.watch(options_.asker, other, options_.answers);
}

void RequestPool::begin() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i].open) {
      if (options_.stops) setting_.loop.cancel_computing(node(i));
      tell(failed(i), ProtocolLog::Part::End::failed);
    }
    requests_[i].up = setting_.loop.is_up(node(i));
    requests_[i].rests = false;
    update_free(i);
  }
  rest_.clear();
  again_.clear();
  broken_.clear();
}

void RequestPool::close(std::size_t other) {
  if (std::exchange(requests_[other].open, false)) --open_;
  requests_[other].parcel = {};
  update_free(other);
}

void RequestPool::send(std::size_t other, Parcel parcel) {
  setting_.loop.send(options_.asker, node(other), options_.orders, std::move(parcel), options_.answers);
}

void RequestPool::ask(std::size_t other, Parcel parcel, bool in_place) {
  Request& request = requests_[other];
  request.open = true;
  ++open_;
  request.number = parcel.number;
  request.attempts = 0;
  request.asked_at = setting_.loop.now();
  update_free(other);
  if (options_.tells) ++setting_.log.asked;
  if (in_place) {
    parcel.bytes = 0;
    setting_.loop.hand(node(other), options_.orders, std::move(parcel));
    return;
  }
  if (options_.retries > 0) request.parcel = parcel;
  send(other, std::move(parcel));
}

void RequestPool::send_again() {
  while (!again_.empty() && again_.begin()->first <= setting_.loop.now()) {
    const auto [other, number] = again_.begin()->second;
    again_.erase(again_.begin());
    if (!requests_[other].open || requests_[other].number != number) continue;
    ++setting_.log.retried;
    Parcel parcel = requests_[other].parcel;
    send(other, std::move(parcel));
  }
}

RequestPool::Event RequestPool::failed(std::size_t other) {
  Event event{.what = Event::What::failed, .other = other, .number = requests_[other].number};
  close(other);
  return event;
}

void RequestPool::answer_lost(std::size_t other, std::int64_t number) {
  if (!setting_.loop.is_up(options_.asker)) return;
  broken_.emplace_back(other, number);
  setting_.loop.hand(options_.asker, options_.answers, {.lost = true});
}

RequestPool::Event RequestPool::unreached(std::size_t other) {
  Event event = failed(other);
  requests_[other].rests = true;
  rest_.emplace(setting_.loop.now() + kRest, other);
  update_free(other);
  return event;
}

/// Whether someone has rested enough.
bool RequestPool::wake() {
  bool any = false;
  while (!rest_.empty() && rest_.begin()->first <= setting_.loop.now()) {
    requests_[rest_.begin()->second].rests = false;
    update_free(rest_.begin()->second);
    rest_.erase(rest_.begin());
    any = true;
  }
  return any;
}

bool RequestPool::has_news() {
  wake();
  return setting_.loop.waiting(options_.asker, options_.answers) > 0;
}

world::Task<RequestPool::Event> RequestPool::next(double until) {
  for (;;) {
    send_again();
    double patience = until;
    if (!again_.empty()) patience = std::min(patience, again_.begin()->first);
    if (!rest_.empty()) patience = std::min(patience, rest_.begin()->first);
    Parcel parcel = co_await setting_.loop.receive(options_.asker, options_.answers, patience);
    if (wake() && parcel.from < 0 && setting_.loop.now() < until) co_return Event{.what = Event::What::news};
    if (parcel.from < 0) {
      if (setting_.loop.now() >= until) co_return Event{};
      continue;
    }
    if (parcel.from == options_.asker && parcel.lost) {  // a connection broke while an answer was on its way
      if (broken_.empty()) continue;
      const auto [other, number] = broken_.front();
      broken_.erase(broken_.begin());
      if (!requests_[other].open || requests_[other].number != number) continue;
      co_return unreached(other);
    }
    const std::size_t other = index_of(parcel.from);
    Request& request = requests_[other];
    if (parcel.gone || parcel.back) {
      request.up = parcel.back;
      update_free(other);
      if (parcel.gone && request.open) co_return failed(other);
      co_return Event{.what = Event::What::news, .other = other};
    }
    const bool open = request.open && request.number == parcel.number;
    if (parcel.lost) {
      if (!open) continue;
      if (request.attempts >= options_.retries) co_return unreached(other);
      again_.emplace(setting_.loop.now() + std::ldexp(1.0, static_cast<int>(request.attempts++)),
                     std::pair(other, request.number));
      continue;
    }
    if (!open) {  // the request was given up
      waste(parcel);
      continue;
    }
    if (parcel.values.empty()) {
      waste(parcel);
      co_return failed(other);
    }
    Event event{.what = Event::What::answer, .other = other, .number = parcel.number};
    event.parcel = std::move(parcel);
    close(other);
    co_return event;
  }
}

void RequestPool::waste(const Parcel& parcel) {
  setting_.log.wasted_bytes += parcel.bytes;
  setting_.log.wasted_seconds += parcel.work;
}

void RequestPool::tell(const Event& event, ProtocolLog::Part::End end) {
  if (!options_.tells) return;
  ProtocolLog& log = setting_.log;
  if (end == ProtocolLog::Part::End::failed) ++log.failed;
  if (end == ProtocolLog::Part::End::late) {
    ++log.late;
    waste(event.parcel);
  }
  if (log.parts.size() < ProtocolLog::kMostParts) {
    log.parts.push_back({event.number, node(event.other), requests_[event.other].asked_at, setting_.loop.now(), end});
  }
}

}  // namespace dadsim::protocols

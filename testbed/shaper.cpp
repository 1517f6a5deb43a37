#include "shaper.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace testbed {
namespace {

/// Shortest sleep, seconds. Shorter sleeps cost more time than they save, so with a frame every 12 µs (1 Gbit/s), some
/// frames leave together.
constexpr double kLeastSleep = 20e-6;
constexpr double kMostSleep = 20e-3;  // longest sleep in seconds, which bounds the delay of stop()

}  // namespace

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Shaper::Shaper(std::vector<int> devices, std::vector<Line> lines, std::vector<std::vector<int>> ways)
    : devices_(std::move(devices)), lines_(std::move(lines)), ways_(std::move(ways)), free_(lines_.size(), 0) {}

void Shaper::run() {
  std::vector<pollfd> polled;
  for (const int device : devices_) polled.push_back({device, POLLIN, 0});
  while (!stopped_) {
    double seconds = kMostSleep;
    if (!events_.empty()) seconds = std::clamp(events_.top().date - now(), kLeastSleep, kMostSleep);
    const timespec timeout{0, static_cast<long>(seconds * 1e9)};
    ppoll(polled.data(), polled.size(), &timeout, nullptr);
    // Handles events that are due before new frames, so that a line takes frames in the order of their dates.
    for (;;) {
      while (!events_.empty() && events_.top().date <= now()) {
        const Event event = events_.top();
        events_.pop();
        if (event.packet->next == event.packet->way->size()) {
          hand_over(event.packet, event.date);
        } else {
          advance(event.packet, event.date);
        }
      }
      bool more = false;
      for (std::size_t host = 0; host < devices_.size(); ++host) {
        for (int burst = 0; burst < 16; ++burst) {
          const bool taken = take(host, now());
          more = more || taken;
          if (!taken) break;
        }
      }
      if (!more) break;
    }
  }
}

bool Shaper::take(std::size_t host, double date) {
  if (spare_.empty()) {
    all_.push_back(std::make_unique<Packet>());
    spare_.push_back(all_.back().get());
  }
  Packet* packet = spare_.back();
  const ssize_t length = read(devices_[host], packet->bytes.data(), packet->bytes.size());
  if (length <= 0) return false;
  const auto at = [packet](std::size_t i) { return std::to_integer<unsigned>(packet->bytes[i]); };
  if (length < 20 || at(0) >> 4 != 4 || at(16) != 10 || at(17) != 77) return true;  // anything but TCP between hosts
  const int to = static_cast<int>(at(19)) - 1;
  if (to < 0 || to >= static_cast<int>(devices_.size())) return true;
  spare_.pop_back();
  packet->length = static_cast<std::size_t>(length);
  packet->next = 0;
  packet->to = to;
  packet->way = &ways_[host * devices_.size() + static_cast<std::size_t>(to)];
  advance(packet, date);
  return true;
}

void Shaper::advance(Packet* packet, double date) {
  const auto number = static_cast<std::size_t>((*packet->way)[packet->next++]);
  const Line& line = lines_[number];
  const double bytes = static_cast<double>(packet->length) + kEthernet;
  const double waiting = std::max(0.0, free_[number] - date) * line.bytes_per_second;
  if (waiting + bytes > line.queue) {
    ++dropped_;
    spare_.push_back(packet);
    return;
  }
  free_[number] = std::max(free_[number], date) + bytes / line.bytes_per_second;
  events_.push({free_[number] + line.delay, serial_++, packet});
}

void Shaper::hand_over(Packet* packet, double date) {
  if (write(devices_[static_cast<std::size_t>(packet->to)], packet->bytes.data(), packet->length) < 0) ++refused_;
  late_ns_ = std::max(late_ns_.load(), static_cast<std::int64_t>((now() - date) * 1e9));
  spare_.push_back(packet);
}

}  // namespace testbed

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "sim/network/fifo.hpp"

namespace dadsim::sim {

/// What comes at dates: the earliest first, and of equals the one put in first.
///
/// Dates mostly are those of now and one of few latencies, so that each comes behind all others of its kind: it is put
/// at the end of the first of some lines in which no later one stands, and only where there is none into a heap.
class DateQueue {
 public:
  bool empty() const { return size_ == 0; }
  /// Seconds; infinity: there is none.
  double next() const { return size_ == 0 ? kNever : first().date; }

  void push(double date, std::int32_t what) {
    ++size_;
    const Entry entry{date, serial_++, what};
    for (Line& line : lines_) {
      if (!line.waiting.empty() && date < line.last) continue;
      line.last = date;
      line.waiting.push_back(entry);
      return;
    }
    heap_.push(entry);
  }

  std::int32_t pop() {
    --size_;
    Line* line = earliest();
    if (line != nullptr && (heap_.empty() || line->waiting.front() < heap_.top())) {
      const std::int32_t what = line->waiting.front().what;
      line->waiting.pop_front();
      return what;
    }
    const std::int32_t what = heap_.top().what;
    heap_.pop();
    return what;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Entry {
    double date;  ///< seconds
    std::int64_t serial;
    std::int32_t what;
    bool operator<(const Entry& other) const {
      return date < other.date || (date == other.date && serial < other.serial);
    }
    bool operator>(const Entry& other) const { return other < *this; }
  };
  struct Line {
    Fifo<Entry> waiting;
    double last = 0;  ///< seconds: of those that wait
  };

  const Line* earliest() const {
    const Line* found = nullptr;
    for (const Line& line : lines_) {
      if (line.waiting.empty()) continue;
      if (found == nullptr || line.waiting.front() < found->waiting.front()) found = &line;
    }
    return found;
  }
  Line* earliest() { return const_cast<Line*>(static_cast<const DateQueue*>(this)->earliest()); }
  const Entry& first() const {
    const Line* line = earliest();
    return line != nullptr && (heap_.empty() || line->waiting.front() < heap_.top()) ? line->waiting.front()
                                                                                     : heap_.top();
  }

  std::array<Line, 6> lines_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  std::size_t size_ = 0;
  std::int64_t serial_ = 0;
};

}  // namespace dadsim::sim

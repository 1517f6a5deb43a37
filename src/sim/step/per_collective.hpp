#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "schedule/schedule.hpp"

namespace dadsim::sim {

/// Values for the collectives of a schedule, keyed by content: the task's name and the number of its occurrences are
/// not part of the key. References stay valid.
template <class Value>
class PerCollective {
 public:
  /// Returns the value of an equal task; null if there is none.
  Value* find(const schedule::Task& task) {
    const auto [from, to] = places_.equal_range(hash_of(task));
    for (auto place = from; place != to; ++place) {
      CollectiveRecord& entry = entries_[place->second];
      if (entry.stage == task.stage && entry.collective == std::get<schedule::CollectiveTask>(task.what)) {
        return &entry.value;
      }
    }
    return nullptr;
  }

  Value& add(const schedule::Task& task, Value value) {
    places_.emplace(hash_of(task), entries_.size());
    return entries_.emplace_back(task.stage, std::get<schedule::CollectiveTask>(task.what), std::move(value)).value;
  }

  template <class Visit>
  void for_each(const Visit& visit) {
    for (CollectiveRecord& entry : entries_) visit(entry.value);
  }

 private:
  struct CollectiveRecord {
    CollectiveRecord(std::int32_t of_stage, schedule::CollectiveTask what, Value known)
        : stage(of_stage), collective(std::move(what)), value(std::move(known)) {}
    std::int32_t stage;
    schedule::CollectiveTask collective;
    Value value;
  };

  /// Returns a hash of the members that differ most often.
  static std::uint64_t hash_of(const schedule::Task& task) {
    const auto& collective = std::get<schedule::CollectiveTask>(task.what);
    std::uint64_t mixed = std::hash<std::string>()(collective.algorithm);
    const auto add = [&mixed](std::uint64_t bits) { mixed = std::rotl(mixed ^ bits, 23) * 0x9e3779b97f4a7c15U; };
    add(std::bit_cast<std::uint64_t>(collective.bytes[0]));
    add(static_cast<std::uint64_t>(collective.kind));
    add(static_cast<std::uint64_t>(collective.among));
    add(static_cast<std::uint64_t>(task.stage) << 32 ^ static_cast<std::uint64_t>(collective.to_stage));
    return mixed;
  }

  std::deque<CollectiveRecord> entries_;
  std::unordered_multimap<std::uint64_t, std::size_t> places_;
};

}  // namespace dadsim::sim

#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dadsim {

/// Entries by name, in the order of presentation. `Entry` has a `name`. All entries must be added before several
/// threads look any up.
template <class Entry>
class Registry {
 public:
  /// `kind`: noun for an entry, for messages.
  Registry(std::string kind, std::vector<Entry> entries) : kind_(std::move(kind)) {
    for (Entry& entry : entries) add(std::move(entry));
  }

  /// Adds an entry. Throws std::logic_error for a name already in use.
  void add(Entry entry) {
    if (find(entry.name) != nullptr) throw std::logic_error("two entries have the name '" + entry.name + "': " + kind_);
    entries_.push_back(std::move(entry));
  }

  const std::vector<Entry>& all() const { return entries_; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) names.push_back(entry.name);
    return names;
  }
  /// Returns the entry of that name; nullptr if there is none.
  const Entry* find(const std::string& name) const {
    const auto found = std::ranges::find(entries_, name, &Entry::name);
    return found == entries_.end() ? nullptr : &*found;
  }
  /// Returns the entry of that name. Throws std::out_of_range if there is none.
  const Entry& at(const std::string& name) const {
    if (const Entry* entry = find(name)) return *entry;
    throw std::out_of_range("no " + kind_ + " '" + name + "'");
  }

 private:
  std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace dadsim

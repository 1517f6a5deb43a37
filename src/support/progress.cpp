#include "support/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/human.hpp"
#include "support/terminal.hpp"

namespace dadsim {
namespace {

constexpr double kInterval = 0.2;     // seconds between two outputs
constexpr double kLeastShare = 0.01;  // smallest share done for which the remaining time is estimated

}  // namespace

void ProgressLine::show(const std::string& text) {
  if (shows_in_place()) return say_in_place(text);
  if (seconds() < next_) return;
  next_ = std::max(1.0, 2 * seconds());
  say(text + '\n');
}

void ProgressLine::clear() {
  if (shows_in_place()) say_in_place("");
}

Progress::Progress(std::string what, std::size_t parts, bool enabled)
    : what_(std::move(what)), enabled_(enabled), share_(parts, 0.0) {}

Progress::~Progress() {
  if (enabled_) line_.clear();
}

bool Progress::is_due() {
  const double now = line_.seconds();
  if (now - last_ < kInterval) return false;
  last_ = now;
  return true;
}

void Progress::update(std::size_t part, std::int64_t done, std::int64_t total) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  share_[part] = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0;
  if (is_due()) print();
}

void Progress::say(const std::function<std::string()>& text) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  if (is_due()) line_.show(text());
}

void Progress::print() {
  const double share = std::accumulate(share_.begin(), share_.end(), 0.0) / static_cast<double>(share_.size());
  std::string line = fmt::format("{} {:.0f} %", what_, 100 * share);
  if (share >= kLeastShare) line += fmt::format(", about {} left", human_seconds(last_ * (1 - share) / share));
  line_.show(line);
}

}  // namespace dadsim

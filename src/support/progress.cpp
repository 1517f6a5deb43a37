#include "support/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <numeric>

#include "support/human.hpp"
#include "support/terminal.hpp"

namespace dadsim {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(200);
constexpr double kLeastShare = 0.01;  // before that an estimate of the rest is a guess

}  // namespace

bool standard_error_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

Progress::Progress(std::string what, std::size_t parts, bool enabled)
    : what_(std::move(what)),
      enabled_(enabled),
      share_(parts, 0.0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (enabled_) say_in_place("");
}

void Progress::update(std::size_t part, std::int64_t done, std::int64_t total) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  share_[part] = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kInterval) return;
  last_ = now;
  print();
}

void Progress::say(const std::function<std::string()>& text) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kInterval) return;
  last_ = now;
  say_in_place(text());
}

void Progress::print() {
  const double share = std::accumulate(share_.begin(), share_.end(), 0.0) / static_cast<double>(share_.size());
  const double elapsed = std::chrono::duration<double>(last_ - start_).count();
  std::string line = fmt::format("{} {:.0f} %", what_, 100 * share);
  if (share >= kLeastShare) line += fmt::format(", about {} left", human_seconds(elapsed * (1 - share) / share));
  say_in_place(line);
}

}  // namespace dadsim

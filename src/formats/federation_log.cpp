#include "formats/federation_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <set>
#include <stdexcept>

#include "support/split.hpp"

namespace dadsim::formats {
namespace {

constexpr double kNoDate = -1;  // value without a date; dates in logs are positive, seconds since 1970

/// Returns the nonnegative number at the beginning of `text`; nothing if there is none.
std::optional<double> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

/// Returns the text after `words`; nothing if the line lacks them.
std::optional<std::string_view> text_behind(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  return line.substr(at + words.size());
}

std::optional<double> amount_behind(std::string_view line, std::string_view words) {
  const std::optional<std::string_view> behind = text_behind(line, words);
  return behind ? leading_number(*behind) : std::nullopt;
}

bool is_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the seconds since 1970 of the first "2024-07-28 22:06:17,284" of a line; its fraction of a second may be
/// missing.
std::optional<double> date_of(std::string_view line) {
  constexpr std::size_t kLength = 19;
  const auto at_end = [&](std::size_t i) { return i + kLength > line.size(); };
  for (std::size_t i = line.find('-'); i != std::string_view::npos; i = line.find('-', i + 1)) {
    constexpr std::size_t kYear = 4;
    if (i < kYear || at_end(i - kYear)) continue;
    const std::string_view date = line.substr(i - kYear, kLength);
    if (date[7] != '-' || (date[10] != ' ' && date[10] != 'T') || date[13] != ':' || date[16] != ':') continue;
    const auto part = [&](std::size_t from, std::size_t length) { return date.substr(from, length); };
    const std::string_view parts[] = {part(0, 4), part(5, 2), part(8, 2), part(11, 2), part(14, 2), part(17, 2)};
    if (!std::ranges::all_of(parts, is_digits)) continue;
    int numbers[6] = {};
    for (std::size_t k = 0; k < 6; ++k) std::from_chars(parts[k].data(), parts[k].data() + parts[k].size(), numbers[k]);
    const std::chrono::year_month_day day{std::chrono::year(numbers[0]),
                                          std::chrono::month(static_cast<unsigned>(numbers[1])),
                                          std::chrono::day(static_cast<unsigned>(numbers[2]))};
    if (!day.ok()) continue;
    double seconds = static_cast<double>(std::chrono::sys_days(day).time_since_epoch().count()) * 86400 +
                     numbers[3] * 3600 + numbers[4] * 60 + numbers[5];
    const std::string_view rest = line.substr(i - kYear + kLength);
    constexpr std::size_t kMilliseconds = 3;
    if (rest.size() > kMilliseconds && (rest[0] == ',' || rest[0] == '.') && is_digits(rest.substr(1, kMilliseconds)))
      seconds += leading_number(rest.substr(1, kMilliseconds)).value_or(0) / 1000;
    return seconds;
  }
  return std::nullopt;
}

/// Reads "(408512 Bytes)" or, in versions 2.1 and 2.2 of FLARE, "size: 645 Bytes", and the seconds after it.
std::optional<ClientLog::LoggedTransfer> transfer_of(std::string_view behind) {
  const std::size_t unit = behind.find(" Bytes");
  if (unit == std::string_view::npos) return std::nullopt;
  std::size_t first = unit;
  while (first > 0 && behind[first - 1] >= '0' && behind[first - 1] <= '9') --first;
  const std::optional<double> bytes = leading_number(behind.substr(first, unit - first));
  const std::optional<double> seconds = amount_behind(behind.substr(unit), "time: ");
  if (!bytes || !seconds) return std::nullopt;
  return ClientLog::LoggedTransfer{*bytes, *seconds};
}

}  // namespace

std::optional<ClientLog> read_client_log(std::string_view text) {
  ClientLog log;
  std::set<std::string> names;
  double had_task = kNoDate;
  for (const std::string_view line : lines_of(text)) {
    if (const auto identity = text_behind(line, "[identity=")) {
      const std::string_view name = identity->substr(0, identity->find_first_of(",]"));
      // A server's log names its clients as peers.
      names.emplace(name);
    }
    if (const auto task = text_behind(line, "getTask: ")) {
      const auto transfer = transfer_of(*task);
      if (!transfer) continue;
      log.down.push_back(*transfer);
      had_task = date_of(line).value_or(kNoDate);
    } else if (const auto update = text_behind(line, "SubmitUpdate ")) {
      const auto transfer = transfer_of(*update);
      if (!transfer) continue;
      log.up.push_back(*transfer);
      const double began = date_of(line).value_or(kNoDate) - transfer->seconds;
      if (had_task > kNoDate && began >= had_task) log.training.push_back(began - had_task);
      had_task = kNoDate;
    }
  }
  if (log.down.empty() && log.up.empty()) return std::nullopt;
  if (names.size() > 1)
    throw std::runtime_error(fmt::format("has lines of several clients ('{}', '{}'); use one log per client",
                                         *names.begin(), *std::next(names.begin())));
  if (!names.empty()) log.name = *names.begin();
  return log;
}

std::optional<ServerLog> read_server_log(std::string_view text) {
  constexpr double kMegabyte = 1024.0 * 1024;  // divisor in strategy_utils.py
  ServerLog log;
  double began = kNoDate;
  bool open = false;  // true: the results of a round are outstanding
  for (const std::string_view line : lines_of(text)) {
    if (const auto megabytes = amount_behind(line, "ArrayRecord (")) {
      if (!log.model_bytes && *megabytes > 0) log.model_bytes = kMegabyte * *megabytes;
      continue;
    }
    for (const char* end : {"Run finished ", "Strategy execution finished ", "FL finished "}) {
      if (const auto behind = text_behind(line, end)) log.total_seconds = amount_behind(*behind, "in ");
    }
    // Skips rounds of evaluation, which are logged in the same words.
    const bool of_training = line.find("fit_round") != std::string_view::npos ||
                             line.find("_fit:") != std::string_view::npos ||
                             line.find("_train:") != std::string_view::npos;
    if (!of_training) continue;
    const auto old_sampled = amount_behind(line, "strategy sampled ");
    const auto sampled = old_sampled ? old_sampled : amount_behind(line, "Sampled ");
    const auto known = amount_behind(line, "(out of ");
    if (sampled && known) {
      ServerLog::LoggedRound& round = log.rounds.emplace_back();
      round.sampled = static_cast<std::int64_t>(*sampled);
      round.known = static_cast<std::int64_t>(*known);
      began = date_of(line).value_or(kNoDate);
      open = true;
      continue;
    }
    const auto old_received = amount_behind(line, "received ");
    const auto received = old_received ? old_received : amount_behind(line, "Received ");
    if (!received || !open) continue;
    log.rounds.back().received = static_cast<std::int64_t>(*received);
    const double ended = date_of(line).value_or(kNoDate);
    if (began > kNoDate && ended >= began) log.rounds.back().seconds = ended - began;
    open = false;
  }
  if (open) log.rounds.pop_back();
  if (log.rounds.empty()) return std::nullopt;
  return log;
}

}  // namespace dadsim::formats

#include "scenario/elements/availability_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "scenario/elements/host_list.hpp"
#include "scenario/xml/white_space.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

using Change = spec::AvailabilitySpec::Change;

constexpr const char* kLineForm =
    "host, seconds with or without their unit, and on or off: phone-3 22.5h on, or phone-3,81000,1";
constexpr std::size_t kColumns = 3;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::optional<bool> state_of(std::string_view word) {
  static const std::map<std::string, bool> kStates{
      {"on", true},        {"off", false},         {"up", true},     {"down", false},    {"1", true},
      {"0", false},        {"true", true},         {"false", false}, {"yes", true},      {"no", false},
      {"available", true}, {"unavailable", false}, {"online", true}, {"offline", false}, {"active", true},
      {"inactive", false}, {"join", true},         {"leave", false}, {"joined", true},   {"left", false}};
  const auto found = kStates.find(lower(word));
  return found == kStates.end() ? std::nullopt : std::optional(found->second);
}

/// The columns of the host, the time and the state.
using Columns = std::array<std::size_t, kColumns>;

/// The columns that a heading names; nullopt where the line is no heading.
std::optional<Columns> columns_of(const std::vector<std::string>& words) {
  static const std::array<std::set<std::string>, kColumns> kNames{
      {{"host", "hosts", "hostname", "client", "client_id", "clientid", "client-id", "node", "node_id", "device",
        "device_id", "worker", "name", "id"},
       {"time", "time_s", "time(s)", "time_sec", "t", "at", "seconds", "second", "timestamp", "when", "date"},
       {"state", "status", "available", "availability", "on", "online", "up", "event", "value", "is_available"}}};
  if (words.size() != kColumns) return std::nullopt;
  Columns columns{};
  for (std::size_t c = 0; c < kColumns; ++c) {
    const auto at =
        std::ranges::find_if(words, [&](const std::string& word) { return kNames[c].contains(lower(word)); });
    if (at == words.end()) return std::nullopt;
    columns[c] = static_cast<std::size_t>(at - words.begin());
  }
  return std::set<std::size_t>(columns.begin(), columns.end()).size() == kColumns ? std::optional(columns)
                                                                                  : std::nullopt;
}

std::vector<std::string> fields_of(std::string_view line) {
  for (const char separator : {'\t', ',', ';'}) {
    if (line.find(separator) == std::string_view::npos) continue;
    std::vector<std::string> cells;
    for (const std::string_view cell : split_at(line, separator)) cells.push_back(plain_name(cell));
    // Blanks after a separator do not separate: "phone-3, 22.5h, on".
    if (cells.size() == kColumns || separator != '\t') return cells;
  }
  return split_host_words(line);
}

class AvailabilityReader {
 public:
  AvailabilityReader(const Catalog& catalog, Findings& findings) : catalog_(catalog), findings_(findings) {}

  std::vector<Change> read(std::string_view content) {
    if (content.starts_with("\xef\xbb\xbf")) content.remove_prefix(3);  // byte order mark
    int number = 0;
    bool first = true;
    Columns columns{0, 1, 2};
    for (const std::string_view line : lines_of(content)) {
      ++number;
      const std::string text = trimmed(line.substr(0, line.find('#')));
      if (text.empty()) continue;
      const std::vector<std::string> words = fields_of(text);
      if (std::exchange(first, false)) {
        if (const auto named = columns_of(words)) {
          columns = *named;
          continue;
        }
      }
      add(words, columns, number, line);
    }
    sort();
    std::vector<Change> changes;
    for (Line& line : lines_) changes.push_back(std::move(line.change));
    return changes;
  }

  /// The first line that names each host.
  int line_of(const std::string& host) const {
    const auto found = first_line_.find(host);
    return found == first_line_.end() ? 0 : found->second;
  }

 private:
  struct Line {
    Change change;
    int number = 0;
  };

  std::optional<double> time_of(const std::string& word) const {
    const std::optional<double> plain = parse_whole<double>(word);
    const std::optional<double> time = plain ? plain : catalog_.parse_unit(Catalog::Unit::seconds, word);
    return time && std::isfinite(*time) && *time >= 0 ? time : std::nullopt;
  }

  void add(const std::vector<std::string>& words, const Columns& columns, int number, std::string_view line) {
    const bool all = words.size() == kColumns && !words[columns[0]].empty();
    const std::optional<double> at = all ? time_of(words[columns[1]]) : std::nullopt;
    const std::optional<bool> on = all ? state_of(words[columns[2]]) : std::nullopt;
    if (!at || !on) {
      findings_.add(Origin{"", number}, fmt::format("'{}' is no change of a host", printable(line)), kLineForm);
      return;
    }
    lines_.push_back({{words[columns[0]], *at, *on}, number});
    first_line_.try_emplace(words[columns[0]], number);
  }

  /// By host and time, and no host in two states at once.
  void sort() {
    std::ranges::stable_sort(lines_, {},
                             [this](const Line& line) { return std::pair(line_of(line.change.host), line.change.at); });
    std::map<std::string, const Line*> last;
    for (const Line& line : lines_) {
      const Line*& before = last[line.change.host];
      if (before != nullptr && before->change.at == line.change.at && before->change.on != line.change.on) {
        findings_.add(Origin{"", line.number},
                      fmt::format("'{}' is on and off at {:g} s, see line {}", printable(line.change.host),
                                  line.change.at, before->number),
                      "one state at a time");
      }
      before = &line;
    }
  }

  const Catalog& catalog_;
  Findings& findings_;
  std::vector<Line> lines_;
  std::map<std::string, int> first_line_;
};

}  // namespace

std::vector<Change> read_availability_file(const std::string& content, const std::vector<std::string>& hosts,
                                           const std::vector<std::string>& placed, const Catalog& catalog,
                                           Findings& findings) {
  AvailabilityReader reader(catalog, findings);
  std::vector<Change> changes = reader.read(content);
  // A trace may be of more hosts than there are; where one of these is not in it, a name that nobody has is a slip.
  const auto without = std::ranges::find_if(hosts, [&](const std::string& host) { return reader.line_of(host) == 0; });
  if (without == hosts.end()) return changes;
  std::set<std::string> reported;
  for (const Change& change : changes) {
    if (std::ranges::find(placed, change.host) != placed.end() || !reported.insert(change.host).second) continue;
    findings.add(Origin{"", reader.line_of(change.host)},
                 fmt::format("no worker or aggregator stands on '{}', and '{}' has no line", printable(change.host),
                             printable(*without)),
                 findings.suggest(change.host, placed));
  }
  // Hosts without lines are always available; if that holds for all hosts, the file has no effect.
  const bool none = std::ranges::none_of(hosts, [&](const std::string& host) { return reader.line_of(host) > 0; });
  if (none && findings.empty()) {
    findings.add(Origin{"", 1},
                 fmt::format("no line is of '{}', and none of another host in question", printable(*without)),
                 "lines of the hosts that hosts=\"…\" names, or hosts=\"…\" with those that the lines are of");
  }
  return changes;
}

}  // namespace dadsim::scenario

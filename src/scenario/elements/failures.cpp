#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/host_list.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/language/catalog.hpp"
#include "scenario/xml/files.hpp"
#include "scenario/xml/findings.hpp"
#include "spec/failure_specification.hpp"
#include "support/parse_whole.hpp"
#include "support/pattern.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

/// Reads the changes in a file of availability: one line `host time state` per change, separated by blanks, tabs,
/// commas or semicolons. Times are seconds, with or without a unit, in any order. States are on and off, up and down, 1
/// and 0, true and false, yes and no, available and unavailable, online and offline, active and inactive, join and
/// leave, joined and left, in upper or lower case. Comments start with #; a first line of names may give another order
/// of columns. `hosts`: hosts that the changes may refer to, empty if unknown. If one of these has no change, each
/// changed host that is not in `placed` is a finding; without such hosts, so is a file that changes none of `hosts`.
std::vector<spec::AvailabilitySpec::Change> read_availability_file(const std::string& content,
                                                                   const std::vector<std::string>& hosts,
                                                                   const std::vector<std::string>& placed,
                                                                   Findings& findings);

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

/// Indices of the columns host, time and state.
using Columns = std::array<std::size_t, kColumns>;

/// Returns the columns in a heading; nullopt if the line is not a heading.
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
    // Skips blanks after a separator: "phone-3, 22.5h, on".
    if (cells.size() == kColumns || separator != '\t') return cells;
  }
  return split_host_words(line);
}

class AvailabilityReader {
 public:
  explicit AvailabilityReader(Findings& findings) : findings_(findings) {}

  std::vector<Change> read(std::string_view content) {
    if (content.starts_with("\xef\xbb\xbf")) content.remove_prefix(3);  // removes the byte order mark
    int number = 0;
    bool first = true;
    Columns columns{0, 1, 2};
    for (const std::string_view line : lines_of(content)) {
      ++number;
      const std::string text(trimmed(line.substr(0, line.find('#'))));
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
    for (ChangeLine& line : lines_) changes.push_back(std::move(line.change));
    return changes;
  }

  /// Returns the number of the first line about a host; 0: none.
  int line_of(const std::string& host) const {
    const auto found = first_line_.find(host);
    return found == first_line_.end() ? 0 : found->second;
  }

 private:
  struct ChangeLine {
    Change change;
    int number = 0;
  };

  std::optional<double> time_of(const std::string& word) const {
    const std::optional<double> plain = parse_whole<double>(word);
    const std::optional<double> time = plain ? plain : parse_quantity(Unit::seconds, word);
    return time && std::isfinite(*time) && *time >= 0 ? time : std::nullopt;
  }

  void add(const std::vector<std::string>& words, const Columns& columns, int number, std::string_view line) {
    const bool all = words.size() == kColumns && !words[columns[0]].empty();
    const std::optional<double> at = all ? time_of(words[columns[1]]) : std::nullopt;
    const std::optional<bool> on = all ? state_of(words[columns[2]]) : std::nullopt;
    if (!at || !on) {
      findings_.add(Origin{"", number}, fmt::format("'{}' is no state of a host", printable(line)), kLineForm);
      return;
    }
    lines_.push_back({{words[columns[0]], *at, *on}, number});
    first_line_.try_emplace(words[columns[0]], number);
  }

  /// Sorts lines by host and time, and reports hosts with two states at one time.
  void sort() {
    std::ranges::stable_sort(
        lines_, {}, [this](const ChangeLine& line) { return std::pair(line_of(line.change.host), line.change.at); });
    std::map<std::string, const ChangeLine*> last;
    for (const ChangeLine& line : lines_) {
      const ChangeLine*& before = last[line.change.host];
      if (before != nullptr && before->change.at == line.change.at && before->change.on != line.change.on) {
        findings_.add(Origin{"", line.number},
                      fmt::format("'{}' is both on and off at {:g} s (see line {})", printable(line.change.host),
                                  line.change.at, before->number),
                      "keep one of the two lines");
      }
      before = &line;
    }
  }

  Findings& findings_;
  std::vector<ChangeLine> lines_;
  std::map<std::string, int> first_line_;
};

std::vector<Change> read_availability_file(const std::string& content, const std::vector<std::string>& hosts,
                                           const std::vector<std::string>& placed, Findings& findings) {
  AvailabilityReader reader(findings);
  std::vector<Change> changes = reader.read(content);
  // A trace may contain more hosts than the scenario. But if a host of the scenario has no line, an unknown name is
  // reported as a misspelling.
  const auto without = std::ranges::find_if(hosts, [&](const std::string& host) { return reader.line_of(host) == 0; });
  if (without == hosts.end()) return changes;
  std::set<std::string> reported;
  for (const Change& change : changes) {
    if (std::ranges::find(placed, change.host) != placed.end() || !reported.insert(change.host).second) continue;
    findings.add(Origin{"", reader.line_of(change.host)},
                 fmt::format("'{}' hosts no worker or aggregator, but '{}' needs a line", printable(change.host),
                             printable(*without)),
                 findings.suggest(change.host, placed));
  }
  // Hosts without lines are always available; if no host has a line, the file has no effect.
  const bool none = std::ranges::none_of(hosts, [&](const std::string& host) { return reader.line_of(host) > 0; });
  if (none && findings.empty()) {
    findings.add(Origin{"", 1}, fmt::format("no line names '{}' or another selected host", printable(*without)),
                 "add lines for the hosts of hosts=\"…\", or select hosts that have lines");
  }
  return changes;
}

using By = spec::AvailabilitySpec::By;

constexpr std::size_t kMaxRules = 1000;  // largest number of rules of each kind
// Shapes of distributions: below 0.1, few very long times dominate the mean.
constexpr Range kShape{.minimum = 0.1, .maximum = 20};
constexpr const char* kHosts = "names of hosts with * for any characters, e.g. phone-*";
constexpr const char* kLinks = "names of links with * for any characters, e.g. \"hub *\"";
constexpr const char* kNodes = "names of nodes with * for any characters, e.g. node-7";

template <class Spec>
std::string match_text(const Spec& one, const PathText&) {
  return one.match;
}

/// Returns the rows `hosts`, `links` and `nodes`; exactly one must be given.
template <class Spec>
std::vector<Row<Spec>> match_rows() {
  const auto row = [](const char* name) { return by_code<Spec>(attribute(name, text()), {}, match_text<Spec>); };
  return {row("hosts").printed_if([](const Spec& one) { return !one.links && !one.nodes; }),
          row("links").printed_if([](const Spec& one) { return one.links; }),
          row("nodes").printed_if([](const Spec& one) { return one.nodes; })};
}

template <class Spec>
std::vector<Row<Spec>> with_match(std::vector<Row<Spec>> rows) {
  std::vector<Row<Spec>> all = match_rows<Spec>();
  std::ranges::move(rows, std::back_inserter(all));
  return all;
}

const Table<spec::RandomFailureSpec>& fails_table() {
  using Spec = spec::RandomFailureSpec;
  static const Table<Spec> kTable =
      Table<Spec>("fails", "Hosts, links or nodes that fail at random, each independently.",
                  with_match<Spec>({attribute("mtbf", &Spec::mean_up, quantity(kDurationForm)).must(),
                                    attribute("mttr", &Spec::mean_down, quantity(kDurationForm)).must(),
                                    attribute("shape", &Spec::shape, real(kShape))}))
          .repeats();
  return kTable;
}

const Table<spec::OutageSpec>& outage_table() {
  using Spec = spec::OutageSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "outage", "An outage of hosts, links or nodes, once or repeatedly.",
          with_match<Spec>({attribute("from", &Spec::from, quantity(kLatencyForm)),
                            attribute("for", &Spec::seconds, quantity(kDurationForm))
                                .printed_if([](const Spec& one) { return std::isfinite(one.seconds); })
                                .if_left_out("`0s`, for good"),
                            attribute("every", &Spec::every, quantity(kDurationForm)).if_given().if_left_out("once"),
                            attribute("stagger", &Spec::stagger, quantity(kLatencyForm)).if_given()}))
          .repeats();
  return kTable;
}

const Table<spec::OutageSpec>& joins_table() {
  using Spec = spec::OutageSpec;
  static const Table<Spec> kTable = Table<Spec>("joins", "Hosts that join at a given time.",
                                                {by_code<Spec>(attribute("hosts", text()).must()),
                                                 attribute("at", &Spec::seconds, quantity(kDurationForm)).must()})
                                        .repeats();
  return kTable;
}

const Table<spec::OutageSpec>& leaves_table() {
  using Spec = spec::OutageSpec;
  static const Table<Spec> kTable = Table<Spec>("leaves", "Hosts that leave for good.",
                                                {by_code<Spec>(attribute("hosts", text()).must()),
                                                 attribute("at", &Spec::from, quantity(kLatencyForm)).must()})
                                        .repeats();
  return kTable;
}

const Table<spec::CheckpointSpec>& checkpoint_table() {
  using Spec = spec::CheckpointSpec;
  static const Table<Spec> kTable =
      Table<Spec>("checkpoint",
                  "Nodes that save their state and restart from it after a failure. For each node, the first matching "
                  "element applies.",
                  {attribute("hosts", &Spec::hosts, text()).by_reader().if_left_out("`*`"),
                   attribute("every", &Spec::every, quantity(kDurationForm)).must(),
                   attribute("size", &Spec::bytes, quantity(kBytesForm)).must(),
                   attribute("storage", &Spec::storage, quantity(kBandwidthForm)).must(),
                   attribute("restore", &Spec::restore, quantity(kLatencyForm)).if_left_out("`0s`")})
          .repeats();
  return kTable;
}

const Table<spec::AvailabilitySpec>& availability_table() {
  using Spec = spec::AvailabilitySpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "availability", "Times at which hosts are available. Runs begin at midnight.",
          {attribute("hosts", &Spec::hosts, text()).must().by_reader(), attribute("by", &Spec::by).if_given(),
           attribute("from", &Spec::from, quantity(kLatencyForm))
               .only_with("by", &Spec::by, {By::diurnal}, "by=\"diurnal\"")
               .by_reader()
               .without_default(),
           attribute("until", &Spec::until, quantity(kLatencyForm))
               .only_with("by", &Spec::by, {By::diurnal}, "by=\"diurnal\"")
               .by_reader()
               .without_default(),
           attribute("spread", &Spec::spread, quantity(kLatencyForm))
               .only_with("by", &Spec::by, {By::diurnal}, "by=\"diurnal\"")
               .by_reader()
               .if_left_out("`0s`"),
           attribute("period", &Spec::period, quantity(kDurationForm))
               .only_with("by", &Spec::by, {By::diurnal}, "by=\"diurnal\"")
               .if_left_out("`86400s`"),
           attribute("on", &Spec::on, quantity(kDurationForm))
               .only_with("by", &Spec::by, {By::sessions}, "by=\"sessions\"")
               .needed(),
           attribute("off", &Spec::off, quantity(kDurationForm))
               .only_with("by", &Spec::by, {By::sessions}, "by=\"sessions\"")
               .needed(),
           attribute("shape", &Spec::shape, real(kShape)).only_with("by", &Spec::by, {By::sessions}, "by=\"sessions\""),
           by_code<Spec>(attribute("file", text()), {},
                         [](const Spec& one, const PathText& path) { return path ? path(one.file) : one.file; })
               .only_with("by", &Spec::by, {By::file}, "by=\"file\""),
           attribute("chance", &Spec::chance, real(kPositiveShare))
               .only_with("by", &Spec::by, {By::steps}, "by=\"steps\"")
               .needed(),
           attribute("drop-out", &Spec::drop_out, real(kShare)).if_given(),
           attribute("returns", &Spec::returns, quantity(kDurationForm))
               .only([](const Spec& one) { return one.drop_out > 0; }, "needs drop-out",
                     "set drop-out=\"0.05\", or remove it")
               .if_left_out("`600s`")})
          .repeats();
  return kTable;
}

/// Reads the rules of one scenario.
class FailureReader {
 public:
  FailureReader(const PlacedHosts& placed, const ReadContext& context)
      : placed_(placed.hosts), platform_(placed.platform), context_(context) {}

  spec::FailureSpec read(const Node& scenario) {
    spec::FailureSpec what;
    if (const Element* failures = scenario.child("failures")) {
      const Node node(*failures, context_.findings);
      each(node, "fails", [&](const Node& one) { what.random.push_back(read_random(one)); });
      each(node, "outage", [&](const Node& one) { what.outages.push_back(read_outage(one)); });
      each(node, "joins", [&](const Node& one) {
        spec::OutageSpec& late = what.outages.emplace_back();
        joins_table().read(one, context_, late);
        late.match = hosts_of(one);
      });
      each(node, "leaves", [&](const Node& one) {
        spec::OutageSpec& gone = what.outages.emplace_back();
        leaves_table().read(one, context_, gone);
        gone.match = hosts_of(one);
      });
      each(node, "checkpoint", [&](const Node& one) { what.checkpoints.push_back(read_checkpoint(one)); });
    }
    each(scenario, "availability", [&](const Node& one) { what.availability.push_back(read_availability(one)); });
    return what;
  }

 private:
  template <class Read>
  void each(const Node& parent, const char* name, const Read& read) {
    for (const Element* one : parent.children(name, kMaxRules)) read(Node(*one, context_.findings));
  }

  void check_fits(const Node& node, const std::string& pattern) {
    if (pattern.empty() || placed_.empty()) return;
    if (std::ranges::any_of(placed_, [&](const std::string& host) { return fits(pattern, host); })) return;
    node.fail_at("hosts", "matches no host of a worker or of the aggregator",
                 context_.findings.full() ? "" : context_.findings.suggest(pattern, placed_));
  }

  std::string hosts_of(const Node& node) {
    std::string pattern = plain_name(node.required_text("hosts", kHosts).value_or(""));
    check_fits(node, pattern);
    return pattern;
  }

  /// Returns the names of the nodes with workers or the aggregator, each once.
  std::vector<std::string> placed_nodes() const {
    const std::vector<std::string> nodes = spec::nodes_of_hosts(platform_);
    std::map<std::string, std::size_t> number_of;
    for (const std::string& host : spec::host_names(platform_)) number_of.try_emplace(host, number_of.size());
    std::vector<std::string> found;
    for (const std::string& host : placed_) {
      const auto number = number_of.find(host);
      if (number != number_of.end() && (found.empty() || found.back() != nodes[number->second]))
        found.push_back(nodes[number->second]);
    }
    return found;
  }

  std::string nodes_of(const Node& node) {
    std::string pattern = plain_name(node.required_text("nodes", kNodes).value_or(""));
    if (const auto* file = std::get_if<spec::PlatformFileSpec>(&platform_.what)) {
      if (file->path.empty()) return pattern;  // the file could not be read
      node.fail_at("nodes", "needs a platform with nodes, but a platform file of SimGrid has none",
                   "use hosts=\"…\", with one element per node");
      return pattern;
    }
    if (pattern.empty() || placed_.empty()) return pattern;
    const std::vector<std::string> nodes = placed_nodes();
    if (!nodes.empty() && std::ranges::none_of(nodes, [&](const std::string& name) { return fits(pattern, name); })) {
      node.fail_at("nodes", "matches no node with a worker or the aggregator",
                   context_.findings.full() ? "" : context_.findings.suggest(pattern, nodes));
    }
    return pattern;
  }

  /// Reads the pattern of hosts, links or nodes.
  template <class Spec>
  void read_match(const Node& node, Spec& spec) {
    spec.links = node.has("links");
    spec.nodes = !spec.links && node.has("nodes");
    if (!spec.links && !spec.nodes) {
      spec.match = hosts_of(node);
      return;
    }
    const char* given = spec.links ? "links" : "nodes";
    for (const char* other : {"hosts", "nodes"}) {
      if (given == std::string_view(other)) continue;
      node.refuse(other, fmt::format("cannot be combined with {}", given),
                  "remove one of the two, or use a second element");
    }
    spec.match = spec.links ? plain_name(node.required_text("links", kLinks).value_or("")) : nodes_of(node);
  }

  spec::RandomFailureSpec read_random(const Node& node) {
    spec::RandomFailureSpec spec;
    read_match(node, spec);
    fails_table().read(node, context_, spec);
    return spec;
  }

  spec::OutageSpec read_outage(const Node& node) {
    spec::OutageSpec spec;
    read_match(node, spec);
    outage_table().read(node, context_, spec);
    if (spec.every > 0 && !node.has("for")) {
      node.fail_at("every", "needs 'for', the length of an outage", "set for=\"4h\", or remove it");
    } else if (spec.every > 0 && spec.every <= spec.seconds) {
      node.fail_at("every", "is not longer than the outage", "use a longer interval, or a shorter outage");
    }
    return spec;
  }

  spec::CheckpointSpec read_checkpoint(const Node& node) {
    spec::CheckpointSpec spec;
    spec.hosts = plain_name(node.text("hosts", spec.hosts));
    check_fits(node, spec.hosts);
    checkpoint_table().read(node, context_, spec);
    return spec;
  }

  spec::AvailabilitySpec read_availability(const Node& node) {
    spec::AvailabilitySpec spec;
    spec.hosts = hosts_of(node);
    availability_table().read(node, context_, spec);
    if (spec.by == By::diurnal) read_diurnal(node, spec);
    if (spec.by == By::file) read_file(node, spec);
    if (spec.by == By::always && spec.drop_out == 0) {
      node.fail("<availability> lacks 'by' and 'drop-out'",
                "set by=\"diurnal\", \"sessions\" or \"file\", or drop-out=\"0.05\"");
    }
    return spec;
  }

  void read_diurnal(const Node& node, spec::AvailabilitySpec& spec) {
    const QuantityForm within{Unit::seconds,
                              {.minimum = 0, .maximum = spec.period},
                              "seconds with their unit, from 0 to the period, e.g. 22h"};
    spec.from = required_quantity(node, "from", within).value_or(0);
    spec.until = required_quantity(node, "until", within).value_or(spec.period / 2);
    spec.spread = quantity(node, "spread", within, 0);
    if (spec.from == spec.until) node.fail_at("until", "is the same time as 'from'", "use a later or an earlier time");
  }

  void read_file(const Node& node, spec::AvailabilitySpec& spec) {
    constexpr const char* kForm = "the path of a file with lines `host time on|off`";
    const std::optional<std::string> name = node.required_text("file", kForm);
    if (!name) return;
    const DataFile found = find_data_file(context_.path, *name, kForm);
    if (found.path.empty()) {
      node.fail_at("file", found.what, found.remedy);
      return;
    }
    spec.file = found.path;
    Findings findings(spec.file);
    const std::optional<std::string> content = read_document(spec.file, {"list of times", "host 0 on", ""}, findings);
    if (content) {
      std::vector<std::string> hosts;
      std::ranges::copy_if(placed_, std::back_inserter(hosts),
                           [&](const std::string& host) { return fits(spec.hosts, host); });
      spec.changes = read_availability_file(*content, hosts, placed_, findings);
    }
    context_.findings.take(findings);
  }

  const std::vector<std::string>& placed_;
  const spec::PlatformSpec& platform_;
  const ReadContext& context_;
};

}  // namespace

spec::FailureSpec read_failures(const Node& scenario, const PlacedHosts& placed, const ReadContext& context) {
  return FailureReader(placed, context).read(scenario);
}

void write_failures(XmlWriter& xml, const spec::FailureSpec& what, const PathText& file) {
  if (!what.random.empty() || !what.outages.empty() || !what.checkpoints.empty()) {
    const XmlWriter::Open failures(xml, "failures");
    for (const spec::RandomFailureSpec& one : what.random) fails_table().print(xml, one, file);
    for (const spec::OutageSpec& one : what.outages) outage_table().print(xml, one, file);
    for (const spec::CheckpointSpec& one : what.checkpoints) checkpoint_table().print(xml, one, file);
  }
  for (const spec::AvailabilitySpec& one : what.availability) availability_table().print(xml, one, file);
}

std::vector<ElementRule> failures_rules() {
  return {element("failures", "Failures during simulated runs. Inside a run, they replace the scenario's <failures>.")
              .holds({"fails", "outage", "joins", "leaves", "checkpoint"}),
          fails_table().rule(),
          outage_table().rule(),
          joins_table().rule(),
          leaves_table().rule(),
          checkpoint_table().rule(),
          availability_table().rule()};
}

}  // namespace dadsim::scenario

#include "sim/platform/platform_text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "sim/platform.hpp"
#include "sim/platform/engine.hpp"
#include "sim/platform/event_rates.hpp"
#include "sim/platform/markup.hpp"
#include "sim/platform/state_profiles.hpp"
#include "support/human.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"
#include "support/terminal.hpp"
#include "support/utf8.hpp"
#include "support/whole_file.hpp"

namespace dadsim::sim {
namespace {

/// Counts the parts that SimGrid would build from a platform file, by its tags, before any is built.
class PlatformSize {
 public:
  explicit PlatformSize(std::string file) : file_(std::move(file)) {}

  /// Counts a start tag; `markup` tells whether it has an end tag of its own.
  void start(const Markup& markup);
  /// Counts an end tag.
  void end(const Markup& markup);

  /// Returns the faults of size, each with its line: more hosts than any platform may have, more switches than could be
  /// built, or a table of routes that would not fit.
  const std::vector<Diagnostic>& faults() const { return faults_; }

 private:
  struct Zone {
    std::string routing;
    int line = 0;
    std::int64_t points = 0;  ///< number of hosts, routers and zones in the zone
  };
  void add_hosts(double count, int line);
  void add_point();
  void cluster(const Markup& markup);

  std::string file_;
  std::vector<Zone> zones_;
  std::vector<Diagnostic> faults_;
  double hosts_ = 0, parts_ = 0, table_bytes_ = 0;  ///< sums over all clusters and zones
  bool reported_ = false;
};

constexpr double kMostHosts = 100'000;     // same limit as for declared platforms (docs/platforms.md)
constexpr double kMostParts = 4'000'000;   // switches and links that topologies make by themselves, 1 kB each
constexpr double kMostTableBytes = 2.0e9;  // bytes of tables of routes, at most
constexpr double kBytesOfRoute = 8;        // size of a pointer; zones of the kind Full have one for each ordered pair
constexpr double kBytesOfFloydRoute = 24;  // size of a cost, a predecessor and a pointer

std::optional<double> whole_number(std::string_view word) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = std::min(word.find_first_not_of(kBlank), word.size());
  word.remove_prefix(first);
  word = word.substr(0, word.find_last_not_of(kBlank) + 1);
  return parse_whole<double>(word);
}

/// Returns the number of hosts that "0-3,7,9-11" names; nothing for any other text, which SimGrid reports.
std::optional<double> hosts_of_radical(const std::string& radical) {
  double hosts = 0;
  for (const std::string_view range : split_at(radical, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = whole_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(range.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    hosts += std::max(0.0, *last - *first + 1);
  }
  return hosts;
}

std::vector<double> numbers(std::string_view text) {
  std::vector<double> values;
  for (const std::string_view word : split_at(text, ',')) values.push_back(whole_number(word).value_or(0));
  return values;
}

/// Returns the number of switches and links of a fat tree "levels;children;parents;cables" (SimGrid's FatTreeZone).
/// Switches above level i are as many as the product of the children above it and of the ways up to it.
double parts_of_fat_tree(const std::vector<std::string_view>& groups) {
  if (groups.size() < 4) return 0;
  const std::vector<double> down = numbers(groups[1]);
  const std::vector<double> up = numbers(groups[2]);
  const std::vector<double> cables = numbers(groups[3]);
  const std::size_t levels = std::min({down.size(), up.size(), cables.size()});
  double parts = 0;
  double ways_up = 1;
  for (std::size_t i = 0; i < levels; ++i) {
    double below = ways_up;  // number of parts below level i
    for (std::size_t k = i; k < levels; ++k) below *= down[k];
    ways_up *= up[i];
    double switches = ways_up;
    for (std::size_t k = i + 1; k < levels; ++k) switches *= down[k];
    parts += switches + below * up[i] * cables[i];
  }
  return parts;
}

/// Returns the number of routers and links of a dragonfly "groups,g;chassis,c;routers,r;nodes" (SimGrid's
/// DragonflyZone).
double parts_of_dragonfly(const std::vector<std::string_view>& parameters) {
  if (parameters.size() < 4) return 0;
  std::vector<double> counts;
  counts.reserve(parameters.size());
  for (const std::string_view one : parameters) counts.push_back(std::max(1.0, numbers(one).front()));
  const double routers = counts[0] * counts[1] * counts[2];
  return routers + routers * (counts[1] + counts[2] + counts[3]) + counts[0] * counts[0];
}

void PlatformSize::add_hosts(double count, int line) {
  hosts_ += count;
  if (hosts_ <= kMostHosts || reported_) return;
  reported_ = true;
  faults_.push_back({file_, line,
                     hosts_ < 1e15 ? fmt::format("{} hosts so far", human_count(static_cast<std::int64_t>(hosts_)))
                                   : fmt::format("{:.2g} hosts so far", hosts_),
                     fmt::format("at most {}", human_count(static_cast<std::int64_t>(kMostHosts)))});
}

void PlatformSize::add_point() {
  if (!zones_.empty()) ++zones_.back().points;
}

void PlatformSize::cluster(const Markup& markup) {
  if (const auto hosts = hosts_of_radical(markup.attribute("radical").value_or(""))) add_hosts(*hosts, markup.line());
  const std::string topology = markup.attribute("topology").value_or("");
  const std::string parameters = markup.attribute("topo_parameters").value_or("");
  const std::vector<std::string_view> groups = split_at(parameters, ';');
  const double parts = topology == "FAT_TREE"    ? parts_of_fat_tree(groups)
                       : topology == "DRAGONFLY" ? parts_of_dragonfly(groups)
                                                 : 0;
  parts_ += parts;
  if (parts_ <= kMostParts || parts == 0) return;
  faults_.push_back({file_, markup.line(),
                     fmt::format("topo_parameters=\"{}\" makes {:.2g} switches and links{}", parameters, parts_,
                                 parts_ > parts ? " with those of the clusters before it" : ""),
                     fmt::format("use at most {:.2g}", kMostParts)});
}

void PlatformSize::start(const Markup& markup) {
  const std::string name = markup.name();
  if (name == "host" || name == "peer") add_hosts(1, markup.line());
  if (name == "cluster") cluster(markup);
  if (name == "cabinet") {
    if (const auto hosts = hosts_of_radical(markup.attribute("radical").value_or(""))) add_hosts(*hosts, markup.line());
  }
  const bool zone = name == "zone" || name == "AS";
  if (zone || name == "host" || name == "router" || name == "peer" || name == "cluster") add_point();
  if (zone && !markup.is_empty()) zones_.push_back({markup.attribute("routing").value_or(""), markup.line(), 0});
}

void PlatformSize::end(const Markup& markup) {
  const std::string name = markup.name();
  if ((name != "zone" && name != "AS") || zones_.empty()) return;
  const Zone zone = zones_.back();
  zones_.pop_back();
  const auto points = static_cast<double>(zone.points);
  const double each = zone.routing == "Full" ? kBytesOfRoute : zone.routing == "Floyd" ? kBytesOfFloydRoute : 0;
  const double bytes = points * points * each;
  const bool fitted = table_bytes_ <= kMostTableBytes;
  table_bytes_ += bytes;
  if (table_bytes_ <= kMostTableBytes || (!fitted && bytes <= kMostTableBytes)) return;
  faults_.push_back({file_, zone.line,
                     fmt::format("the routes of a zone with routing=\"{}\" and {} hosts, routers and zones take {}{}",
                                 zone.routing, human_count(zone.points), human_bytes(table_bytes_),
                                 table_bytes_ > bytes ? " with those of the zones before it" : ""),
                     "divide the zone into zones, or use a <cluster>"});
}

constexpr std::size_t kSizeLimit = 64U << 20U;  // bytes; SimGrid's own examples stay below 2 MB

constexpr std::string_view kUsualDoctype = R"(<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">)";

/// Attributes of <host>, <link>, <cluster> … that name a profile over time which SimGrid follows.
constexpr std::array<std::string_view, 4> kProfileAttributes{"availability_file", "bandwidth_file", "latency_file",
                                                             "speed_file"};
/// Attributes of any element whose value is the name of a file (simgrid.dtd of version 4.1; `content` of storage and
/// disks).
constexpr std::array kNamingAttributes{"availability_file", "bandwidth_file", "content",   "file",
                                       "latency_file",      "speed_file",     "state_file"};

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = first_character(text.substr(i)).bytes;
    if (bytes == 0) return false;
    i += bytes;
  }
  return true;
}

/// Other files that a platform file names.
struct NamedFiles {
  bool profiles = false;           ///< true: names profiles of bandwidths, latencies and speeds, which SimGrid follows
  std::vector<std::string> files;  ///< existing files of any kind
};

NamedFiles files_named_in(const std::string& platform) {
  NamedFiles found;
  const std::string text = text_of_file(platform);
  Markup markup(text);
  while (const auto piece = markup.next()) {
    if (piece != Markup::Piece::start) continue;
    if (markup.name() == "trace_connect" && !is_state_connection(markup)) found.profiles = true;
    for (const char* attribute : kNamingAttributes) {
      const auto name = markup.attribute(attribute);
      if (!name) continue;
      if (std::ranges::count(kProfileAttributes, std::string_view(attribute)) > 0) found.profiles = true;
      std::string file = found_beside(platform, *name);
      std::error_code none;
      if (!file.empty() && std::filesystem::is_regular_file(file, none)) found.files.push_back(std::move(file));
    }
  }
  return found;
}

/// Reads an unchanged file once. A sweep needs the result for every point, of a file that may list 100,000 hosts. Every
/// simulation needs it several times, also in its child, where a lock held by another thread would stay locked.
const NamedFiles& named_files(const std::string& platform) {
  struct KnownZone {
    std::string file;
    std::filesystem::file_time_type written;
    std::uintmax_t size = 0;
    NamedFiles named;
  };
  thread_local KnownZone last;
  std::error_code none;
  const auto written = std::filesystem::last_write_time(platform, none);
  const auto size = std::filesystem::file_size(platform, none);
  if (platform != last.file || written != last.written || size != last.size)
    last = {platform, written, size, files_named_in(platform)};
  return last.named;
}

/// Attributes by which messages and results refer to an element.
constexpr std::array kNames{"id", "prefix", "suffix"};

/// Notes the files that SimGrid reads in addition to the platform: it searches its working folder, then the platform's
/// folder.
void note_files_of(const Markup& markup, const std::string& platform) {
  for (const std::string_view attribute : kNamingAttributes) {
    const std::string name = markup.attribute(attribute.data()).value_or("");
    const bool read = attribute != "content" && (attribute != "file" || markup.name() == "trace");
    if (name.empty() || !read) continue;
    note_input(name);
    note_input((std::filesystem::path(platform).parent_path() / name).string());
  }
}

}  // namespace

std::vector<Diagnostic> check_platform_text(const std::string& file) {
  const auto refuse = [&](int line, std::string what, std::string remedy) {
    return std::vector<Diagnostic>{{file, line, std::move(what), std::move(remedy)}};
  };
  note_input(file);
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    throw_if_denied(file, errno);
    return refuse(0, fmt::format("cannot read the platform: {}", std::strerror(errno)),
                  "give the path of a SimGrid platform file");
  }
  if (S_ISDIR(status.st_mode)) return refuse(0, "this is a folder", "give the path of a SimGrid platform file");
  if (!S_ISREG(status.st_mode))
    return refuse(0, "this is not a regular file", "give the path of a SimGrid platform file");
  if (status.st_size == 0) return refuse(0, "the file is empty", "a platform begins with <platform version=\"4.1\">");
  if (static_cast<std::size_t>(status.st_size) > kSizeLimit) {
    return refuse(0, fmt::format("the file has {} MB", status.st_size >> 20), "use at most 64 MB");
  }
  if (file.ends_with(".so") || file.ends_with(".dylib")) {
    return refuse(0, "this is the name of a program library", "give the path of a SimGrid platform file in XML");
  }
  const std::string text = whole_file(file).value_or("");
  if (text.empty()) return refuse(0, "cannot read the platform", "give the path of a SimGrid platform file");
  if (text.find('\0') != std::string::npos)
    return refuse(0, "the file contains NUL bytes, so it is not XML", "save it as UTF-8 text");
  if (!is_utf8(text)) return refuse(0, "the file is not UTF-8", "save it as UTF-8 text");
  std::string_view content = text;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || content[first] != '<') {
    return refuse(1, "this is not XML", "a platform begins with <platform version=\"4.1\">");
  }

  std::vector<Diagnostic> diagnostics;
  Markup markup(content);
  bool root_seen = false;
  bool zone_seen = false;
  bool doctype_seen = false;
  bool in_config = false;
  PlatformSize size(file);
  std::vector<Diagnostic> rates;  // reported only if profiles have no other faults
  while (const auto piece = markup.next()) {
    if (piece == Markup::Piece::doctype) {
      doctype_seen = true;
      if (!markup.is_plain_doctype("platform", "simgrid.dtd")) {
        return refuse(markup.line(), "the DOCTYPE is not that of a SimGrid platform, or defines entities",
                      fmt::format("write {}", kUsualDoctype));
      }
      continue;
    }
    const std::string name = markup.name();
    if (piece == Markup::Piece::end) {
      if (name == "config") in_config = false;
      size.end(markup);
      continue;
    }
    if (!root_seen) {
      root_seen = true;
      if (name != "platform") {
        return refuse(markup.line(), fmt::format("the outermost element is <{}>", name),
                      "a SimGrid platform begins with <platform version=\"4.1\">");
      }
      if (!doctype_seen) {
        return refuse(markup.line(), "the DOCTYPE is missing",
                      fmt::format("write {} before <platform>", kUsualDoctype));
      }
      const std::string version = markup.attribute("version").value_or("");
      if (version != "4" && version != "4.0" && version != "4.1") {
        return refuse(markup.line(),
                      version.empty() ? std::string("the platform gives no version")
                                      : fmt::format("this is a platform of version '{}'", version),
                      "update the file with simgrid_update_xml, and write version=\"4.1\"");
      }
    }
    zone_seen = zone_seen || name == "zone" || name == "AS" || name == "cluster";
    size.start(markup);
    note_files_of(markup, file);
    check_event_rate(markup, file, rates);
    for (const char* part : kNames) {
      const std::string value = markup.attribute(part).value_or("");
      if (has_hidden_characters(value)) {
        diagnostics.push_back({file, markup.line(),
                               fmt::format("the {} of <{}>, '{}', has invisible characters", part, name,
                                           with_hidden_characters_shown(value.substr(0, 200))),
                               "use a name of letters, digits and signs"});
      }
    }
    if (name == "prop" && in_config) {
      const std::string option = markup.attribute("id").value_or("");
      if (auto fault = fault_of_option(option, markup.attribute("value").value_or("")))
        diagnostics.push_back({file, markup.line(), std::move(fault->first), std::move(fault->second)});
    }
    if (name == "config") in_config = !markup.is_empty();
    if (name == "actor" || name == "process") {
      diagnostics.push_back({file, markup.line(),
                             fmt::format("<{}> deploys a program, which is not part of a platform", name),
                             "remove the element; the scenario names the hosts of workers"});
    }
    const std::string kind = name == "trace_connect" ? markup.attribute("kind").value_or("") : "";
    if (kind == "BANDWIDTH" || kind == "LATENCY") {
      diagnostics.push_back(
          {file, markup.line(),
           fmt::format("<trace_connect kind=\"{}\"> comes after its link, which SimGrid refuses", kind),
           "write bandwidth_file or latency_file on the <link> instead"});
    }
  }
  // SimGrid's reader is less strict: it would accept the text after the fault, which was not checked.
  if (markup.fault()) {
    diagnostics.push_back({file, markup.fault()->line, fmt::format("this is not XML: {}", markup.fault()->what),
                           "a platform is well-formed XML 1.0"});
    return diagnostics;
  }
  // SimGrid's reader ends by a signal without a zone.
  if (root_seen && !zone_seen)
    diagnostics.push_back({file, 0, "the platform has no <zone>", "add one with hosts, links and routes"});
  diagnostics.insert(diagnostics.end(), size.faults().begin(), size.faults().end());
  if (may_have_state_profiles(text)) {
    for (Diagnostic& fault : read_state_profiles(file, text).faults) diagnostics.push_back(std::move(fault));
  }
  if (diagnostics.empty()) diagnostics = std::move(rates);
  return diagnostics;
}

bool file_varies_over_time(const std::string& file) { return named_files(file).profiles; }

std::vector<std::string> files_of_platform(const spec::PlatformSpec& platform) {
  const auto* given = std::get_if<spec::PlatformFileSpec>(&platform.what);
  return given == nullptr ? std::vector<std::string>() : named_files(given->path).files;
}

}  // namespace dadsim::sim

#include "sim/platform/state_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/platform/markup.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"
#include "support/whole_file.hpp"

namespace dadsim::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::array kWithState{"host", "link", "peer"};
constexpr std::size_t kProfileLimit = 64U << 20U;  // largest size of a file of profiles, bytes
constexpr const char* kLineForm = "write a date in seconds and 1 for on or 0 for off, e.g. 10.0 0";

std::optional<double> number(const std::string& word) {
  const std::optional<double> value = parse_whole<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Reads the profiles of one platform file.
class ProfileReader {
 public:
  ProfileReader(const std::string& file, const std::string& text) : file_(file), text_(text) {}

  StateProfiles read() {
    read_elements();
    for (const ProfileConnection& one : connections_) connect(one);
    return std::move(found_);
  }

 private:
  /// Position of a profile in the files.
  struct Source {
    std::string file;
    int line = 0;  ///< line of the file on which the text begins
    std::string text;
    double period = 0;
  };
  struct ProfileConnection {
    bool links = false;
    std::string element, trace;
    int line = 0;
  };

  void fault(const std::string& file, int line, std::string what, std::string remedy) {
    found_.faults.push_back({file, line, std::move(what), std::move(remedy)});
  }

  void read_elements() {
    Markup markup(text_);
    while (const auto piece = markup.next()) {
      if (piece != Markup::Piece::start) continue;
      const std::string name = markup.name();
      const std::string id = markup.attribute("id").value_or("");
      if (name == "cluster") generated_names_ = true;
      if (std::ranges::count(kWithState, name) > 0) {
        const bool link = name == "link";
        const bool both_ways = link && markup.attribute("sharing_policy").value_or("") == "SPLITDUPLEX";
        names_[link][id] = both_ways;
        if (const auto state = markup.attribute("state_file")) {
          if (const auto source = source_of(*state, markup.line())) add(link, id, *source);
        }
      }
      if (name == "trace") {
        const auto beside = markup.attribute("file");
        std::optional<Source> source = beside && !beside->empty()
                                           ? std::optional(Source{*beside, -1, {}, 0})
                                           : std::optional(Source{file_, markup.line(), markup.text(), 0});
        source->period = number(markup.attribute("periodicity").value_or("")).value_or(0);
        traces_[id] = *std::move(source);
      }
      if (is_state_connection(markup)) {
        connections_.push_back({markup.attribute("kind").value_or("") == "LINK_AVAIL",
                                markup.attribute("element").value_or(""), markup.attribute("trace").value_or(""),
                                markup.line()});
      }
    }
  }

  std::optional<Source> source_of(const std::string& name, int line) {
    const std::string path = found_beside(file_, name);
    std::error_code ignored;
    if (path.empty() || !fs::is_regular_file(path, ignored)) {
      fault(file_, line, fmt::format("there is no file '{}' with a state profile", name),
            "give a path relative to the folder of the platform, or an absolute one");
      return std::nullopt;
    }
    if (fs::file_size(path, ignored) > kProfileLimit) {
      fault(path, 0, "the profile has more than 64 MB", "use a shorter profile, with LOOPAFTER");
      return std::nullopt;
    }
    return Source{path, 1, text_of_file(path), 0};
  }

  void connect(const ProfileConnection& one) {
    const auto trace = traces_.find(one.trace);
    if (trace == traces_.end()) {
      fault(file_, one.line, fmt::format("there is no <trace id=\"{}\">", one.trace), "use the id of a <trace>");
      return;
    }
    Source source = trace->second;
    if (source.line < 0) {
      const auto read = source_of(source.file, one.line);
      if (!read) return;
      source = {read->file, read->line, read->text, source.period};
    }
    const auto& names = names_[one.links];
    // Accepts unknown names, because only SimGrid knows the names that a cluster generates.
    if (!generated_names_ && !names.contains(one.element) && !is_direction(one)) {
      fault(file_, one.line, fmt::format("there is no {} '{}'", one.links ? "link" : "host", one.element),
            one.links ? "use the id of a <link>" : "use the id of a <host> or <peer>");
      return;
    }
    add(one.links, one.element, source);
  }

  bool is_direction(const ProfileConnection& one) {
    for (const char* end : {"_UP", "_DOWN"}) {
      if (!one.links || !one.element.ends_with(end)) continue;
      const auto whole = names_[true].find(one.element.substr(0, one.element.size() - std::strlen(end)));
      if (whole != names_[true].end() && whole->second) return true;
    }
    return false;
  }

  void add(bool links, const std::string& name, const Source& source) {
    spec::StateProfileSpec profile{.links = links, .name = name};
    if (!read_lines(source, profile) || profile.changes.empty()) return;
    const auto named = names_[links].find(name);
    if (links && named != names_[links].end() && named->second) {
      for (const char* end : {"_UP", "_DOWN"}) {
        profile.name = name + end;
        found_.profiles.push_back(profile);
      }
    } else {
      found_.profiles.push_back(std::move(profile));
    }
  }

  bool read_lines(const Source& source, spec::StateProfileSpec& profile) {
    int line_number = source.line - 1;
    double period = source.period;
    std::optional<double> loop_after;
    int loop_line = source.line;
    const auto refuse = [&](int line, std::string what, std::string remedy) {
      fault(source.file, line, std::move(what), std::move(remedy));
      return false;
    };
    for (const std::string_view line : lines_of(source.text)) {
      ++line_number;
      const std::vector<std::string> word = words_of(line);
      if (word.empty() || word[0][0] == '#' || word[0][0] == '%') continue;
      if (word[0] == "PERIODICITY" || word[0] == "LOOPAFTER") {
        const auto seconds = word.size() == 2 ? number(word[1]) : std::nullopt;
        if (!seconds || *seconds < 0) {
          return refuse(line_number, fmt::format("{} without seconds", word[0]), fmt::format("{} 60", word[0]));
        }
        (word[0] == "PERIODICITY" ? period : loop_after.emplace()) = *seconds;
        loop_line = line_number;
        continue;
      }
      if (word[0].find_first_of("SDNGEU") == 0) {  // first letters of STOCHASTIC, DET, NORM, GAUSS, EXP and UNIF
        return refuse(line_number, fmt::format("'{}' is a random state profile", word[0]),
                      "use <fails mtbf=\"…\" mttr=\"…\"/> in the <failures> of a scenario");
      }
      const auto date = word.size() == 2 ? number(word[0]) : std::nullopt;
      const auto value = word.size() == 2 ? number(word[1]) : std::nullopt;
      if (!date || *date < 0 || !value) return refuse(line_number, "this is not a line of a state profile", kLineForm);
      if (!profile.changes.empty() && *date < profile.changes.back().at) {
        return refuse(line_number, fmt::format("the date {} comes after {}", *date, profile.changes.back().at),
                      "sort lines by date");
      }
      profile.changes.push_back({*date, *value > 0});
    }
    if (profile.changes.empty() || (period <= 0 && !loop_after)) return true;
    const double last = profile.changes.back().at;
    if (period > 0 && loop_after)
      return refuse(loop_line, "PERIODICITY and LOOPAFTER cannot be combined", "keep one of the two");
    if (period > 0 && period < last) {
      return refuse(loop_line, fmt::format("a period of {} s ends before the last date, {}", period, last),
                    "use a longer period");
    }
    profile.period = period > 0 ? period : last + *loop_after;
    if (profile.period <= 0) return refuse(loop_line, "the profile repeats after 0 s", "use a period above 0");
    return true;
  }

  const std::string& file_;
  const std::string& text_;
  StateProfiles found_;
  bool generated_names_ = false;
  std::map<bool, std::map<std::string, bool>>
      names_;  ///< for links (true) and hosts (false), by name: whether the name is of a link with two directions
  std::map<std::string, Source> traces_;
  std::vector<ProfileConnection> connections_;
};

/// Returns the end of the markup that begins with `<` at `begin`: a comment, a CDATA section, an instruction, or a tag,
/// whose values may contain >.
std::size_t end_of_markup(std::string_view text, std::size_t begin) {
  const std::string_view rest = text.substr(begin);
  for (const auto& [open, close] :
       {std::pair<std::string_view, std::string_view>{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}}) {
    if (!rest.starts_with(open)) continue;
    const std::size_t end = rest.find(close, open.size());
    return end == std::string_view::npos ? text.size() : begin + end + close.size();
  }
  char quote = '\0';
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (quote != '\0') {
      if (text[i] == quote) quote = '\0';
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '>') {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

std::string found_beside(const std::string& platform, const std::string& name) {
  std::error_code ignored;
  if (name.empty()) return "";
  if (fs::path(name).is_absolute() || fs::exists(name, ignored)) return fs::absolute(name, ignored).string();
  const fs::path beside = fs::absolute(platform, ignored).parent_path() / name;
  return fs::exists(beside, ignored) ? beside.string() : std::string();
}

bool is_state_connection(const Markup& markup) {
  if (markup.name() != "trace_connect") return false;
  const std::string kind = markup.attribute("kind").value_or("HOST_AVAIL");  // default value in the DTD
  return kind == "HOST_AVAIL" || kind == "LINK_AVAIL";
}

std::string text_of_file(const std::string& file) { return whole_file(file).value_or(""); }

bool may_have_state_profiles(std::string_view text) {
  return text.find("state_file") != std::string_view::npos || text.find("trace_connect") != std::string_view::npos;
}

StateProfiles read_state_profiles(const std::string& file, const std::string& text) {
  return ProfileReader(file, text).read();
}

std::string without_state_profiles(const std::string& text, bool and_options) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::string copy = text;
  const auto blank = [&](std::size_t begin, std::size_t end) {
    std::replace_if(
        copy.begin() + static_cast<std::ptrdiff_t>(begin), copy.begin() + static_cast<std::ptrdiff_t>(end),
        [](char c) { return c != '\n'; }, ' ');
  };
  const auto blank_attribute = [&](std::string_view name, std::size_t begin, std::size_t end) {
    for (std::size_t quote = text.find_first_of("\"'", begin); quote < end;) {
      const std::size_t close = text.find(text[quote], quote + 1);
      const std::size_t last = text.find_last_not_of(kBlank, text.rfind('=', quote) - 1);
      const std::size_t first = text.find_last_of(kBlank, last) + 1;
      if (std::string_view(text).substr(first, last + 1 - first) == name) blank(first, close + 1);
      quote = text.find_first_of("\"'", close + 1);
    }
  };
  Markup markup(text);
  bool connects = false;              // true: the last element connects a profile
  std::optional<std::size_t> config;  // position at which the <config> begins
  for (std::size_t begin = text.find('<'), end = 0; begin != std::string::npos; begin = text.find('<', end)) {
    end = end_of_markup(text, begin);
    const std::string_view tag = std::string_view(text).substr(begin, end - begin);
    if (tag.starts_with("<!") || tag.starts_with("<?")) continue;
    if (tag.starts_with("</")) {
      if (connects && tag.starts_with("</trace_connect")) blank(begin, end);
      if (config && tag.starts_with("</config")) blank(*std::exchange(config, std::nullopt), end);
      continue;
    }
    std::optional<Markup::Piece> piece = markup.next();
    while (piece && *piece != Markup::Piece::start) piece = markup.next();
    if (!piece) break;
    connects = is_state_connection(markup);
    if (connects) blank(begin, end);
    if (std::ranges::count(kWithState, markup.name()) > 0) blank_attribute("state_file", begin, end);
    if (!and_options || config || markup.name() != "config") continue;
    if (markup.is_empty())
      blank(begin, end);
    else
      config = begin;
  }
  return copy;
}

}  // namespace dadsim::sim

#include "sim/platform/build_platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/platform.hpp"
#include "sim/platform/build/cluster_network.hpp"
#include "sim/platform/build/host_zone.hpp"
#include "sim/platform/engine.hpp"
#include "sim/platform/markup.hpp"
#include "sim/platform/state_profiles.hpp"
#include "sim/process/compat.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::sim {
namespace {

/// An option of SimGrid's that a platform file sets in its <config>.
struct PlatformOption {
  std::string name, value;
  int line = 0;
};

/// Those of a platform file with this text, in its order.
std::vector<PlatformOption> options_in(const std::string& text);

/// The text, which is well-formed, without its <config>, with the same lines.
std::string without_options(const std::string& text);

constexpr std::string_view kBegin = "<config";

/// Where what begins with `<` at `begin` ends: a comment, a section of characters, an instruction, or a tag, in whose
/// values a > may stand.
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

bool begins_config(std::string_view tag) {
  return tag.starts_with(kBegin) && tag.size() > kBegin.size() &&
         std::string_view(" \t\r\n/>").find(tag[kBegin.size()]) != std::string_view::npos;
}

std::vector<PlatformOption> options_in(const std::string& text) {
  std::vector<PlatformOption> options;
  if (text.find(kBegin) == std::string::npos) return options;
  Markup markup(text);
  bool in_config = false;
  while (const auto piece = markup.next()) {
    if (piece == Markup::Piece::doctype) continue;
    const std::string name = markup.name();
    if (name == "config") {
      in_config = piece == Markup::Piece::start && !markup.is_empty();
    } else if (name == "prop" && in_config && piece == Markup::Piece::start) {
      options.push_back({markup.attribute("id").value_or(""), markup.attribute("value").value_or(""), markup.line()});
    }
  }
  return options;
}

std::string without_options(const std::string& text) {
  std::string copy = text;
  bool inside = false;
  std::size_t at = 0;
  for (std::size_t begin = text.find('<'); begin != std::string::npos; begin = text.find('<', at)) {
    const std::size_t end = end_of_markup(text, begin);
    const std::string_view tag = std::string_view(text).substr(begin, end - begin);
    const bool begins = !inside && begins_config(tag);
    if (inside || begins) {
      // What stands before it belongs to the element as well.
      std::replace_if(
          copy.begin() + static_cast<std::ptrdiff_t>(begins ? begin : at),
          copy.begin() + static_cast<std::ptrdiff_t>(end), [](char c) { return c != '\n'; }, ' ');
    }
    if (begins)
      inside = !tag.ends_with("/>");
    else if (inside && tag.starts_with("</config"))
      inside = false;
    at = end;
  }
  return copy;
}

std::vector<std::string> passed_over_of(const spec::PlatformSpec& platform) {
  const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  if (file == nullptr) return {};
  std::vector<std::string> names;
  int line = 0;
  for (const PlatformOption& option : options_in(text_of_file(file->path))) {
    if (!is_passed_over(option.name)) continue;
    if (names.empty()) line = option.line;
    names.push_back(fmt::format("'{}'", with_hidden_characters_shown(option.name)));
  }
  if (names.empty()) return {};
  return {to_string(
      Diagnostic{file->path, line,
                 fmt::format("{} of <config> {} passed over", fmt::join(names, ", "), names.size() == 1 ? "is" : "are"),
                 "dadsim sets them itself or has no use for them (docs/timing.md)"})};
}

namespace sg4 = simgrid::s4u;

/// A file without a name, which is gone when the process ends, however that may be.
class NamelessFile {
 public:
  explicit NamelessFile(const std::string& content) : file_(std::tmpfile()) {
    if (file_ == nullptr || std::fwrite(content.data(), 1, content.size(), file_) != content.size() ||
        std::fflush(file_) != 0 || std::fseek(file_, 0, SEEK_SET) != 0) {
      throw EnvironmentError(fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
    }
  }
  ~NamelessFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  std::string path() const { return fmt::format("/dev/fd/{}", ::fileno(file_)); }

 private:
  std::FILE* file_;
};

/// Empty where it is not there, of which SimGrid has its words. Without its state profiles, since it could not be read
/// for once, a platform would be another one.
std::string text_of_platform(const std::string& path) { return whole_file(path).value_or(std::string()); }

/// SimGrid opens it once more.
void load(const std::string& path, const std::string& known_as) {
  try {
    sg4::Engine::get_instance()->load_platform(path);
  } catch (const std::exception& error) {
    if (std::string_view(error.what()).find("nable to open '") == std::string_view::npos || !whole_file(path)) {
      throw;
    }
    throw EnvironmentError(fmt::format("'{}' cannot be opened for the second time", known_as));
  }
}

void build(const spec::PlatformFileSpec& file) {
  std::string text = text_of_platform(file.path);
  const std::vector<PlatformOption> options = options_in(text);
  const bool passed_over = std::ranges::any_of(options, is_passed_over, &PlatformOption::name);
  if (!may_have_state_profiles(text) && !passed_over) {
    load(file.path, file.path);
    return;
  }
  if (may_have_state_profiles(text)) text = without_state_profiles(text);
  if (passed_over) {
    text = without_options(text);
    for (const PlatformOption& option : options) {
      if (!is_passed_over(option.name)) sg4::Engine::set_config(fmt::format("{}:{}", option.name, option.value));
    }
  }
  const NamelessFile copy(text);
  // What the platform names beside itself; SimGrid takes a path of its own for relative ones, and loses absolute ones.
  sg4::Engine::set_config("path", std::filesystem::absolute(file.path).parent_path().string());
  load(copy.path(), file.path);
}

template <class Declared>
void build(const Declared& spec) {
  HostZone& zone = make_host_zone();
  set_network(zone, make_network(&interface_of(zone), spec));
}

void look_at(const spec::PlatformFileSpec& /*file*/) {}

template <class Declared>
void look_at(const Declared& spec) {
  make_network(nullptr, spec);
}

}  // namespace

void check_declared(const spec::PlatformSpec& platform) {
  std::visit([](const auto& what) { look_at(what); }, platform.what);
}

void build_platform(const spec::PlatformSpec& platform) {
  std::visit([](const auto& what) { build(what); }, platform.what);
}

}  // namespace dadsim::sim

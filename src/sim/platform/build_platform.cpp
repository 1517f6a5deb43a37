#include "sim/platform/build_platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
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

/// A SimGrid option set in the <config> of a platform file.
struct PlatformOption {
  std::string name, value;
  int line = 0;
};

/// Returns the options in this text of a platform file, in their order.
std::vector<PlatformOption> options_in(const std::string& text) {
  std::vector<PlatformOption> options;
  if (text.find("<config") == std::string::npos) return options;
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

}  // namespace

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
                 fmt::format("{} of <config> {} ignored", fmt::join(names, ", "), names.size() == 1 ? "is" : "are"),
                 "dadsim sets or does not use these options (docs/timing.md)"})};
}

namespace {

/// An unnamed file, which disappears when the process ends for any reason.
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

/// Loads the platform, for which SimGrid opens the file a second time.
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
  std::string text = text_of_file(file.path);
  const std::vector<PlatformOption> options = options_in(text);
  const bool passed_over = std::ranges::any_of(options, is_passed_over, &PlatformOption::name);
  if (!may_have_state_profiles(text) && !passed_over) {
    load(file.path, file.path);
    return;
  }
  text = without_state_profiles(text, passed_over);
  if (passed_over) {
    for (const PlatformOption& option : options) {
      if (!is_passed_over(option.name)) sg4::Engine::set_config(fmt::format("{}:{}", option.name, option.value));
    }
  }
  const NamelessFile copy(text);
  // Sets the folder in which SimGrid searches the files that the platform names: the platform itself is loaded from a
  // copy. SimGrid accepts no absolute names.
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

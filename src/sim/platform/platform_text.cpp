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

#include "sim/platform/engine.hpp"
#include "sim/platform/event_rates.hpp"
#include "sim/platform/markup.hpp"
#include "sim/platform/platform_size.hpp"
#include "sim/platform/state_profiles.hpp"
#include "support/input_files.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::sim {
namespace {

constexpr std::size_t kSizeLimit = 64U << 20U;  // bytes; SimGrid's own examples stay below 2 MB

constexpr std::string_view kUsualDoctype = R"(<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">)";

/// Attributes of <host>, <link>, <cluster> … that name a profile over time which SimGrid follows.
constexpr std::array kProfileAttributes{"availability_file", "bandwidth_file", "latency_file", "speed_file"};

/// Whether the bytes are UTF-8 (RFC 3629): no stray continuation bytes, no overlong forms, no surrogates.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t offset) {
      return i + offset < text.size() ? static_cast<unsigned char>(text[i + offset]) : 0U;
    };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length == 0) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(k) & 0xC0U) != 0x80U) return false;
    }
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) || (first == 0xF0 && byte(1) < 0x90) ||
        (first == 0xF4 && byte(1) > 0x8F)) {
      return false;
    }
    i += length;
  }
  return true;
}

bool has_profiles(const std::string& file) {
  const std::string text = whole_file(file).value_or("");
  Markup markup(text);
  while (const auto piece = markup.next()) {
    if (piece != Markup::Piece::start) continue;
    const auto named = [&](const char* attribute) { return markup.attribute(attribute).has_value(); };
    if (markup.name() == "trace_connect" && !is_state_connection(markup)) return true;
    if (std::ranges::any_of(kProfileAttributes, named)) return true;
  }
  return false;
}

/// What an element may be called by in messages and results.
constexpr std::array kNames{"id", "prefix", "suffix"};

/// Files that SimGrid reads beside the platform: it looks in the folder that it runs in, then beside it.
void note_files_of(const Markup& markup, const std::string& platform) {
  std::vector<std::string> names;
  names.reserve(kProfileAttributes.size() + 2);
  for (const char* attribute : kProfileAttributes) names.push_back(markup.attribute(attribute).value_or(""));
  names.push_back(markup.attribute("state_file").value_or(""));
  if (markup.name() == "trace") names.push_back(markup.attribute("file").value_or(""));
  for (const std::string& name : names) {
    if (name.empty()) continue;
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
    return refuse(0, fmt::format("the file has {} MB", status.st_size >> 20), "at most 64 MB are read");
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
  std::vector<Diagnostic> rates;  // told after what is wrong with the profiles themselves
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
                      "write version=\"4.1\", after simgrid_update_xml has brought the file up to date");
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
                               fmt::format("the {} of <{}>, '{}', has characters that cannot be seen", part, name,
                                           with_hidden_characters_shown(value.substr(0, 200))),
                               "a name of letters, digits and signs"});
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
                             "take the element out; the scenario says which hosts are workers"});
    }
    const std::string kind = name == "trace_connect" ? markup.attribute("kind").value_or("") : "";
    if (kind == "BANDWIDTH" || kind == "LATENCY") {
      diagnostics.push_back({file, markup.line(),
                             fmt::format("<trace_connect kind=\"{}\"> comes too late for a link, SimGrid says", kind),
                             "write bandwidth_file or latency_file on the <link> instead"});
    }
  }
  // SimGrid's reader is not as strict: what comes behind the fault would be taken without having been looked at.
  if (markup.fault()) {
    diagnostics.push_back({file, markup.fault()->line, fmt::format("this is not XML: {}", markup.fault()->what),
                           "a platform is well-formed XML 1.0"});
    return diagnostics;
  }
  // SimGrid's ends by a signal there.
  if (root_seen && !zone_seen)
    diagnostics.push_back({file, 0, "the platform has no <zone>", "one, with hosts, links and routes in it"});
  diagnostics.insert(diagnostics.end(), size.faults().begin(), size.faults().end());
  if (may_have_state_profiles(text)) {
    for (Diagnostic& fault : read_state_profiles(file, text).faults) diagnostics.push_back(std::move(fault));
  }
  if (diagnostics.empty()) diagnostics = std::move(rates);
  return diagnostics;
}

bool file_varies_over_time(const std::string& file) {
  // Asked several times for every simulation, and in its child, where a lock of another thread's would stay locked.
  struct Known {
    std::string file;
    std::filesystem::file_time_type written;
    std::uintmax_t size = 0;
    bool varies = false;
  };
  thread_local Known last;
  std::error_code ignored;
  const auto written = std::filesystem::last_write_time(file, ignored);
  const auto size = std::filesystem::file_size(file, ignored);
  if (file != last.file || written != last.written || size != last.size) {
    last = {file, written, size, has_profiles(file)};
  }
  return last.varies;
}

}  // namespace dadsim::sim

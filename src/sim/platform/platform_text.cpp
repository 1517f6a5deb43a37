#include "sim/platform/platform_text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "sim/platform/engine.hpp"
#include "sim/platform/platform_check.hpp"

namespace dadsim::sim {
namespace {

constexpr std::size_t kSizeLimit = 64U << 20U;  // bytes; SimGrid's own examples stay below 2 MB

constexpr std::string_view kUsualDoctype = R"(<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">)";

/// Attributes of <host>, <link>, <cluster> … that name a profile over time, and the elements that attach or define one.
constexpr std::array kProfileAttributes{"availability_file", "bandwidth_file", "latency_file", "speed_file"};
constexpr std::array kProfileElements{"trace", "trace_connect", "profile"};

/// The markup of a file, tag by tag: enough to find elements and attributes by name, not a parser.
class Markup {
 public:
  explicit Markup(std::string_view text) : text_(text) {}

  /// The next tag or declaration, "<" to ">"; comments, processing instructions and CDATA are passed over. Nothing at
  /// the end of the file, also where one of these is not closed: SimGrid's parser says where.
  std::optional<std::string_view> next() {
    for (;;) {
      const std::size_t open = text_.find('<', position_);
      if (open == std::string_view::npos) return std::nullopt;
      line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(position_),
                                           text_.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
      position_ = open;
      const std::string_view rest = text_.substr(open);
      const bool passed_over = rest.starts_with("<!--")        ? pass("-->")
                               : rest.starts_with("<![CDATA[") ? pass("]]>")
                               : rest.starts_with("<?")        ? pass("?>")
                                                               : false;
      if (position_ == std::string_view::npos) return std::nullopt;
      if (passed_over) continue;
      const std::size_t close = end_of_tag(open);
      if (close == std::string_view::npos) return std::nullopt;
      tag_line_ = line_;
      const std::string_view tag = text_.substr(open, close + 1 - open);
      line_ += static_cast<int>(std::ranges::count(tag, '\n'));
      position_ = close + 1;
      return tag;
    }
  }

  /// Where the last tag began, 1-based.
  int line() const { return tag_line_; }

 private:
  bool pass(std::string_view end) {
    const std::size_t found = text_.find(end, position_);
    if (found == std::string_view::npos) {
      position_ = std::string_view::npos;
      return true;
    }
    const std::size_t after = found + end.size();
    line_ += static_cast<int>(std::ranges::count(text_.substr(position_, after - position_), '\n'));
    position_ = after;
    return true;
  }

  /// The ">" that is not inside quotes or brackets.
  std::size_t end_of_tag(std::size_t from) const {
    char quote = 0;
    int brackets = 0;
    for (std::size_t i = from; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '[') {
        ++brackets;
      } else if (c == ']') {
        --brackets;
      } else if (c == '>' && brackets <= 0) {
        return i;
      }
    }
    return std::string_view::npos;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  int line_ = 1;
  int tag_line_ = 1;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view name_of(std::string_view tag) {
  std::size_t end = 1;
  while (end < tag.size() && !is_blank(tag[end]) && tag[end] != '>' && tag[end] != '/') ++end;
  return tag.substr(1, end - 1);
}

/// The value of an attribute, without its quotes; nothing if the tag does not have it.
std::optional<std::string> attribute(std::string_view tag, std::string_view name) {
  char quote = 0;
  for (std::size_t i = 1; i < tag.size(); ++i) {
    if (quote != 0) {
      if (tag[i] == quote) quote = 0;
    } else if (tag[i] == '"' || tag[i] == '\'') {
      quote = tag[i];
    } else if (is_blank(tag[i - 1]) && tag.substr(i).starts_with(name)) {
      std::size_t after = i + name.size();
      while (after < tag.size() && is_blank(tag[after])) ++after;
      if (after >= tag.size() || tag[after] != '=') continue;
      const std::size_t open = tag.find_first_of("\"'", after);
      if (open == std::string_view::npos) return std::string{};
      const std::size_t close = tag.find(tag[open], open + 1);
      return std::string(tag.substr(open + 1, close == std::string_view::npos ? close : close - open - 1));
    }
  }
  return std::nullopt;
}

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

std::string single_spaced(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!is_blank(c)) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  return result;
}

/// A DOCTYPE that names a DTD and no more: no internal subset, and so no entities.
bool is_plain_doctype(std::string_view tag) {
  const std::string text = single_spaced(tag);
  return text.starts_with("<!DOCTYPE platform SYSTEM ") && text.find('[') == std::string::npos &&
         text.find("simgrid.dtd") != std::string::npos;
}

bool has_profiles(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  Markup markup(text);
  while (const auto tag = markup.next()) {
    const auto named = [&](const char* attribute_name) { return attribute(*tag, attribute_name).has_value(); };
    if (std::ranges::count(kProfileElements, std::string(name_of(*tag))) > 0) return true;
    if (std::ranges::any_of(kProfileAttributes, named)) return true;
  }
  return false;
}

}  // namespace

std::vector<Diagnostic> check_platform_text(const std::string& file) {
  const auto refuse = [&](int line, std::string what, std::string remedy) {
    return std::vector<Diagnostic>{{file, line, std::move(what), std::move(remedy)}};
  };
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
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
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream || text.empty()) return refuse(0, "cannot read the platform", "give the path of a SimGrid platform file");
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
  bool doctype_seen = false;
  bool in_config = false;
  while (const auto tag = markup.next()) {
    const std::string name(name_of(*tag));
    if (name == "!DOCTYPE") {
      doctype_seen = true;
      if (!is_plain_doctype(*tag)) {
        return refuse(markup.line(), "the DOCTYPE is not that of a SimGrid platform, or defines entities",
                      fmt::format("write {}", kUsualDoctype));
      }
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
      const std::string version = attribute(*tag, "version").value_or("");
      if (version != "4" && version != "4.0" && version != "4.1") {
        return refuse(markup.line(),
                      version.empty() ? std::string("the platform gives no version")
                                      : fmt::format("this is a platform of version '{}'", version),
                      "write version=\"4.1\", after simgrid_update_xml has brought the file up to date");
      }
    }
    if (name == "prop" && in_config) {
      const std::string option = attribute(*tag, "id").value_or("");
      if (is_own_setting(option)) {
        diagnostics.push_back({file, markup.line(), fmt::format("<config> sets '{}', which dadsim sets itself", option),
                               "take it out; docs/timing.md says what is simulated and how"});
      }
    }
    if (name == "config") in_config = !tag->ends_with("/>");
    if (name == "/config") in_config = false;
    if (name == "actor" || name == "process") {
      diagnostics.push_back({file, markup.line(),
                             fmt::format("<{}> deploys a program, which is not part of a platform", name),
                             "take the element out; the scenario says which hosts are workers"});
    }
    const std::string kind = name == "trace_connect" ? attribute(*tag, "kind").value_or("") : "";
    if (kind == "BANDWIDTH" || kind == "LATENCY") {
      diagnostics.push_back({file, markup.line(),
                             fmt::format("<trace_connect kind=\"{}\"> comes too late for a link, SimGrid says", kind),
                             "write bandwidth_file or latency_file on the <link> instead"});
    }
    if (attribute(*tag, "state_file").has_value()) {
      diagnostics.push_back({file, markup.line(),
                             "'state_file' turns a host or a link off, and a step needs all of its workers",
                             "take the attribute out"});
    }
  }
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

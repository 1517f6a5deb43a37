#include <array>
#include <filesystem>
#include <system_error>

#include "sim/platform.hpp"
#include "sim/platform/markup.hpp"
#include "sim/platform/state_profiles.hpp"

namespace dadsim::sim {
namespace {

namespace fs = std::filesystem;

/// Attributes of any element whose value is the name of a file (simgrid.dtd of version 4.1; `content` of storage and
/// disks).
constexpr std::array kNamingAttributes{"availability_file", "bandwidth_file", "content",   "file",
                                       "latency_file",      "speed_file",     "state_file"};

std::vector<std::string> files_named_in(const std::string& platform) {
  std::vector<std::string> files;
  const std::string text = text_of_file(platform);
  Markup markup(text);
  while (const auto piece = markup.next()) {
    if (piece != Markup::Piece::start) continue;
    for (const char* attribute : kNamingAttributes) {
      const auto name = markup.attribute(attribute);
      if (!name) continue;
      std::string file = found_beside(platform, *name);
      std::error_code none;
      if (!file.empty() && fs::is_regular_file(file, none)) files.push_back(std::move(file));
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> files_of_platform(const spec::PlatformSpec& platform) {
  const auto* given = std::get_if<spec::PlatformFileSpec>(&platform.what);
  if (given == nullptr) return {};
  // A sweep asks for every point, of a file that may list 100,000 hosts.
  struct Known {
    std::string file;
    fs::file_time_type written;
    std::uintmax_t size = 0;
    std::vector<std::string> files;
  };
  thread_local Known last;
  std::error_code none;
  const auto written = fs::last_write_time(given->path, none);
  const auto size = fs::file_size(given->path, none);
  if (given->path != last.file || written != last.written || size != last.size)
    last = {given->path, written, size, files_named_in(given->path)};
  return last.files;
}

}  // namespace dadsim::sim

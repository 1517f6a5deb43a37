#include "support/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace dadsim {
namespace {

/// Returns the number in a file of a control group; infinite if the file is missing, or has no number ("max").
double limit_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  double bytes = 0;
  return in >> bytes && bytes > 0 ? bytes : std::numeric_limits<double>::infinity();
}

/// Returns the smallest limit of the group in /proc/self/cgroup and of its ancestors. In a container, the group's own
/// files are at the root of the mount.
double limit_of_groups() {
  double least = std::numeric_limits<double>::infinity();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && controllers.find("memory") == std::string::npos) continue;
    const std::string mount = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* name = unified ? "memory.max" : "memory.limit_in_bytes";
    for (std::filesystem::path group = line.substr(second + 1); !group.empty(); group = group.parent_path()) {
      least = std::min(least, limit_in(mount + group.string() + "/" + name));
      if (group == group.root_path()) break;
    }
  }
  return least;
}

}  // namespace

double memory_limit() {
  double least = limit_of_groups();
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) least = std::min(least, static_cast<double>(pages) * static_cast<double>(page));
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    least = std::min(least, static_cast<double>(space.rlim_cur));
  return least < std::numeric_limits<double>::infinity() ? least : 0;
}

}  // namespace dadsim

#include "support/input_files.hpp"

#include <mutex>
#include <set>

namespace dadsim {
namespace {

struct Noted {
  std::mutex mutex;
  std::set<std::string> paths;
};

Noted& noted() {
  static Noted all;
  return all;
}

}  // namespace

void note_input(const std::string& path) {
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  all.paths.insert(path);
}

std::vector<std::string> noted_inputs() {
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  return {all.paths.begin(), all.paths.end()};
}

}  // namespace dadsim

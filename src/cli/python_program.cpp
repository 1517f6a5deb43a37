#include "cli/python_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace dadsim::cli {

std::string python_program() {
  const char* named = std::getenv("DADSIM_PYTHON");
  return named != nullptr && *named != '\0' ? named : "/usr/bin/python3";
}

void prefer_module_beside_program() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none);
  const fs::path module = program.parent_path().parent_path() / "python";
  if (none || !fs::exists(module / "dadsim" / "many.py", none)) return;
  const char* others = std::getenv("PYTHONPATH");
  const std::string path = others != nullptr && *others != '\0' ? module.string() + ":" + others : module.string();
  ::setenv("PYTHONPATH", path.c_str(), 1);
}

}  // namespace dadsim::cli

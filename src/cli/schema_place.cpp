#include "cli/schema_place.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace dadsim::cli {
namespace {

namespace fs = std::filesystem;

/// RFC 3986: what may stand in a path as it is.
bool is_unreserved(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_' || c == '~' || c == '/';
}

}  // namespace

std::string schema_uri() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return "scenario.xsd";
  // PREFIX/bin/dadsim; a build folder has the same layout, with src/ for bin/.
  const fs::path schema = program.parent_path().parent_path() / "share" / "dadsim" / "scenario.xsd";
  if (!fs::is_regular_file(schema, error)) return "scenario.xsd";
  std::string uri = "file://";
  for (const char c : schema.string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(byte)) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri;
}

}  // namespace dadsim::cli

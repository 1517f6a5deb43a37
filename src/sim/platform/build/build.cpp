#include "sim/platform/build/build.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "sim/platform/build/cluster_network.hpp"
#include "sim/platform/build/host_zone.hpp"
#include "sim/platform/compat.hpp"
#include "sim/platform/state_profiles.hpp"

namespace dadsim::sim {
namespace {

namespace sg4 = simgrid::s4u;

/// A file without a name, which is gone when the process ends, however that may be.
class NamelessFile {
 public:
  explicit NamelessFile(const std::string& content) : file_(std::tmpfile()) {
    if (file_ == nullptr || std::fwrite(content.data(), 1, content.size(), file_) != content.size() ||
        std::fflush(file_) != 0 || std::fseek(file_, 0, SEEK_SET) != 0) {
      throw std::runtime_error(fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
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

void build(const spec::PlatformFileSpec& file) {
  sg4::Engine& engine = *sg4::Engine::get_instance();
  const std::string text = text_of_file(file.path);
  if (!may_have_state_profiles(text)) {
    engine.load_platform(file.path);
    return;
  }
  const NamelessFile copy(without_state_profiles(text));
  // What the platform names beside itself; SimGrid takes a path of its own for relative ones, and loses absolute ones.
  sg4::Engine::set_config("path", std::filesystem::absolute(file.path).parent_path().string());
  engine.load_platform(copy.path());
}

template <class Declared>
void build(const Declared& spec) {
  HostZone& zone = make_host_zone();
  set_network(zone, make_network(interface_of(zone), spec));
}

}  // namespace

void build_platform(const spec::PlatformSpec& platform) {
  std::visit([](const auto& what) { build(what); }, platform.what);
}

}  // namespace dadsim::sim

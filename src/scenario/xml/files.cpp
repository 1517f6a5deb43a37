#include "scenario/xml/files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "support/fingerprint.hpp"
#include "support/text_encoding.hpp"
#include "support/whole_file.hpp"

namespace dadsim::scenario {
namespace {

namespace fs = std::filesystem;

using FilePointer = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

FilePointer open_to_read(const std::string& path) { return {std::fopen(path.c_str(), "rb"), &std::fclose}; }

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::uint64_t fingerprint_of_content(const std::string& path) {
  const FilePointer file = open_to_read(path);
  const auto refuse = [&] {
    throw_if_denied(path, errno);
    throw InputError(Diagnostic{path, 0, fmt::format("cannot be read: {}", std::strerror(errno)), ""});
  };
  if (file == nullptr) refuse();
  std::vector<char> block(std::size_t{1} << 20U);
  std::uint64_t hash = fingerprint({});
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    hash = fingerprint({block.data(), count}, hash);
  }
  if (std::ferror(file.get()) != 0) refuse();
  return hash;
}

/// Returns whether a file has the published name of an MNIST file.
bool is_mnist(const std::string& name) {
  constexpr std::array<std::string_view, 4> kNames = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                                      "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
  std::string stem = fs::path(name).filename().string();
  if (stem.ends_with(".gz")) stem.resize(stem.size() - 3);
  return std::ranges::find(kNames, stem) != kNames.end();
}

}  // namespace

std::optional<std::string> read_beginning(const std::string& path, std::size_t most, const DocumentKind& kind,
                                          Findings& findings) {
  const auto fail = [&](std::string what, std::string remedy) {
    findings.add(Origin{}, std::move(what), std::move(remedy));
    return std::nullopt;
  };
  const std::string form = fmt::format("give the path of a {} file", kind.noun);
  note_input(path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return fail("no such file", form);
  if (error) {
    throw_if_denied(path, error.value());
    return fail(fmt::format("cannot be read: {}", error.message()), form);
  }
  if (fs::is_directory(status)) return fail("is a folder", form);
  if (!fs::is_regular_file(status)) return fail("is not a regular file", form);

  std::optional<std::string> content = whole_file(path, most);
  if (!content) {
    return fail(fmt::format("cannot be read: {}", std::strerror(errno)),
                "change its permissions so that you can read it");
  }
  if (std::optional<Fault> fault = fault_of_encoding(path, *content))
    return fail(std::move(fault->what), std::move(fault->remedy));
  return content;
}

std::optional<std::string> read_document(const std::string& path, const DocumentKind& kind, Findings& findings) {
  std::optional<std::string> content = read_beginning(path, kMaxDocumentBytes + 1, kind, findings);
  if (!content || content->size() <= kMaxDocumentBytes) return content;
  std::error_code error;
  const std::uintmax_t known = fs::file_size(path, error);
  const std::uintmax_t bytes = error ? content->size() : std::max<std::uintmax_t>(known, content->size());
  findings.add(Origin{}, fmt::format("file is {} MB", (bytes + (1U << 20U) - 1) >> 20U),
               fmt::format("a {} has at most {} MB", kind.noun, kMaxDocumentBytes >> 20U));
  return std::nullopt;
}

std::string beside(const std::string& scenario, const std::string& name) {
  return (fs::absolute(scenario).parent_path() / name).lexically_normal().string();
}

DataFile find_data_file(const std::string& scenario, const std::string& name, const std::string& form) {
  const std::string other = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name + ".gz";
  const char* variable = std::getenv("DADSIM_DATA");
  const bool is_set = variable != nullptr && *variable != '\0';
  std::vector<std::string> candidates = {beside(scenario, name), beside(scenario, other)};
  const bool absolute = fs::path(name).is_absolute();
  if (is_set && !absolute) {
    const fs::path folder = fs::absolute(variable);
    candidates.push_back((folder / name).lexically_normal().string());
    candidates.push_back((folder / other).lexically_normal().string());
  }
  for (const std::string& candidate : candidates) {
    if (!is_file(candidate)) continue;
    note_input(candidate);
    return {candidate, "", ""};
  }
  const std::string published = is_mnist(name) ? "download it from http://yann.lecun.com/exdb/mnist/" : "";
  const std::string separator = published.empty() ? "" : "; ";
  if (absolute) return {"", "does not exist", published.empty() ? form : published};
  const std::string here = beside(scenario, "");
  if (is_set) {
    return {"", fmt::format("is neither in '{}' nor in '{}' (DADSIM_DATA)", here, variable),
            "put the file into one of these folders" + separator + published};
  }
  return {"", fmt::format("is not in '{}', and the environment variable DADSIM_DATA is not set", here),
          "put the file there, or set DADSIM_DATA to its folder" + separator + published};
}

std::uint64_t fingerprint_file(const std::string& path) {
  // Keeps fingerprints by path, device, inode, size and date, because a sweep asks for the same files many times.
  using Identity = std::tuple<std::string, dev_t, ino_t, off_t, time_t, long>;
  static std::mutex mutex;
  static std::map<Identity, std::uint64_t> known;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw InputError(Diagnostic{path, 0, fmt::format("cannot be read: {}", std::strerror(errno)), ""});
  const Identity identity{path,           status.st_dev,         status.st_ino,
                          status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(identity); found != known.end()) return found->second;
  return known[identity] = fingerprint_of_content(path);
}

}  // namespace dadsim::scenario

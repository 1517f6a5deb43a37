#include "cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <tuple>

#include "cli/arguments.hpp"
#include "support/atomic_file.hpp"
#include "support/file_identity.hpp"
#include "support/human.hpp"
#include "support/output_error.hpp"
#include "support/split.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

/// Returns the text as it is printed: escaped for a terminal, with lines broken that are wider than it. Lines for files
/// and pipes are not broken.
std::string fitted(std::string_view text) {
  std::string shown = for_terminal(text);
  if (!columns_of_terminal(STDOUT_FILENO)) return shown;
  const std::size_t width = report::table_width();
  std::string result;
  for (const std::string_view line : lines_of(shown)) {
    if (display_width(line) <= width) {
      result.append(line).push_back('\n');
    } else {
      const std::size_t indent = std::min(std::min(line.find_first_not_of(' '), line.size()) + 2, width / 2);
      result += wrapped(line, width, indent);
    }
  }
  return result;
}

/// Identity of a file as the key of a map; a step of many nodes has too many files to compare all pairs.
using Identity = std::tuple<dev_t, ino_t, std::string>;
Identity identity(const FileIdentity& file) { return {file.device, file.inode, file.name}; }

bool is_standard_output(const std::string& path) { return descriptor_of(path) == STDOUT_FILENO; }

}  // namespace

void print(std::string_view text) { write_to_standard_output(fitted(text)); }

void print(const report::Summary& summary) {
  const bool coloured = is_coloured(STDOUT_FILENO);
  std::string text;
  const auto add = [&](const std::string& part, const char* weight) {
    if (part.empty()) return;
    if (!text.empty()) text += '\n';
    const std::string shown = fitted(part);
    if (!coloured || *weight == '\0') {
      text += shown;
    } else {
      text += weight + shown.substr(0, shown.find_last_not_of('\n') + 1) + "\033[0m\n";
    }
  };
  add(summary.answer, "\033[1m");
  add(summary.body, "");
  add(summary.background, "\033[2m");
  write_to_standard_output(text);
}

void fit_standard_output() {
  if (const auto columns = columns_of_terminal(STDOUT_FILENO)) report::fit_tables_to(*columns);
}

OutputFiles::OutputFiles(std::vector<Named> outputs, std::vector<Named> inputs)
    : outputs_(std::move(outputs)), inputs_(std::move(inputs)) {
  std::erase_if(outputs_, [](const Named& one) { return one.path.empty(); });
  std::erase_if(inputs_, [](const Named& one) { return one.path.empty(); });
  const FileIdentity standard_output = identity_of("-");
  std::map<Identity, std::size_t> known;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const FileIdentity one = identity_of(outputs_[i].path);
    if (one.takes_all) continue;
    if (const auto [before, is_new] = known.try_emplace(identity(one), i); !is_new) {
      throw UsageError(fmt::format("{} and {} both name '{}'; use one file each", outputs_[before->second].role,
                                   outputs_[i].role, outputs_[i].path));
    }
    if (one.regular && !is_standard_output(outputs_[i].path) && one.is_same_as(standard_output)) {
      throw UsageError(fmt::format("{} names '{}', which is standard output; use one file each, or '-'",
                                   outputs_[i].role, outputs_[i].path));
    }
  }
  check_against_inputs();
}

void OutputFiles::check_against_inputs() const {
  std::vector<Named> inputs = inputs_;
  for (std::string& path : noted_inputs()) inputs.push_back({"", std::move(path)});
  std::map<Identity, const Named*> read;
  for (const Named& input : inputs) read.try_emplace(identity(identity_of(input.path)), &input);
  for (const Named& output : outputs_) {
    const FileIdentity own = identity_of(output.path);
    if (!own.regular) continue;  // writing to a pipe or a device overwrites nothing
    const auto found = read.find(identity(own));
    if (found == read.end()) continue;
    const Named& input = *found->second;
    const std::string what = input.role.empty() ? fmt::format("'{}', which is read", input.path)
                                                : fmt::format("{}, '{}'", input.role, input.path);
    throw UsageError(fmt::format("{} '{}' would overwrite {}; use another file", output.role, output.path, what));
  }
}

void OutputFiles::check_writable() const {
  for (const Named& output : outputs_) dadsim::check_writable(output.path);
}

void OutputFiles::check_folder(const std::string& folder) {
  if (folder.empty()) return;
  std::error_code error;
  const bool exists = std::filesystem::exists(folder, error);
  dadsim::check_writable(exists ? (std::filesystem::path(folder) / "file").string() : folder);
}

void OutputFiles::write_into(const std::string& role, const std::string& folder,
                             const std::vector<report::PlotFile>& files) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw OutputError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  std::vector<Named> all = outputs_;
  for (const report::PlotFile& file : files)
    all.push_back({role, (std::filesystem::path(folder) / file.name).string()});
  OutputFiles(all, inputs_).check_writable();
  for (const report::PlotFile& file : files)
    write_file_atomically((std::filesystem::path(folder) / file.name).string(), file.content);
}

bool OutputFiles::take_standard_output() const {
  return std::ranges::any_of(outputs_, [](const Named& one) { return is_standard_output(one.path); });
}

void check_is_new(const std::string& path, const std::string& remedy) {
  std::error_code error;
  if (!descriptor_of(path) && std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    throw UsageError(fmt::format("'{}' exists already; use another name{}", path, remedy));
}

void write_new(const std::string& path, const std::string& content, const std::string& remedy) {
  if (descriptor_of(path)) return write_file_atomically(path, content);
  std::FILE* file = std::fopen(path.c_str(), "wx");
  if (file == nullptr) {
    if (errno == EEXIST) throw UsageError(fmt::format("'{}' exists already; use another name{}", path, remedy));
    throw OutputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  }
  std::fclose(file);
  try {
    write_file_atomically(path, content);
  } catch (...) {
    std::remove(path.c_str());
    throw;
  }
}

}  // namespace dadsim::cli

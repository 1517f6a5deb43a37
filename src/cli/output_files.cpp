#include "cli/output_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/usage_error.hpp"
#include "support/atomic_file.hpp"
#include "support/file_identity.hpp"
#include "support/input_files.hpp"

namespace dadsim::cli {
namespace {

bool is_standard_output(const std::string& path) { return descriptor_of(path) == STDOUT_FILENO; }

}  // namespace

OutputFiles::OutputFiles(std::vector<Named> outputs, std::vector<Named> inputs)
    : outputs_(std::move(outputs)), inputs_(std::move(inputs)) {
  std::erase_if(outputs_, [](const Named& one) { return one.path.empty(); });
  std::erase_if(inputs_, [](const Named& one) { return one.path.empty(); });
  const FileIdentity standard_output = identity_of("-");
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const FileIdentity one = identity_of(outputs_[i].path);
    if (one.takes_all) continue;
    for (std::size_t j = i + 1; j < outputs_.size(); ++j) {
      if (!one.is_same_as(identity_of(outputs_[j].path))) continue;
      throw UsageError(
          fmt::format("{} and {} both name '{}'; one file each", outputs_[i].role, outputs_[j].role, outputs_[j].path));
    }
    if (one.regular && !is_standard_output(outputs_[i].path) && one.is_same_as(standard_output)) {
      throw UsageError(fmt::format("{} names '{}', where standard output goes; one file each, or '-'", outputs_[i].role,
                                   outputs_[i].path));
    }
  }
  check_against_inputs();
}

void OutputFiles::check_against_inputs() const {
  std::vector<Named> inputs = inputs_;
  for (std::string& path : noted_inputs()) inputs.push_back({"", std::move(path)});
  std::vector<FileIdentity> identities;
  identities.reserve(inputs.size());
  for (const Named& input : inputs) identities.push_back(identity_of(input.path));
  for (const Named& output : outputs_) {
    const FileIdentity identity = identity_of(output.path);
    if (!identity.regular) continue;  // a pipe, a device: nothing of it is lost
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!identity.is_same_as(identities[i])) continue;
      const std::string what = inputs[i].role.empty() ? fmt::format("'{}', which is read", inputs[i].path)
                                                      : fmt::format("{}, '{}'", inputs[i].role, inputs[i].path);
      throw UsageError(fmt::format("{} '{}' would overwrite {}; a file of its own", output.role, output.path, what));
    }
  }
}

void OutputFiles::check_writable() const {
  for (const Named& output : outputs_) dadsim::check_writable(output.path);
}

bool OutputFiles::take_standard_output() const {
  return std::ranges::any_of(outputs_, [](const Named& one) { return is_standard_output(one.path); });
}

}  // namespace dadsim::cli

#include "scenario/elements/data_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "scenario/xml/files.hpp"
#include "scenario/xml/white_space.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxFiles = 100;

/// Absolute path of a data file, or empty with a finding at the attribute that names it.
std::string found_file(const Node& node, const char* attribute, const std::string& name, const std::string& form,
                       const ReadContext& context) {
  DataFile file = find_data_file(context.path, name, form);
  if (file.path.empty()) node.fail_at(attribute, file.what, file.remedy);
  return file.path;
}

}  // namespace

std::string data_file(const Node& node, const char* attribute, const std::string& form, const ReadContext& context) {
  const std::optional<std::string> name = node.required_text(attribute, form);
  return name ? found_file(node, attribute, *name, form, context) : std::string();
}

std::vector<std::string> comma_list(const Node& node, const char* attribute, const std::string& text,
                                    const std::string& form, const char* what, std::size_t most) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::vector<std::string> parts = split_words(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (names.size() == most) {
      node.fail_at(attribute, fmt::format("names more than {} {}", most, what), "fewer");
      return {};
    }
    if (parts.empty()) {
      node.fail_at(attribute, "lacks a name between commas", form);
      return {};
    }
    names.push_back(fmt::format("{}", fmt::join(parts, " ")));
  }
  return names;
}

std::vector<std::string> data_files(const Node& node, const char* attribute, const std::string& form,
                                    const ReadContext& context) {
  const std::optional<std::string> names = node.required_text(attribute, form);
  std::vector<std::string> files;
  if (!names) return files;
  bool complete = true;
  for (const std::string& name : comma_list(node, attribute, *names, form, "files", kMaxFiles)) {
    files.push_back(found_file(node, attribute, name, form, context));
    complete = complete && !files.back().empty();
    // The printed scenario names it by its absolute path.
    if (files.back().find(',') != std::string::npos) {
      node.fail_at(attribute, fmt::format("is found in '{}', a path with a comma", printable(files.back())),
                   "a folder without one: commas part the files");
      complete = false;
    }
  }
  if (!complete) files.clear();
  return files;
}

}  // namespace dadsim::scenario

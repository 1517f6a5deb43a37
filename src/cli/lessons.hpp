#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::cli {

/// A file of docs/lessons, as it was when the program was built.
struct LessonFile {
  std::string_view name, text;
};

/// The lessons, the first one first; their names begin with their numbers.
std::span<const LessonFile> lessons();

/// The scenarios that they speak of.
std::span<const LessonFile> lesson_scenarios();

/// The words of a command of a lesson, as a shell would read it: single quotes hold words together. Without the first,
/// "dadsim". Throws std::invalid_argument where that is not the first.
std::vector<std::string> arguments_of(std::string_view command);

}  // namespace dadsim::cli

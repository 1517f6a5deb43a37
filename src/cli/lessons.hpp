#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::cli {

/// A file of docs/lessons, as of build time.
struct LessonFile {
  std::string_view name, text;
};

/// Returns the lessons in order; their names begin with their numbers.
std::span<const LessonFile> lessons();

/// Returns the scenarios that lessons name.
std::span<const LessonFile> lesson_scenarios();

/// Splits a command of a lesson into words like a shell, with single quotes, and removes the first word, "dadsim".
/// Throws std::invalid_argument for any other first word.
std::vector<std::string> arguments_of(std::string_view command);

}  // namespace dadsim::cli

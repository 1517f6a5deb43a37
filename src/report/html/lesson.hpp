#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::report {

/// A named command of a lesson: a block of code that begins with "```sh NAME". The lesson's text refers to the block's
/// results by name (docs/lessons/README.md).
struct LessonBlock {
  std::string name;
  std::string command;  ///< text of the block as one line; lines that end in a backslash are joined
  std::size_t end = 0;  ///< offset after the block in the text
};

/// Returns the named blocks in the order of the text.
std::vector<LessonBlock> blocks_of(std::string_view markdown);

/// Returns the first line of a lesson, without "# ".
std::string title_of(std::string_view markdown);

/// The page of a run, shown in a frame below a block of a lesson.
struct LessonRun {
  std::string name;   ///< name of the block
  std::string title;  ///< title of the frame, for screen readers
  std::string page;   ///< page made by to_html() of a result
};

/// Returns a lesson as a page of HTML that loads nothing. `markdown`: a lesson of docs/lessons; text in <details> stays
/// hidden until the reader opens it. Links to other pages of the documentation and to the web become plain text; links
/// to other lessons lead to lesson-N.html in the same folder.
std::string lesson_page(std::string_view markdown, const std::vector<LessonRun>& runs);

}  // namespace dadsim::report

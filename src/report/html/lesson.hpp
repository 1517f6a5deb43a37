#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::report {

/// A named command of a lesson: a block of code that begins with "```sh NAME". The lesson's text refers to its results
/// by that name (docs/lessons/README.md).
struct LessonBlock {
  std::string name;
  std::string command;  ///< text of the block as one line; lines that end in a backslash are joined
  std::size_t end = 0;  ///< end of the block in the text
};

/// Returns the named blocks in the order of the text.
std::vector<LessonBlock> blocks_of(std::string_view markdown);

/// Returns the first line of a lesson, without "# ".
std::string title_of(std::string_view markdown);

/// The page of a run, shown whole in a frame of its own below a block.
struct LessonRun {
  std::string name;   ///< name of the block
  std::string title;  ///< title of the frame, for readers who do not see it
  std::string page;   ///< page made by to_html() of a result
};

/// Returns a lesson as a page of HTML that loads nothing. `markdown`: a lesson of docs/lessons; text in <details> stays
/// hidden until the reader opens it. Links to other pages of the documentation and to the web become words; links to
/// other lessons lead to lesson-N.html next to this page.
std::string lesson_page(std::string_view markdown, const std::vector<LessonRun>& runs);

}  // namespace dadsim::report

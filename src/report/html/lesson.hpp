#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::report {

/// A command of a lesson that has a name: a block of code that begins with "```sh NAME". What a lesson says of its
/// results it says by that name (docs/lessons/README.md).
struct LessonBlock {
  std::string name;
  std::string command;  ///< what stands in the block, one line: lines that end in a backslash are joined
  std::size_t end = 0;  ///< where the block ends in the text
};

/// In the order of the text.
std::vector<LessonBlock> blocks_of(std::string_view markdown);

/// Its first line, without "# ".
std::string title_of(std::string_view markdown);

/// What a lesson's page shows below a block: the page of a run, whole, in a frame of its own.
struct LessonRun {
  std::string name;   ///< of the block
  std::string title;  ///< of the frame, for those who do not see it
  std::string page;   ///< as to_html() of a result gives it
};

/// A lesson as a page of HTML that loads nothing. `markdown` is a lesson of docs/lessons: what it hides in <details>
/// stays hidden until the reader asks for it. Links to other pages of the documentation, and to the world, become
/// words; those to other lessons lead to lesson-N.html beside this page.
std::string lesson_page(std::string_view markdown, const std::vector<LessonRun>& runs);

}  // namespace dadsim::report

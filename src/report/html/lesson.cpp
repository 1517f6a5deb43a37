#include "report/html/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "report/html/lesson_text.hpp"
#include "report/html/markdown.hpp"
#include "report/text/escape.hpp"

namespace dadsim::report {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kNamedFence = "```sh ";

/// Returns the Markdown without comments, which are for tests and not for readers.
std::string without_comments(std::string_view markdown) {
  std::string text;
  for (std::size_t at = 0;;) {
    const std::size_t open = markdown.find("<!--", at);
    text += markdown.substr(at, open - at);
    if (open == std::string_view::npos) return text;
    const std::size_t close = markdown.find("-->", open);
    if (close == std::string_view::npos) throw std::logic_error("a lesson has a comment without an end");
    at = close + 3;
  }
}

/// Returns a mark at which the frame with the run of a block is inserted.
std::string mark_of(std::string_view name) { return fmt::format("<div data-run=\"{}\"></div>", name); }

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

std::string frame_of(const LessonRun& run) {
  const std::string title = escaped(run.title);
  return fmt::format(
      "<details class=\"run\"><summary>The result of this command</summary>\n"
      "<iframe title=\"{}\" loading=\"lazy\" srcdoc=\"{}\"></iframe></details>",
      title, escaped(run.page));
}

}  // namespace

std::vector<LessonBlock> blocks_of(std::string_view markdown) {
  std::vector<LessonBlock> blocks;
  bool inside = false;
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t end = std::min(markdown.find('\n', at), markdown.size());
    std::string_view line = markdown.substr(at, end - at);
    at = std::min(end + 1, markdown.size());
    if (!inside && line.starts_with(kNamedFence)) {
      inside = true;
      blocks.push_back({std::string(line.substr(kNamedFence.size())), {}, 0});
    } else if (inside && line.starts_with(kFence)) {
      inside = false;
      blocks.back().end = at;
    } else if (inside) {
      if (line.ends_with('\\')) line.remove_suffix(1);
      blocks.back().command += line;
    }
  }
  return blocks;
}

std::string title_of(std::string_view markdown) {
  const std::string_view line = markdown.substr(0, markdown.find('\n'));
  if (!line.starts_with("# ")) throw std::logic_error("a lesson begins with its title");
  return std::string(line.substr(2));
}

std::string lesson_page(std::string_view markdown, const std::vector<LessonRun>& runs) {
  std::string marked;
  std::size_t done = 0;
  for (const LessonBlock& block : blocks_of(markdown)) {
    marked += markdown.substr(done, block.end - done);
    marked += "\n" + mark_of(block.name) + "\n\n";
    done = block.end;
  }
  marked += markdown.substr(done);
  std::string html = with_own_links(html_of(without_comments(marked)));
  for (const LessonBlock& block : blocks_of(markdown)) {
    const auto run = std::ranges::find(runs, block.name, &LessonRun::name);
    replace_all(html, mark_of(block.name), run == runs.end() ? std::string() : frame_of(*run));
  }
  replace_all(html, "<pre>", "<pre tabindex=\"0\">");  // makes the element scrollable by keyboard
  const std::string title = escaped(title_of(markdown));
  std::string page(kLessonPage);
  const std::size_t head = page.find("{{title}}");
  page.replace(head, std::string_view("{{title}}").size(), title);
  const std::size_t body = page.find("{{lesson}}");
  page.replace(body, std::string_view("{{lesson}}").size(), html);
  return page;
}

}  // namespace dadsim::report

#include "cli/lessons.hpp"

#include <stdexcept>

#include "cli/lessons_text.hpp"

namespace dadsim::cli {

std::span<const LessonFile> lessons() { return kLessons; }

std::span<const LessonFile> lesson_scenarios() { return kLessonScenarios; }

std::vector<std::string> arguments_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false, begun = false;
  const auto end_word = [&] {
    if (begun) words.push_back(word);
    word.clear();
    begun = false;
  };
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
      begun = true;
    } else if (c == ' ' && !quoted) {
      end_word();
    } else {
      word += c;
      begun = true;
    }
  }
  end_word();
  if (quoted || words.empty() || words.front() != "dadsim")
    throw std::invalid_argument("'" + std::string(command) + "' is no command of dadsim");
  words.erase(words.begin());
  return words;
}

}  // namespace dadsim::cli

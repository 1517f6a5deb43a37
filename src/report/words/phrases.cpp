#include "report/words/phrases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "report/text/path_name.hpp"

namespace dadsim::report {

std::string cause_in_words(const std::string& kind) {
  if (kind == "queueing") return "queueing and loss over TCP";
  if (kind == "framework") return "the framework";
  if (kind == "overhead") return "overhead of messages";
  return kind == "compute" ? "computing" : kind;
}

std::string share_in_words(double share) {
  constexpr double kLeast = 0.005;  // share of the step that rounds to a whole per cent
  return share > 0 && share < kLeast ? "under 1 %" : fmt::format("{:.0f} %", share * 100);
}

namespace words {

std::string accuracy_in_words(double accuracy) { return fmt::format("{:.6g} %", accuracy * 100); }

std::string listed(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string assignments_in_words(const std::vector<std::string>& assignments) {
  if (assignments.empty()) return "as it is";
  std::vector<std::string> words;
  for (const std::string& one : assignments) words.push_back(assignment_in_words(one));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string rounded_in_words(const std::string& value) {
  constexpr int kDigits = 2;
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(value, &end);
  } catch (const std::exception&) {
    return value;  // the text is not a number with a unit
  }
  if (number == 0) return value;
  const int after = std::max(0, kDigits - 1 - static_cast<int>(std::floor(std::log10(std::abs(number)))));
  return fmt::format("{:.{}f}{}", number, after, value.substr(end));
}

}  // namespace words
}  // namespace dadsim::report

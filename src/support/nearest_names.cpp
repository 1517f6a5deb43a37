#include "support/nearest_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace dadsim {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most) {
  std::vector<std::pair<std::size_t, std::size_t>> by_distance;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    by_distance.emplace_back(edit_distance(lower_case(word), lower_case(candidates[i])), i);
  std::ranges::sort(by_distance);
  std::vector<std::string> found;
  for (const auto& [distance, i] : by_distance) {
    if (found.size() >= most) break;
    if (std::ranges::find(found, candidates[i]) == found.end()) found.push_back(candidates[i]);
  }
  return found;
}

std::string did_you_mean(std::span<const std::string> names) {
  std::string text = "did you mean ";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}'{}'", i == 0 ? "" : (i + 1 < names.size() ? ", " : " or "), names[i]);
  return text + '?';
}

}  // namespace dadsim

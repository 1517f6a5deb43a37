#include "support/diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace dadsim {
namespace {

std::string join_lines(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += to_string(diagnostic);
  }
  return text;
}

constexpr std::size_t kLongestWord = 100;  // longest word that is compared with names, bytes

/// Returns the candidates that begin with the word, in upper or lower case; if there are none, those that contain it.
std::vector<std::string> that_hold(std::string_view word, std::span<const std::string> candidates) {
  const std::string sought = lower_case(word);
  std::vector<std::string> beginning;
  std::vector<std::string> holding;
  for (const std::string& candidate : candidates) {
    const std::size_t at = lower_case(candidate).find(sought);
    if (at == 0) beginning.push_back(candidate);
    if (at != std::string::npos) holding.push_back(candidate);
  }
  return beginning.empty() ? holding : beginning;
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", diagnostic.line);
  if (!text.empty()) text += ": ";
  text += diagnostic.what;
  if (!diagnostic.remedy.empty()) text += "; " + diagnostic.remedy;
  return text;
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join_lines(diagnostics)), diagnostics_(std::move(diagnostics)) {}

bool InputError::is_infeasible() const {
  return !diagnostics_.empty() &&
         std::ranges::all_of(diagnostics_, [](const Diagnostic& one) { return one.infeasible || one.not_built; });
}

std::string closest(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(word, candidate);
    const bool prefix = word.size() >= 3 && candidate.starts_with(word);
    if (prefix) distance = std::min<std::size_t>(distance, 1);
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best == nullptr ? std::string{} : *best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kShortest = 3;      // shortest word that may be a part of a name, bytes
  constexpr std::size_t kListedWhole = 20;  // largest number of names that a message lists in full
  const bool may_be_name = word.size() <= kLongestWord;
  if (word.size() >= kShortest && may_be_name) {
    const std::vector<std::string> meant = that_hold(word, candidates);
    if (!meant.empty()) return did_you_mean(nearest(word, meant, kMostSuggested));
  }
  if (const std::string near = closest(word, candidates); !near.empty()) return did_you_mean(std::vector{near});
  if (candidates.empty()) return {};
  if (candidates.size() <= kListedWhole)
    return fmt::format("{}{}", candidates.size() > 1 ? "one of " : "only ", fmt::join(candidates, ", "));
  if (word.empty() || !may_be_name)
    return fmt::format("one of {}, such as {}", candidates.size(), fmt::join(candidates.first(kMostSuggested), ", "));
  return fmt::format("the nearest of {} are {}", candidates.size(),
                     fmt::join(nearest(word, candidates, kMostSuggested), ", "));
}

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

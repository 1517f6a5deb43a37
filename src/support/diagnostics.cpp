#include "support/diagnostics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/nearest_names.hpp"

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

constexpr std::size_t kLongestWord = 100;  // longest word compared with names

/// Returns the candidates that begin with the word, in any case; if there are none, those that contain it.
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
  constexpr std::size_t kShortest = 3;      // characters of a word that counts as part of a name
  constexpr std::size_t kListedWhole = 20;  // names of a choice that a message lists whole
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

}  // namespace dadsim

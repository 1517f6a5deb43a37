#include "spec/near_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <utility>

#include "spec/names.hpp"
#include "spec/near_names.csv.hpp"
#include "spec/precision.hpp"
#include "support/diagnostics.hpp"
#include "support/fact_table.hpp"
#include "support/split.hpp"

namespace dadsim::spec {
namespace {

/// Words that are ignored in comparisons, because they do not distinguish names of a catalogue.
constexpr std::array<std::string_view, 27> kFillers{
    "nvidia", "geforce", "tesla", "amd",  "instinct", "google",   "intel",  "gpu",       "gpus",
    "hbm2",   "hbm2e",   "pt",    "hbm3", "hbm3e",    "meta",     "hf",     "dgx",       "instruct",
    "chat",   "it",      "nic",   "hgx",  "adapter",  "adapters", "hopper", "blackwell", "uncased"};
constexpr std::string_view kFillerOfFew = "base";  // ignored in Llama-3-8B-base, but part of bert-base
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOtherWords{
    {{"infiniband", "ib"}, {"eth", "ethernet"}}};
constexpr std::array<std::string_view, 8> kNameUnits{"gbit/s", "gb/s", "gbps", "gbits", "gbit", "gbe", "gb", "g"};

bool is_plain_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) || c == '.'; });
}

/// Returns a word without its unit: "400" for "400gbit/s" and "400g", "80" for "80gb". Names of workloads keep units,
/// which are numbers of parameters.
std::string without_unit(NameKind kind, const std::string& word) {
  if (kind == NameKind::workload) return word;
  for (const std::string_view unit : kNameUnits) {
    const std::string number = word.substr(0, word.size() - std::min(word.size(), unit.size()));
    if (word.ends_with(unit) && is_plain_number(number)) return number;
  }
  return word;
}

/// Returns the words of a name in lower case, without punctuation, ignored words and units. Drops the folder of
/// "meta-llama/Llama-3-8B".
std::vector<std::string> words_of_name(NameKind kind, std::string_view typed) {
  std::string text = lower_case(typed);
  if (kind == NameKind::workload) text = text.substr(text.find_last_of('/') + 1);
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    word = without_unit(kind, word);
    for (const auto& [other, ours] : kOtherWords) {
      if (word == other) word = ours;
    }
    const bool is_unit = kind != NameKind::workload && std::ranges::find(kNameUnits, word) != kNameUnits.end();
    if (!word.empty() && !is_unit && std::ranges::find(kFillers, word) == kFillers.end()) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    const bool of_rate = c == '/' && kind == NameKind::link;
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || of_rate) {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

std::string without_dots(std::string text) {
  std::erase(text, '.');
  return text;
}

/// Returns whether a typed word matches a word of a name: "sxm" matches "sxm4", but "l40" does not match "l40s", nor
/// "10" "100".
bool is_word_of(std::string_view word, std::string_view of_name) {
  const bool may_begin = word.size() > 2 && std::isalpha(static_cast<unsigned char>(word.back())) != 0;
  return word == of_name || (may_begin && of_name.starts_with(word));
}

/// Returns true if the words occur in the name, in their order.
bool holds_words(const std::vector<std::string>& name, const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (const std::string& word : words) {
    while (at < name.size() && !is_word_of(word, name[at])) ++at;
    if (at++ >= name.size()) return false;
  }
  return !words.empty();
}

/// Returns true if the name has a word without a digit between two of the typed words: "nemotron-h-8b" is another
/// family than "Nemotron 8B". *Requires* that the words occur in the name, in their order.
bool skips_family(const std::vector<std::string>& name, const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < words.size(); ++i, ++at) {
    for (; !is_word_of(words[i], name[at]); ++at) {
      if (i > 0 && std::ranges::none_of(name[at], [](unsigned char c) { return std::isdigit(c); })) return true;
    }
  }
  return false;
}

/// Returns the workloads that have all typed words except the last, which states the size of a model. Empty for other
/// catalogues, or if only one word was typed.
std::vector<std::string> of_other_sizes(NameKind kind, std::vector<std::string> words,
                                        std::span<const std::string> names) {
  std::vector<std::string> others;
  if (kind != NameKind::workload || words.empty()) return others;
  words.pop_back();
  std::ranges::copy_if(names, std::back_inserter(others),
                       [&](const std::string& name) { return holds_words(words_of_name(kind, name), words); });
  return others;
}

struct Meaning {
  std::vector<std::string> names;
  std::string why;
};

/// Returns the row of near_names.csv for a word; nullptr if there is none.
const Meaning* common_meaning(NameKind kind, const std::string& word) {
  static const std::map<std::pair<NameKind, std::string>, Meaning> kMeanings = [] {
    const FactTable table(tables::kNearNames, {"kind", "word", "name", "why", "date", "source"}, 2);
    std::map<std::pair<NameKind, std::string>, Meaning> all;
    for (const FactTable::Row& row : table.rows()) {
      Meaning meaning{{}, row.optional_text("why")};
      for (const std::string_view name : split_at(row.text("name"), ' ')) meaning.names.emplace_back(name);
      if (meaning.why.empty() == (meaning.names.size() == 1))
        row.wrong("a single name lacks 'why', or several names have 'why'",
                  "give 'why' with one name, and leave it empty with several");
      const auto one = row.one_of<NameKind>("kind", {{"device", NameKind::device},
                                                     {"link", NameKind::link},
                                                     {"workload", NameKind::workload},
                                                     {"precision", NameKind::precision}});
      all[{one, row.text("word")}] = std::move(meaning);
    }
    return all;
  }();
  const auto found = kMeanings.find({kind, word});
  return found == kMeanings.end() ? nullptr : &found->second;
}

bool has_name(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

NameMeant name_meant(NameKind kind, std::string_view typed, std::span<const std::string> names,
                     std::string_view usual) {
  constexpr std::size_t kLongest = 100;                                        // largest number of characters in a
                                                                               // typed name
  const bool is_family = common_meaning(kind, std::string(typed)) != nullptr;  // a family's name without a size
  if (has_name(names, typed) && !is_family) return {std::string(typed), {}, {}, true};
  const bool is_rate = kind == NameKind::link && is_plain_number(typed);  // true: the text is a rate without a unit
  if (typed.size() > kLongest || is_rate) return {};
  std::vector<std::string> words = words_of_name(kind, typed);
  const std::string key = joined_words(words);
  if (const Meaning* meaning = common_meaning(kind, key)) {
    std::vector<std::string> known;
    std::ranges::copy_if(meaning->names, std::back_inserter(known),
                         [&](const auto& one) { return has_name(names, one); });
    if (has_name(known, usual)) return {std::string(usual), "from the usual system", {}};
    if (known.size() == 1 && meaning->names.size() == 1) return {known.front(), meaning->why, {}};
    if (!known.empty()) return {{}, {}, known};
  }
  std::vector<std::string> holding;
  for (const std::string& name : names) {
    const std::vector<std::string> own = words_of_name(kind, name);
    if (without_dots(joined_words(own)) == without_dots(key))
      return {name, "equal except for case, punctuation and units", {}, true};
    if (holds_words(own, words)) holding.push_back(name);
  }
  if (holding.size() == 1) {
    if (kind == NameKind::workload && skips_family(words_of_name(kind, holding.front()), words))
      return {{}, {}, holding};
    return {holding.front(), "no other name has these words", {}};
  }
  if (has_name(holding, usual)) return {std::string(usual), "from the usual system", {}};
  if (!holding.empty()) return {{}, {}, nearest(typed, holding, kMostSuggested)};
  if (std::erase(words, kFillerOfFew) > 0)
    return name_meant(kind, fmt::format("{}", fmt::join(words, " ")), names, usual);
  const std::string misspelt = closest(lower_case(typed), names);
  if (!misspelt.empty()) return {{}, {}, {misspelt}};
  const std::vector<std::string> others = of_other_sizes(kind, words, names);
  return {{}, {}, others.empty() ? others : nearest(typed, others, kMostSuggested)};
}

std::string remedy_for_name(NameKind kind, std::string_view typed, std::span<const std::string> names) {
  if (names.empty()) return {};
  return remedy_for_name(kind, name_meant(kind, typed, names));
}

std::string remedy_for_name(NameKind kind, const NameMeant& meant) {
  if (!meant.name.empty()) return did_you_mean(std::vector{meant.name});
  if (!meant.nearest.empty()) return did_you_mean(meant.nearest);
  if (kind == NameKind::precision) return fmt::format("one of {}", fmt::join(all_names<Precision>(), ", "));
  return fmt::format("`dadsim {}` lists all names", kind == NameKind::device ? "devices"
                                                    : kind == NameKind::link ? "links"
                                                                             : "workloads");
}

}  // namespace dadsim::spec

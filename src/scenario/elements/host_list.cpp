#include "scenario/elements/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <variant>

#include "scenario/language/node.hpp"
#include "scenario/xml/findings.hpp"
#include "support/parse_whole.hpp"
#include "support/pattern.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

constexpr const char* kHostForm =
    "a name with at most one range of numbers, e.g. gpu-[0-15]; write \\[ for a bracket in a name";
constexpr std::string_view kSpecial = " \t\r\n[]*\\'\"";

/// Returns the number, or −1 if the text is no number.
std::int64_t number(std::string_view digits) { return parse_whole<std::int64_t>(digits).value_or(-1); }

bool is_blank(char c) { return kWhiteSpace.find(c) != std::string_view::npos; }

/// A word of a list; `plain[i]`: character i is literal.
struct HostWord {
  std::string text;
  std::vector<bool> plain;
  bool closed = true;  ///< true: the quotation mark is closed

  std::size_t find(char c, std::size_t from = 0) const {
    for (std::size_t i = from; i < text.size(); ++i) {
      if (text[i] == c && !plain[i]) return i;
    }
    return std::string::npos;
  }
  void add(char c, bool itself) {
    text += c;
    plain.push_back(itself);
  }
};

/// Splits a text into words. Quotation marks count only around a whole word: the apostrophe in bob's is part of the
/// name.
std::vector<HostWord> words_in(std::string_view text) {
  std::vector<HostWord> words;
  for (std::size_t i = 0; i < text.size();) {
    if (is_blank(text[i])) {
      ++i;
      continue;
    }
    HostWord word;
    const char quote = text[i] == '\'' || text[i] == '"' ? text[i] : '\0';
    if (quote != '\0') {
      ++i;
      word.closed = false;
    }
    for (; i < text.size(); ++i) {
      if (quote == '\0' && is_blank(text[i])) break;
      if (text[i] == quote && quote != '\0' && (i + 1 == text.size() || is_blank(text[i + 1]))) {
        word.closed = true;
        ++i;
        break;
      }
      const bool escaped = text[i] == '\\' && i + 1 < text.size() && kSpecial.find(text[i + 1]) != std::string::npos;
      if (escaped) ++i;
      word.add(text[i], escaped);
    }
    words.push_back(std::move(word));
  }
  return words;
}

/// Collects the hosts of a list.
class Expansion {
 public:
  Expansion(std::size_t limit, const std::function<std::vector<std::string>()>& all) : limit_(limit), all_(all) {}

  void add(const HostWord& word) {
    const std::string shown = printable(word.text);
    if (!word.closed) {
      return fail(fmt::format("holds '{}' after a quotation mark that is not closed", shown),
                  "put quotation marks before and after the name, as 'Edge 1'");
    }
    if (word.text.size() > kMaxHostName) {
      return fail(fmt::format("holds the host '{}' of {} bytes", shown, word.text.size()),
                  fmt::format("use at most {} bytes", kMaxHostName));
    }
    if (word.text.empty()) return fail("holds an empty name", "write the name of a host");
    const bool pattern = word.find('*') != std::string::npos;
    const std::size_t open = word.find('[');
    const std::size_t close = word.find(']');
    if (open == std::string::npos && close == std::string::npos) return add(word.text, pattern);
    const bool paired = open != std::string::npos && close != std::string::npos && open < close &&
                        word.find('[', open + 1) == std::string::npos && word.find(']', close + 1) == std::string::npos;
    if (!paired) return fail(fmt::format("holds '{}' with misplaced brackets", shown), kHostForm);
    const std::string range = word.text.substr(open + 1, close - open - 1);
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string first_text = range.substr(0, dash);
    const std::int64_t first = number(first_text);
    const std::int64_t last = number(dash < range.size() ? range.substr(dash + 1) : "");
    if (first < 0 || last < 0)
      return fail(fmt::format("holds '{}' with a range that is not two numbers", shown), kHostForm);
    if (last < first)
      return fail(fmt::format("holds '{}' with a range that ends before it begins", shown),
                  "put the smaller number first");
    if (static_cast<std::size_t>(last - first) >= limit_ - list_.hosts.size()) return too_many();
    const bool padded = first_text.size() > 1 && first_text.front() == '0';
    for (std::int64_t i = first; i <= last && list_.what.empty(); ++i) {
      add(fmt::format("{}{:0{}}{}", word.text.substr(0, open), i, padded ? first_text.size() : 1,
                      word.text.substr(close + 1)),
          pattern);
    }
  }

  bool failed() const { return !list_.what.empty(); }
  HostList take() { return std::move(list_); }

 private:
  void fail(std::string what, std::string remedy) { list_ = HostList{{}, std::move(what), std::move(remedy)}; }
  void too_many() { fail("names too many hosts", fmt::format("use at most {} workers in all", kMaxWorkers)); }

  void add(std::string name, bool pattern) {
    if (pattern && all_ && !asked_) {
      known_ = all_();
      asked_ = true;
    }
    if (!pattern || known_.empty()) {
      if (list_.hosts.size() == limit_) return too_many();
      list_.hosts.push_back(std::move(name));
      return;
    }
    const std::unordered_set<std::string> taken(list_.hosts.begin(), list_.hosts.end());
    const std::size_t before = list_.hosts.size();
    for (const std::string& host : known_) {
      if (!fits(name, host) || taken.contains(host)) continue;
      if (list_.hosts.size() == limit_) return too_many();
      list_.hosts.push_back(host);
    }
    if (list_.hosts.size() == before) {
      fail(fmt::format("holds '{}', which matches no remaining host of the platform", printable(name)),
           fmt::format("use a pattern that matches a host without a worker; the platform's first host is {}",
                       in_host_list(known_.front())));
    }
  }

  std::size_t limit_;
  const std::function<std::vector<std::string>()>& all_;
  std::vector<std::string> known_;
  bool asked_ = false;
  HostList list_;
};

}  // namespace

HostList expand_hosts(std::string_view text, std::size_t limit, const std::function<std::vector<std::string>()>& all) {
  Expansion expansion(limit, all);
  for (const HostWord& word : words_in(text)) {
    expansion.add(word);
    if (expansion.failed()) break;
  }
  return expansion.take();
}

std::vector<std::string> split_host_words(std::string_view text) {
  std::vector<std::string> words;
  for (HostWord& word : words_in(text)) words.push_back(std::move(word.text));
  return words;
}

std::string plain_name(std::string_view text) {
  const std::string name(trimmed(text));
  const bool quoted = name.size() > 2 && (name.front() == '\'' || name.front() == '"') && name.back() == name.front();
  const std::string_view inside = quoted ? std::string_view(name).substr(1, name.size() - 2) : std::string_view(name);
  std::string plain;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] == '\\' && i + 1 < inside.size() && kSpecial.find(inside[i + 1]) != std::string::npos) ++i;
    plain += inside[i];
  }
  return plain;
}

std::string in_host_list(const std::string& name) {
  if (name.find_first_of(kSpecial) == std::string::npos) return name;
  if (name.find_first_of("[]*\\'") == std::string::npos) return fmt::format("'{}'", name);
  std::string text;
  for (const char c : name) {
    if (kSpecial.find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

std::vector<std::string> hubs_of(const spec::PlatformSpec& platform) {
  std::vector<std::string> hubs;
  const auto add = [&](const spec::FederationSpec& federation) {
    hubs.push_back(federation.name.empty() ? "hub" : federation.name + ".hub");
  };
  if (const auto* federation = std::get_if<spec::FederationSpec>(&platform.what)) add(*federation);
  if (const auto* composition = std::get_if<spec::CompositionSpec>(&platform.what)) {
    for (const auto& cluster : composition->clusters) {
      if (const auto* federation = std::get_if<spec::FederationSpec>(&cluster)) add(*federation);
    }
  }
  return hubs;
}

}  // namespace dadsim::scenario

#include "scenario/host_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenario/findings.hpp"
#include "scenario/node.hpp"
#include "scenario/white_space.hpp"

namespace dadsim::scenario {
namespace {

constexpr const char* kHostForm = "a name with at most one range of numbers, e.g. gpu-[0-15]";

/// −1 if it is none.
std::int64_t number(std::string_view digits) { return parse_integer(digits).value_or(-1); }

}  // namespace

HostList expand_hosts(std::string_view text, std::size_t limit) {
  const auto wrong = [](std::string what, std::string remedy) {
    return HostList{{}, std::move(what), std::move(remedy)};
  };
  const std::string too_many = fmt::format("at most {} workers in all", kMaxWorkers);
  std::vector<std::string> hosts;
  for (const std::string& word : split_words(text)) {
    if (word.size() > kMaxHostName) {
      return wrong(fmt::format("holds the host '{}' of {} bytes", printable(word), word.size()),
                   fmt::format("at most {}", kMaxHostName));
    }
    const std::size_t open = word.find('[');
    const std::size_t close = word.find(']');
    if (open == std::string::npos && close == std::string::npos) {
      if (hosts.size() == limit) return wrong("names too many hosts", too_many);
      hosts.push_back(word);
      continue;
    }
    const bool paired = open != std::string::npos && close != std::string::npos && open < close &&
                        word.find_first_of("[]", close + 1) == std::string::npos &&
                        word.find('[', open + 1) == std::string::npos;
    if (!paired) return wrong(fmt::format("holds '{}' with misplaced brackets", printable(word)), kHostForm);
    const std::string range = word.substr(open + 1, close - open - 1);
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string first_text = range.substr(0, dash);
    const std::string last_text = dash < range.size() ? range.substr(dash + 1) : "";
    const std::int64_t first = number(first_text);
    const std::int64_t last = number(last_text);
    if (first < 0 || last < 0)
      return wrong(fmt::format("holds '{}' with a range that is not two numbers", printable(word)), kHostForm);
    if (last < first)
      return wrong(fmt::format("holds '{}' with a range that ends before it begins", printable(word)),
                   "the smaller number comes first");
    if (static_cast<std::size_t>(last - first) >= limit - hosts.size()) return wrong("names too many hosts", too_many);
    const bool padded = first_text.size() > 1 && first_text.front() == '0';
    for (std::int64_t i = first; i <= last; ++i) {
      hosts.push_back(
          fmt::format("{}{:0{}}{}", word.substr(0, open), i, padded ? first_text.size() : 1, word.substr(close + 1)));
    }
  }
  return {std::move(hosts), "", ""};
}

}  // namespace dadsim::scenario

#include "algorithms/gossip/graph_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "algorithms/gossip/mixing_weights.hpp"
#include "support/diagnostics.hpp"
#include "support/split.hpp"
#include "support/whole_file.hpp"

namespace dadsim::algorithms {
namespace {

constexpr std::size_t kMostFindings = 20;
constexpr const char* kEdgeForm = "two sites, e.g. '0 1' for an edge both ways or '0 > 1' for one direction";

std::optional<std::int64_t> whole_number(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// Reads the edges of a file one after the other.
class EdgeReader {
 public:
  EdgeReader(const std::string& path, std::size_t sites) : path_(path), edges_(sites) {}

  void read(std::string_view line, int number) {
    const std::vector<std::string> words = dadsim::words_of(line.substr(0, line.find('#')));
    if (words.empty()) return;
    const bool one_way = words.size() == 3 && words[1] == ">";
    if (!one_way && words.size() != 2) return fail(number, "is no edge", kEdgeForm);
    const auto from = site(words.front(), number);
    const auto to = site(words.back(), number);
    if (!from || !to) return;
    if (*from == *to) return fail(number, fmt::format("an edge from site {} to itself", *from), "remove it");
    const bool added = edges_[static_cast<std::size_t>(*from)].insert(*to).second;
    const bool back = !one_way && edges_[static_cast<std::size_t>(*to)].insert(*from).second;
    if (!added && !back) {
      fail(number, fmt::format("the edge between sites {} and {} stands above already", *from, *to), "remove one");
    }
  }

  step::Neighbours finish() {
    step::Neighbours graph;
    for (const auto& to : edges_) graph.to.emplace_back(to.begin(), to.end());
    if (findings_.empty() && !hangs_together({graph})) {
      fail(0, fmt::format("the graph of {} sites falls apart: some cannot be reached from some others", edges_.size()),
           "a path from every site to every other");
    }
    if (!findings_.empty()) throw InputError(findings_);
    return graph;
  }

 private:
  std::optional<std::int32_t> site(const std::string& word, int line) {
    const std::optional<std::int64_t> number = whole_number(word);
    if (!number) {
      fail(line, fmt::format("'{}' is no site", word.substr(0, 40)), kEdgeForm);
      return std::nullopt;
    }
    if (*number < 0 || static_cast<std::size_t>(*number) >= edges_.size()) {
      fail(line, fmt::format("there is no site {}", *number), fmt::format("sites 0 to {}", edges_.size() - 1));
      return std::nullopt;
    }
    return static_cast<std::int32_t>(*number);
  }

  void fail(int line, const std::string& what, const std::string& remedy) {
    if (findings_.size() < kMostFindings) findings_.push_back({path_, line, what, remedy});
  }

  std::string path_;
  std::vector<std::set<std::int32_t>> edges_;
  std::vector<Diagnostic> findings_;
};

}  // namespace

step::Neighbours read_graph_file(const std::string& path, std::size_t sites) {
  const std::optional<std::string> text = whole_file(path);
  if (!text) throw InputError(Diagnostic{path, 0, "cannot be read", "a text file with an edge in each line"});
  EdgeReader reader(path, sites);
  int number = 0;
  for (const std::string_view line : lines_of(*text)) reader.read(line, ++number);
  return reader.finish();
}

}  // namespace dadsim::algorithms

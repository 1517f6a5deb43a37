#include "algorithms/gossip/graph_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "algorithms/gossip/mixing_weights.hpp"
#include "support/diagnostics.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"
#include "support/whole_file.hpp"

namespace dadsim::algorithms {
namespace {

constexpr std::size_t kMostFindings = 20;
constexpr const char* kEdgeForm = "write two sites, e.g. '0 1' for an edge both ways or '0 > 1' for one direction";
constexpr std::string_view kMatrixMarket = "%%MatrixMarket";

bool is_number(std::string_view word) { return parse_whole<double>(word).has_value(); }

bool is_arrow(std::string_view word) { return word == ">" || word == "->"; }

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// Returns the words of a line without its comment, its quotation marks and the attributes that networkx writes after
/// an edge ({'weight': 3}), which count as a weight.
std::vector<std::string> words_of_line(std::string_view line) {
  line = line.substr(0, line.find_first_of("#%"));
  const std::size_t attributes = std::min(line.find('{'), line.size());
  const bool empty = dadsim::words_of(line.substr(attributes)).empty() || line.substr(attributes).starts_with("{}");
  std::string text(line.substr(0, attributes));
  for (char& c : text) {
    if (c == ',' || c == ';' || c == '"' || c == '\'') c = ' ';
  }
  for (const std::string_view arrow : {"->", "--"}) {
    for (std::size_t at = text.find(arrow); at != std::string::npos; at = text.find(arrow, at + 4)) {
      text.replace(at, 2, fmt::format(" {} ", arrow));
    }
  }
  std::vector<std::string> words = dadsim::words_of(text);
  std::erase(words, "--");
  if (!empty) words.emplace_back("nan");  // placeholder for a weight; cannot be read as a site number
  return words;
}

/// An edge in the file.
struct FileEdge {
  int line = 0;
  std::int64_t from = 0, to = 0;
  bool one_way = false;
  std::string weight = {};  ///< empty: none
};

/// Reads the edges of a file one after the other.
class EdgeReader {
 public:
  EdgeReader(const std::string& path, std::size_t sites) : path_(path), sites_(sites), edges_(sites) {}

  void read(std::string_view line, int number) {
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // byte order mark
    if (number == 1 && line.starts_with(kMatrixMarket)) {
      matrix_ = true;
      one_way_ = line.find("general") != std::string_view::npos;
      return;
    }
    const std::vector<std::string> words = words_of_line(line);
    if (words.empty()) return;
    const bool first = !begun_;
    begun_ = true;
    if (first && read_head(words, number)) return;
    if (const std::optional<FileEdge> edge = edge_of(words, number)) listed_.push_back(*edge);
  }

  GraphFile finish() {
    check_head();
    // Every site of a connected graph has an edge: if no site 0 has one, sites count from 1.
    if (matrix_ || (!names(0) && names(static_cast<std::int64_t>(sites_)))) base_ = 1;
    check_weights();
    for (const FileEdge& edge : listed_) add(edge);
    note_half_lists();
    GraphFile file;
    for (const auto& to : edges_) file.graph.to.emplace_back(to.begin(), to.end());
    if (findings_.empty() && !hangs_together({file.graph})) {
      fail(0, fmt::format("the graph of {} sites is not connected", edges_.size()),
           "add a path from every site to every other");
    }
    if (!findings_.empty()) throw InputError(findings_);
    file.notes = std::move(notes_);
    return file;
  }

 private:
  /// Reads a first line that is not an edge: column names, or the number of sites, possibly followed by the number of
  /// edges.
  bool read_head(const std::vector<std::string>& words, int line) {
    const std::optional<std::int64_t> count = parse_whole<std::int64_t>(words[0]);
    if (matrix_ ? words.size() == 3 && count : words.size() == 1 && count) {
      head_ = {line, *count, std::nullopt};
      return true;
    }
    if (words.size() == 2 && count && parse_whole<std::int64_t>(words[1])) {
      head_ = {line, *count, parse_whole<std::int64_t>(words[1])};
      return true;
    }
    static const std::set<std::string> kNames{"source",   "target", "from",  "to",          "src",        "dst",
                                              "u",        "v",      "node",  "node1",       "node2",      "fromnodeid",
                                              "tonodeid", "site1",  "site2", "source_node", "target_node"};
    return words.size() > 1 && kNames.contains(lower(words[0])) && kNames.contains(lower(words[1]));
  }

  /// Reads two numbers as counts of sites and edges if that many edges follow, otherwise as the first edge.
  void check_head() {
    if (head_.line == 0) return;
    const auto sites = static_cast<std::int64_t>(sites_);
    if (!head_.edges) {
      if (head_.sites == sites) return;
      return fail(head_.line, fmt::format("has {} sites, but the scenario has {}", head_.sites, sites_),
                  fmt::format("use a graph of {} sites, or as many workers as the graph has sites", sites_));
    }
    const auto listed = static_cast<std::int64_t>(listed_.size());
    const bool counts = head_.sites == sites && (*head_.edges == listed || 2 * *head_.edges == listed);
    if (!counts) {
      listed_.insert(listed_.begin(), FileEdge{head_.line, head_.sites, *head_.edges, one_way_, {}});
    } else if (!names(0) && *head_.edges > 0 && *head_.edges < sites) {
      fail(head_.line,
           fmt::format("'{0} {1}' is ambiguous: a count of {0} sites and {1} edges, or an edge between two sites",
                       head_.sites, *head_.edges),
           "write only the number of sites");
    }
  }

  /// Returns whether an edge begins or ends at that site.
  bool names(std::int64_t site) const {
    return std::ranges::any_of(listed_, [&](const FileEdge& edge) { return edge.from == site || edge.to == site; });
  }

  std::optional<FileEdge> edge_of(const std::vector<std::string>& words, int line) {
    std::vector<std::string> rest = words;
    FileEdge edge{line, 0, 0, one_way_, {}};
    if (rest.size() > 1 && is_arrow(rest[1])) {
      edge.one_way = true;
      rest.erase(rest.begin() + 1);
    }
    const auto kind = std::ranges::find_if(
        rest, [](const std::string& word) { return lower(word) == "directed" || lower(word) == "undirected"; });
    if (kind != rest.end()) {
      edge.one_way = lower(*kind) == "directed";
      rest.erase(kind);
    }
    if (rest.size() == 3 && is_number(rest[2])) {
      edge.weight = rest[2];
      rest.pop_back();
    }
    if (rest.size() != 2) {
      fail(line, "is no edge", kEdgeForm);
      return std::nullopt;
    }
    for (const auto& [word, site] : {std::pair{&rest[0], &edge.from}, {&rest[1], &edge.to}}) {
      const std::optional<std::int64_t> number = parse_whole<std::int64_t>(*word);
      if (!number) {
        fail(line, fmt::format("'{}' is no site", word->substr(0, 40)), kEdgeForm);
        return std::nullopt;
      }
      *site = *number;
    }
    return edge;
  }

  /// Tells a weight from a second neighbour in lines with a third number.
  void check_weights() {
    const auto weighted = [](const FileEdge& edge) { return !edge.weight.empty(); };
    const auto first = std::ranges::find_if(listed_, weighted);
    if (first == listed_.end()) return;
    const bool equal =
        std::ranges::all_of(listed_, [&](const FileEdge& edge) { return edge.weight == first->weight; }) &&
        first->weight != "nan";
    const bool sites = std::ranges::all_of(listed_, [&](const FileEdge& edge) {
      const std::optional<std::int64_t> number = parse_whole<std::int64_t>(edge.weight);
      return edge.weight.empty() || (number && *number >= 0 && *number <= static_cast<std::int64_t>(sites_));
    });
    if (!equal && sites) {
      return fail(first->line, fmt::format("'{}' is ambiguous: a weight or another neighbour", first->weight),
                  "write two sites per line, or weights with a point, e.g. 1.0");
    }
    if (!equal) {
      note(first->line, "weights after edges are not used", "mixing weights follow from the numbers of neighbours");
    }
  }

  void add(const FileEdge& edge) {
    const std::optional<std::size_t> from = index_of(edge.from, edge.line);
    const std::optional<std::size_t> to = index_of(edge.to, edge.line);
    if (!from || !to) return;
    if (*from == *to) {
      if (!loops_) note(edge.line, "edges from a site to itself are not used", "a site mixes with itself anyway");
      loops_ = true;
      return;
    }
    const auto [at, added] = lines_.try_emplace({*from, *to}, edge.line);
    if (!added || (edge.one_way && edges_[*from].contains(static_cast<std::int32_t>(*to)))) {
      return fail(edge.line,
                  fmt::format("the edge between sites {} and {} is already in line {}", edge.from, edge.to,
                              added ? lines_.at({*to, *from}) : at->second),
                  "remove one");
    }
    edges_[*from].insert(static_cast<std::int32_t>(*to));
    if (edge.one_way) return;
    edges_[*to].insert(static_cast<std::int32_t>(*from));
    both_ways_.push_back(edge);
  }

  /// Notes edges listed in one direction only, if other edges are listed in both: the single ones may be meant as
  /// directed.
  void note_half_lists() {
    const auto stands_back = [&](const FileEdge& edge) {
      return lines_.contains({static_cast<std::size_t>(edge.to - base_), static_cast<std::size_t>(edge.from - base_)});
    };
    if (std::ranges::none_of(both_ways_, stands_back)) return;
    const auto half = std::ranges::find_if_not(both_ways_, stands_back);
    if (half == both_ways_.end()) return;
    note(half->line,
         fmt::format("'{} {}' is an edge both ways, but other edges have a line per direction, and '{} {}' is missing",
                     half->from, half->to, half->to, half->from),
         fmt::format("write '{} > {}' for one direction", half->from, half->to));
  }

  std::optional<std::size_t> index_of(std::int64_t site, int line) {
    const auto sites = static_cast<std::int64_t>(sites_);
    if (site >= base_ && site < sites + base_) return static_cast<std::size_t>(site - base_);
    fail(line, fmt::format("there is no site {}", site), fmt::format("use sites {} to {}", base_, sites - 1 + base_));
    return std::nullopt;
  }

  void fail(int line, const std::string& what, const std::string& remedy) {
    if (findings_.size() < kMostFindings) findings_.push_back({path_, line, what, remedy});
  }

  void note(int line, const std::string& what, const std::string& why) {
    notes_.push_back(to_string(Diagnostic{path_, line, what, why}));
  }

  struct FileHead {
    int line = 0;  ///< 0: no such line
    std::int64_t sites = 0;
    std::optional<std::int64_t> edges = {};
  };

  std::string path_;
  std::size_t sites_;
  bool begun_ = false, matrix_ = false, one_way_ = false, loops_ = false;
  std::int64_t base_ = 0;  ///< number of the first site: 0 or 1
  FileHead head_;
  std::vector<FileEdge> listed_, both_ways_;
  std::map<std::pair<std::size_t, std::size_t>, int> lines_;  ///< line number of each edge
  std::vector<std::set<std::int32_t>> edges_;
  std::vector<Diagnostic> findings_;
  std::vector<std::string> notes_;
};

}  // namespace

GraphFile read_graph_file(const std::string& path, std::size_t sites) {
  constexpr InputLimit kMost{std::size_t{64} << 20U, "use a graph of fewer edges"};
  const std::string text = read_input(path, "use a text file with one edge per line", kMost);
  EdgeReader reader(path, sites);
  int number = 0;
  for (const std::string_view line : lines_of(text)) reader.read(line, ++number);
  return reader.finish();
}

}  // namespace dadsim::algorithms

#pragma once

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

// Checks numbers in lessons against results. A comment after each number, which readers do not see, names its source:
// "**407 kB**<!-- base: runs[gradient-sharing].bytes_up_per_worker -->". The part before the colon is the name of a
// code block, the part after it a path into the JSON of the block's command. Paths can be combined by arithmetic and
// can name other blocks: "<!-- base: runs[dad].total_bytes / wide.runs[dad].total_bytes -->". A number is right if it
// equals the value, rounded to the number's digits. If the value depends on the processor's rounding, the lesson has a
// range, "**190 to 210 steps**<!-- … -->", which must contain the value.
namespace dadsim::test {

using Results = std::map<std::string, nlohmann::json>;

/// A number of a lesson, and its source.
struct LessonClaim {
  std::string words;  ///< text that readers see: "407 kB"
  double low = 0;     ///< bytes, seconds, or a fraction
  double high = 0;    ///< upper end of a range; equal to `low` for a single number
  double half_a_digit = 0;
  std::string block, expression;
};

/// Evaluates sums and products of paths into results. Throws std::runtime_error for an unknown name.
class LessonExpression {
 public:
  LessonExpression(std::string block, std::string text, const Results& results)
      : block_(std::move(block)), text_(std::move(text)), results_(results) {}

  double value() {
    const double sum = read_sum();
    if (skip() != '\0') fail("does not end at", text_.substr(at_));
    return sum;
  }

 private:
  [[noreturn]] void fail(const std::string& why, const std::string& what) const {
    throw std::runtime_error("'" + text_ + "': " + why + " '" + what + "'");
  }

  char skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  double read_sum() {
    double sum = read_product();
    for (char sign = skip(); sign == '+' || sign == '-'; sign = skip()) {
      ++at_;
      const double next = read_product();
      sum += sign == '+' ? next : -next;
    }
    return sum;
  }

  double read_product() {
    double product = read_term();
    for (char sign = skip(); sign == '*' || sign == '/'; sign = skip()) {
      ++at_;
      const double next = read_term();
      product = sign == '*' ? product * next : product / next;
    }
    return product;
  }

  double read_term() {
    const char first = skip();
    if (first == '(') {
      ++at_;
      const double sum = read_sum();
      if (skip() != ')') fail("lacks a ) before", text_.substr(at_));
      ++at_;
      return sum;
    }
    if (std::isdigit(static_cast<unsigned char>(first)) != 0) {
      std::size_t read = 0;
      const double number = std::stod(text_.substr(at_), &read);
      at_ += read;
      return number;
    }
    return read_path();
  }

  std::string read_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (at_ == begin) fail("has no name at", text_.substr(begin));
    return text_.substr(begin, at_ - begin);
  }

  /// Returns the entry of a list by index (negative: from the end), by label, algorithm, layer or name, or by
  /// "field=value&field=value".
  const nlohmann::json& entry(const nlohmann::json& list, const std::string& which) const {
    if (!list.is_array()) fail("no list to choose from", which);
    char* end = nullptr;
    const long number = std::strtol(which.c_str(), &end, 10);
    if (*end == '\0')
      return list.at(static_cast<std::size_t>(number < 0 ? static_cast<long>(list.size()) + number : number));
    for (const nlohmann::json& candidate : list) {
      if (which.find('=') == std::string::npos) {
        for (const char* field : {"label", "algorithm", "layer", "name"}) {
          if (candidate.value(field, nlohmann::json()) == which) return candidate;
        }
        continue;
      }
      bool all = true;
      for (std::size_t begin = 0; begin <= which.size();) {
        const std::size_t stop = std::min(which.find('&', begin), which.size());
        const std::string pair = which.substr(begin, stop - begin);
        const std::string wanted = pair.substr(pair.find('=') + 1);
        const nlohmann::json found = candidate.value(pair.substr(0, pair.find('=')), nlohmann::json());
        all = all && (found.is_string() ? found == wanted : found.is_number() && found == std::stod(wanted));
        begin = stop + 1;
      }
      if (all) return candidate;
    }
    fail("no entry is", which);
  }

  double read_path() {
    std::string word = read_word();
    const nlohmann::json* node = nullptr;
    if (const auto named = results_.find(word); named != results_.end() && at_ < text_.size() && text_[at_] == '.') {
      node = &named->second;
    } else {
      if (!results_.contains(block_)) fail("no block of code is called", block_);
      node = &results_.at(block_);
      if (!node->contains(word)) fail("the result has no", word);
      node = &node->at(word);
    }
    while (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == '[')) {
      if (text_[at_++] == '.') {
        word = read_word();
        if (!node->contains(word)) fail("there is no", word);
        node = &node->at(word);
      } else {
        // Labels contain no brackets. Labels with values of --set could, but do not occur here.
        const std::size_t close = text_.find(']', at_);
        if (close == std::string::npos) fail("lacks a ] behind", text_.substr(at_));
        node = &entry(*node, text_.substr(at_, close - at_));
        at_ = close + 1;
      }
    }
    if (!node->is_number()) fail("is no number but", node->dump());
    return node->get<double>();
  }

  std::string block_, text_;
  const Results& results_;
  std::size_t at_ = 0;
};

/// Returns the value of one unit; throws std::runtime_error for an unknown unit.
inline double unit_of(const std::string& unit) {
  static const std::map<std::string, double> units{
      {"", 1},        {"B", 1},      {"bytes", 1}, {"kB", 1e3},   {"MB", 1e6},        {"GB", 1e9},      {"s", 1},
      {"ms", 1e-3},   {"µs", 1e-6},  {"min", 60},  {"%", 0.01},   {"times", 1},       {"h", 3600},      {"USD", 1},
      {"kWh", 3.6e6}, {"tokens", 1}, {"steps", 1}, {"rounds", 1}, {"evaluations", 1}, {"components", 1}};
  const auto found = units.find(unit);
  if (found == units.end()) throw std::runtime_error("'" + unit + "' is no unit");
  return found->second;
}

/// Returns all numbers that are followed by a comment with their source.
inline std::vector<LessonClaim> claims_of(const std::string& markdown) {
  static const std::regex claim(
      R"rx((?:(\d[\d,]*(?:\.\d+)?) to )?(\d[\d,]*)(\.\d+)?(?: ([A-Za-zµ%]+))?(?:\*\*)?<!-- ([a-z0-9]+): ([^>]*) -->)rx");
  std::vector<LessonClaim> claims;
  for (std::sregex_iterator at(markdown.begin(), markdown.end(), claim), end; at != end; ++at) {
    const std::smatch& match = *at;
    LessonClaim found;
    const double unit = unit_of(match[4].str());
    const auto value_of = [unit](std::string digits) {
      std::erase(digits, ',');
      return std::stod(digits) * unit;
    };
    const std::string last = match[2].str() + match[3].str();
    const auto decimals = static_cast<double>(match[3].matched ? match[3].length() - 1 : 0);
    found.words = match.str().substr(0, match.str().find_first_of("*<"));
    found.high = value_of(last);
    found.low = match[1].matched ? value_of(match[1]) : found.high;
    found.half_a_digit = 0.5 * unit * std::pow(10, -decimals);
    found.block = match[5];
    found.expression = match[6];
    claims.push_back(found);
  }
  return claims;
}

/// Returns the blocks of a lesson that a claim depends on.
inline std::set<std::string> blocks_of(const LessonClaim& claim, const std::set<std::string>& all) {
  std::set<std::string> blocks{claim.block};
  for (const std::string& block : all) {
    if (std::regex_search(claim.expression, std::regex("\\b" + block + "\\."))) blocks.insert(block);
  }
  return blocks;
}

/// Returns true if a claim depends on learning, and not only on times and bytes.
inline bool is_learned(const LessonClaim& claim) {
  static const std::regex figure("accuracy|auc|target_|curve|leak|effective_rank");
  return std::regex_search(claim.expression, figure);
}

/// Returns the error of a claim; empty if there is none.
inline std::string wrong_with(const LessonClaim& claim, const Results& results) {
  double measured = 0;
  try {
    measured = LessonExpression(claim.block, claim.expression, results).value();
  } catch (const std::exception& error) {
    return claim.words + ": " + error.what();
  }
  // A value half-way between two rounded numbers may be rounded either way.
  const double digit = claim.half_a_digit * (1 + 1e-9);
  if (claim.low - digit <= measured && measured <= claim.high + digit) return {};
  return claim.words + " is not what " + claim.expression + " gives: " + std::to_string(measured);
}

/// Returns numbers that a command reveals before its answer is opened, if the answer derives them and the question does
/// not state them.
inline std::vector<std::string> given_away(const std::string& markdown) {
  static const std::regex kBlock("```sh [^`]*```"), kComment("<!--[^>]*-->"), kSet("--set '?([^ =]*)=[a-z]*([0-9.]+)");
  std::vector<std::string> found;
  for (std::sregex_iterator block(markdown.begin(), markdown.end(), kBlock), none; block != none; ++block) {
    const auto at = static_cast<std::size_t>(block->position());
    const std::size_t opened = markdown.rfind("<details>", at);
    if (opened != std::string::npos && markdown.rfind("</details>", at) + 1 < opened + 1) continue;
    const std::size_t heading = markdown.rfind("\n##", at);
    const std::size_t answer = markdown.find("<details>", at);
    const std::size_t end = std::min(markdown.find("</details>", at), markdown.size());
    const auto words = [&](std::size_t from, std::size_t to) {
      return std::regex_replace(std::regex_replace(markdown.substr(from, to - from), kBlock, ""), kComment, "");
    };
    const std::string question = words(heading, answer);
    const std::string solution = words(answer, end);
    const std::string command = block->str();
    for (std::sregex_iterator set(command.begin(), command.end(), kSet); set != none; ++set) {
      const std::regex number("(^|[^0-9.,])" + (*set)[2].str() + "($|[^0-9.]|[.]($|[^0-9]))");
      if ((*set)[1] != "training.epochs" && std::regex_search(solution, number) && !std::regex_search(question, number))
        found.push_back((*set)[1].str() + "=" + (*set)[2].str());
    }
  }
  return found;
}

/// Returns bold numbers in answers that have no source.
inline std::vector<std::string> unfounded_numbers(const std::string& markdown) {
  static const std::regex bold(R"rx(\*\*([^*\n]+)\*\*)rx");
  std::vector<std::string> unfounded;
  for (std::size_t open = markdown.find("<details>"); open != std::string::npos;
       open = markdown.find("<details>", open)) {
    const std::size_t close = markdown.find("</details>", open);
    const std::string answer = markdown.substr(open, close - open);
    for (std::sregex_iterator at(answer.begin(), answer.end(), bold), end; at != end; ++at) {
      const bool number = (*at)[1].str().find_first_of("0123456789") != std::string::npos;
      if (number && !at->suffix().str().starts_with("<!-- ")) unfounded.push_back(at->str());
    }
    open = close;
  }
  return unfounded;
}

}  // namespace dadsim::test

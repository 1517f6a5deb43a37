#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/statement.hpp"

namespace dadsim::report {

/// A sentence with places for the values of a statement. Syntax: src/report/words/README.md.
class SentenceTemplate {
 public:
  struct Text;  ///< the parsed parts

  /// Parses `text`. Throws std::invalid_argument for an unclosed bracket, or an invalid name or unit.
  explicit SentenceTemplate(std::string_view text);

  /// Returns the sentence. Throws std::logic_error if a value outside clauses is missing or has another type.
  std::string words(const Statement& statement) const;
  /// Returns the names of the values that the template reads, without those of its phrases.
  std::vector<std::string> names() const;
  /// Returns the names of the phrases that the template uses.
  std::vector<std::string> phrases() const;
  const Text& text() const { return *text_; }

 private:
  std::shared_ptr<const Text> text_;
};

}  // namespace dadsim::report

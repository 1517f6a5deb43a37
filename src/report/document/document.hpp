#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "report/text/grid.hpp"
#include "report/text/paragraph.hpp"
#include "report/words/report_head.hpp"
#include "report/words/statement.hpp"

// A result of a study as data: its answer, statements and tables. A study returns a Document; the printers of the
// terminal, JSON, CSV and pages (html/page.hpp) print any Document and decide nothing.

namespace dadsim::report {

/// The scripts that draw a page; `document` draws any Document.
enum class PageKind : std::uint8_t { document, run, sweep, plan, explain, layout, diagnose, scale_study };

struct DocumentTable;

/// Leaves a member out of the JSON, where std::monostate writes null.
struct Omitted {};

using DocumentVariant =
    std::variant<std::monostate, Omitted, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<double>,
                 std::vector<std::vector<double>>, std::vector<std::int64_t>, std::vector<std::optional<std::int64_t>>,
                 std::vector<std::string>, std::map<std::string, std::string>, Statement, std::vector<Statement>,
                 std::vector<DocumentTable>>;

/// A value of a document: null, a flag, a number, text, lists, text by name, statements, or tables. An optional without
/// a value is null; one table is a list or an object, several are one list of the rows of all.
struct DocumentValue : DocumentVariant {
  DocumentValue() = default;
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, DocumentValue>) DocumentValue(T&& value) {
    using Type = std::remove_cvref_t<T>;
    if constexpr (std::is_integral_v<Type> && !std::is_same_v<Type, bool>) {
      emplace<std::conditional_t<std::is_signed_v<Type>, std::int64_t, std::uint64_t>>(value);
    } else if constexpr (std::is_same_v<Type, DocumentTable>) {
      emplace<std::vector<DocumentTable>>(1, std::forward<T>(value));
    } else if constexpr (requires { value.has_value(); }) {
      if (value) *this = DocumentValue(*std::forward<T>(value));
    } else {
      DocumentVariant::operator=(std::forward<T>(value));
    }
  }
};

/// Leaves a member out where there is no value.
template <class T>
DocumentValue or_omitted(const std::optional<T>& value) {
  return value ? DocumentValue(*value) : Omitted();
}

/// The unit of a column, which says how people read its numbers; text is aligned to the left.
enum class Unit : std::uint8_t { plain, text, count, seconds, bytes, share, signed_share, rate };

/// "312 ms", "8.2 GB", "41 %"; "–" for null.
std::string in_words(const DocumentValue& value, Unit unit);

/// A row of a table under construction: a member of the JSON and a column for people, one call each.
class TableRow {
 public:
  /// A member of the JSON alone; "a.b" is member b of member a.
  TableRow& add(std::string name, DocumentValue value) {
    return add(std::move(name), {}, std::move(value), Unit::plain);
  }
  /// The same with a column `title` for people; `words` in place of those of the value.
  TableRow& add(std::string name, std::string title, DocumentValue value, Unit unit,
                std::optional<std::string> words = {});
  /// A member of the JSON and no column of the CSV, or the other way round.
  TableRow& json(std::string name, DocumentValue value);
  TableRow& csv(std::string name, DocumentValue value);
  /// A column for people alone.
  TableRow& say(std::string title, std::string words) {
    return add({}, std::move(title), {}, Unit::plain, std::move(words));
  }

 private:
  friend struct DocumentTable;
  explicit TableRow(DocumentTable& table) : table_(table) {}
  DocumentTable& table_;
};

/// Rows of values, each with its words. All rows add the same columns in the same order; a row that ends early lacks
/// the other members in the JSON and is not shown to people.
struct DocumentTable {
  struct Head {
    std::string name;
    std::string title;  ///< a second line may name the unit
    bool left = false;  ///< aligned to the left
    bool in_json = true, in_csv = true;
  };
  struct Cell {
    DocumentValue value;
    std::string words;
  };
  std::vector<Head> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::vector<std::size_t> detail = {};  ///< rows that a terminal shows with --verbose alone
  bool object = false;                   ///< at most one row: an object in the JSON, null without a row
  GridStyle style = {};                  ///< on a terminal

  TableRow add_row(bool is_detail = false);
};

/// Whether a terminal shows a part: `brief` without --verbose alone, `verbose` with it alone.
enum class Shown : std::uint8_t { never, brief, verbose, always };

/// A part of a document.
struct DocumentPart {
  std::string name = {};  ///< member of the JSON, "a.b" of its member a; empty: none
  Shown shown = Shown::never;
  std::string heading = {};  ///< above a table, for people
  std::variant<DocumentValue, DocumentTable, std::vector<Statement>> what = {};
  std::string text = {};    ///< for people alone: lines below the part
  bool background = false;  ///< printed below the result, in place of the assumptions
  bool page_alone = false;  ///< data for the scripts of the page, and no member of the JSON
};

/// What a study has found.
struct Document {
  ReportHead head;
  std::vector<Statement> answer;
  std::vector<DocumentPart> parts = {};  ///< in the order of both the JSON and the terminal
  PageKind page = PageKind::document;
  std::vector<std::string> lead = {};  ///< paragraphs in place of the answer on a terminal; empty: the answer in one

  void add(std::string name, DocumentValue value) {
    parts.push_back({.name = std::move(name), .what = std::move(value)});
  }
  /// Lines for people alone.
  void print(std::string text, Shown shown = Shown::always) {
    parts.push_back({.shown = shown, .text = std::move(text)});
  }
  /// Lines below the result on what it rests on, for people alone.
  void rests_on(std::string text, Shown shown = Shown::always) {
    parts.push_back({.shown = shown, .text = std::move(text), .background = true});
  }
  /// Statements that are printed, each as a paragraph.
  void say(std::vector<Statement> statements) {
    parts.push_back({.shown = Shown::always, .what = std::move(statements)});
  }
};

/// For a terminal.
Summary summary_of(const Document& document, bool verbose);
/// For a terminal, with all details.
inline std::string to_table(const Document& document) { return summary_of(document, true).all(); }
/// The answer in words, as a page has it.
std::string verdict(const Document& document);
/// JSON: head, answer, assumptions, parts by their names; a part may replace a member before it.
std::string to_json(const Document& document);
/// CSV of the first table that has names: a header, then a line per row.
std::string to_csv(const Document& document);

}  // namespace dadsim::report

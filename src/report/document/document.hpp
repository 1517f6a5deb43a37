#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "report/document/chart.hpp"
#include "report/text/text_blocks.hpp"
#include "report/words/statement.hpp"

// The result of a study as data: its answer, statements and tables. A study returns a Document; the printers of the
// terminal, JSON, CSV and pages (html/page.hpp) print it without decisions of their own.

namespace dadsim::report {

/// Kinds of page with their own scripts; `document` draws any Document.
enum class PageKind : std::uint8_t { document, run, sweep };

struct DocumentTable;

/// A value that is left out of the JSON, while std::monostate is written as null.
struct Omitted {};

/// Settings of the best answer, "path=value", for the user to apply.
struct BestSettings {
  std::vector<std::string> set;
};

using DocumentVariant =
    std::variant<std::monostate, Omitted, bool, std::int64_t, std::uint64_t, double, std::string, std::vector<double>,
                 std::vector<std::vector<double>>, std::vector<std::int64_t>, std::vector<std::optional<std::int64_t>>,
                 std::vector<std::vector<std::int64_t>>, std::vector<std::string>, std::map<std::string, std::string>,
                 Statement, std::vector<Statement>, std::vector<DocumentTable>>;

/// A value of a document: null, a flag, a number, text, lists, text by name, statements, or tables. An optional without
/// a value is null. One table becomes a list or an object in the JSON; several tables become one list of all rows.
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

/// Returns the value if it is known, else null.
template <class T>
DocumentValue or_null(bool known, const T& value) {
  return known ? DocumentValue(value) : DocumentValue();
}

/// Returns the value, or Omitted if there is none.
template <class T>
DocumentValue or_omitted(const std::optional<T>& value) {
  return value ? DocumentValue(*value) : Omitted();
}

/// Returns "312 ms", "8.2 GB" or "41 %"; "–" for null.
std::string in_words(const DocumentValue& value, Unit unit);

/// Builds a row of a table. Each call adds a member of the JSON, a column for people, or both.
class TableRow {
 public:
  /// Adds a member of the JSON only; "a.b" is member b of member a.
  TableRow& add(std::string name, DocumentValue value) {
    return add(std::move(name), {}, std::move(value), Unit::plain);
  }
  /// Adds a member of the JSON and a column `title` for people. `words` replace the value's text.
  TableRow& add(std::string name, std::string title, DocumentValue value, Unit unit,
                std::optional<std::string> words = {});
  /// Adds several members of the JSON only: names and values in turn.
  template <class Value, class... More>
  requires(!std::is_same_v<std::remove_cvref_t<Value>, Unit>) TableRow& add(std::string name, DocumentValue value,
                                                                            std::string next, Value&& next_value,
                                                                            More&&... more) {
    add(std::move(name), std::move(value));
    return add(std::move(next), DocumentValue(std::forward<Value>(next_value)), std::forward<More>(more)...);
  }
  /// Adds a value to the JSON but not the CSV (json), or the reverse (csv).
  TableRow& json(std::string name, DocumentValue value);
  TableRow& csv(std::string name, DocumentValue value);
  /// Adds columns for people only: titles and texts in turn.
  template <class... More>
  TableRow& say(std::string title, std::string words, More&&... more) {
    add({}, std::move(title), {}, Unit::plain, std::move(words));
    if constexpr (sizeof...(more) > 0) say(std::forward<More>(more)...);
    return *this;
  }
  /// Adds a column for pages only.
  TableRow& page(std::string title, std::string words);

 private:
  friend struct DocumentTable;
  explicit TableRow(DocumentTable& table) : table_(table) {}
  DocumentTable& table_;
};

/// Rows of values, each with its text. All rows must add the same columns in the same order. A row with fewer columns
/// lacks the other members in the JSON and is not shown to people.
struct DocumentTable {
  struct Head {
    std::string name;
    std::string title;  ///< title for people; a second line may name the unit
    bool left = false;  ///< true: aligned to the left
    bool in_json = true, in_csv = true, in_text = true;
  };
  struct Cell {
    DocumentValue value;
    std::string words;
  };
  std::vector<Head> columns = {};
  std::vector<std::vector<Cell>> rows = {};
  std::vector<std::size_t> detail = {};  ///< indices of rows that a terminal shows only with --verbose
  bool object = false;                   ///< true: at most one row, which the JSON writes as an object, or null
  bool best_first = false;               ///< true: pages highlight the first row
  GridStyle style = {};                  ///< style on a terminal

  TableRow add_row(bool is_detail = false);
};

/// Returns a table that the JSON writes as one object: names and values in turn.
template <class... Members>
DocumentTable object_with(Members&&... members) {
  DocumentTable table{.object = true};
  table.add_row().add(std::forward<Members>(members)...);
  return table;
}

/// Adds columns to the row of `value`: names and getters (members or functions) in turn.
template <class Value, class Getter, class... More>
void add_columns(TableRow& row, const Value& value, const char* name, const Getter& getter, const More&... more) {
  row.add(name, DocumentValue(std::invoke(getter, value)));
  if constexpr (sizeof...(more) > 0) add_columns(row, value, more...);
}

/// Returns a table with a row per value, and columns as in add_columns().
template <class Values, class... Columns>
DocumentTable list_of(const Values& values, const Columns&... columns) {
  DocumentTable table;
  for (const auto& value : values) {
    TableRow row = table.add_row();
    add_columns(row, value, columns...);
  }
  return table;
}

/// Place of a part: on a terminal, `brief` only without --verbose, `verbose` only with it; `page` only on pages and in
/// the files of --plots.
enum class Shown : std::uint8_t { never, brief, verbose, always, page };

/// A part of a document.
struct DocumentPart {
  std::string name = {};  ///< member of the JSON, "a.b" for member b of a; empty: none
  Shown shown = Shown::never;
  std::string heading = {};  ///< heading of a table, for people
  std::variant<DocumentValue, DocumentTable, std::vector<Statement>, BestSettings> what = {};
  std::string text = {};    ///< lines below the part, for people only
  bool background = false;  ///< true: printed below the result instead of the assumptions
  bool page_alone = false;  ///< true: data for the page's scripts, left out of the JSON
};

/// The results of a study.
struct Document {
  ReportHead head;
  std::vector<Statement> answer;
  std::size_t sentences = 0;             ///< number of the answer's statements in the headline; 0: all
  std::vector<DocumentPart> parts = {};  ///< parts, in the order of the JSON and of the terminal
  PageKind page = PageKind::document;
  std::string command = "dadsim";                               ///< name of the page: "dadsim plan"
  std::string setting = {};                                     ///< line below the title
  std::vector<std::pair<std::string, std::string>> facts = {};  ///< terms and texts on the page, next to its provenance
  std::vector<Chart> charts = {};
  std::string picture = {};  ///< markup of a picture on the page; empty: none
  std::vector<std::string> lead =
      {};  ///< paragraphs that replace the answer on a terminal; empty: the answer in one paragraph

  /// Adds members of the JSON only: names and values in turn.
  template <class... More>
  void add(std::string name, DocumentValue value, More&&... more) {
    parts.push_back({.name = std::move(name), .what = std::move(value)});
    if constexpr (sizeof...(more) > 0) add(std::forward<More>(more)...);
  }
  /// Adds data for the page's scripts only.
  void add_for_page(std::string name, DocumentValue value) {
    parts.push_back({.name = std::move(name), .what = std::move(value), .page_alone = true});
  }
  /// Adds lines of text for people only.
  void print(std::string text, Shown shown = Shown::always) {
    parts.push_back({.shown = shown, .text = std::move(text)});
  }
  /// Adds lines for people only, printed below the result with its sources.
  void rests_on(std::string text, Shown shown = Shown::always) {
    parts.push_back({.shown = shown, .text = std::move(text), .background = true});
  }
  /// Adds statements, each printed as a paragraph.
  void say(std::vector<Statement> statements) {
    parts.push_back({.shown = Shown::always, .what = std::move(statements)});
  }
};

/// Returns the text for a terminal.
Summary summary_of(const Document& document, bool verbose);
/// Returns the text for a terminal, with all details.
inline std::string to_table(const Document& document) { return summary_of(document, true).all(); }
/// Returns the headline: the answer in words, as on a page.
std::string verdict(const Document& document);
/// Returns the JSON: head, answer, assumptions, and parts by name; a part may replace an earlier member.
std::string to_json(const Document& document);
/// Returns the CSV of a table: a header, then a line per row. Tables without named columns give titles and texts.
std::string to_csv(const DocumentTable& table);
/// Returns the CSV of the first table with a name.
std::string to_csv(const Document& document);

/// A plot file.
struct PlotFile {
  std::string name, content;
};
/// Returns each chart as SVG and CSV, and each table with titles as LaTeX (a `tabular`) and CSV. File names are
/// distinct.
std::vector<PlotFile> plots_of(const Document& document);

}  // namespace dadsim::report

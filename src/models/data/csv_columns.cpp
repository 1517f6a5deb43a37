#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "models/data/csv.hpp"
#include "models/data/csv_rows.hpp"
#include "models/data/csv_tables.hpp"
#include "models/data/number_text.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::models {
namespace {

constexpr std::int64_t kRowsBetweenLooks = 4096;  // rows between checks for an interrupt
constexpr std::size_t kMaxWords = 64;
constexpr std::size_t kMaxCsvClasses = 1000;
constexpr std::size_t kMaxCsvSites = 10000;

/// Observations of a column, collected while its rows are read.
struct Sight {
  bool number = true;
  bool comma = true;  ///< true: all values are numbers, and some have a decimal comma
  bool any = false;
  std::string table{};          ///< table of the first value that is not a number
  std::int64_t first_word = 0;  ///< line of the first value that is not a number
  std::set<std::string, std::less<>> values{};
};

/// Observations of all tables, collected while their rows are read.
struct TableSights {
  CsvRoles roles{};
  std::vector<std::string> names{};  ///< columns to learn from, and the target
  std::int64_t line_of_names = 0;    ///< line of the names in the first table
  bool numbered_rows = false;        ///< true: the first column of the table has no name
  std::vector<Sight> columns{};
  Sight sites{};
  std::set<std::string, std::less<>> trained{};  ///< classes of the training rows
  /// Classes that occur only in test rows, with the first line and the number of rows of each.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>, std::less<>> untrained{};
};

void look_at(Sight& sight, const std::string& value, const CsvText& table, std::int64_t line, char separator,
             std::size_t most) {
  sight.any = true;
  sight.comma = sight.comma && number_of_field(value, ';');
  if (sight.number && !number_of_field(value, separator)) {
    sight.number = false;
    sight.table = table.name;
    sight.first_word = line;
  }
  if (sight.values.size() <= most) sight.values.insert(value);
}

/// Returns whether a line of names contains a number, and so could be a sample.
bool could_be_row(const std::vector<std::string>& names, char separator) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return number_of_field(name, separator).has_value(); });
}

constexpr const char* kNoNames = "set names=\"false\" if the first line is a sample";

/// Checks the names in the first line.
void check_names(const CsvTables& tables, const CsvRoles& roles, bool test, const TableRows& rows, LineErrors& errors) {
  const std::vector<std::string>& names = rows.names();
  const std::int64_t line = rows.line_of_names();
  const std::string sample = tables.names && could_be_row(names, rows.separator()) ? fmt::format("; {}", kNoNames) : "";
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name.empty() && i > 0) errors.add(line, "a column without a name", "give each column a name" + sample);
    if (!name.empty() && !seen.insert(name).second) {
      errors.add(line, fmt::format("two columns '{}'", shown_field(name)), "use each name once" + sample);
    }
  }
  const auto require = [&](const std::string& name) {
    if (seen.contains(name)) return;
    errors.add(line, fmt::format("no column '{}'", shown_field(name)),
               tables.names ? suggestion(name, names) + sample
                            : fmt::format("without column names, use a number from 1 to {}, or last", names.size()));
  };
  require(roles.target);
  if (test) return;  // the test table may lack sites and ignored columns
  if (!roles.site.empty()) require(roles.site);
  for (const std::string& name : roles.ignore) require(name);
}

/// Returns whether a column is excluded; a column without a name holds row numbers, and is excluded.
bool is_left_out(const CsvRoles& roles, const std::string& name) {
  return name.empty() || name == roles.site || std::ranges::find(roles.ignore, name) != roles.ignore.end();
}

/// Reads one table into `sights`; returns its number of rows.
std::int64_t look_through(const CsvTables& tables, const CsvText& table, bool test, TableSights& sights) {
  LineErrors errors(table.name);
  TableRows rows(tables, table, errors);
  if (rows.empty()) {
    if (errors.empty()) errors.add(0, "the file is empty", kCsvForm);
    errors.throw_if_any();
  }
  const std::vector<std::string>& all = rows.names();
  const char separator = rows.separator();
  if (sights.names.empty()) sights.roles = roles_of(tables, all);
  const CsvRoles& roles = sights.roles;
  check_names(tables, roles, test, rows, errors);
  const std::vector<std::ptrdiff_t> column_of = columns_of_fields(roles, all);
  std::vector<std::string> names;
  for (const std::string& name : all) {
    if (!is_left_out(roles, name)) names.push_back(name);
  }
  if (names.size() < 2) {
    errors.add(rows.line_of_names(),
               all.size() < 2 ? "only one column" : "only one column is neither ignored nor a site",
               all.size() < 2 ? "give a target and at least one feature, separated by commas, semicolons or tabs"
                              : "keep the target and at least one feature");
  }
  errors.throw_if_any();
  if (sights.names.empty()) {
    sights.names = names;
    sights.line_of_names = rows.line_of_names();
    sights.numbered_rows = all.front().empty();
    sights.columns.resize(names.size());
  } else if (names != sights.names) {
    errors.add(rows.line_of_names(), "columns differ from the table to train on",
               "use the same names in the same order");
    errors.throw_if_any();
  }
  const auto target = static_cast<std::size_t>(std::ranges::find(sights.names, roles.target) - sights.names.begin());
  std::int64_t count = 0;
  while (!errors.full() && rows.next()) {
    if (count % kRowsBetweenLooks == 0 && interrupted().load()) throw Cancelled();
    if (rows.fields().size() != all.size()) {
      errors.add(rows.line(), fmt::format("{} fields", rows.fields().size()),
                 fmt::format("{}, as the {} has", all.size(), tables.names ? "line of names" : "first line"));
      continue;
    }
    ++count;
    for (std::size_t f = 0; f < all.size(); ++f) {
      const std::string& value = rows.fields()[f];
      const bool missing = is_missing_field(value);
      if (column_of[f] == kSiteField && !test) {
        if (missing) {
          errors.add(rows.line(), fmt::format("no value in the site column '{}'", shown_field(roles.site)),
                     "give a site for every sample");
        } else {
          look_at(sights.sites, value, table, rows.line(), separator, kMaxCsvSites);
        }
      }
      if (column_of[f] < 0) continue;
      const auto c = static_cast<std::size_t>(column_of[f]);
      if (!missing) {
        look_at(sights.columns[c], value, table, rows.line(), separator, c == target ? kMaxCsvClasses : kMaxWords);
        if (c != target || sights.trained.size() + sights.untrained.size() > kMaxCsvClasses) continue;
        if (!test) {
          sights.trained.insert(value);
        } else if (!sights.trained.contains(value)) {
          ++sights.untrained.try_emplace(value, rows.line(), 0).first->second.second;
        }
      } else if (c == target) {
        errors.add(rows.line(), fmt::format("no value of the target '{}'", shown_field(roles.target)),
                   "give a class for every sample");
      }
    }
  }
  if (errors.empty() && count == 0) errors.add(0, "no samples below the line of names", kCsvForm);
  errors.throw_if_any();
  return count;
}

/// Returns the values in numeric order if all are numbers, else in alphabetical order.
std::vector<std::string> in_order(const Sight& sight) {
  std::vector<std::string> names(sight.values.begin(), sight.values.end());
  if (sight.number) {
    // With semicolons as separator a number may have a decimal comma; number_of_field() reads both forms.
    std::ranges::stable_sort(names, {}, [](const std::string& name) { return *number_of_field(name, ';'); });
  }
  return names;
}

/// Returns whether a target looks like a quantity: its values are mostly distinct numbers, and either many or with
/// fractions.
bool is_quantity(const Sight& target, std::int64_t rows) {
  constexpr std::size_t kMany = 10;
  const auto has_fraction = [](const std::string& value) {
    const double number = *number_of_field(value, ';');
    return number != std::floor(number);
  };
  return target.number && 2 * std::ssize(target.values) > rows &&
         (target.values.size() >= kMany || std::ranges::any_of(target.values, has_fraction));
}

/// Notes that a header looks like a sample, or lacks the name of the row number column. It looks like a sample if all
/// names are plausible values of their columns: numbers in columns of numbers, known words in columns of words, and a
/// known class as target.
void note_first_line(const CsvTables& tables, const TableSights& sights, std::vector<std::string>& notes) {
  const auto note = [&](std::string what, std::string why) {
    notes.push_back(to_string(Diagnostic{tables.train.front().name, static_cast<int>(sights.line_of_names),
                                         std::move(what), std::move(why)}));
  };
  if (sights.numbered_rows) {
    note("the first column has no name", "it is read as row numbers and ignored");
  }
  if (!tables.names) return;
  for (std::size_t c = 0; c < sights.names.size(); ++c) {
    const std::string& name = sights.names[c];
    const Sight& sight = sights.columns[c];
    const bool a_number_among_numbers = sight.number && number_of_field(name, ';') && name != sights.roles.target;
    if (!a_number_among_numbers && !sight.values.contains(name) && !is_missing_field(name)) return;
  }
  note("the first line is read as column names, but looks like a sample", kNoNames);
}

}  // namespace

bool is_missing_field(const std::string& field) {
  static const std::set<std::string, std::less<>> kMissing{"",     "?",   "NA",  "N/A",  "n/a",  "#N/A",
                                                           "<NA>", "NaN", "nan", "-nan", "NULL", "null"};
  return kMissing.contains(field);
}

CsvRoles roles_of(const CsvTables& tables, const std::vector<std::string>& names) {
  const auto named = [&](const std::string& asked) {
    if (names.empty() || asked.empty() || std::ranges::find(names, asked) != names.end()) return asked;
    if (asked == "last") return names.back();
    const auto number = parse_whole<std::size_t>(asked, 1, names.size());
    return number ? names[*number - 1] : asked;
  };
  CsvRoles roles{named(tables.target), named(tables.site), {}};
  for (const std::string& name : tables.ignore) roles.ignore.push_back(named(name));
  return roles;
}

TableRows::TableRows(const CsvTables& tables, const CsvText& table, LineErrors& errors)
    : separator_(separator_of(table, tables.names ? tables.target : std::string())), rows_(table, separator_, errors) {
  if (!rows_.next()) return;
  line_ = rows_.line();
  names_ = rows_.fields();
  if (tables.names) return;
  for (std::size_t i = 0; i < names_.size(); ++i) names_[i] = std::to_string(i + 1);
  at_first_ = true;
}

bool TableRows::next() {
  if (std::exchange(at_first_, false)) return true;
  return rows_.next();
}

std::vector<std::ptrdiff_t> columns_of_fields(const CsvRoles& roles, const std::vector<std::string>& names) {
  std::vector<std::ptrdiff_t> columns;
  columns.reserve(names.size());
  std::ptrdiff_t next = 0;
  for (const std::string& name : names) {
    columns.push_back(!is_left_out(roles, name) ? next++
                                                : (name == roles.site && !name.empty() ? kSiteField : kIgnoredField));
  }
  return columns;
}

CsvColumns inspect_csv(const CsvTables& tables) {
  CsvColumns result;
  TableSights sights;
  for (const CsvText& table : tables.train) result.rows.push_back(look_through(tables, table, false, sights));
  for (const CsvText& table : tables.test) result.rows.push_back(look_through(tables, table, true, sights));
  const auto target =
      static_cast<std::size_t>(std::ranges::find(sights.names, sights.roles.target) - sights.names.begin());
  result.target = target;
  constexpr const char* kWithPoints = "write decimal points, or separate fields by semicolons";
  LineErrors errors(tables.train.front().name);
  std::vector<std::size_t> with_commas;  // columns with decimal commas that are read as words
  for (std::size_t c = 0; c < sights.names.size(); ++c) {
    const Sight& sight = sights.columns[c];
    const std::string name = shown_field(sights.names[c]);
    if (c != target && sight.comma && !sight.number) with_commas.push_back(c);
    CsvColumns::Column column{sights.names[c], sight.number, {}, result.features};
    if (c == target) {
      result.classes = in_order(sight);
      if (sight.values.size() > kMaxCsvClasses) {
        errors.add(1, fmt::format("column '{}' has more than {} different values", name, kMaxCsvClasses),
                   "use a target with fewer classes");
      }
      const std::int64_t rows = std::accumulate(result.rows.begin(), result.rows.end(), std::int64_t{0});
      if (is_quantity(sight, rows)) {
        errors.add(1,
                   fmt::format("target '{}' has {} different numbers in {} rows, but needs classes", name,
                               sight.values.size(), rows),
                   "use a column of classes, e.g. ranges of these numbers (low, middle, high); dadsim does not predict "
                   "numbers");
      }
      if (sight.values.size() == 1) {
        errors.add(1, fmt::format("column '{}' has only one value", name), "use a target of at least two classes");
      }
    } else if (!sight.any) {
      errors.add(1, fmt::format("column '{}' holds nothing", name), "add values, or ignore the column");
    } else if (!sight.number) {
      column.words.assign(sight.values.begin(), sight.values.end());
      if (column.words.size() > kMaxWords) {
        LineErrors there(sight.table);
        there.add(sight.first_word,
                  fmt::format("column '{}' has words with more than {} different values", name, kMaxWords),
                  sight.comma ? kWithPoints : "use only numbers or fewer words, or ignore the column");
        errors.add_all(there);
      }
      result.features += static_cast<std::int64_t>(column.words.size());
    } else {
      ++result.features;
    }
    result.columns.push_back(std::move(column));
  }
  if (sights.sites.values.size() > kMaxCsvSites) {
    errors.add(
        1, fmt::format("column '{}' has more than {} different values", shown_field(sights.roles.site), kMaxCsvSites),
        "a column of sites");
  }
  errors.throw_if_any();
  if (!tables.site.empty()) {
    result.sites = in_order(sights.sites);
  } else if (tables.train.size() > 1) {
    for (const CsvText& table : tables.train) {
      result.sites.push_back(std::filesystem::path(table.name).filename().string());
    }
  }
  note_first_line(tables, sights, result.notes);
  if (!with_commas.empty()) {
    const Sight& first = sights.columns[with_commas.front()];
    result.notes.push_back(to_string(Diagnostic{
        first.table, static_cast<int>(first.first_word),
        fmt::format("{} column{} of numbers with a decimal comma, e.g. '{}', {} read as words", with_commas.size(),
                    with_commas.size() == 1 ? "" : "s", *first.values.begin(), with_commas.size() == 1 ? "is" : "are"),
        kWithPoints}));
  }
  for (const auto& [name, where] : sights.untrained) {
    result.notes.push_back(to_string(
        Diagnostic{tables.test.front().name, static_cast<int>(where.first),
                   fmt::format("class '{}' is in no training row", shown_field(name)),
                   fmt::format("{} of the {} test rows {}, so no network can have learned it", where.second,
                               result.rows.back(), where.second == 1 ? "has this class" : "have this class")}));
  }
  return result;
}

}  // namespace dadsim::models

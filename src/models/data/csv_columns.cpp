#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "models/data/csv.hpp"
#include "models/data/csv_rows.hpp"
#include "models/data/csv_tables.hpp"
#include "models/data/number_text.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

constexpr std::size_t kMaxWords = 64;
constexpr std::size_t kMaxCsvClasses = 1000;
constexpr std::size_t kMaxCsvSites = 10000;

/// What is known of a column while the rows go by.
struct Sight {
  bool number = true;
  bool any = false;
  std::string table{};          ///< of the first value that is no number
  std::int64_t first_word = 0;  ///< its line
  std::set<std::string, std::less<>> values{};
};

/// What is known of all tables while their rows go by.
struct TableSights {
  std::vector<std::string> names{};  ///< of the columns that are learned from, and of the target
  std::vector<Sight> columns{};
  Sight sites{};
  std::set<std::string, std::less<>> trained{};  ///< classes of the rows to train on
  /// Classes that the rows to test on have alone: the line of the first, and how many there are.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>, std::less<>> untrained{};
};

void look_at(Sight& sight, const std::string& value, const CsvText& table, std::int64_t line, char separator,
             std::size_t most) {
  sight.any = true;
  if (sight.number && !number_of_field(value, separator)) {
    sight.number = false;
    sight.table = table.name;
    sight.first_word = line;
  }
  if (sight.values.size() <= most) sight.values.insert(value);
}

/// Checks the names in the first line.
void check_names(const CsvTables& tables, bool test, const std::vector<std::string>& names, std::int64_t line,
                 LineErrors& errors) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) errors.add(line, "a column without a name", "a name for each column");
    if (!name.empty() && !seen.insert(name).second) {
      errors.add(line, fmt::format("two columns '{}'", shown_field(name)), "each name once");
    }
  }
  const auto require = [&](const std::string& name) {
    if (!seen.contains(name)) {
      errors.add(line, fmt::format("no column '{}'", shown_field(name)), suggestion(name, names));
    }
  };
  require(tables.target);
  if (test) return;  // where rows are from, and what is not looked at, may be missing there
  if (!tables.site.empty()) require(tables.site);
  for (const std::string& name : tables.ignore) require(name);
}

bool is_left_out(const CsvTables& tables, const std::string& name) {
  return name == tables.site || std::ranges::find(tables.ignore, name) != tables.ignore.end();
}

/// Reads one table into `sights`; returns its rows.
std::int64_t look_through(const CsvTables& tables, const CsvText& table, bool test, TableSights& sights) {
  LineErrors errors(table.name);
  const char separator = separator_of(table, tables.target);
  CsvRows rows(table, separator, errors);
  if (!rows.next()) {
    if (errors.empty()) errors.add(0, "the file is empty", kCsvForm);
    errors.throw_if_any();
  }
  const std::vector<std::string> all = rows.fields();
  check_names(tables, test, all, rows.line(), errors);
  const std::vector<std::ptrdiff_t> column_of = columns_of_fields(tables, all);
  std::vector<std::string> names;
  for (const std::string& name : all) {
    if (!is_left_out(tables, name)) names.push_back(name);
  }
  if (names.size() < 2) {
    errors.add(rows.line(), all.size() < 2 ? "one column alone" : "one column alone that is neither ignored nor a site",
               all.size() < 2 ? "the target and at least one feature, with commas, semicolons or tabs between them"
                              : "the target and at least one feature");
  }
  errors.throw_if_any();
  if (sights.names.empty()) {
    sights.names = names;
    sights.columns.resize(names.size());
  } else if (names != sights.names) {
    errors.add(rows.line(), "other columns than the table to train on", "the same names in the same order");
    errors.throw_if_any();
  }
  const auto target = static_cast<std::size_t>(std::ranges::find(sights.names, tables.target) - sights.names.begin());
  std::int64_t count = 0;
  while (!errors.full() && rows.next()) {
    if (rows.fields().size() != all.size()) {
      errors.add(rows.line(), fmt::format("{} fields", rows.fields().size()),
                 fmt::format("{}, as the line of names has", all.size()));
      continue;
    }
    ++count;
    for (std::size_t f = 0; f < all.size(); ++f) {
      const std::string& value = rows.fields()[f];
      const bool missing = is_missing_field(value);
      if (column_of[f] == kSiteField && !test) {
        if (missing) {
          errors.add(rows.line(), fmt::format("no value of the site '{}'", shown_field(tables.site)),
                     "a site for every sample");
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
        errors.add(rows.line(), fmt::format("no value of the target '{}'", shown_field(tables.target)),
                   "a class for every sample");
      }
    }
  }
  if (errors.empty() && count == 0) errors.add(0, "no samples below the line of names", kCsvForm);
  errors.throw_if_any();
  return count;
}

/// By value if all are numbers, else by letter.
std::vector<std::string> in_order(const Sight& sight) {
  std::vector<std::string> names(sight.values.begin(), sight.values.end());
  if (sight.number) {
    // Between semicolons a number may have a comma; number_of_field reads both.
    std::ranges::stable_sort(names, {}, [](const std::string& name) { return *number_of_field(name, ';'); });
  }
  return names;
}

}  // namespace

bool is_missing_field(const std::string& field) {
  return field.empty() || field == "?" || field == "NA" || field == "NaN" || field == "nan";
}

std::vector<std::ptrdiff_t> columns_of_fields(const CsvTables& tables, const std::vector<std::string>& names) {
  std::vector<std::ptrdiff_t> columns;
  columns.reserve(names.size());
  std::ptrdiff_t next = 0;
  for (const std::string& name : names) {
    columns.push_back(!is_left_out(tables, name) ? next++ : (name == tables.site ? kSiteField : kIgnoredField));
  }
  return columns;
}

CsvColumns inspect_csv(const CsvTables& tables) {
  CsvColumns result;
  TableSights sights;
  for (const CsvText& table : tables.train) result.rows.push_back(look_through(tables, table, false, sights));
  for (const CsvText& table : tables.test) result.rows.push_back(look_through(tables, table, true, sights));
  const auto target = static_cast<std::size_t>(std::ranges::find(sights.names, tables.target) - sights.names.begin());
  result.target = target;
  LineErrors errors(tables.train.front().name);
  for (std::size_t c = 0; c < sights.names.size(); ++c) {
    const Sight& sight = sights.columns[c];
    const std::string name = shown_field(sights.names[c]);
    CsvColumns::Column column{sights.names[c], sight.number, {}, result.features};
    if (c == target) {
      result.classes = in_order(sight);
      if (sight.values.size() > kMaxCsvClasses) {
        errors.add(1, fmt::format("column '{}' takes more than {} values", name, kMaxCsvClasses),
                   "a target of classes");
      }
      if (sight.values.size() == 1) {
        errors.add(1, fmt::format("column '{}' takes one value alone", name), "a target of at least two classes");
      }
    } else if (!sight.any) {
      errors.add(1, fmt::format("column '{}' holds nothing", name), "values, or the column among those to ignore");
    } else if (!sight.number) {
      column.words.assign(sight.values.begin(), sight.values.end());
      if (column.words.size() > kMaxWords) {
        LineErrors there(sight.table);
        there.add(sight.first_word,
                  fmt::format("column '{}' holds words, and more than {} different values", name, kMaxWords),
                  "numbers alone, or fewer words, or the column among those to ignore");
        errors.add_all(there);
      }
      result.features += static_cast<std::int64_t>(column.words.size());
    } else {
      ++result.features;
    }
    result.columns.push_back(std::move(column));
  }
  if (sights.sites.values.size() > kMaxCsvSites) {
    errors.add(1, fmt::format("column '{}' takes more than {} values", shown_field(tables.site), kMaxCsvSites),
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
  for (const auto& [name, where] : sights.untrained) {
    result.notes.push_back(to_string(
        Diagnostic{tables.test.front().name, static_cast<int>(where.first),
                   fmt::format("class '{}' is in no row to train on", shown_field(name)),
                   fmt::format("{} of the {} rows to test on {}, which no network can have learned", where.second,
                               result.rows.back(), where.second == 1 ? "is of it" : "are of it")}));
  }
  return result;
}

}  // namespace dadsim::models

#include "models/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "models/data/line_errors.hpp"
#include "models/data/number_text.hpp"
#include "models/data/source_bytes.hpp"
#include "models/data/standardise.hpp"
#include "models/uniform.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

constexpr std::int64_t kMaxCsvBytes = std::int64_t{1} << 30U;
constexpr std::size_t kMaxColumns = 10000;
constexpr std::size_t kMaxWords = 64;
constexpr std::size_t kMaxCsvClasses = 1000;
const char* const kCsvForm = "comma-separated values: a line of names, then one line per sample (RFC 4180)";

/// As it can stand in a message of one line.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return text.size() > 40 ? result + "…" : result;
}

bool is_missing(const std::string& field) {
  return field.empty() || field == "?" || field == "NA" || field == "NaN" || field == "nan";
}

/// The fields of a table, row by row.
class CsvRows {
 public:
  CsvRows(const CsvText& table, LineErrors& errors) : rest_(table.content), errors_(errors) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);  // byte order mark
  }

  std::int64_t line() const { return line_; }  ///< of the start of the row
  const std::vector<std::string>& fields() const { return fields_; }

  /// Goes to the next row that is not blank; false at the end, or after an error from which no row can be found again.
  bool next() {
    while (!rest_.empty()) {
      line_ = next_line_;
      if (!read_row()) return false;
      if (fields_.size() > 1 || !fields_[0].empty()) return true;
    }
    return false;
  }

 private:
  bool read_row() {
    fields_.clear();
    while (true) {
      if (fields_.size() == kMaxColumns + 1) {
        errors_.add(line_, fmt::format("more than {} fields", kMaxColumns), fmt::format("at most {}", kMaxColumns));
        return false;
      }
      std::string& field = fields_.emplace_back();
      const std::string_view blanks = rest_.substr(0, rest_.find_first_not_of(" \t"));
      if (rest_.substr(blanks.size()).starts_with('"')) {
        rest_.remove_prefix(blanks.size() + 1);
        if (!read_quoted(field)) return false;
      } else {
        const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
        field = trimmed(rest_.substr(0, end));
        rest_.remove_prefix(end);
      }
      if (rest_.starts_with(',')) {
        rest_.remove_prefix(1);
        continue;
      }
      if (rest_.starts_with('\n')) rest_.remove_prefix(1);
      ++next_line_;
      return true;
    }
  }

  /// Behind the opening quote. A quote inside is doubled.
  bool read_quoted(std::string& field) {
    while (true) {
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) {
        errors_.add(line_, "a quote that is not closed", kCsvForm);
        return false;
      }
      field += rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (!rest_.starts_with('"')) break;
      field += '"';
      rest_.remove_prefix(1);
    }
    next_line_ += std::count(field.begin(), field.end(), '\n');
    const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    if (!trimmed(rest_.substr(0, end)).empty()) {
      errors_.add(line_, fmt::format("'{}' behind a closing quote", shown(trimmed(rest_.substr(0, end)))),
                  "a comma or the end of the line; a quote inside quotes is doubled");
      return false;
    }
    rest_.remove_prefix(end);
    return true;
  }

  std::string_view rest_;
  LineErrors& errors_;
  std::int64_t line_ = 0;
  std::int64_t next_line_ = 1;
  std::vector<std::string> fields_;
};

/// What is known of a column while the rows go by.
struct Sight {
  bool number = true;
  bool any = false;
  std::int64_t first_word = 0;  ///< line of the first value that is no number
  std::set<std::string, std::less<>> values;
};

void look_at(Sight& sight, const std::string& value, std::int64_t line, std::size_t most) {
  sight.any = true;
  if (sight.number && !number_in(value)) {
    sight.number = false;
    sight.first_word = line;
  }
  if (sight.values.size() <= most) sight.values.insert(value);
}

/// The names in the first line, checked; empty with errors.
std::vector<std::string> read_names(CsvRows& rows, const std::string& target, LineErrors& errors) {
  if (!rows.next()) {
    if (errors.empty()) errors.add(0, "the file is empty", kCsvForm);
    return {};
  }
  std::vector<std::string> names = rows.fields();
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) errors.add(rows.line(), "a column without a name", "a name for each column");
    if (!name.empty() && !seen.insert(name).second) {
      errors.add(rows.line(), fmt::format("two columns '{}'", shown(name)), "each name once");
    }
  }
  if (!seen.contains(target)) {
    errors.add(rows.line(), fmt::format("no column '{}'", shown(target)), suggestion(target, names));
  }
  if (names.size() < 2) errors.add(rows.line(), "one column alone", "the target and at least one feature");
  if (!errors.empty()) names.clear();
  return names;
}

/// Reads one table into `sights`; returns its rows.
std::int64_t look_through(const CsvText& table, const std::string& target, std::vector<std::string>& names,
                          std::vector<Sight>& sights) {
  LineErrors errors(table.name);
  CsvRows rows(table, errors);
  const std::vector<std::string> own = read_names(rows, target, errors);
  errors.throw_if_any();
  if (names.empty()) {
    names = own;
    sights.resize(names.size());
  } else if (own != names) {
    errors.add(rows.line(), "other columns than the table to train on", "the same names in the same order");
    errors.throw_if_any();
  }
  const auto at = static_cast<std::size_t>(std::ranges::find(names, target) - names.begin());
  std::int64_t count = 0;
  while (!errors.full() && rows.next()) {
    if (rows.fields().size() != names.size()) {
      errors.add(rows.line(), fmt::format("{} fields", rows.fields().size()),
                 fmt::format("{}, as the line of names has", names.size()));
      continue;
    }
    ++count;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const std::string& value = rows.fields()[c];
      if (!is_missing(value)) {
        look_at(sights[c], value, rows.line(), c == at ? kMaxCsvClasses : kMaxWords);
      } else if (c == at) {
        errors.add(rows.line(), fmt::format("no value of the target '{}'", shown(target)), "a class for every sample");
      }
    }
  }
  if (errors.empty() && count == 0) errors.add(0, "no samples below the line of names", kCsvForm);
  errors.throw_if_any();
  return count;
}

struct Place {
  bool train = false;
  std::int64_t row = -1;  ///< of the samples; −1: not taken
};

/// Where each row of a table goes, for each of the tables.
std::vector<std::vector<Place>> places(const std::vector<std::int64_t>& rows, std::int64_t train, std::int64_t test,
                                       std::uint64_t seed) {
  std::vector<std::vector<Place>> places;
  for (std::size_t table = 0; table < rows.size(); ++table) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows[table]));
    std::iota(order.begin(), order.end(), 0);
    RandomStream random(seed, Purpose::held_back, static_cast<std::uint32_t>(table));
    shuffle(std::span(order), random);
    std::vector<Place>& of_table = places.emplace_back(order.size());
    if (table == 0) {
      for (std::int64_t i = 0; i < train; ++i)
        of_table[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = {true, i};
    }
    if (table + 1 == rows.size()) {
      for (std::int64_t i = 0; i < test; ++i) {
        of_table[static_cast<std::size_t>(order[order.size() - 1 - static_cast<std::size_t>(i)])] = {false, i};
      }
    }
  }
  return places;
}

/// Calls `visit(place, fields)` for the rows that are taken.
template <class Visit>
void for_each_row(const std::vector<CsvText>& tables, const std::vector<std::vector<Place>>& places, Visit&& visit) {
  for (std::size_t table = 0; table < tables.size(); ++table) {
    LineErrors errors(tables[table].name);
    CsvRows rows(tables[table], errors);
    rows.next();
    for (const Place& place : places[table]) {
      rows.next();
      if (place.row >= 0) visit(place, rows.fields());
    }
  }
}

std::int64_t held_back(std::int64_t rows, double share) {
  const auto count = static_cast<std::int64_t>(std::llround(static_cast<double>(rows) * share));
  return std::clamp<std::int64_t>(count, 1, std::max<std::int64_t>(1, rows - 1));
}

std::vector<CsvText> read_tables(const spec::CsvSource& source) {
  std::vector<CsvText> tables;
  for (const std::string& path : {source.file, source.test_file}) {
    if (path.empty()) continue;
    SourceBytes bytes = SourceBytes::open(path, kCsvForm);
    tables.push_back({path, bytes.rest(kMaxCsvBytes)});
  }
  return tables;
}

}  // namespace

CsvColumns inspect_csv(const std::vector<CsvText>& tables, const std::string& target) {
  CsvColumns result;
  std::vector<std::string> names;
  std::vector<Sight> sights;
  for (const CsvText& table : tables) result.rows.push_back(look_through(table, target, names, sights));
  result.target = static_cast<std::size_t>(std::ranges::find(names, target) - names.begin());
  LineErrors errors(tables.front().name);
  for (std::size_t c = 0; c < names.size(); ++c) {
    const Sight& sight = sights[c];
    CsvColumns::Column column{names[c], sight.number, {}, result.features};
    if (c == result.target) {
      result.classes.assign(sight.values.begin(), sight.values.end());
      if (sight.values.size() > kMaxCsvClasses) {
        errors.add(1, fmt::format("column '{}' takes more than {} values", shown(names[c]), kMaxCsvClasses),
                   "a target of classes");
      }
      if (sight.values.size() == 1) {
        errors.add(1, fmt::format("column '{}' takes one value alone", shown(names[c])),
                   "a target of at least two classes");
      }
    } else if (!sight.any) {
      errors.add(1, fmt::format("column '{}' holds nothing", shown(names[c])), "values, or no such column");
    } else if (!sight.number) {
      column.words.assign(sight.values.begin(), sight.values.end());
      if (column.words.size() > kMaxWords) {
        errors.add(
            sight.first_word,
            fmt::format("column '{}' holds words, and more than {} different values", shown(names[c]), kMaxWords),
            "numbers alone, or fewer words, or no such column");
      }
      result.features += static_cast<std::int64_t>(column.words.size());
    } else {
      ++result.features;
    }
    result.columns.push_back(std::move(column));
  }
  errors.throw_if_any();
  if (sights[result.target].number) {
    std::ranges::stable_sort(result.classes, {}, [](const std::string& name) { return *number_in(name); });
  }
  return result;
}

Dataset dataset_of(const std::vector<CsvText>& tables, const std::string& target, std::int64_t train, std::int64_t test,
                   std::uint64_t seed) {
  const CsvColumns table = inspect_csv(tables, target);
  const bool own_test = tables.size() > 1;
  // Compared without a sum, which could overflow.
  if (train > table.rows[0] || test > (own_test ? table.rows[1] : table.rows[0] - train)) {
    throw InputError(Diagnostic{tables.front().name, 0,
                                fmt::format("holds fewer rows than the {} to train and {} to test", train, test),
                                "ask for fewer samples"});
  }
  if (train + test > spec::kMaxSampleValues / table.features) {
    throw InputError(
        Diagnostic{tables.front().name, 0, fmt::format("{} rows of {} features", train + test, table.features),
                   fmt::format("at most {} values together: ask for fewer samples", spec::kMaxSampleValues)});
  }
  const std::vector<std::vector<Place>> where = places(table.rows, train, test, seed);

  std::vector<Moments> moments(table.columns.size());
  for_each_row(tables, where, [&](const Place& place, const std::vector<std::string>& fields) {
    if (!place.train) return;
    for (std::size_t c = 0; c < fields.size(); ++c) {
      if (c == table.target || !table.columns[c].number || is_missing(fields[c])) continue;
      moments[c].add(*number_in(fields[c]));
    }
  });

  Dataset data;
  data.shape = {1, 1, table.features};
  data.classes = static_cast<std::int64_t>(table.classes.size());
  data.name = std::filesystem::path(tables.front().name).filename().string();
  data.train.features = Matrix::Zero(train, table.features);
  data.train.labels.resize(static_cast<std::size_t>(train));
  data.test.features = Matrix::Zero(test, table.features);
  data.test.labels.resize(static_cast<std::size_t>(test));
  std::vector<std::pair<std::string, std::int32_t>> class_of;
  for (const std::string& name : table.classes) class_of.emplace_back(name, static_cast<std::int32_t>(class_of.size()));
  std::ranges::sort(class_of);
  for_each_row(tables, where, [&](const Place& place, const std::vector<std::string>& fields) {
    Samples& samples = place.train ? data.train : data.test;
    for (std::size_t c = 0; c < fields.size(); ++c) {
      const CsvColumns::Column& column = table.columns[c];
      const std::string& value = fields[c];
      if (c == table.target) {
        samples.labels[static_cast<std::size_t>(place.row)] =
            std::ranges::lower_bound(class_of, value, {}, &std::pair<std::string, std::int32_t>::first)->second;
      } else if (is_missing(value)) {
        continue;  // the mean of standardised numbers, or none of the words
      } else if (column.number) {
        samples.features(place.row, column.first) = moments[c].standardise(*number_in(value));
      } else {
        samples.features(place.row,
                         column.first + (std::ranges::lower_bound(column.words, value) - column.words.begin())) = 1;
      }
    }
  });
  return data;
}

spec::DataFacts inspect_csv(const spec::CsvSource& source) {
  const std::vector<CsvText> tables = read_tables(source);
  const CsvColumns table = inspect_csv(tables, source.target);
  spec::DataFacts facts;
  facts.shape = {1, 1, table.features};
  facts.classes = static_cast<std::int64_t>(table.classes.size());
  facts.test = tables.size() > 1 ? table.rows[1] : held_back(table.rows[0], source.test_share);
  facts.train = tables.size() > 1 ? table.rows[0] : table.rows[0] - *facts.test;
  return facts;
}

Dataset read_csv(const spec::CsvSource& source, std::uint64_t seed) {
  return dataset_of(read_tables(source), source.target, source.train, source.test, seed);
}

}  // namespace dadsim::models

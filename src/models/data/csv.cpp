#include "models/data/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>

#include "models/data/csv_rows.hpp"
#include "models/data/csv_tables.hpp"
#include "models/data/source_bytes.hpp"
#include "models/data/standardise.hpp"
#include "models/uniform.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

constexpr std::int64_t kMaxCsvBytes = std::int64_t{1} << 30U;

struct CsvPlace {
  bool train = false;
  std::int64_t row = -1;  ///< row among the samples; −1: not used
};

/// Returns the destination of each row: first the rows of the training tables in order, then those of the test table.
std::vector<CsvPlace> places(std::int64_t rows, std::int64_t rows_to_test, std::int64_t train, std::int64_t test,
                             std::uint64_t seed) {
  std::vector<CsvPlace> all(static_cast<std::size_t>(rows + rows_to_test));
  const auto drawn = [&](std::int64_t count, std::uint32_t pool) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    RandomStream random(seed, Purpose::held_back, pool);
    shuffle(std::span(order), random);
    return order;
  };
  std::vector<std::int64_t> order = drawn(rows, 0);
  for (std::int64_t i = 0; i < train; ++i)
    all[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = {true, i};
  std::int64_t first = 0;
  if (rows_to_test > 0) {
    order = drawn(rows_to_test, 1);
    first = rows;
  }
  for (std::int64_t i = 0; i < test; ++i) {
    all[static_cast<std::size_t>(first + order[order.size() - 1 - static_cast<std::size_t>(i)])] = {false, i};
  }
  return all;
}

/// A row that is used in the data set.
struct TakenRow {
  const CsvPlace& place;
  const std::vector<std::string>& fields;
  const std::vector<std::ptrdiff_t>& column_of;  ///< column of each field, see columns_of_fields()
  char separator;
  std::size_t table;
};

/// Calls `visit(row)` for the rows used.
template <class Visit>
void for_each_row(const CsvTables& tables, const std::vector<std::int64_t>& rows_of,
                  const std::vector<CsvPlace>& places, Visit&& visit) {
  auto place = places.begin();
  CsvRoles roles;
  for (std::size_t table = 0; table < rows_of.size(); ++table) {
    const CsvText& text = table < tables.train.size() ? tables.train[table] : tables.test.front();
    LineErrors errors(text.name);
    TableRows rows(tables, text, errors);
    if (table == 0) roles = roles_of(tables, rows.names());
    const std::vector<std::ptrdiff_t> column_of = columns_of_fields(roles, rows.names());
    for (std::int64_t row = 0; row < rows_of[table]; ++row, ++place) {
      rows.next();
      if (place->row >= 0) visit(TakenRow{*place, rows.fields(), column_of, rows.separator(), table});
    }
  }
}

/// Returns names with their indices, sorted by name.
std::vector<std::pair<std::string, std::int32_t>> numbered(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::int32_t>> numbers;
  numbers.reserve(names.size());
  for (const std::string& name : names) numbers.emplace_back(name, static_cast<std::int32_t>(numbers.size()));
  std::ranges::sort(numbers);
  return numbers;
}

std::int32_t number_of(const std::vector<std::pair<std::string, std::int32_t>>& numbers, const std::string& name) {
  return std::ranges::lower_bound(numbers, name, {}, &std::pair<std::string, std::int32_t>::first)->second;
}

std::int64_t held_back(std::int64_t rows, double share) {
  const auto count = static_cast<std::int64_t>(std::llround(static_cast<double>(rows) * share));
  return std::clamp<std::int64_t>(count, 1, std::max<std::int64_t>(1, rows - 1));
}

/// Returns the number of rows of all training tables.
std::int64_t rows_to_train(const CsvTables& tables, const CsvColumns& columns) {
  return std::accumulate(columns.rows.begin(), columns.rows.begin() + static_cast<std::ptrdiff_t>(tables.train.size()),
                         std::int64_t{0});
}

CsvTables read_tables(const spec::CsvSource& source) {
  CsvTables tables{.train = {},
                   .test = {},
                   .target = source.target,
                   .site = source.site,
                   .ignore = source.ignore,
                   .names = source.names};
  std::int64_t left = kMaxCsvBytes;
  const auto read = [&](const std::string& path) {
    CsvText table{path, SourceBytes::open(path, kCsvForm).rest(left)};
    left -= static_cast<std::int64_t>(table.content.size());
    return table;
  };
  if (!source.file.empty()) tables.train.push_back(read(source.file));
  for (const std::string& path : source.site_files) tables.train.push_back(read(path));
  left = kMaxCsvBytes;
  if (!source.test_file.empty()) tables.test.push_back(read(source.test_file));
  return tables;
}

}  // namespace

Dataset dataset_of(const CsvTables& tables, std::int64_t train, std::int64_t test, std::uint64_t seed,
                   spec::Scale scale) {
  const CsvColumns table = inspect_csv(tables);
  const bool own_test = !tables.test.empty();
  const std::int64_t rows = rows_to_train(tables, table);
  const std::string& first_name = tables.train.front().name;
  // Compares without adding, which could overflow.
  if (train > rows || test > (own_test ? table.rows.back() : rows - train)) {
    throw InputError(Diagnostic{first_name, 0,
                                fmt::format("holds fewer rows than the {} to train and {} to test", train, test),
                                "use fewer samples"});
  }
  if (train + test > spec::kMaxSampleValues / table.features) {
    throw InputError(Diagnostic{first_name, 0, fmt::format("{} rows of {} features", train + test, table.features),
                                fmt::format("use fewer samples, at most {} values together", spec::kMaxSampleValues)});
  }
  const std::vector<CsvPlace> where = places(rows, own_test ? table.rows.back() : 0, train, test, seed);

  std::vector<ColumnMoments> moments(table.columns.size());
  for_each_row(tables, table.rows, where, [&](const TakenRow& row) {
    if (!row.place.train) return;
    for (std::size_t f = 0; f < row.fields.size(); ++f) {
      if (row.column_of[f] < 0 || is_missing_field(row.fields[f])) continue;
      const auto c = static_cast<std::size_t>(row.column_of[f]);
      if (c == table.target || !table.columns[c].number) continue;
      moments[c].add(*number_of_field(row.fields[f], row.separator));
    }
  });

  Dataset data;
  data.shape = {1, 1, table.features};
  data.classes = static_cast<std::int64_t>(table.classes.size());
  data.name = std::filesystem::path(first_name).filename().string();
  if (tables.train.size() > 1) {
    data.name += " … " + std::filesystem::path(tables.train.back().name).filename().string();
  }
  data.train.features = Matrix::Zero(train, table.features);
  data.train.labels.resize(static_cast<std::size_t>(train));
  data.test.features = Matrix::Zero(test, table.features);
  data.test.labels.resize(static_cast<std::size_t>(test));
  if (!table.sites.empty()) data.train.sites.resize(static_cast<std::size_t>(train));
  const auto class_of = numbered(table.classes);
  const auto site_of = numbered(table.sites);
  for_each_row(tables, table.rows, where, [&](const TakenRow& row) {
    Samples& samples = row.place.train ? data.train : data.test;
    const auto sample = static_cast<std::size_t>(row.place.row);
    if (row.place.train && tables.train.size() > 1) samples.sites[sample] = static_cast<std::int32_t>(row.table);
    for (std::size_t f = 0; f < row.fields.size(); ++f) {
      const std::string& value = row.fields[f];
      if (row.column_of[f] == kSiteField && row.place.train) samples.sites[sample] = number_of(site_of, value);
      if (row.column_of[f] < 0) continue;
      const auto c = static_cast<std::size_t>(row.column_of[f]);
      const CsvColumns::Column& column = table.columns[c];
      if (c == table.target) {
        samples.labels[sample] = number_of(class_of, value);
      } else if (is_missing_field(value)) {
        // A missing number becomes the mean; a missing word sets none of its features.
        if (column.number) samples.features(row.place.row, column.first) = moments[c].scaled(moments[c].mean(), scale);
      } else if (column.number) {
        samples.features(row.place.row, column.first) =
            moments[c].scaled(*number_of_field(value, row.separator), scale);
      } else {
        samples.features(row.place.row,
                         column.first + (std::ranges::lower_bound(column.words, value) - column.words.begin())) = 1;
      }
    }
  });
  return data;
}

spec::DataFacts inspect_csv(const spec::CsvSource& source) {
  const CsvTables tables = read_tables(source);
  const CsvColumns table = inspect_csv(tables);
  spec::DataFacts facts;
  facts.shape = {1, 1, table.features};
  facts.classes = static_cast<std::int64_t>(table.classes.size());
  facts.sites = table.sites;
  facts.notes = table.notes;
  const std::int64_t rows = rows_to_train(tables, table);
  if (source.test_file.empty()) {
    facts.test = held_back(rows, source.test_share);
    facts.train = rows - *facts.test;
  } else {
    facts.train = rows;
    facts.test = table.rows.back();
  }
  return facts;
}

Dataset read_csv(const spec::CsvSource& source, std::uint64_t seed) {
  return dataset_of(read_tables(source), source.train, source.test, seed, source.scale);
}

}  // namespace dadsim::models

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// A table of comma-separated values in memory (RFC 4180): a line of names, then one line per sample.
struct CsvText {
  std::string name;  ///< of the file
  std::string content;
};

/// What the columns of one or two tables of the same names hold together.
struct CsvColumns {
  struct Column {
    std::string name;
    bool number = true;
    std::vector<std::string> words{};  ///< of a column of words: its different values, sorted
    std::int64_t first = 0;            ///< where its features begin: one, or one per word
  };
  std::vector<Column> columns;
  std::size_t target = 0;
  std::vector<std::string> classes;  ///< by value if all are numbers, else by letter
  std::int64_t features = 0;
  std::vector<std::int64_t> rows;  ///< of each table
};

/// Throws InputError with file and line: no such target, a wrong number of fields, bad quotes, a target that is missing
/// or takes too many values to be a class, a column of too many words, tables that do not fit each other.
CsvColumns inspect_csv(const std::vector<CsvText>& tables, const std::string& target);

/// The rows of the tables in an order drawn from `seed`: the first table's first `train` rows to train on; of the
/// second table (or, without one, of the end of the first) `test` rows to test on. Numbers are standardised by the
/// training rows, a missing one is their mean; a column of words becomes one feature per word, 1 or 0, all 0 where
/// missing.
Dataset dataset_of(const std::vector<CsvText>& tables, const std::string& target, std::int64_t train, std::int64_t test,
                   std::uint64_t seed);

spec::DataFacts inspect_csv(const spec::CsvSource& source);
Dataset read_csv(const spec::CsvSource& source, std::uint64_t seed);

}  // namespace dadsim::models

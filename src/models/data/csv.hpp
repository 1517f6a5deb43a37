#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// A table of separated values in memory (RFC 4180, with commas, semicolons, tabs or blanks): a line of names, then one
/// line per sample.
struct CsvText {
  std::string name;  ///< of the file
  std::string content;
};

/// Tables and what their columns are for.
struct CsvTables {
  std::vector<CsvText> train;  ///< more than one: a table for each site
  std::vector<CsvText> test;   ///< one; none: rows of `train` are held back
  /// Columns by name; by number from 1, or the last as "last", where none has that for a name.
  std::string target;
  std::string site{};                 ///< column of names of sites; empty: there is none
  std::vector<std::string> ignore{};  ///< columns that nothing is learned from
  bool names = true;                  ///< false: the first line is a sample, and columns are called 1, 2, 3 …
};

/// What the columns of tables of the same names hold together.
struct CsvColumns {
  struct Column {
    std::string name;
    bool number = true;
    std::vector<std::string> words{};  ///< of a column of words: its different values, sorted
    std::int64_t first = 0;            ///< where its features begin: one, or one per word
  };
  std::vector<Column> columns;  ///< without those that are ignored and that of the sites
  std::size_t target = 0;
  std::vector<std::string> classes;  ///< by value if all are numbers, else by letter
  std::vector<std::string> sites;    ///< likewise, or the names of the tables; empty: rows are of none
  std::int64_t features = 0;
  std::vector<std::int64_t> rows;  ///< of each table, that to test on last
  std::vector<std::string> notes;  ///< see spec::DataFacts
};

/// The separator is that by which the line of names holds the target: a comma before a semicolon before a tab; else the
/// most frequent of these in the first line; blanks, any number of them, where there is none. Between all but commas,
/// numbers may have a comma for their point. A first column without a name is that of numbers of rows, and ignored.
/// Throws InputError with file and line: no such target, a wrong number of fields, bad quotes, a target or a site that
/// is missing, a target that takes too many values to be a class, a column of too many words, tables that do not fit
/// each other.
CsvColumns inspect_csv(const CsvTables& tables);

/// The rows in an order drawn from `seed`: of all that there are to train on the first `train`; of those to test on
/// (or, without such a table, of the end of the others) `test` rows. Numbers are scaled by the training rows, a missing
/// one is their mean; a column of words becomes one feature per word, 1 or 0, all 0 where missing.
Dataset dataset_of(const CsvTables& tables, std::int64_t train, std::int64_t test, std::uint64_t seed,
                   spec::Scale scale = spec::Scale::standard);

spec::DataFacts inspect_csv(const spec::CsvSource& source);
Dataset read_csv(const spec::CsvSource& source, std::uint64_t seed);

}  // namespace dadsim::models

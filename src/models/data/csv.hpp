#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// A table of separated values in memory (RFC 4180, with commas, semicolons, tabs or blanks): a line of names, then one
/// line per sample.
struct CsvText {
  std::string name;  ///< file name
  std::string content;
};

/// Tables and the roles of their columns.
struct CsvTables {
  std::vector<CsvText> train;  ///< training tables; more than one: one for each site
  std::vector<CsvText> test;   ///< test table, at most one; none: rows of `train` are held back
  /// Columns are given by name; by number from 1, or as "last", unless a column has that name.
  std::string target;
  std::string site{};                 ///< column of site names; empty: none
  std::vector<std::string> ignore{};  ///< columns excluded from learning
  bool names = true;                  ///< false: the first line is a sample, and columns are named 1, 2, 3 …
};

/// Contents of the columns over all tables, which have the same names.
struct CsvColumns {
  struct Column {
    std::string name;
    bool number = true;
    std::vector<std::string> words{};  ///< distinct values of a column of words, sorted
    std::int64_t first = 0;            ///< index of its first feature: one, or one per word
  };
  std::vector<Column> columns;  ///< columns to learn from, without ignored columns and the site column
  std::size_t target = 0;
  std::vector<std::string> classes;  ///< names of the classes, in numeric order if all are numbers, otherwise
                                     ///< alphabetical
  std::vector<std::string> sites;    ///< names of the sites in the same order, or of the tables; empty: rows have no
                                     ///< sites
  std::int64_t features = 0;
  std::vector<std::int64_t> rows;  ///< rows of each table, the test table last
  std::vector<std::string> notes;  ///< see spec::DataFacts
};

/// Inspects tables. The separator is the one by which the line of names contains the target: a comma before a semicolon
/// before a tab; otherwise the most frequent of these in the first line; otherwise any number of blanks. Except with
/// commas, numbers may have a decimal comma. A first column without a name holds row numbers, and is ignored.
///
/// Throws InputError with file and line: no such target, a wrong number of fields, bad quotes, a missing target or
/// site, a target with too many values for classes, a column with too many words, tables that do not fit each other.
CsvColumns inspect_csv(const CsvTables& tables);

/// Returns the rows in an order drawn from `seed`: the first `train` training rows, and `test` test rows (without a
/// test table, from the end of the others). Numbers are scaled by the training rows, a missing one is their mean; a
/// column of words becomes one feature per word, 1 or 0, all 0 if missing.
Dataset dataset_of(const CsvTables& tables, std::int64_t train, std::int64_t test, std::uint64_t seed,
                   spec::Scale scale = spec::Scale::standard);

spec::DataFacts inspect_csv(const spec::CsvSource& source);
Dataset read_csv(const spec::CsvSource& source, std::uint64_t seed);

}  // namespace dadsim::models

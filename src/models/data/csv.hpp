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
  /// Columns are given by name. Otherwise a number counts columns from 1, and "last" is the last column.
  std::string target;
  std::string site{};                 ///< column of site names; empty: none
  std::vector<std::string> ignore{};  ///< columns that are no features
  bool names = true;                  ///< false: the first line is a sample, and columns are named 1, 2, 3 …
};

/// Contents of the columns over all tables, which have the same names.
struct CsvColumns {
  struct Column {
    std::string name;
    bool number = true;
    std::vector<std::string> words{};  ///< distinct values of a column of words, sorted
    std::int64_t first = 0;            ///< index of the column's first feature; a number has one, words have one each
  };
  std::vector<Column> columns;  ///< columns to learn from, without ignored columns and the site column
  std::size_t target = 0;
  std::vector<std::string> classes;  ///< names of the classes, in numeric order if all are numbers, otherwise
                                     ///< alphabetical
  std::vector<std::string> sites;    ///< names of the sites: those of the site column, sorted like classes, or the file
                                     ///< names of the training tables, in their order; empty: rows have no sites
  std::int64_t features = 0;
  std::vector<std::int64_t> rows;  ///< rows of each table, the test table last
  std::vector<std::string> notes;  ///< see spec::DataFacts
};

/// Inspects tables. The separator is a comma, a semicolon or a tab, in this order, if it separates the target in the
/// line of names. Otherwise it is the most frequent of these in the first line, or else any number of blanks. Numbers
/// may have a decimal comma, unless commas separate fields. A first column without a name holds row numbers, and is
/// ignored.
///
/// Throws InputError with file and line: no such target, a wrong number of fields, bad quotes, a missing target or
/// site, a target with too many values for classes, a column with too many words, tables that do not fit each other.
CsvColumns inspect_csv(const CsvTables& tables);

/// Returns the rows in an order drawn from `seed`: first `train` training rows, and `test` test rows. Without a test
/// table, these come from the end of the training tables' order. Numbers are scaled by the training rows; a missing
/// number becomes their mean. A column of words becomes one feature per word, 1 or 0; all are 0 for a missing word.
Dataset dataset_of(const CsvTables& tables, std::int64_t train, std::int64_t test, std::uint64_t seed,
                   spec::Scale scale = spec::Scale::standard);

spec::DataFacts inspect_csv(const spec::CsvSource& source);
Dataset read_csv(const spec::CsvSource& source, std::uint64_t seed);

}  // namespace dadsim::models

#pragma once

#include "scenario/elements/elements.hpp"

namespace dadsim::scenario {

inline constexpr const char* kIdxFile = "the path of an IDX file";
inline constexpr const char* kCsvFile = "the path of a CSV file";

// The sources of <data> as tables, by what they stand for.
const Table<spec::DigitsSource>& source_table(const spec::DigitsSource&);
const Table<spec::IdxSource>& source_table(const spec::IdxSource&);
const Table<spec::Cifar10Source>& source_table(const spec::Cifar10Source&);
const Table<spec::TsSource>& source_table(const spec::TsSource&);
const Table<spec::CsvSource>& source_table(const spec::CsvSource&);
const Table<spec::TextSource>& source_table(const spec::TextSource&);
const Table<spec::ShapesSource>& source_table(const spec::ShapesSource&);
const Table<spec::UtterancesSource>& source_table(const spec::UtterancesSource&);
const Table<spec::GrammarSource>& source_table(const spec::GrammarSource&);
const Table<spec::TabularSource>& source_table(const spec::TabularSource&);

}  // namespace dadsim::scenario

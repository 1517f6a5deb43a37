#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "study/sweep/results.hpp"
#include "study/sweep/results_reader.hpp"

namespace dadsim::study {

// What a file of results says, taken only where all of it is as it was written: SQLite's own check of the structure,
// the tables as this program makes them, and the checksum of every row.

/// Throws InputError where the file is damaged: what is lost, and how to go on.
SweepResults read_results(Database& database);
/// The same words, of what a ResultsReader has found.
void throw_if_damaged(const Database& database, const SweepDamage& damage);
/// What is whole, and what is not. Throws InputError where it cannot even be said of what sweep the file is.
SweepResults read_what_is_whole(Database& database, SweepDamage& damage);

/// Of the row of the sweep with its dimensions, of a point with its values, of a trial with its runs.
std::int64_t checksum_of(const SweepIdentity& identity, const std::vector<SweepColumn>& columns);
std::int64_t checksum_of(const SweepResults::Point& point);
std::int64_t checksum_of(const SweepTrial& trial, const std::string& message, const std::vector<SweepRun>& runs);

std::int64_t checksum_of_setting(const std::string& what, const std::string& data, const std::string& words);

/// "3, 7 … 12, 40 and 17 more".
std::string ranges_in_words(const std::vector<std::int64_t>& numbers);

}  // namespace dadsim::study

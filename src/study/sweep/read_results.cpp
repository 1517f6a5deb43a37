#include "study/sweep/read_results.hpp"

#include <fmt/format.h>

#include <utility>

#include "study/sweep/run_columns.hpp"
#include "support/diagnostics.hpp"
#include "support/shell_word.hpp"

namespace dadsim::study {
namespace {

[[noreturn]] void refuse(const Database& database, const std::string& what, const std::string& remedy) {
  throw InputError(Diagnostic{database.path(), 0, what, remedy});
}

}  // namespace

std::int64_t checksum_of(const SweepIdentity& identity, const std::vector<SweepColumn>& columns) {
  RowChecksum checksum;
  checksum << identity.version << identity.build << static_cast<std::int64_t>(identity.hash) << identity.scenario_file
           << identity.scenario_name << identity.scenario << identity.resolved << identity.points << identity.seeds
           << identity.target_accuracy << identity.shard << identity.shards << identity.currency;
  for (const SweepColumn& column : columns) checksum << column.axis << column.path;
  return checksum.value();
}

std::int64_t checksum_of(const SweepResults::Point& point) {
  RowChecksum checksum;
  checksum << point.id << point.hash;
  for (const std::string& value : point.values) checksum << value;
  return checksum.value();
}

std::int64_t checksum_of_setting(const std::string& what, const std::string& data, const std::string& words) {
  return (RowChecksum() << what << data << words).value();
}

std::int64_t checksum_of(const SweepTrial& trial, const std::string& message, const std::vector<SweepRun>& runs) {
  RowChecksum checksum;
  checksum << trial.point << trial.seed << message;
  for (const SweepRun& run : runs) add(checksum, run);
  return checksum.value();
}

SweepResults read_what_is_whole(Database& database, SweepDamage& damage) {
  ResultsReader reader(database, damage);
  SweepResults results;
  results.identity = reader.identity();
  results.columns = reader.columns();
  results.settings = reader.settings();
  reader.each_point([&](SweepResults::Point&& point) { results.points.push_back(std::move(point)); });
  reader.each_trial([&](TrialResults&& trial) {
    if (!trial.message.empty()) results.failed.push_back({trial.trial, std::move(trial.message)});
    for (SweepRun& run : trial.runs) results.runs.push_back(std::move(run));
  });
  return results;
}

SweepResults read_results(Database& database) {
  SweepDamage damage;
  SweepResults results = read_what_is_whole(database, damage);
  throw_if_damaged(database, damage);
  return results;
}

void throw_if_damaged(const Database& database, const SweepDamage& damage) {
  if (!damage.any()) return;
  const std::vector<std::int64_t> points(damage.points.begin(), damage.points.end());
  std::string what = damage.results == 0 ? "all its results can still be read"
                                         : fmt::format("{} of its results {} lost, of point{} {}", damage.results,
                                                       damage.results == 1 ? "is" : "are",
                                                       points.size() == 1 ? "" : "s", ranges_in_words(points));
  if (!damage.structure.empty()) what += fmt::format(" ({})", damage.structure);
  refuse(database, "is damaged: " + what,
         fmt::format(
             "a copy of it, or dadsim merge NEW.sqlite {} --salvage, which keeps what is whole; dadsim sweep --out "
             "NEW.sqlite goes on with that",
             shell_word(database.path())));
}

std::string ranges_in_words(const std::vector<std::int64_t>& numbers) {
  constexpr int kMostRanges = 8;
  std::string text;
  int ranges = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (++ranges > kMostRanges) return text + fmt::format(" and {} more", numbers.size() - i);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (end > i) text += fmt::format("{}{}", end == i + 1 ? ", " : " … ", numbers[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace dadsim::study

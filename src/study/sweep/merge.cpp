#include "study/sweep/merge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "study/store/records.hpp"
#include "support/atomic_file.hpp"
#include "support/interrupt.hpp"
#include "support/output_error.hpp"

namespace dadsim::study {
namespace {

/// A temporary file that is removed unless it is renamed.
class Beside {
 public:
  explicit Beside(const std::string& path) : path_(fmt::format("{}.{}.tmp", path, ::getpid())) {}
  ~Beside() { std::remove(path_.c_str()); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  const std::string& path() const { return path_; }
  void rename_to(const std::string& path) const {
    if (std::rename(path_.c_str(), path.c_str()) != 0)
      throw OutputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
  }

 private:
  std::string path_;
};

/// Returns the first column in which `file` differs for a trial.
std::string differing_column_in(Database& file, const TrialResults& other) {
  SqlStatement trial(file, "SELECT words FROM trial WHERE point = ? AND seed = ?");
  trial << other.trial.point << other.trial.seed;
  trial.step();
  if (trial.text(0).empty() != other.message.empty()) return "status";
  if (trial.text(0) != other.message) return "words";
  std::vector<SweepRun> runs;
  SqlStatement select(file, select_runs_of_trial());
  select << other.trial.point << other.trial.seed;
  while (select.step()) runs.push_back(run_of_row(select));
  if (runs.size() != other.runs.size()) return "number of runs";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (const char* column = differing_column(runs[i], other.runs[i])) return column;
  }
  return "checksum";
}

void tell_what_is_lost(const std::string& file, const SweepDamage& damage, std::vector<Diagnostic>& lost) {
  if (damage.results > 0) {
    lost.push_back({file, 0,
                    fmt::format("is damaged: results of points {} are lost",
                                ranges_in_words({damage.points.begin(), damage.points.end()})),
                    "run the sweep again, which simulates them anew"});
  } else if (damage.any()) {
    lost.push_back({file, 0, "is damaged: " + damage.structure, ""});
  }
}

/// Merges files into one database, trial by trial, so that memory use does not grow with the files.
class Merging {
 public:
  Merging(Database& out, const MergeOptions& options, MergedSweep& merged)
      : out_(out), options_(options), merged_(merged) {}

  void add(const std::string& file) {
    if (interrupted().load()) throw Cancelled();
    Database database(file, Database::Access::read);
    if (!has_tables(database, true))
      throw InputError(Diagnostic{file, 0, "holds no results of a sweep", "name the file of a sweep"});
    ResultsReader reader(database);
    if (!belongs(file, reader)) return;
    settings_.insert(reader.settings().begin(), reader.settings().end());
    Database::Transaction transaction(out_);
    copy_points(file, reader);
    copy_trials(reader, out_, [&](const TrialResults& trial) {
      throw InputError(Diagnostic{file, 0,
                                  fmt::format("differs from {} at point {}: {} is not the same",
                                              files_ == 1 ? fmt::format("'{}'", first_) : "the files before it",
                                              trial.trial.point, differing_column_in(out_, trial)),
                                  "merge files of one build of dadsim; other instruction sets round differently"});
    });
    transaction.commit();
    if (!options_.salvage) reader.throw_if_damaged();
    tell_what_is_lost(file, reader.damage(), merged_.lost);
    ++files_;
  }

  /// Writes the common parts of all files, after the last one.
  void finish() {
    if (!errors_.empty()) throw InputError(std::move(errors_));
    merged_.identity.shard = merged_.identity.shards = 1;
    write_identity(out_, merged_.identity, columns_);
    write_settings(out_, settings_);
  }

 private:
  /// Returns whether a file belongs to the same sweep as the previous ones, and to the same build unless another one is
  /// permitted. Reports the difference.
  bool belongs(const std::string& file, const ResultsReader& reader) {
    const SweepIdentity& identity = reader.identity();
    if (first_.empty()) {
      first_ = file;
      merged_.identity = identity;
      columns_ = reader.columns();
    } else if (const std::string why = difference(identity, merged_.identity); !why.empty()) {
      errors_.push_back({file, 0, why, fmt::format("merge files of the same sweep as '{}'", first_)});
      return false;
    } else if (reader.columns() != columns_) {
      errors_.push_back({file, 0, "belongs to another sweep: its axes differ",
                         fmt::format("merge files of the same sweep as '{}'", first_)});
      return false;
    }
    if (const std::string why = build_difference(identity, merged_.identity); !why.empty()) {
      if (!options_.any_build) {
        errors_.push_back(
            {file, 0, why, fmt::format("merge files of the same build as '{}', or add --any-build", first_)});
        return false;
      }
      merged_.identity.build = builds_of(merged_.identity, identity);
    }
    return true;
  }

  void copy_points(const std::string& file, ResultsReader& reader) {
    SqlStatement there(out_, "SELECT hash, checksum FROM point WHERE id = ?");
    PointWriter writer(out_);
    reader.each_point([&](SweepResults::Point&& point) {
      there << point.id;
      if (!there.step()) return writer.write(point);
      const std::string hash = there.text(0);
      const bool same = there.integer(1) == checksum_of(point);
      while (there.step()) {
      }
      if (same) return;
      throw InputError(Diagnostic{file, 0,
                                  fmt::format("differs from the files before it at point {}: {} is not the same",
                                              point.id, hash == point.hash ? "value" : "hash"),
                                  "merge files of the same sweep"});
    });
  }

  Database& out_;
  const MergeOptions& options_;
  MergedSweep& merged_;
  std::string first_;
  std::size_t files_ = 0;  ///< number of merged files
  std::vector<SweepColumn> columns_;
  SweepSettings settings_;
  std::vector<Diagnostic> errors_;
};

/// Counts the points with all their trials, and lists those that lack some.
void count_what_is_there(Database& database, MergedSweep& merged) {
  merged.failed = database.number("SELECT COUNT(*) FROM trial WHERE status = 'failed'").value_or(0);
  SqlStatement select(database, "SELECT point, COUNT(*) FROM trial GROUP BY point ORDER BY point");
  std::int64_t next = 1;
  while (select.step()) {
    const std::int64_t point = select.integer(0);
    for (; next < point; ++next) merged.missing.push_back(next);
    next = point + 1;
    if (select.integer(1) == merged.identity.seeds) {
      ++merged.points;
    } else {
      merged.missing.push_back(point);
    }
  }
  for (; next <= merged.identity.points; ++next) merged.missing.push_back(next);
}

/// Copies the readable records; damaged ones will be computed again. `weights`: also weights of event-driven runs, for
/// open trials.
void copy_cache(const std::string& file, Database& to, bool weights) {
  Database from(file, Database::Access::read);
  try {
    if (from.number("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'records'") > 0)
      return copy_records(from, to, weights);
    SqlStatement select(from, "SELECT key, run FROM learning ORDER BY key");  // file of the previous format version
    RecordWriter writer(to);
    while (select.step()) writer.write(Records::kLearned, select.text(0), select.bytes(1));
  } catch (const InputError&) {
  }
}

}  // namespace

void copy_trials(ResultsReader& from, Database& to, const std::function<void(const TrialResults&)>& differs) {
  SqlStatement there(to, "SELECT checksum FROM trial WHERE point = ? AND seed = ?");
  TrialWriter writer(to);
  from.each_trial([&](TrialResults&& trial) {
    if (interrupted().load()) throw Cancelled();
    there << trial.trial.point << trial.trial.seed;
    if (!there.step()) return writer.write(trial.trial, trial.runs, trial.message);
    const bool same = there.integer(0) == checksum_of(trial.trial, trial.message, trial.runs);
    while (there.step()) {
    }
    if (!same) differs(trial);
  });
}

MergedSweep merge_sweeps(const std::string& out, const std::vector<std::string>& files, const MergeOptions& options) {
  check_writable(out);
  std::error_code error;
  if (std::filesystem::exists(out, error))
    throw OutputError(fmt::format("'{}' exists; name a new file, or remove it", out));

  MergedSweep merged;
  const Beside beside(out);
  {
    Database database(beside.path(), Database::Access::scratch);
    create_tables(database);
    Merging merging(database, options, merged);
    for (const std::string& file : files) merging.add(file);
    merging.finish();
    count_what_is_there(database, merged);
    for (const std::string& file : files) copy_cache(file, database, !merged.missing.empty());
    database.close();
  }
  beside.rename_to(out);
  // Learned records are copied in the order of the files.
  if (files.size() > 1) put_in_order(out);
  return merged;
}

void put_in_order(const std::string& file) {
  const Beside ordered(file);
  merge_sweeps(ordered.path(), {file});
  ordered.rename_to(file);
}

}  // namespace dadsim::study

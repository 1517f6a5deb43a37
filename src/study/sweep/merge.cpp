#include "study/sweep/merge.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "study/sweep/history_store.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/run_columns.hpp"
#include "study/sweep/store.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/output_error.hpp"

namespace dadsim::study {
namespace {

/// A file that goes away unless it has been renamed.
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

/// What one file has told of a trial.
struct TrialOrigin {
  std::string file, message;
  std::vector<SweepRun> runs;
};

std::map<SweepTrial, TrialOrigin> by_trial(const std::string& file, const SweepResults& results) {
  std::map<SweepTrial, TrialOrigin> trials;
  for (const SweepRun& run : results.runs) trials[run.trial].runs.push_back(run);
  for (const FailedTrial& failed : results.failed) trials[failed.trial].message = failed.message;
  for (auto& [trial, origin] : trials) origin.file = file;
  return trials;
}

void check_agree(const SweepTrial& trial, const TrialOrigin& a, const TrialOrigin& b) {
  const auto refuse = [&](const std::string& column) {
    throw InputError(Diagnostic{
        b.file, 0,
        fmt::format("has other results than '{}' for point {}: {} is not the same", a.file, trial.point, column),
        "all from the same build of dadsim; an instruction set of its own rounds differently"});
  };
  if (a.message.empty() != b.message.empty()) refuse("status");
  if (a.message != b.message) refuse("words");
  if (a.runs.size() != b.runs.size()) refuse("number of runs");
  for (std::size_t i = 0; i < a.runs.size(); ++i) {
    if (const char* column = differing_column(a.runs[i], b.runs[i])) refuse(column);
  }
}

void check_agree(const std::string& file, const SweepResults::Point& a, const SweepResults::Point& b) {
  if (a.hash == b.hash && a.values == b.values) return;
  throw InputError(Diagnostic{file, 0,
                              fmt::format("has another point {} than the files before it: {} is not the same", b.id,
                                          a.hash == b.hash ? "value" : "hash"),
                              "files of the same sweep"});
}

/// All results of a file, or with `salvage` those that are whole.
SweepResults read_file_of(const std::string& file, bool salvage, std::vector<Diagnostic>& lost) {
  Database database(file, Database::Access::read);
  if (!has_tables(database)) throw InputError(Diagnostic{file, 0, "holds no results of a sweep", "the file of one"});
  if (!salvage) return read_results(database);
  SweepDamage damage;
  SweepResults results = read_what_is_whole(database, damage);
  if (damage.results > 0) {
    lost.push_back({file, 0,
                    fmt::format("is damaged: lost are results of points {}",
                                ranges_in_words({damage.points.begin(), damage.points.end()})),
                    "start the sweep again: it simulates them anew"});
  } else if (damage.any()) {
    lost.push_back({file, 0, "is damaged: " + damage.structure, ""});
  }
  return results;
}

/// As far as it can be read: the rest is learned again. `weights`: of event-driven runs, for what is still to be done.
void copy_cache(const std::string& file, Database& to, bool weights) {
  Database from(file, Database::Access::read);
  const auto as_far_as_it_can_be_read = [](auto&& copy) {
    try {
      copy();
    } catch (const InputError&) {
    }
  };
  as_far_as_it_can_be_read([&] { copy_learning(from, to); });
  as_far_as_it_can_be_read([&] { copy_history(from, to, weights); });
}

}  // namespace

MergedSweep merge_sweeps(const std::string& out, const std::vector<std::string>& files, const MergeOptions& options) {
  check_writable(out);
  std::error_code error;
  if (std::filesystem::exists(out, error))
    throw OutputError(fmt::format("'{}' is there already; name a new file, or remove it", out));

  MergedSweep merged;
  std::map<SweepTrial, TrialOrigin> trials;
  std::map<std::int64_t, SweepResults::Point> points;
  std::vector<SweepColumn> columns;
  SweepSettings settings;
  std::vector<Diagnostic> errors;
  for (const std::string& file : files) {
    if (interrupted().load()) throw Cancelled();
    const SweepResults results = read_file_of(file, options.salvage, merged.lost);
    if (file == files.front()) {
      merged.identity = results.identity;
      columns = results.columns;
    } else if (const std::string why = difference(results.identity, merged.identity); !why.empty()) {
      errors.push_back({file, 0, why, fmt::format("files of the same sweep as '{}'", files.front())});
      continue;
    } else if (results.columns != columns) {
      errors.push_back({file, 0, "is of another sweep: its axes are not the same",
                        fmt::format("files of the same sweep as '{}'", files.front())});
      continue;
    }
    if (const std::string why = build_difference(results.identity, merged.identity); !why.empty()) {
      if (!options.any_build) {
        errors.push_back({file, 0, why, fmt::format("files of the same build as '{}', or --any-build", files.front())});
        continue;
      }
      merged.identity.build = builds_of(merged.identity, results.identity);
    }
    settings.insert(results.settings.begin(), results.settings.end());
    for (const SweepResults::Point& point : results.points) {
      const auto [known, is_new] = points.emplace(point.id, point);
      if (!is_new) check_agree(file, known->second, point);
    }
    for (auto& [trial, origin] : by_trial(file, results)) {
      const auto [known, is_new] = trials.try_emplace(trial, std::move(origin));  // moves only what is new
      if (!is_new) check_agree(trial, known->second, origin);
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  merged.identity.shard = merged.identity.shards = 1;

  const Beside beside(out);
  {
    Database database(beside.path(), Database::Access::scratch);
    create_tables(database);
    write_identity(database, merged.identity, columns);
    write_settings(database, settings);
    for (const auto& [id, point] : points) write_point(database, point);
    for (const auto& [trial, origin] : trials) {
      if (interrupted().load()) throw Cancelled();
      write_trial(database, trial, origin.runs, origin.message);
      if (!origin.message.empty()) ++merged.failed;
    }
    const bool complete = trials.size() == static_cast<std::size_t>(merged.identity.points) *
                                               static_cast<std::size_t>(merged.identity.seeds);
    for (const std::string& file : files) copy_cache(file, database, !complete);
    database.close();
  }
  beside.rename_to(out);
  // What was learned lies there file by file.
  if (files.size() > 1) put_in_order(out);

  for (std::int64_t point = 1; point <= merged.identity.points; ++point) {
    bool complete = true;
    for (std::int64_t seed = 0; seed < merged.identity.seeds; ++seed)
      complete = complete && trials.contains({point, seed});
    if (complete) {
      ++merged.points;
    } else {
      merged.missing.push_back(point);
    }
  }
  return merged;
}

void put_in_order(const std::string& file) {
  const std::string ordered = fmt::format("{}.{}.ordered", file, ::getpid());
  merge_sweeps(ordered, {file});
  if (std::rename(ordered.c_str(), file.c_str()) != 0) {
    const int reason = errno;
    std::remove(ordered.c_str());
    throw OutputError(fmt::format("cannot write '{}': {}", file, std::strerror(reason)));
  }
}

}  // namespace dadsim::study

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
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
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

bool same(double a, double b) { return a == b || (a != a && b != b); }

bool same(const SweepRun& a, const SweepRun& b) {
  return a.label == b.label && a.algorithm == b.algorithm && a.steps == b.steps &&
         a.target_reached == b.target_reached && same(a.final_accuracy, b.final_accuracy) &&
         same(a.target_step, b.target_step) && same(a.target_seconds, b.target_seconds) &&
         same(a.step_seconds, b.step_seconds) && same(a.total_seconds, b.total_seconds) &&
         same(a.total_bytes, b.total_bytes);
}

/// What one file has told of a trial.
struct Told {
  std::string file, message;
  std::vector<SweepRun> runs;
};

std::map<SweepTrial, Told> by_trial(const std::string& file, const SweepResults& results) {
  std::map<SweepTrial, Told> trials;
  for (const SweepRun& run : results.runs) trials[run.trial].runs.push_back(run);
  for (const FailedTrial& failed : results.failed) trials[failed.trial].message = failed.message;
  for (auto& [trial, told] : trials) told.file = file;
  return trials;
}

void check_agree(const SweepTrial& trial, const Told& a, const Told& b) {
  bool agree = a.message == b.message && a.runs.size() == b.runs.size();
  for (std::size_t i = 0; agree && i < a.runs.size(); ++i) agree = same(a.runs[i], b.runs[i]);
  if (agree) return;
  throw InputError(Diagnostic{b.file, 0, fmt::format("has other results than '{}' for point {}", a.file, trial.point),
                              "all from the same build of dadsim; an instruction set of its own rounds differently"});
}

void copy_learning(Database& from, Database& to) {
  Statement select(from, "SELECT key, run FROM learning");
  Statement insert(to, "INSERT OR IGNORE INTO learning VALUES(?,?)");
  while (select.step()) {
    insert << select.text(0);
    insert.blob(select.bytes(1)).run();
  }
}

}  // namespace

MergedSweep merge_sweeps(const std::string& out, const std::vector<std::string>& files) {
  check_writable(out);
  std::error_code error;
  if (std::filesystem::exists(out, error))
    throw OutputError(fmt::format("'{}' is there already; name a new file, or remove it", out));

  MergedSweep merged;
  std::map<SweepTrial, Told> trials;
  std::map<std::int64_t, SweepResults::Point> points;
  std::vector<SweepColumn> columns;
  std::vector<Diagnostic> errors;
  for (const std::string& file : files) {
    Database database(file, Database::Access::read);
    if (!has_tables(database)) throw InputError(Diagnostic{file, 0, "holds no results of a sweep", "the file of one"});
    const SweepResults results = read_results(database);
    if (file == files.front()) {
      merged.identity = results.identity;
      columns = results.columns;
    } else if (const std::string why = difference(results.identity, merged.identity); !why.empty()) {
      errors.push_back({file, 0, why, fmt::format("files of the same sweep as '{}'", files.front())});
      continue;
    }
    for (const SweepResults::Point& point : results.points) points.emplace(point.id, point);
    for (auto& [trial, told] : by_trial(file, results)) {
      const auto [known, is_new] = trials.try_emplace(trial, std::move(told));  // moves only what is new
      if (!is_new) check_agree(trial, known->second, told);
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  merged.identity.shard = merged.identity.shards = 1;

  const Beside beside(out);
  {
    Database database(beside.path(), Database::Access::scratch);
    create_tables(database);
    write_identity(database, merged.identity);
    for (std::size_t i = 0; i < columns.size(); ++i)
      write_column(database, columns[i], static_cast<std::int64_t>(i) + 1);
    for (const auto& [id, point] : points) write_point(database, point);
    for (const auto& [trial, told] : trials) {
      write_trial(database, trial, told.runs, told.message);
      if (!told.message.empty()) ++merged.failed;
    }
    for (const std::string& file : files) {
      Database from(file, Database::Access::read);
      copy_learning(from, database);
      copy_history(from, database);
    }
  }
  beside.rename_to(out);

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

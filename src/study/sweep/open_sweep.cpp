#include "study/sweep/open_sweep.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "scenario/document/print.hpp"
#include "study/sweep/read_results.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/version.hpp"

namespace dadsim::study {
namespace {

/// Writes the missing points of the shard.
void write_points(Database& database, const SweepPoints& sweep, const Shard& shard) {
  PointWriter writer(database);
  for (std::size_t i = 0; i < sweep.points().size(); ++i) {
    const auto id = static_cast<std::int64_t>(i) + 1;
    if (!shard.holds(id)) continue;
    writer.write({id, fmt::format("{:016x}", sweep.points()[i].hash), sweep.values(i)});
  }
}

/// Writes the results of infeasible points, which are known from the beginning.
void write_infeasible(Database& database, const SweepPoints& sweep, const Shard& shard) {
  for (std::size_t i = 0; i < sweep.points().size(); ++i) {
    const auto id = static_cast<std::int64_t>(i) + 1;
    if (sweep.points()[i].infeasible.empty() || !shard.holds(id)) continue;
    for (std::int64_t seed = 0; seed < sweep.seeds(); ++seed) {
      SqlStatement there(database, "SELECT 1 FROM trial WHERE point = ? AND seed = ?");
      there << id << seed;
      if (!there.step()) write_trial(database, {id, seed}, {}, sweep.points()[i].infeasible);
    }
  }
}

std::vector<SweepColumn> columns_of(const SweepPoints& sweep) {
  std::vector<SweepColumn> columns;
  std::int64_t axis = 0;
  for (const spec::SweepAxis& paths : sweep.specification().axes) {
    ++axis;
    for (const spec::VariedPath& varied : paths) columns.push_back({axis, varied.path});
  }
  return columns;
}

void fill_in(Database& database, const SweepPoints& sweep, const Shard& shard) {
  Database::Transaction transaction(database);
  create_tables(database);
  write_identity(database, identity_of(sweep, shard), columns_of(sweep));
  write_points(database, sweep, shard);
  transaction.commit();
}

bool exists(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

/// Returns the identity in the file of a sweep, without changing other files; none if the file has none yet. Throws
/// InputError.
std::optional<SweepIdentity> identity_in(const std::string& path) {
  std::error_code none;
  const bool log = exists(path + "-wal") || exists(path + "-journal");
  // SQLite would treat files with these names next to a new file as its own, and remove them.
  for (const char* beside : {"-wal", "-journal", "-shm"}) {
    if (exists(path) || !exists(path + beside)) continue;
    throw InputError(Diagnostic{path + beside, 0, fmt::format("exists without '{}'", path),
                                "move it, or name another file with --out"});
  }
  if (!exists(path) || (std::filesystem::file_size(path, none) == 0 && !none && !log)) return std::nullopt;
  Database there(path, log ? Database::Access::read : Database::Access::look);
  if (!has_tables(there)) return std::nullopt;
  return whole_identity(there);
}

}  // namespace

SweepIdentity identity_of(const SweepPoints& sweep, const Shard& shard) {
  const scenario::Scenario& base = sweep.base();
  return {.version = kVersion,
          .build = build(),
          .hash = sweep.hash(),
          .scenario_file = base.file,
          .scenario_name = base.name,
          .scenario = sweep.text(),
          .resolved = print_scenario(base),
          .points = static_cast<std::int64_t>(sweep.points().size()),
          .seeds = sweep.seeds(),
          .target_accuracy = base.training.target_accuracy,
          .shard = shard.number,
          .shards = shard.count,
          .currency = base.costs ? base.costs->currency : ""};
}

std::unique_ptr<Database> open_sweep(const std::string& path, const SweepPoints& sweep, const Shard& shard,
                                     bool any_build) {
  const std::optional<SweepIdentity> there = identity_in(path);
  SweepIdentity asked = identity_of(sweep, shard);
  if (!there) {
    auto database = std::make_unique<Database>(path, Database::Access::write);
    if (!has_tables(*database)) fill_in(*database, sweep, shard);
    write_infeasible(*database, sweep, shard);
    return database;
  }
  if (const std::string why = difference(*there, asked); !why.empty())
    throw InputError(Diagnostic{path, 0, why, "name another file with --out, or remove this one to start anew"});
  if (there->shard != asked.shard || there->shards != asked.shards) {
    throw InputError(Diagnostic{
        path, 0, fmt::format("holds shard {}/{}, not {}/{}", there->shard, there->shards, asked.shard, asked.shards),
        "use a file for each shard"});
  }
  const std::string why = build_difference(*there, asked);
  if (!why.empty() && !any_build) {
    throw InputError(Diagnostic{path, 0, why,
                                "use the build that made it, or --any-build if both give the same results; "
                                "or another file with --out"});
  }
  auto database = std::make_unique<Database>(path, Database::Access::write);
  // A file merged from only some shards lacks the other shards' points.
  Database::Transaction transaction(*database);
  if (!why.empty()) {
    asked = *there;
    asked.build = builds_of(*there, identity_of(sweep, shard));
    write_identity(*database, asked, columns_of(sweep));
  }
  const std::int64_t held = (asked.points - shard.number) / shard.count + 1;
  if (database->number("SELECT COUNT(*) FROM point") < held) write_points(*database, sweep, shard);
  transaction.commit();
  write_infeasible(*database, sweep, shard);
  return database;
}

/// Opens a file whose learning is reused.
std::unique_ptr<Database> open_learned(const std::string& path, bool any_build) {
  auto database = std::make_unique<Database>(path, Database::Access::read);
  if (!has_tables(*database))
    throw InputError(Diagnostic{path, 0, "holds no results of a sweep", "name the file of a sweep"});
  SweepIdentity own;
  own.build = build();
  const std::string why = build_difference(whole_identity(*database), own);
  if (!why.empty() && !any_build)
    throw InputError(Diagnostic{path, 0, why, "use the build that made it, or add --any-build"});
  database->trust();
  return database;
}

}  // namespace dadsim::study

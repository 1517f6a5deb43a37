#include "study/sweep/piece.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "scenario/document/load.hpp"
#include "study/setting/catalog.hpp"
#include "study/sweep/merge.hpp"
#include "study/sweep/open_sweep.hpp"
#include "study/sweep/remembering_catalog.hpp"
#include "study/sweep/run.hpp"
#include "study/sweep/store.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/version.hpp"
#include "support/wire.hpp"

namespace dadsim::study {

void fields(auto& bytes, of<SweepTrial> auto& trial) { bytes(trial.point, trial.seed); }
void fields(auto& bytes, of<PieceTrial> auto& trial) {
  bytes(trial.trial, trial.hash, trial.problem, trial.overrides, trial.first_seed);
}
void fields(auto& bytes, of<SweepIdentity> auto& sweep) {
  bytes(sweep.version, sweep.build, sweep.hash, sweep.scenario_name, sweep.points, sweep.seeds, sweep.target_accuracy,
        sweep.currency);
}
void fields(auto& bytes, of<Piece> auto& piece) {
  bytes(piece.sweep, piece.overrides, piece.seeded, piece.learn_only, piece.trials);
}

namespace {

[[noreturn]] void refuse(const std::string& from, const std::string& what, const char* remedy) {
  throw InputError(Diagnostic{from, 0, what, remedy});
}

/// Loads the trials of a piece, and looks whether they are what the sweep means by them.
class PieceScenarios {
 public:
  PieceScenarios(const std::string& path, const Piece& piece)
      : source_(path), piece_(piece), catalog_(remembering(make_catalog())) {
    for (const PieceTrial& one : piece.trials) by_point_[one.trial.point] = &one;
  }

  scenario::Scenario load(std::size_t point, std::int64_t seed) const {
    const PieceTrial& trial = *by_point_.at(static_cast<std::int64_t>(point) + 1);
    scenario::Scenario scenario = load_seed(trial, seed);
    const std::uint64_t hash = seed == 0 ? scenario.hash : load_seed(trial, 0).hash;
    if (hash == trial.hash) return scenario;
    refuse(source_.path(), fmt::format("point {} is another scenario here than where the sweep began", point + 1),
           "the same files of platforms and data on all machines");
  }

 private:
  scenario::Scenario load_seed(const PieceTrial& trial, std::int64_t seed) const {
    std::vector<std::string> overrides = piece_.overrides;
    overrides.insert(overrides.end(), trial.overrides.begin(), trial.overrides.end());
    if (piece_.seeded) overrides.push_back(fmt::format("seed={}", trial.first_seed + static_cast<std::uint64_t>(seed)));
    return source_.load_point(overrides, catalog_);
  }

  scenario::ScenarioSource source_;
  const Piece& piece_;
  scenario::Catalog catalog_;
  std::map<std::int64_t, const PieceTrial*> by_point_;
};

}  // namespace

std::string to_bytes(const Piece& piece) {
  WireWriter wire;
  wire << piece;
  return wire.bytes();
}

Piece piece_from_bytes(std::string_view bytes) {
  constexpr const char* kRemedy = "what the same build of dadsim asked for";
  try {
    WireReader wire(bytes);
    Piece piece;
    wire >> piece;
    if (piece.trials.empty()) throw std::out_of_range("no trials");
    return piece;
  } catch (const std::out_of_range& error) {
    refuse("a piece of a sweep", fmt::format("is damaged, or of another build: {}", error.what()), kRemedy);
  }
}

Piece piece_of(const SweepPoints& sweep, const SweepIdentity& identity, std::span<const SweepTrial> trials,
               bool learn_only) {
  Piece piece{
      .sweep = identity, .overrides = sweep.base_overrides(), .seeded = sweep.seeds() > 1, .learn_only = learn_only};
  for (const SweepTrial& trial : trials) {
    const auto point = static_cast<std::size_t>(trial.point) - 1;
    std::vector<std::string> overrides = sweep.overrides(point, 0);
    if (piece.seeded) overrides.pop_back();  // the seed
    piece.trials.push_back({.trial = trial,
                            .hash = sweep.points()[point].hash,
                            .problem = sweep.points()[point].problem,
                            .overrides = std::move(overrides),
                            .first_seed = sweep.seed_of(point, 0)});
  }
  return piece;
}

std::string do_piece(const std::string& path, const Piece& piece, std::string_view learned, std::size_t threads) {
  const std::unique_ptr<Database> before =
      learned.empty() ? nullptr : std::make_unique<Database>("what was learned before", learned);
  Database results("the results of a piece", Database::Access::memory);
  create_tables(results);
  SweepIdentity identity = piece.sweep;
  identity.version = kVersion;
  identity.build = build();
  write_identity(results, identity, {});
  std::vector<SweepBatch> batches;
  std::optional<std::pair<std::uint64_t, std::int64_t>> last;  // problem and seed
  PointWriter points(results);
  for (const PieceTrial& one : piece.trials) {
    points.write({one.trial.point, fmt::format("{:016x}", one.hash), {}});
    const std::pair<std::uint64_t, std::int64_t> learns{one.problem, one.trial.seed};
    if (last != learns) batches.push_back({.seed = one.trial.seed, .points = {}});
    last = learns;
    batches.back().points.push_back(static_cast<std::size_t>(one.trial.point) - 1);
  }
  // Points of other pieces share what event-driven runs learned here before.
  static const auto memory = std::make_shared<MemoryHistoryStore>(1e9);
  const PieceScenarios scenarios(path, piece);
  run_batches([&](std::size_t point, std::int64_t seed) { return scenarios.load(point, seed); }, batches, results,
              before.get(),
              {.threads = threads, .learn_only = piece.learn_only, .keep_weights = false, .memory = memory});
  return results.bytes();
}

void take_piece(Database& file, const SweepIdentity& sweep, std::string_view bytes, const std::string& from) {
  Database piece(from, bytes);
  if (!has_tables(piece)) refuse(from, "holds no results of a sweep", "what a piece of one gave");
  const SweepIdentity identity = whole_identity(piece);
  if (const std::string why = build_difference(identity, sweep); !why.empty())
    refuse(from, why, "the same build of dadsim on all machines");
  if (const std::string why = difference(identity, sweep); !why.empty()) refuse(from, why, "a piece of this sweep");
  SweepDamage none;
  ResultsReader reader(piece, none);
  write_settings(file, reader.settings());
  Database::Transaction together(file);  // a wait for the disk, at most, for all of them
  reader.each_point([](SweepResults::Point&&) {});
  copy_trials(reader, file, [&](const TrialResults& trial) {
    refuse(from, fmt::format("has other results for point {} than those that are there", trial.trial.point),
           "machines whose processors round alike: DADSIM_KERNELS=portable on all of them");
  });
  copy_records(piece, file, false);
  together.commit();
}

}  // namespace dadsim::study

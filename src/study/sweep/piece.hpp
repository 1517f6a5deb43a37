#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/sweep/database.hpp"
#include "study/sweep/results.hpp"
#include "study/sweep/sweep_points.hpp"

namespace dadsim::study {

/// A trial as a process needs it that has not read the whole sweep.
struct PieceTrial {
  SweepTrial trial;
  std::uint64_t hash = 0;              ///< of the scenario of its point, with the first seed
  std::uint64_t problem = 0;           ///< which of the sweep's learning problems its point has
  std::vector<std::string> overrides;  ///< of the point, without its seed
  std::uint64_t first_seed = 0;        ///< of the point
};

/// Some trials, to be done by another process, perhaps on another machine.
struct Piece {
  SweepIdentity sweep;                  ///< without its texts
  std::vector<std::string> overrides;   ///< of the whole sweep
  bool seeded = false;                  ///< the sweep has several seeds
  bool learn_only = false;              ///< nothing is timed: the results hold what was learned
  std::vector<PieceTrial> trials = {};  ///< at least one
};

/// A piece on its way to a process of the same build.
std::string to_bytes(const Piece& piece);
/// Throws InputError where the bytes are none of to_bytes.
Piece piece_from_bytes(std::string_view bytes);

/// Of a sweep. `identity`: what identity_of() gives of it.
Piece piece_of(const SweepPoints& sweep, const SweepIdentity& identity, std::span<const SweepTrial> trials,
               bool learn_only);

/// Does a piece with the scenario that lies at `path`, and returns a file of results as bytes: its trials, done or
/// failed, and what was learned for them. `learned`: such bytes, of which what was learned is used; may be empty.
/// Throws InputError where the scenario is another one there, EnvironmentError, Cancelled.
std::string do_piece(const std::string& path, const Piece& piece, std::string_view learned, std::size_t threads);

/// Puts the results of a piece into the file of its sweep. A trial that is there already has to be the same. Throws
/// InputError where they are of another sweep or build, damaged, or differ from what is there; OutputError. `from` is
/// what messages call them.
void take_piece(Database& file, const SweepIdentity& sweep, std::string_view results, const std::string& from);

}  // namespace dadsim::study

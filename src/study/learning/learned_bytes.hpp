#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "spec/bytes.hpp"
#include "step/trajectory_bytes.hpp"
#include "study/learning/learned.hpp"
#include "support/statement_bytes.hpp"
#include "world/history.hpp"

namespace dadsim::study {

/// Return the key of a record, from the key of an operation's result or of a learned run.
std::string record_key(const world::ValueKey& key);
std::string record_key(std::uint64_t key);

/// Serialises the result of an operation, for a file or another process of the same build.
std::string to_bytes(const world::Datum& datum);
/// Returns null for damaged bytes.
world::DatumPtr datum_from_bytes(std::string_view bytes);

void fields(auto& bytes, of<LearnedRun> auto& run) {
  bytes(run.shape, run.data, run.has_batch_statistics, run.rows, run.guess.chance, run.guess.deviation, run.guess.loss,
        run.remarks, run.trajectory);
}

/// Serialises a learned run, compressed, for a file.
std::string to_bytes(const LearnedRun& run);

/// Returns null if the bytes do not come from to_bytes() of this build: of another format or byte order, truncated or
/// damaged.
LearnedRunPtr learned_from_bytes(std::string_view bytes);

}  // namespace dadsim::study

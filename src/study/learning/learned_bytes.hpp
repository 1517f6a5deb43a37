#pragma once

#include <string>
#include <string_view>

#include "spec/bytes.hpp"
#include "step/trajectory_bytes.hpp"
#include "study/learning/learned.hpp"
#include "support/statement_bytes.hpp"
#include "world/history.hpp"

namespace dadsim::study {

/// What an operation gave as bytes, for a file or another process of the same build.
std::string to_bytes(const world::Datum& datum);
/// Null where the bytes are damaged.
world::DatumPtr datum_from_bytes(std::string_view bytes);

void fields(auto& bytes, of<LearnedRun> auto& run) {
  bytes(run.shape, run.data, run.has_batch_statistics, run.rows, run.guess.chance, run.guess.deviation, run.guess.loss,
        run.remarks, run.trajectory);
}

/// A learned run as bytes, compressed, to be kept in a file.
std::string to_bytes(const LearnedRun& run);

/// Null where the bytes are none of to_bytes of this build: of another format or byte order, cut off, damaged.
LearnedRunPtr learned_from_bytes(std::string_view bytes);

}  // namespace dadsim::study

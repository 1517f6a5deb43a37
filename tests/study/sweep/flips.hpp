#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "study/store/database.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/sweep_document.hpp"
#include "support/diagnostics.hpp"
#include "support/output_error.hpp"
#include "support/random.hpp"

namespace dadsim::test {

/// Returns the file with one byte changed, chosen by `number`. Every eighth number cuts the file short instead.
inline std::string flipped(std::string content, std::uint32_t number) {
  RandomStream random(5, Purpose::test, number);
  const std::size_t at = random() % content.size();
  if (number % 8 == 0) {
    content.resize(at);
  } else if (number % 2 == 0) {
    content[at] = static_cast<char>(content[at] ^ (1U << (random() % 8)));
  } else {
    content[at] = static_cast<char>(content[at] + 1 + random() % 255);
  }
  return content;
}

/// Returns the CSV of a sweep's file; empty if the file is refused. Any other exception is an error of the reader.
inline std::optional<std::string> csv_unless_refused(const std::string& path) {
  try {
    study::Database database(path, study::Database::Access::read);
    if (!study::has_tables(database)) return std::nullopt;  // then merge reports that there are no results of a sweep
    return study::sweep_csv(study::read_results(database));
  } catch (const InputError&) {
    return std::nullopt;
  } catch (const OutputError&) {
    return std::nullopt;
  }
}

inline void overwrite(const std::string& path, const std::string& content) {
  for (const char* beside : {"-wal", "-shm", "-journal"}) {
    std::error_code none;
    std::filesystem::remove(path + beside, none);
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace dadsim::test

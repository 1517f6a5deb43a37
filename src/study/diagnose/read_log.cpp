#include "study/diagnose/read_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "formats/kineto.hpp"
#include "study/diagnose/trainer_log.hpp"
#include "study/measured/collective_columns.hpp"
#include "support/diagnostics.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::study {
namespace {

/// "12.345ms" of the table of a profiler, in seconds.
std::optional<double> seconds_of(const std::string& word) {
  const std::size_t unit = word.find_first_not_of("0123456789.");
  const std::optional<double> number = parse_whole<double>(std::string_view(word).substr(0, unit));
  if (!number || unit == std::string::npos) return std::nullopt;
  const std::string name = word.substr(unit);
  if (name == "s") return *number;
  if (name == "ms") return *number * 1e-3;
  if (name == "us" || name == "μs") return *number * 1e-6;
  return std::nullopt;
}

/// Cells of a row, which two blanks or more stand between.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return cells;
    line.remove_prefix(begin);
    std::size_t end = std::min(line.find("  "), line.size());
    std::string cell(line.substr(0, end));
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r')) cell.pop_back();
    cells.push_back(std::move(cell));
    line.remove_prefix(end);
  }
}

std::optional<Measurement> table_of_profiler(const std::string& file, std::string_view text) {
  std::optional<std::size_t> self, average, calls;
  formats::ProfiledStep profile;
  double steps = 0;
  double kernels = 0;
  double collectives = 0;
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) continue;
    if (cells.front() == "Name") {
      const auto column = [&](std::string_view name) -> std::optional<std::size_t> {
        const auto found = std::ranges::find(cells, name);
        if (found == cells.end()) return std::nullopt;
        return static_cast<std::size_t>(found - cells.begin());
      };
      self = column("Self CUDA");
      average = column("CPU time avg");
      calls = column("# of Calls");
      continue;
    }
    if (!self || !calls || cells.size() <= std::max(*self, *calls)) continue;
    if (cells.front() == "ProfilerStep*") {
      steps = parse_whole<double>(cells[*calls]).value_or(0);
      if (average) profile.step = seconds_of(cells[*average]);
      continue;
    }
    const std::optional<double> seconds = seconds_of(cells[*self]);
    if (!seconds) continue;
    // Kernels have no time of a processor of their own: their rows repeat what stands in the row of the operator.
    const bool kernel = cells.size() > 1 && seconds_of(cells[1]).value_or(0) == 0;
    if (!kernel) continue;
    kernels += *seconds;
    if (cells.front().starts_with("nccl") && cells.front().find(':') == std::string::npos) collectives += *seconds;
  }
  if (!self) return std::nullopt;
  if (!(steps > 0) || !(kernels > 0)) {
    throw InputError({file, 0, "has a table of torch.profiler without a row ProfilerStep* or without kernels",
                      "prof.step() behind each step, and key_averages().table() of a profile with CUDA"});
  }
  profile.steps = static_cast<std::size_t>(steps);
  profile.computing = (kernels - collectives) / steps;
  profile.communicating = collectives / steps;
  Measurement measured{.source = file, .steps = {{.step_seconds = profile.step}}};
  measured.profile = profile;
  return measured;
}

std::optional<Measurement> trace_of_profiler(const std::string& file, const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') return std::nullopt;
  try {
    const std::optional<formats::ProfiledStep> profile = formats::profile_of_trace(text);
    if (!profile) return std::nullopt;
    Measurement measured{.source = file, .steps = {{.step_seconds = profile->step}}};
    measured.profile = profile;
    return measured;
  } catch (const std::runtime_error& error) {
    throw InputError({file, 0, error.what(), "a trace of torch.profiler with CUDA activity and prof.step()"});
  }
}

}  // namespace

std::optional<formats::ProfiledStep> read_profile(const std::string& file, const std::string& text) {
  if (const std::optional<Measurement> trace = trace_of_profiler(file, text)) return trace->profile;
  if (const std::optional<Measurement> table = table_of_profiler(file, text)) return table->profile;
  return std::nullopt;
}

Measurement read_log(const std::string& file, const std::string& text) {
  if (std::optional<Measurement> trace = trace_of_profiler(file, text)) return std::move(*trace);
  if (std::optional<Measurement> table = table_of_profiler(file, text)) return std::move(*table);
  const std::optional<TrainerLog> trainer = read_trainer_log(text);
  if (trainer && trainer->step) return {.source = file, .steps = {*trainer->step}};
  if (std::optional<CollectiveLog> log = find_collective_log(file, text))
    return {.source = file, .collective_log = std::move(*log)};
  constexpr const char* kByHand = "--step, --samples-per-second, --tokens-per-second or --mfu with the number itself";
  if (trainer)
    throw InputError({file, 0, fmt::format("is a log of {} without {}", trainer->program, trainer->missing),
                      fmt::format("the part that has it, or {}", kByHand)});
  throw InputError({file, 0, "is no log that is read",
                    fmt::format("one of a training by {}; a profile of torch.profiler; a table of {}; or {}",
                                programs_with_logs(), kCollectiveBenchmarks, kByHand)});
}

}  // namespace dadsim::study

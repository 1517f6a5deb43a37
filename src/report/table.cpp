#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <vector>

#include "report/answer.hpp"
#include "report/band_text.hpp"
#include "report/causes.hpp"
#include "report/cost_sentence.hpp"
#include "report/paragraph.hpp"
#include "report/played_table.hpp"
#include "report/scale_table.hpp"
#include "report/sites_sentence.hpp"
#include "report/throughput_text.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

std::string accuracy_cell(double accuracy) {
  const std::string text = human_percent(accuracy);
  return text.substr(0, text.find(' '));  // the unit stands in the heading
}

/// The target as the scenario has it: "95 %", "97.25 %".
std::string target_text(double accuracy) { return fmt::format("{:.6g} %", accuracy * 100); }

using RunRow = std::array<std::string, 11>;

RunRow run_row(const RunResult& run, bool with_band) {
  return {
      run.spec.label,
      run.divergence ? "diverged" : accuracy_cell(run.final_accuracy),
      accuracy_cell(run.best_accuracy),
      run.target_reached ? fmt::format("{}", run.target_step) : "–",
      run.target_reached ? seconds_with_band(run.target_seconds, with_band ? run.factors() : std::nullopt) : "never",
      human_seconds(run.step_seconds),
      human_seconds(run.compute_seconds),
      human_seconds(run.exposed_seconds),
      human_bytes(run.bytes_up_per_worker),
      human_bytes(run.bytes_down_per_worker),
      human_bytes(run.total_bytes)};
}

std::string centred(const std::string& text, std::size_t width) {
  return left_aligned(std::string((width - std::min(width, display_width(text))) / 2, ' ') + text, width);
}

std::string run_grid(const Result& result, bool with_bands = true) {
  const bool some_played =
      std::ranges::any_of(result.runs, [](const RunResult& run) { return run.played.has_value(); });
  // Some headings stand over several columns, from the first to the last named.
  struct Heading {
    std::string text;
    std::size_t first, last;
  };
  const std::vector<Heading> over{{"", 0, 0},
                                  {"accuracy, %", 1, 2},
                                  {"to " + target_text(result.target_accuracy), 3, 4},
                                  {some_played ? "time per step or update" : "time per step", 5, 7},
                                  {some_played ? "per worker and step or update" : "per worker and step", 8, 9},
                                  {"sent", 10, 10}};
  std::vector<RunRow> rows{
      {"run", "final", "best", "steps", "time", "all", "compute", "exposed comm.", "up", "down", "in all"}};
  for (const RunResult& run : result.runs) rows.push_back(run_row(run, with_bands));

  std::array<std::size_t, std::tuple_size_v<RunRow>> widths{};
  for (const RunRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths.at(i) = std::max(widths.at(i), display_width(row.at(i)));
  }
  widths[0] = std::min(widths[0], kLongestLabel);
  const auto span_width = [&](const Heading& heading) {
    std::size_t width = 2 * (heading.last - heading.first);
    for (std::size_t i = heading.first; i <= heading.last; ++i) width += widths.at(i);
    return width;
  };
  for (const Heading& heading : over) {
    const std::size_t width = span_width(heading);
    const std::size_t needed = display_width(heading.text);
    if (width < needed) widths.at(heading.last) += needed - width;
  }

  std::vector<TableColumn> columns(widths.size());
  for (std::size_t h = 0; h < over.size(); ++h) {
    for (std::size_t i = over[h].first; i <= over[h].last; ++i) columns[i] = {widths.at(i), h};
  }
  // With the bands of the times to the target where the lines stay narrow enough.
  if (with_bands && span_width({"", 0, widths.size() - 1}) > kTableWidth) return run_grid(result, false);
  std::string text;
  for (const std::vector<std::size_t>& part : parts_of_table(columns)) {
    if (!text.empty()) text += '\n';
    std::string head;
    std::size_t total = 0;
    for (const Heading& heading : over) {
      if (std::ranges::find(part, heading.first) == part.end()) continue;
      if (heading.first > 0) head += "  ";
      head += centred(heading.text, span_width(heading));
      total += span_width(heading) + (heading.first > 0 ? 2 : 0);
    }
    head.erase(head.find_last_not_of(' ') + 1);
    text += head + '\n';
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (const std::size_t i : part)
        text += i == 0 ? left_aligned(rows[r][0], widths[0]) : "  " + right_aligned(rows[r].at(i), widths.at(i));
      text += '\n';
      for (std::size_t i = 0; r == 0 && i < total; ++i) text += "─";
      if (r == 0) text += '\n';
    }
  }
  return text;
}

/// What bound a run, by kind first.
std::string bound_sentence(const RunResult& run) {
  if (run.played) return time_sentence(run);
  if (run.bounds.empty()) return run.spec.label + ": no step was taken, so nothing held it back.";
  return fmt::format("{}: {}.", run.spec.label, causes_in_words(run));
}

/// The paper calls this introspection: how the rank that the gradients need falls as the network learns.
std::string rank_sentence(const RunResult& run, const std::vector<std::string>& layer_names) {
  const step::EpochRanks& first = run.ranks.front();
  const step::EpochRanks& last = run.ranks.back();
  if (first.site.size() != layer_names.size() || last.site.size() != layer_names.size()) {
    throw std::logic_error(fmt::format("ranks of {} layers for {} names", first.site.size(), layer_names.size()));
  }
  const bool one = run.ranks.size() == 1;
  std::string text =
      one ? fmt::format("{}: effective rank per site in epoch {}:", run.spec.label, first.epoch)
          : fmt::format("{}: effective rank per site, epoch {} → {}:", run.spec.label, first.epoch, last.epoch);
  for (std::size_t i = 0; i < layer_names.size(); ++i) {
    text += fmt::format("{} {} {:.1f}", i == 0 ? "" : ",", layer_names[i], first.site[i]);
    if (!one) text += fmt::format(" → {:.1f}", last.site[i]);
  }
  return text + ".";
}

/// What a worker's device must hold.
std::string memory_sentence(const RunResult& run) {
  std::string text = fmt::format("{}: {} of memory on a worker", run.spec.label, human_bytes(run.memory.total()));
  if (run.device_memory > 0) text += fmt::format(" of {}", human_bytes(run.device_memory));
  bool first = true;
  for (const auto& [what, bytes] : run.memory.breakdown()) {
    text += fmt::format("{} {} {}", first ? ":" : ",", what, human_bytes(bytes));
    first = false;
  }
  return text + ".";
}

/// What was not simulated, and how far off that may be.
std::string sampling_sentence(const std::string& label, const step::NetworkUse::Sampling& sampling) {
  return fmt::format(
      "{}: of {:.0f} steps that differ {:.0f} were simulated, the others interpolated between them by their bytes: one "
      "is off by {:.2g} % (root mean square), the mean step by {:.2g} % (standard error).",
      label, sampling.steps, sampling.simulated, 100 * sampling.step_error, 100 * sampling.mean_error);
}

/// How each kind of link was used, and what collectives were carried out as.
std::string network_sentences(const Result& result) {
  std::vector<std::string> known;
  std::string text;
  const auto say = [&](const std::string& sentence) {
    if (std::find(known.begin(), known.end(), sentence) != known.end()) return;
    known.push_back(sentence);
    text += paragraph(sentence);
  };
  for (const RunResult& run : result.runs) {
    for (const step::NetworkUse::LinkClass& link : run.network.links) {
      say(fmt::format("Links as {}: {}.", link.transport, link.model));
    }
  }
  for (const RunResult& run : result.runs) {
    std::string how;
    for (const step::NetworkUse::Collective& one : run.network.collectives) {
      how += fmt::format("{}{} as {}", how.empty() ? "" : ", ", one.kind, one.algorithm);
    }
    if (!how.empty()) say(fmt::format("Carried out: {} ({} fidelity).", how, run.network.fidelity));
    if (!run.network.fidelity_note.empty()) say(fmt::format("{}: {}.", run.spec.label, run.network.fidelity_note));
    if (run.network.sampling) say(sampling_sentence(run.spec.label, *run.network.sampling));
  }
  return text;
}

/// What is timed first; the network that learned comes second, by name.
std::string grids(const Result& result) {
  const bool played = std::ranges::any_of(result.runs, [](const RunResult& run) { return run.played.has_value(); });
  const bool other = result.scale && !result.scale->workload.empty();
  std::string text;
  if (result.timing_only && !played) {
    text += throughput_grid(result);
    return result.scale ? text + '\n' + scale_table(result) : text;
  }
  if (other) {
    text += scale_table(result) + '\n';
    text +=
        paragraph(fmt::format("On the network that learned ({}), each step as long as one of {}:", result.learned_on,
                              result.scale->workload));
  }
  text += run_grid(result);
  return result.scale && !other ? text + '\n' + scale_table(result) : text;
}

}  // namespace

Told told(const Result& result, bool verbose) {
  Told told{paragraph(verdict(result)), {}, {}};
  std::string& text = told.body;
  text = grids(result) + '\n';
  for (const RunResult& run : result.runs) text += paragraph(bound_sentence(run));
  for (const RunResult& run : result.runs) {
    if (const std::string sentence = band_sentence(run); !sentence.empty()) text += paragraph(sentence);
  }
  for (const RunResult& run : result.runs) {
    if (run.played) text += played_paragraphs(run);
  }
  for (const RunResult& run : result.runs) {
    if (const std::string sentence = sites_sentence(run); !sentence.empty()) text += paragraph(sentence);
  }
  for (const RunResult& run : result.runs) {
    if (!run.ranks.empty()) text += paragraph(rank_sentence(run, result.layer_names));
  }
  for (const RunResult& run : result.runs) {
    if (run.memory.total() > 0) text += paragraph(memory_sentence(run));
  }
  for (const RunResult& run : result.runs) {
    if (const std::string sentence = cost_sentence(run, result); !sentence.empty()) text += paragraph(sentence);
  }
  for (const RunResult& run : result.runs) {
    if (run.evaluation) text += '\n' + shift_table(run.spec.label, *run.evaluation);
  }
  std::string notes;
  for (const RunResult& run : result.runs) {
    for (const std::string& note : run.notes) notes += paragraph(fmt::format("Note on {}: {}", run.spec.label, note));
  }
  if (!notes.empty()) text += '\n' + notes;
  told.background = background(result, verbose);
  return told;
}

std::string assumptions_counted(std::size_t count) {
  if (count == 0) return {};
  return paragraph(
      fmt::format("It rests on {} assumption{} and a model of the network: --verbose lists them, --json and --report "
                  "hold them too.",
                  count, count == 1 ? "" : "s"));
}

std::string background(const Result& result, bool verbose) {
  if (!verbose) return assumptions_counted(result.assumptions.size());
  std::string text;
  for (const std::string& assumption : result.assumptions) text += paragraph("Assumed: " + assumption);
  text += paragraph("Network model: " + result.network_model);
  text += network_sentences(result);
  return text + paragraph(result.stand_in ? fmt::format("Timed as {}; nothing was learned.", result.timed_as)
                          : result.timed_as_other
                              ? fmt::format("Learned on {}, timed as {}.", result.learned_on, result.timed_as)
                              : fmt::format("Learned on and timed as {}.", result.learned_on));
}

std::string to_table(const Result& result) { return told(result, true).all(); }

}  // namespace dadsim::report

#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <vector>

#include "report/band_text.hpp"
#include "report/cost_sentence.hpp"
#include "report/paragraph.hpp"
#include "report/played_table.hpp"
#include "report/scale_table.hpp"
#include "report/sites_sentence.hpp"
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
  return {run.spec.label,
          accuracy_cell(run.final_accuracy),
          accuracy_cell(run.best_accuracy),
          run.target_reached ? fmt::format("{}", run.target_step) : "–",
          run.target_reached ? seconds_with_band(run.target_seconds, with_band ? run.factors() : std::nullopt) : "–",
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

std::string run_grid(const Result& result, bool with_bands) {
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

  std::string text;
  for (const Heading& heading : over) {
    if (heading.first > 0) text += "  ";
    text += centred(heading.text, span_width(heading));
  }
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += left_aligned(rows[r][0], widths[0]);
    for (std::size_t i = 1; i < widths.size(); ++i) text += "  " + right_aligned(rows[r].at(i), widths.at(i));
    text += '\n';
    if (r == 0) {
      std::size_t total = 0;
      for (const std::size_t width : widths) total += width + 2;
      for (std::size_t i = 2; i < total; ++i) text += "─";
      text += '\n';
    }
  }
  return text;
}

/// With the bands of the times to the target where the lines stay narrow enough.
std::string run_grid(const Result& result) {
  std::string text = run_grid(result, true);
  const std::string first = text.substr(0, text.find("─"));
  const std::string heading = first.substr(first.rfind('\n', first.size() - 2) + 1);
  return display_width(heading) <= kTableWidth + 1 ? text : run_grid(result, false);
}

std::string in_words(const step::Bound& bound) {
  if (bound.kind == "bandwidth") return "the link " + bound.resource;
  if (bound.kind == "latency") return "the latency " + bound.resource;
  if (bound.kind == "compute") return "computing on " + bound.resource;
  return fmt::format("{} ({})", bound.resource, bound.kind);
}

std::string share_text(double share) {
  return share > 0 && share < 0.005 ? "under 1 %" : fmt::format("{:.0f} %", share * 100);
}

/// What bound a run: the longest two parts of the critical path, then all parts by kind.
std::string bound_sentence(const RunResult& run) {
  if (run.played) return time_sentence(run);
  const std::vector<step::Bound>& bounds = run.bounds;
  if (bounds.empty()) return run.spec.label + ": no step was taken, so nothing held it back.";
  std::string text = fmt::format("{}: {} held it back: {} of the step", run.spec.label, in_words(bounds[0]),
                                 share_text(bounds[0].share));
  if (bounds.size() > 1 && bounds[1].share >= 0.005) {
    text += fmt::format("; next {}, {}", in_words(bounds[1]), share_text(bounds[1].share));
  }
  if (bounds.size() > 2) {
    std::vector<std::pair<std::string, double>> kinds;  // in the order of their longest part
    for (const step::Bound& bound : bounds) {
      const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == bound.kind; });
      if (same == kinds.end()) {
        kinds.emplace_back(bound.kind, bound.share);
      } else {
        same->second += bound.share;
      }
    }
    std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    text += "; in all:";
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", kinds[i].first, share_text(kinds[i].second));
    }
  }
  return text + ".";
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

/// "1.8 times": two digits, three from ten on, so that neither 1.02 nor 114 is rounded away.
std::string times(double factor) {
  if (factor < 1.1) return fmt::format("{:.3f} times", factor);
  return factor < 10 ? fmt::format("{:.2f} times", factor) : fmt::format("{:.0f} times", factor);
}

std::string faster_than(const RunResult& winner, const RunResult& other) {
  if (winner.target_seconds == other.target_seconds) return fmt::format("as fast as {}", other.spec.label);
  const std::string time = human_seconds(other.target_seconds);
  const std::optional<RatioBand> ratio = ratio_of_times(winner, other);
  if (ratio) {
    return fmt::format("{} ({:.2f} … {:.2f}) faster than {} ({})", times(ratio->ratio), ratio->low, ratio->high,
                       other.spec.label, time);
  }
  if (winner.target_seconds == 0) return fmt::format("before {} ({})", other.spec.label, time);
  return fmt::format("{} faster than {} ({})", times(other.target_seconds / winner.target_seconds), other.spec.label,
                     time);
}

/// Where the quickest run is not told apart from others by what the errors of both would have to be. Empty where it is
/// told apart from all. Runs that take exactly as long are no question of errors.
std::string tie_sentence(const std::vector<const RunResult*>& reached, const std::string& target) {
  const RunResult& winner = *reached.front();
  std::string others;
  std::string ratios;
  for (std::size_t i = 1; i < reached.size(); ++i) {
    const std::optional<RatioBand> ratio = ratio_of_times(winner, *reached[i]);
    if (!ratio || !ratio->open() || ratio->ratio == 1) continue;
    others += fmt::format("{}{}", others.empty() ? "" : ", ", reached[i]->spec.label);
    ratios +=
        fmt::format("{}{:.2f}; {:.2f} … {:.2f}", ratios.empty() ? "" : ", ", ratio->ratio, ratio->low, ratio->high);
  }
  if (others.empty()) return {};
  return fmt::format("{} and {} cannot be told apart ({}): {} reaches {} in {}, {} in {}.", winner.spec.label, others,
                     ratios, winner.spec.label, target, seconds_with_band(winner.target_seconds, winner.factors()),
                     reached[1]->spec.label, seconds_with_band(reached[1]->target_seconds, reached[1]->factors()));
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

}  // namespace

std::string verdict(const Result& result) {
  std::vector<const RunResult*> sharing;
  for (const RunResult& run : result.runs) {
    if (run.spec.communicates) sharing.push_back(&run);
  }
  const std::string target = target_text(result.target_accuracy);
  if (result.timing_only) return "Nothing was learned (--timing-only): what is said is when, not how well.";
  if (sharing.empty()) return "No run here shares anything between workers: there is no winner to name.";

  std::vector<const RunResult*> reached;
  for (const RunResult* run : sharing) {
    if (run->target_reached) reached.push_back(run);
  }
  if (reached.empty()) {
    const RunResult* nearest = *std::max_element(sharing.begin(), sharing.end(), [](const auto* a, const auto* b) {
      return a->best_accuracy < b->best_accuracy;
    });
    return fmt::format("{} {}: {} came nearest with {}.",
                       sharing.size() == 1 ? "The only run that shares did not reach" : "No run that shares reached",
                       target, nearest->spec.label, human_percent(nearest->best_accuracy));
  }

  std::stable_sort(reached.begin(), reached.end(),
                   [](const auto* a, const auto* b) { return a->target_seconds < b->target_seconds; });
  const RunResult& winner = *reached[0];
  if (const std::string tie = tie_sentence(reached, target); !tie.empty()) return tie;
  std::string text =
      fmt::format("{} reaches {}{} in {}", winner.spec.label, target, sharing.size() == 1 ? "" : " first,",
                  seconds_with_band(winner.target_seconds, winner.factors()));
  if (reached.size() == 1) {
    return text + (sharing.size() == 1 ? "; no other run shares." : "; no other run that shares reached it.");
  }
  text += ": " + faster_than(winner, *reached[1]);

  const auto is_plain = [](const RunResult* run) { return run->spec.algorithm == "gradient-sharing"; };
  const auto plain = std::find_if(reached.begin(), reached.end(), is_plain);
  if (plain != reached.end()) {
    if (plain - reached.begin() > 1) text += " and " + faster_than(winner, **plain);
  } else if (std::any_of(sharing.begin(), sharing.end(), is_plain)) {
    text += "; gradient-sharing did not reach it";
  }
  return text + ".";
}

std::string to_table(const Result& result) {
  std::string text = run_grid(result) + '\n';
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
  if (result.scale) text += '\n' + scale_table(result);
  text += '\n';
  for (const RunResult& run : result.runs) {
    for (const std::string& note : run.notes) text += paragraph(fmt::format("Note on {}: {}", run.spec.label, note));
  }
  for (const std::string& assumption : result.assumptions) text += paragraph("Assumed: " + assumption);
  text += paragraph("Network model: " + result.network_model);
  text += network_sentences(result);
  text +=
      paragraph(result.timed_as_other ? fmt::format("Learned on {}, timed as {}.", result.learned_on, result.timed_as)
                                      : fmt::format("Learned on and timed as {}.", result.learned_on));
  return text + '\n' + paragraph(verdict(result));
}

}  // namespace dadsim::report

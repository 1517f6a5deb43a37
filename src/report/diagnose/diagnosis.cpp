#include "report/diagnose/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "support/human.hpp"

namespace dadsim::report {
namespace {

double geometric_mean(const std::vector<DiagnosedTime>& times, double DiagnosedTime::*member) {
  double sum = 0;
  for (const DiagnosedTime& time : times) sum += std::log(time.*member);
  return times.empty() ? 0 : std::exp(sum / static_cast<double>(times.size()));
}

double mean_of(const std::vector<double>& seconds) {
  double sum = 0;
  for (const double one : seconds) sum += std::log(one);
  return seconds.empty() ? 0 : std::exp(sum / static_cast<double>(seconds.size()));
}

Statement about(const char* kind, const Diagnosis& diagnosis) {
  return Statement{kind, {diagnosis.of}}
      .with("collective", diagnosis.collective)
      .with("times", static_cast<double>(diagnosis.times.size()))
      .with("measured", diagnosis.measured())
      .with("expected", diagnosis.expected())
      .with("low", diagnosis.low())
      .with("high", diagnosis.high());
}

std::string against(double seconds, double measured) {
  return fmt::format("{:+.0f} %", 100 * (seconds / measured - 1));
}

std::string label_of(const Diagnosis& diagnosis, const DiagnosedTime& time) {
  return diagnosis.collective ? human_bytes(time.bytes) : human_count(time.devices);
}

DocumentTable times_of(const Diagnosis& diagnosis) {
  DocumentTable times;
  for (const DiagnosedTime& time : diagnosis.times) {
    times.add_row()
        .say(diagnosis.collective ? "size" : "devices", label_of(diagnosis, time))
        .add("bytes", diagnosis.collective ? DocumentValue(time.bytes) : DocumentValue(), "devices", time.devices)
        .add("measured", "measured", time.measured, Unit::seconds)
        .add("expected", "expected", time.expected, Unit::seconds)
        .say("nine of ten", fmt::format("{} … {}", human_seconds(time.low), human_seconds(time.high)))
        .add("low", time.low, "high", time.high)
        .say("÷ expected", fmt::format("{:.2f}", time.measured / time.expected))
        .page("by its band", time.measured > time.high  ? "not normal"
                             : time.measured < time.low ? "quicker than explained"
                                                        : "normal");
  }
  return times;
}

/// Returns measured and expected times for each size, with the interval of nine measurements in ten, and the simulated
/// times of the first causes.
Chart causes_by_time(const Diagnosis& diagnosis) {
  Chart chart{.name = "causes",
              .title =
                  "Measured time, expected time with the band of nine measurements in ten, and the time with "
                  "each cause",
              .kind = Chart::Kind::bars,
              .y = {"", Unit::seconds},
              .above =
                  "The line is the band that holds nine of ten measurements of similar predictions. Times with each "
                  "cause follow; ✓ marks a cause that explains the measurement."};
  const std::size_t count = std::min(kMostSuspicions, diagnosis.suspicions.size());
  chart.names = {"measured", "expected"};
  for (std::size_t i = 0; i < count; ++i) {
    const Suspicion& one = diagnosis.suspicions[i];
    chart.names.push_back((one.explains ? "✓ " : "") + in_words(one.cause));
  }
  for (std::size_t k = 0; k < diagnosis.times.size(); ++k) {
    const DiagnosedTime& time = diagnosis.times[k];
    std::vector<double> seconds{time.measured, time.expected};
    for (std::size_t i = 0; i < count; ++i) seconds.push_back(diagnosis.suspicions[i].seconds[k]);
    ChartSeries& series = chart.add_bars(label_of(diagnosis, time) + (diagnosis.collective ? ""
                                                                      : time.devices == 1  ? " device"
                                                                                           : " devices"),
                                         seconds);
    for (ChartPoint& point : series.points)
      if (point.x == 1) point.low = time.low, point.high = time.high;
  }
  chart.choose_scales();
  return chart;
}

/// Returns a table of the causes. Cells are a cause's simulated time ÷ the measured one, for each size and for
/// computing. With several causes, the last column is the distance.
std::vector<std::vector<std::string>> columns_of(const Diagnosis& diagnosis, std::size_t count) {
  const bool single = diagnosis.times.size() == 1;
  std::vector<std::vector<std::string>> rows(1);
  if (single) rows[0] = {"would take", "of measured"};
  for (const DiagnosedTime& time : diagnosis.times) {
    if (!single) rows[0].push_back("at " + label_of(diagnosis, time));
  }
  if (diagnosis.computing) rows[0].emplace_back("computing");
  if (rows[0].size() > 2 || !single) rows[0].emplace_back("distance");
  for (std::size_t i = 0; i < count; ++i) {
    const Suspicion& one = diagnosis.suspicions[i];
    std::vector<std::string>& row = rows.emplace_back();
    if (single) row.push_back(human_seconds(one.seconds.front()));
    for (std::size_t k = 0; k < diagnosis.times.size(); ++k)
      row.push_back(against(one.seconds[k], diagnosis.times[k].measured));
    if (diagnosis.computing)
      row.push_back(one.computing ? against(*one.computing, *diagnosis.computing) : std::string("–"));
    if (row.size() < rows[0].size()) row.push_back(fmt::format("{:.2f}", one.distance));
  }
  return rows;
}

DocumentTable suspicions_of(const Diagnosis& diagnosis) {
  const bool normal = diagnosis.verdict == Diagnosis::SpeedVerdict::as_expected;
  const std::vector<std::vector<std::string>> cells = columns_of(diagnosis, diagnosis.suspicions.size());
  DocumentTable suspicions{.best_first = !normal && !diagnosis.suspicions.empty() && diagnosis.suspicions[0].explains};
  for (std::size_t i = 0; i < diagnosis.suspicions.size(); ++i) {
    const Suspicion& one = diagnosis.suspicions[i];
    const std::string check = in_words(check_of(one));
    TableRow row = suspicions.add_row();
    row.add("cause", "cause", one.cause, Unit::plain, in_words(one.cause));
    for (std::size_t k = 0; k < cells[0].size(); ++k) row.say(cells[0][k], cells[i + 1][k]);
    if (diagnosis.times.size() > 1) row.say("would take", human_seconds(mean_of(one.seconds)));
    row.add("check", "check", check_of(one), Unit::plain, check.substr(check.starts_with("Check: ") ? 7 : 0))
        .add("seconds", one.seconds, "computing", one.computing, "distance", one.distance)
        .add("explains", normal ? "within its band" : "explains it", one.explains, Unit::plain);
  }
  return suspicions;
}

/// Returns the first `count` causes with their times and checks, as text for people.
std::string causes_of(const Diagnosis& diagnosis, std::size_t count) {
  if (count == 0) return {};
  const std::vector<std::vector<std::string>> rows = columns_of(diagnosis, count);
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string said;
    for (std::size_t i = 0; i < cells.size(); ++i)
      said += right_aligned(cells[i], std::max<std::size_t>(8, display_width(rows[0][i]))) + "  ";
    return said;
  };
  const std::size_t indent = 2 + display_width(line(rows[0]));
  std::string text = fmt::format("  {}possible causes\n", line(rows[0]));
  for (std::size_t i = 0; i < count; ++i) {
    const Suspicion& one = diagnosis.suspicions[i];
    text += wrapped(fmt::format("{} {}{}", one.explains ? "✓" : " ", line(rows[i + 1]), in_words(one.cause)),
                    table_width(), indent);
    text += wrapped(fmt::format("{:{}}{}", "", indent, in_words(check_of(one))), table_width(), indent);
  }
  return text + '\n';
}

}  // namespace

Statement check_of(const Suspicion& suspicion) {
  Statement check = suspicion.cause;
  check.kind = "cause-check";
  return check;
}

double Diagnosis::measured() const { return geometric_mean(times, &DiagnosedTime::measured); }
double Diagnosis::expected() const { return geometric_mean(times, &DiagnosedTime::expected); }
double Diagnosis::low() const { return geometric_mean(times, &DiagnosedTime::low); }
double Diagnosis::high() const { return geometric_mean(times, &DiagnosedTime::high); }

const char* to_string(Diagnosis::SpeedVerdict verdict) {
  using enum Diagnosis::SpeedVerdict;
  return verdict == as_expected ? "as-expected" : verdict == slower ? "slower" : "quicker";
}

std::vector<Statement> answer_of(const Diagnosis& diagnosis) {
  std::vector<Statement> answer;
  const auto explains = [](const Suspicion& one) { return one.explains; };
  switch (diagnosis.verdict) {
    case Diagnosis::SpeedVerdict::as_expected: {
      answer.push_back(about("diagnosed-normal", diagnosis));
      Statement open{"not-excluded"};
      for (const Suspicion& one : diagnosis.suspicions) {
        if (one.explains && open.parts.size() < kMostSuspicions) open.with(one.cause);
      }
      if (!open.parts.empty()) answer.push_back(std::move(open));
      break;
    }
    case Diagnosis::SpeedVerdict::quicker:
      answer.push_back(about("diagnosed-quicker", diagnosis));
      break;
    case Diagnosis::SpeedVerdict::slower: {
      answer.push_back(about("diagnosed-slower", diagnosis));
      if (diagnosis.suspicions.empty() || std::ranges::none_of(diagnosis.suspicions, explains)) {
        Statement none{"nothing-explains"};
        if (!diagnosis.suspicions.empty()) none.with(diagnosis.suspicions.front().cause);
        answer.push_back(std::move(none));
      }
      if (!diagnosis.suspicions.empty() && diagnosis.suspicions.front().explains) {
        const Suspicion& first = diagnosis.suspicions.front();
        Statement best = Statement{"explains-best"}.with("seconds", mean_of(first.seconds)).with(first.cause);
        for (std::size_t i = 1; i < diagnosis.suspicions.size() && best.parts.size() < kMostSuspicions; ++i) {
          if (diagnosis.suspicions[i].explains) best.with(diagnosis.suspicions[i].cause);
        }
        answer.push_back(std::move(best));
        answer.push_back(check_of(first));
      }
      break;
    }
  }
  return answer;
}

Document document_of(const Diagnosis& diagnosis) {
  Document document{diagnosis, answer_of(diagnosis)};
  document.command = "dadsim diagnose";
  document.setting = fmt::format("{}: measured {}", diagnosis.of, human_seconds(diagnosis.measured()));
  document.facts = {{"Measured", fmt::format("{}, by {}", diagnosis.of, diagnosis.source)}};
  document.charts = {causes_by_time(diagnosis)};
  document.add("of", diagnosis.of, "source", diagnosis.source, "verdict", to_string(diagnosis.verdict));
  const bool several = diagnosis.times.size() > 1;
  document.parts.push_back({.name = "times",
                            .shown = several ? Shown::always : Shown::page,
                            .what = times_of(diagnosis),
                            .text = several ? "\n" : ""});
  document.add("computing", diagnosis.computing);
  if (!diagnosis.evidence.empty()) document.print(paragraph(as_paragraph(diagnosis.evidence)));
  document.print(as_paragraph(diagnosis.evidence), Shown::page);
  if (!diagnosis.suspicions.empty())
    document.print(
        diagnosis.verdict == Diagnosis::SpeedVerdict::as_expected
            ? "The time is normal. With any of these causes, the time would still lie in its band, so the "
              "time alone does not exclude them."
            : "Each cause was simulated; the cause nearest to the measurement comes first. If several causes "
              "explain the measurement, the checks tell them apart. Two causes at once are not recognised.",
        Shown::page);
  document.parts.push_back({.name = "suspicions",
                            .shown = Shown::page,
                            .heading = "Measured: " + human_seconds(diagnosis.measured()),
                            .what = suspicions_of(diagnosis)});
  const std::size_t brief = std::min(kMostSuspicions, diagnosis.suspicions.size());
  document.print(causes_of(diagnosis, brief), Shown::brief);
  document.print(causes_of(diagnosis, diagnosis.suspicions.size()), Shown::verbose);
  document.parts.push_back({.name = "free", .shown = Shown::always, .what = diagnosis.free});
  document.add("evidence", diagnosis.evidence);
  return document;
}

}  // namespace dadsim::report

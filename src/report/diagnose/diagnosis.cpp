#include "report/diagnose/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "report/run/table.hpp"
#include "report/text/grid.hpp"
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

/// Of several sizes: what each took, and what was expected.
std::string times_of(const Diagnosis& diagnosis) {
  std::vector<std::vector<std::string>> rows{
      {diagnosis.collective ? "size" : "devices", "measured", "expected", "nine of ten", "÷ expected"}};
  for (const DiagnosedTime& time : diagnosis.times) {
    rows.push_back({diagnosis.collective ? human_bytes(time.bytes) : human_count(time.devices),
                    human_seconds(time.measured), human_seconds(time.expected),
                    fmt::format("{} … {}", human_seconds(time.low), human_seconds(time.high)),
                    fmt::format("{:.2f}", time.measured / time.expected)});
  }
  std::vector<std::size_t> columns(rows.front().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return report::grid(rows, columns) + '\n';
}

}  // namespace

double Diagnosis::measured() const { return geometric_mean(times, &DiagnosedTime::measured); }
double Diagnosis::expected() const { return geometric_mean(times, &DiagnosedTime::expected); }
double Diagnosis::low() const { return geometric_mean(times, &DiagnosedTime::low); }
double Diagnosis::high() const { return geometric_mean(times, &DiagnosedTime::high); }

const char* to_string(Diagnosis::Verdict verdict) {
  switch (verdict) {
    case Diagnosis::Verdict::as_expected:
      return "as-expected";
    case Diagnosis::Verdict::slower:
      return "slower";
    case Diagnosis::Verdict::quicker:
      return "quicker";
  }
  return "";
}

std::vector<Statement> answer_of(const Diagnosis& diagnosis) {
  std::vector<Statement> answer;
  const auto explains = [](const Suspicion& one) { return one.explains; };
  switch (diagnosis.verdict) {
    case Diagnosis::Verdict::as_expected: {
      answer.push_back(about("diagnosed-normal", diagnosis));
      Statement open{"not-excluded"};
      for (const Suspicion& one : diagnosis.suspicions) {
        if (one.explains && open.parts.size() < 3) open.with(one.cause);
      }
      if (!open.parts.empty()) answer.push_back(std::move(open));
      break;
    }
    case Diagnosis::Verdict::quicker:
      answer.push_back(about("diagnosed-quicker", diagnosis));
      break;
    case Diagnosis::Verdict::slower: {
      answer.push_back(about("diagnosed-slower", diagnosis));
      if (diagnosis.suspicions.empty() || std::ranges::none_of(diagnosis.suspicions, explains)) {
        Statement none{"nothing-explains"};
        if (!diagnosis.suspicions.empty()) none.with(diagnosis.suspicions.front().cause);
        answer.push_back(std::move(none));
      }
      if (!diagnosis.suspicions.empty() && diagnosis.suspicions.front().explains) {
        const Suspicion& first = diagnosis.suspicions.front();
        Statement best = Statement{"explains-best"}.with("seconds", mean_of(first.seconds)).with(first.cause);
        for (std::size_t i = 1; i < diagnosis.suspicions.size() && best.parts.size() < 3; ++i) {
          if (diagnosis.suspicions[i].explains) best.with(diagnosis.suspicions[i].cause);
        }
        answer.push_back(std::move(best));
        answer.push_back(Statement{"cause-check"}.with("cause", first.cause.text("cause")));
      }
      break;
    }
  }
  return answer;
}

Summary summary_of(const Diagnosis& diagnosis, bool verbose) {
  Summary summary;
  summary.answer = paragraph(as_paragraph(answer_of(diagnosis)));
  std::string& text = summary.body;
  const double measured = diagnosis.measured();
  if (diagnosis.times.size() > 1) text += times_of(diagnosis);
  if (!diagnosis.evidence.empty()) text += paragraph(as_paragraph(diagnosis.evidence));
  const std::size_t count =
      verbose ? diagnosis.suspicions.size() : std::min(kMostSuspicions, diagnosis.suspicions.size());
  if (count > 0) {
    text += "  would take   of measured  what may be wrong\n";
    for (std::size_t i = 0; i < count; ++i) {
      const Suspicion& one = diagnosis.suspicions[i];
      const double seconds = mean_of(one.seconds);
      text += wrapped(fmt::format("{} {}  {}  {}", one.explains ? "✓" : " ", right_aligned(human_seconds(seconds), 10),
                                  right_aligned(against(seconds, measured), 11), in_words(one.cause)),
                      table_width(), 27);
      text +=
          wrapped(fmt::format("{:27}{}", "", in_words(Statement{"cause-check"}.with("cause", one.cause.text("cause")))),
                  table_width(), 27);
    }
    text += '\n';
  }
  for (const Statement& one : diagnosis.free) text += paragraph(in_words(one));
  summary.background = background_of(diagnosis, verbose);
  return summary;
}

std::string to_table(const Diagnosis& diagnosis) { return summary_of(diagnosis, true).all(); }

}  // namespace dadsim::report

#include "report/export/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "report/text/json_values.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

using Stream = step::Timeline::Stream;
using Activity = step::Timeline::Activity;

/// Returns the text in quotes.
std::string quoted(const std::string& text) { return one_line(Json(text)); }

constexpr double kMicroseconds = 1e6;  // microseconds per second; the format's unit is the microsecond

/// Returns the number of steps that fit in the trace, per run, in the order of runs.
std::vector<std::size_t> steps_that_fit(const Result& result) {
  std::vector<std::size_t> fit;
  std::size_t spans = 0;
  for (const RunResult& run : result.runs) {
    if (run.event_driven) spans += run.event_driven->log.spans.size();
  }
  for (const RunResult& run : result.runs) {
    std::size_t steps = 0;
    while (steps < run.traced.size() && spans + run.traced[steps].timeline->spans.size() <= kMostTraceSpans) {
      spans += run.traced[steps++].timeline->spans.size();
    }
    fit.push_back(steps);
  }
  return fit;
}

class TraceWriter {
 public:
  std::string write(const Result& result) {
    out_ += "{\"displayTimeUnit\":\"ms\",\n\"otherData\":";
    Json about;
    about["dadsim"] = result.version;
    about["scenario"] = result.scenario_name;
    about["left_out"] = left_out_of_trace(result);
    out_ += one_line(about);
    out_ += ",\n\"traceEvents\":[";
    const std::vector<std::size_t> fit = steps_that_fit(result);
    for (std::size_t i = 0; i < result.runs.size(); ++i) {
      if (result.runs[i].event_driven) {
        write_play(result.runs[i]);
      } else {
        write_run(++processes_, result.runs[i], fit[i]);
      }
    }
    out_ += "\n]}\n";
    return std::move(out_);
  }

 private:
  /// Sort key for the tracks of a run, in the order of the page: nodes first, then links by name.
  using TrackKey = std::tuple<bool, std::int32_t, Stream, std::string>;
  static TrackKey key_of(const step::Timeline::Track& track) {
    return {track.stream == Stream::link, track.node, track.stream, track.name};
  }

  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  void begin_event() {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
  }

  void metadata(const char* what, int process, int thread, const std::string& key, const std::string& value) {
    begin_event();
    print(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"{}":{}}}}})", what, process, thread, key, value);
  }

  void name_thread(int process, int thread, const std::string& name) {
    metadata("thread_name", process, thread, "name", quoted(name));
    metadata("thread_sort_index", process, thread, "sort_index", std::to_string(thread));
  }

  void write_run(int process, const RunResult& run, std::size_t steps) {
    metadata("process_name", process, 0, "name", quoted(run.spec.label));
    metadata("process_sort_index", process, 0, "sort_index", std::to_string(process));
    name_thread(process, 0, "training steps");
    std::map<TrackKey, int> threads;
    for (std::size_t i = 0; i < steps; ++i) {
      for (const step::Timeline::Track& track : run.traced[i].timeline->tracks) threads[key_of(track)] = 0;
    }
    int thread = 0;
    for (auto& [key, number] : threads) {
      number = ++thread;
      const bool link = std::get<0>(key);
      name_thread(process, number, link ? "link " + std::get<std::string>(key) : std::get<std::string>(key));
    }
    for (std::size_t i = 0; i < steps; ++i) {
      const TracedStep& step = run.traced[i];
      begin_event();
      print(
          R"({{"ph":"X","name":"step {}{}","cat":"step","pid":{},"tid":0,"ts":{},"dur":{},"args":{{"fidelity":"{}"}}}})",
          step.number, step.cold ? " (new connections)" : "", process, step.begin * kMicroseconds,
          step.timeline->seconds * kMicroseconds, step.timeline->fidelity);
      write_spans(process, step, threads);
    }
  }

  /// Writes a process per active node: computations, messages, and periods in which the node was down. Messages use as
  /// many tracks as needed to avoid overlaps.
  void write_play(const RunResult& run) {
    using EventSpan = step::EventLog::Span;
    const EventDrivenResult& event_driven = *run.event_driven;
    std::map<std::int32_t, std::vector<const EventSpan*>> nodes;
    for (const EventSpan& span : event_driven.log.spans) nodes[span.node].push_back(&span);
    for (auto& [node, spans] : nodes) {
      std::ranges::stable_sort(spans, {}, &EventSpan::begin);
      const int process = ++processes_;
      metadata("process_name", process, 0, "name",
               quoted(fmt::format("{}: {}", run.spec.label, name_of(event_driven, node))));
      metadata("process_sort_index", process, 0, "sort_index", std::to_string(process));
      name_thread(process, 1, "computing");
      name_thread(process, 2, "down");
      std::vector<double> free_at;  // end of the last message per track
      for (const EventSpan* span : spans) write_span(process, *span, event_driven, free_at);
    }
  }

  static std::string name_of(const EventDrivenResult& event_driven, std::int32_t node) {
    const auto index = static_cast<std::size_t>(node);
    const std::string host = index < event_driven.hosts.size() ? event_driven.hosts[index] : "";
    return index < event_driven.workers ? fmt::format("worker {} ({})", node, host)
                                        : fmt::format("aggregator ({})", host);
  }

  void write_span(int process, const step::EventLog::Span& span, const EventDrivenResult& event_driven,
                  std::vector<double>& free_at) {
    using Kind = step::EventLog::Span::Kind;
    int thread = span.kind == Kind::down ? 2 : 1;
    const bool sends = span.kind == Kind::send || span.kind == Kind::lost;
    const std::string name = sends ? fmt::format("{} to {}", span.what, name_of(event_driven, span.peer)) : span.what;
    std::string arguments;
    if (sends) {
      std::size_t track = 0;
      while (track < free_at.size() && free_at[track] > span.begin) ++track;
      thread = static_cast<int>(track) + 3;
      if (track == free_at.size()) {
        free_at.push_back(0);
        name_thread(process, thread, track == 0 ? "sending" : fmt::format("sending, {}", track + 1));
      }
      free_at[track] = span.end;
      arguments = fmt::format(R"("bytes":{},"number":{})", span.bytes, span.number);
    } else if (span.kind == Kind::compute) {
      arguments = fmt::format(R"("first_step":{})", span.number);
    }
    if (span.failed) arguments += fmt::format(R"({}"failed":true)", arguments.empty() ? "" : ",");
    constexpr const char* categories[] = {"compute", "network", "lost", "down"};
    begin_event();
    print(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", quoted(name),
          categories[static_cast<std::size_t>(span.kind)], process, thread, span.begin * kMicroseconds,
          (span.end - span.begin) * kMicroseconds, arguments);
  }

  void write_spans(int process, const TracedStep& step, const std::map<TrackKey, int>& threads) {
    const step::Timeline& timeline = *step.timeline;
    std::vector<int> thread_of;
    for (const step::Timeline::Track& track : timeline.tracks) thread_of.push_back(threads.at(key_of(track)));
    // Formats, once per label, the part that all spans with this label have in common.
    std::vector<std::string> heads;
    std::vector<std::string> arguments;
    for (const step::Timeline::Label& label : timeline.labels) {
      constexpr const char* categories[] = {"compute", "wait", "network", "link"};
      heads.push_back(fmt::format(R"({{"ph":"X","name":{},"cat":"{}")", quoted(label.name),
                                  categories[static_cast<std::size_t>(label.activity)]));
      std::string text;
      for (const auto& [name, value] : {std::pair<const char*, const std::string&>("layer", label.layer),
                                        {"kind", label.kind},
                                        {"algorithm", label.algorithm}}) {
        if (!value.empty()) text += fmt::format(R"({}"{}":{})", text.empty() ? "" : ",", name, quoted(value));
      }
      arguments.push_back(std::move(text));
    }
    for (const step::Timeline::Span& span : timeline.spans) {
      const auto label = static_cast<std::size_t>(span.label);
      const Activity activity = timeline.labels[label].activity;
      begin_event();
      print(R"({},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{})", heads[label], process,
            thread_of[static_cast<std::size_t>(span.track)], (step.begin + span.begin) * kMicroseconds,
            span.seconds * kMicroseconds, arguments[label]);
      const char* comma = arguments[label].empty() ? "" : ",";
      if (span.amount > 0 && activity != Activity::waiting) {
        const char* unit = activity == Activity::computing ? "flops" : "bytes";
        print(R"({}"{}":{})", comma, unit, span.amount);
        comma = ",";
        if (!span.cut) print(R"(,"{}_per_second":{})", unit, span.amount / span.seconds);
      }
      if (span.cut) print(R"({}"cut_off":true)", comma);
      out_ += "}}";
    }
  }

  std::string out_;
  bool first_ = true;
  int processes_ = 0;
};

}  // namespace

std::string to_trace(const Result& result) { return TraceWriter().write(result); }

std::vector<std::string> left_out_of_trace(const Result& result) {
  std::vector<std::string> sentences;
  const std::vector<std::size_t> fit = steps_that_fit(result);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const RunResult& run = result.runs[i];
    const auto say = [&](const std::string& what) {
      const std::string sentence = fmt::format("{}: {}", run.spec.label, what);
      if (std::ranges::count(sentences, sentence) == 0) sentences.push_back(sentence);
    };
    if (run.event_driven) {
      // The trace of an event-driven run covers the whole simulation instead of single steps.
      if (run.event_driven->log.spans_left_out > 0) {
        say(fmt::format(
            "the first {} of {} spans of the simulation are included, until {}", run.event_driven->log.spans.size(),
            static_cast<std::int64_t>(run.event_driven->log.spans.size()) + run.event_driven->log.spans_left_out,
            run.event_driven->log.spans.empty() ? "its beginning"
                                                : human_seconds(run.event_driven->log.spans.back().end)));
      }
      continue;
    }
    std::vector<std::int64_t> beyond;
    for (const std::int64_t step : result.trace_steps) {
      if (step > run.steps) beyond.push_back(step);
    }
    if (!beyond.empty()) {
      say(fmt::format("the run has {} steps and no step {}", run.steps, fmt::join(beyond, ", ")));
    }
    for (std::size_t step = 0; step < run.traced.size(); ++step) {
      const step::Timeline& timeline = *run.traced[step].timeline;
      if (step >= fit[i]) {
        say(fmt::format("step {} does not fit into a trace of {} spans", run.traced[step].number, kMostTraceSpans));
        continue;
      }
      if (timeline.workers_shown < timeline.workers) {
        say(fmt::format("{} of {} workers have tracks", timeline.workers_shown, timeline.workers));
      }
      if (timeline.fidelity != "message") {
        say(fmt::format("links have no tracks; collectives were timed as {}, not message by message",
                        timeline.fidelity == "flow" ? "flows" : "a closed form"));
      }
      if (timeline.links_shown < timeline.links) {
        say(fmt::format("step {}: {} of {} links (the busiest) have tracks", run.traced[step].number,
                        timeline.links_shown, timeline.links));
      }
      if (timeline.cut > 0) {
        say(fmt::format("step {}: {} of its spans continue after the last worker ends; they are cut off there",
                        run.traced[step].number, timeline.cut));
      }
    }
  }
  return sentences;
}

}  // namespace dadsim::report

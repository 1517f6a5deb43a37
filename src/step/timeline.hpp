#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::step {

/// Spans on tracks of one simulated step, for drawing.
struct Timeline {
  enum class Activity : std::uint8_t { computing, waiting, communicating, carrying };
  /// Meaning of a span; the same for all workers.
  struct Label {
    Activity activity = Activity::computing;
    std::string name;       ///< "fc1 weight gradient", "all-reduce fc1 (ring)", "wait for all-reduce fc1 (ring)"
    std::string layer;      ///< name of the layer; may be empty
    std::string kind;       ///< phase of a computation, kind of a collective
    std::string algorithm;  ///< algorithm of a collective
  };
  enum class Stream : std::uint8_t { compute, send, receive, link };
  struct Track {
    Stream stream = Stream::compute;
    std::int32_t node = -1;  ///< workers, then the aggregator; -1 for a link
    std::string name;        ///< "worker 3 (gpu-3) compute"; or a link's name
  };
  struct Span {
    std::int32_t track = 0, label = 0;
    double begin = 0;    ///< seconds, from the beginning of the step
    double seconds = 0;  ///< duration in seconds, above 0
    double amount = 0;   ///< flops of a computation, or payload bytes
    bool cut = false;    ///< true: the span continues after the step
  };

  double seconds = 0;     ///< seconds of the step
  std::int32_t last = 0;  ///< the worker that ends last
  std::string fidelity;   ///< "message", "flow" or "closed-form"; links have tracks only with "message"
  std::vector<Label> labels;
  std::vector<Track> tracks;  ///< sorted by node, then links
  std::vector<Span> spans;    ///< sorted by track, then by time; spans of a track do not overlap

  std::size_t workers = 0, workers_shown = 0;
  std::size_t links = 0, links_shown = 0;  ///< number of links that carried data
  std::size_t cut = 0;                     ///< number of spans that continue or begin after the step
};

}  // namespace dadsim::step

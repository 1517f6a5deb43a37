#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::step {

/// Spans on tracks of one simulated step, for pictures of it.
struct Timeline {
  enum class Activity : std::uint8_t { computing, waiting, communicating, carrying };
  /// Meaning of a span; the same for all workers.
  struct Label {
    Activity activity = Activity::computing;
    std::string name;       ///< "fc1 weight gradient", "all-reduce fc1 (ring)", "wait for all-reduce fc1 (ring)"
    std::string layer;      ///< may be empty
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
    double seconds = 0;  ///< above 0
    double amount = 0;   ///< flops of a computation, payload bytes
    bool cut = false;    ///< it continues after the step
  };

  double seconds = 0;     ///< seconds of the step
  std::int32_t last = 0;  ///< the worker that ends last
  std::string fidelity;   ///< "message", "flow" or "closed-form"; only messages give links tracks
  std::vector<Label> labels;
  std::vector<Track> tracks;  ///< node by node, then links
  std::vector<Span> spans;    ///< by track, then by time; those of a track do not overlap

  std::size_t workers = 0, workers_shown = 0;
  std::size_t links = 0, links_shown = 0;  ///< links that carried something
  std::size_t cut = 0;                     ///< spans that continue after the step, or would begin after it
};

}  // namespace dadsim::step

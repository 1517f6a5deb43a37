#include "step/timing_bytes.hpp"

#include <cstdint>
#include <string_view>

namespace dadsim::step {

void pack(WireWriter& message, const StepTiming& timing) {
  message << timing.seconds << timing.compute_seconds << timing.exposed_seconds << timing.bytes_sent
          << timing.bytes_received << timing.busy_seconds << timing.compression_seconds << timing.waiting_seconds
          << std::uint64_t{timing.bounds.size()};
  for (const Bound& bound : timing.bounds) {
    message << std::string_view(bound.resource) << std::string_view(bound.kind) << bound.seconds << bound.share
            << std::string_view(bound.device);
  }
}

StepTiming unpack_timing(WireReader& message) {
  StepTiming timing;
  std::uint64_t bounds = 0;
  message >> timing.seconds >> timing.compute_seconds >> timing.exposed_seconds >> timing.bytes_sent >>
      timing.bytes_received >> timing.busy_seconds >> timing.compression_seconds >> timing.waiting_seconds >> bounds;
  for (std::uint64_t i = 0; i < bounds; ++i) {
    Bound& bound = timing.bounds.emplace_back();
    message >> bound.resource >> bound.kind >> bound.seconds >> bound.share >> bound.device;
  }
  return timing;
}

void pack(WireWriter& message, const NetworkUse& use) {
  message << std::string_view(use.fidelity) << std::string_view(use.fidelity_note) << use.messages
          << std::uint64_t{use.collectives.size()};
  for (const NetworkUse::Collective& one : use.collectives) {
    message << std::string_view(one.kind) << std::string_view(one.algorithm) << one.least_bytes << one.most_bytes
            << one.count;
  }
  message << std::uint64_t{use.links.size()};
  for (const NetworkUse::LinkClass& one : use.links) {
    message << std::string_view(one.name) << std::string_view(one.transport) << std::string_view(one.model)
            << one.bandwidth << one.efficiency << one.links << one.queue_bytes;
  }
  message << use.links_used << std::uint64_t{use.link_use.size()};
  for (const LinkUse& one : use.link_use) {
    message << std::string_view(one.link) << std::string_view(one.link_class) << one.bandwidth << one.latency
            << one.bytes_per_step << one.busy_share;
  }
}

NetworkUse unpack_network(WireReader& message) {
  NetworkUse use;
  std::uint64_t count = 0;
  message >> use.fidelity >> use.fidelity_note >> use.messages >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    NetworkUse::Collective& one = use.collectives.emplace_back();
    message >> one.kind >> one.algorithm >> one.least_bytes >> one.most_bytes >> one.count;
  }
  message >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    NetworkUse::LinkClass& one = use.links.emplace_back();
    message >> one.name >> one.transport >> one.model >> one.bandwidth >> one.efficiency >> one.links >>
        one.queue_bytes;
  }
  message >> use.links_used >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    LinkUse& one = use.link_use.emplace_back();
    message >> one.link >> one.link_class >> one.bandwidth >> one.latency >> one.bytes_per_step >> one.busy_share;
  }
  return use;
}

void pack(WireWriter& message, const Timeline& timeline) {
  message << timeline.seconds << timeline.last << std::string_view(timeline.fidelity) << timeline.workers
          << timeline.workers_shown << timeline.links << timeline.links_shown << timeline.cut;
  message << std::uint64_t{timeline.labels.size()};
  for (const Timeline::Label& label : timeline.labels) {
    message << static_cast<std::uint8_t>(label.activity) << std::string_view(label.name)
            << std::string_view(label.layer) << std::string_view(label.kind) << std::string_view(label.algorithm);
  }
  message << std::uint64_t{timeline.tracks.size()};
  for (const Timeline::Track& track : timeline.tracks) {
    message << static_cast<std::uint8_t>(track.stream) << track.node << std::string_view(track.name);
  }
  message << std::uint64_t{timeline.spans.size()};
  for (const Timeline::Span& span : timeline.spans) {
    message << span.track << span.label << span.begin << span.seconds << span.amount << span.cut;
  }
}

Timeline unpack_timeline(WireReader& message) {
  Timeline timeline;
  std::uint64_t count = 0;
  std::uint8_t kind = 0;
  message >> timeline.seconds >> timeline.last >> timeline.fidelity >> timeline.workers >> timeline.workers_shown >>
      timeline.links >> timeline.links_shown >> timeline.cut;
  message >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    Timeline::Label& label = timeline.labels.emplace_back();
    message >> kind >> label.name >> label.layer >> label.kind >> label.algorithm;
    label.activity = static_cast<Timeline::Activity>(kind);
  }
  message >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    Timeline::Track& track = timeline.tracks.emplace_back();
    message >> kind >> track.node >> track.name;
    track.stream = static_cast<Timeline::Stream>(kind);
  }
  message >> count;
  for (std::uint64_t i = 0; i < count; ++i) {
    Timeline::Span& span = timeline.spans.emplace_back();
    message >> span.track >> span.label >> span.begin >> span.seconds >> span.amount >> span.cut;
  }
  return timeline;
}

}  // namespace dadsim::step

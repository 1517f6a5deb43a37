#pragma once

#include "step/timeline.hpp"
#include "step/timing.hpp"
#include "support/statement_bytes.hpp"
#include "support/wire.hpp"

// Serialisation of a simulation's results, for the process that requested it. Both processes are the same build, so
// enumerations are sent as their numbers.

namespace dadsim::step {

constexpr Timeline::Activity last_of(Timeline::Activity /*type*/) { return Timeline::Activity::carrying; }
constexpr Timeline::Stream last_of(Timeline::Stream /*type*/) { return Timeline::Stream::link; }

void fields(auto& bytes, of<Bound> auto& bound) {
  bytes(bound.resource, bound.kind, bound.seconds, bound.share, bound.device);
}
void fields(auto& bytes, of<StepTiming> auto& timing) {
  bytes(timing.seconds, timing.compute_seconds, timing.exposed_seconds, timing.bytes_sent, timing.bytes_received,
        timing.busy_seconds, timing.compression_seconds, timing.waiting_seconds, timing.bounds);
}

void fields(auto& bytes, of<NetworkUse::Collective> auto& one) {
  bytes(one.kind, one.algorithm, one.least_bytes, one.most_bytes, one.count, one.quicker);
}
void fields(auto& bytes, of<NetworkUse::LinkClass> auto& one) {
  bytes(one.name, one.transport, one.model, one.bandwidth, one.efficiency, one.links, one.queue_bytes);
}
void fields(auto& bytes, of<LinkUse> auto& one) {
  bytes(one.link, one.link_class, one.bandwidth, one.latency, one.bytes_per_step, one.busy_share);
}
/// Leaves out the sampling, which the simulating process does not know.
void fields(auto& bytes, of<NetworkUse> auto& use) {
  bytes(use.fidelity, use.fidelity_notes, use.messages, use.collectives, use.links, use.links_used, use.link_use);
}

void fields(auto& bytes, of<Timeline::Label> auto& label) {
  bytes(label.activity, label.name, label.layer, label.kind, label.algorithm);
}
void fields(auto& bytes, of<Timeline::Track> auto& track) { bytes(track.stream, track.node, track.name); }
void fields(auto& bytes, of<Timeline::Span> auto& span) {
  bytes(span.track, span.label, span.begin, span.seconds, span.amount, span.cut);
}
void fields(auto& bytes, of<Timeline> auto& timeline) {
  bytes(timeline.seconds, timeline.last, timeline.fidelity, timeline.workers, timeline.workers_shown, timeline.links,
        timeline.links_shown, timeline.cut, timeline.labels, timeline.tracks, timeline.spans);
}

}  // namespace dadsim::step

#include <cmath>

#include "scenario/print_parts.hpp"

namespace dadsim::scenario {
namespace {

using Open = XmlWriter::Open;
using By = spec::AvailabilitySpec::By;

const char* match_name(bool links) { return links ? "links" : "hosts"; }

}  // namespace

void write_failures(XmlWriter& xml, const spec::FailureSpec& what, const PathText& file) {
  if (!what.random.empty() || !what.outages.empty() || !what.checkpoints.empty()) {
    const Open failures(xml, "failures");
    for (const spec::RandomFailureSpec& one : what.random) {
      Open(xml, "fails")
          .set(match_name(one.links), one.match)
          .set_seconds("mtbf", one.mean_up)
          .set_seconds("mttr", one.mean_down)
          .set("shape", one.shape);
    }
    for (const spec::OutageSpec& one : what.outages) {
      Open element(xml, "outage");
      element.set(match_name(one.links), one.match).set_seconds("from", one.from);
      if (std::isfinite(one.seconds)) element.set_seconds("for", one.seconds);
    }
    for (const spec::CheckpointSpec& one : what.checkpoints) {
      Open(xml, "checkpoint")
          .set("hosts", one.hosts)
          .set_seconds("every", one.every)
          .set_bytes("size", one.bytes)
          .set_bandwidth("storage", one.storage)
          .set_seconds("restore", one.restore);
    }
  }
  for (const spec::AvailabilitySpec& one : what.availability) {
    Open element(xml, "availability");
    element.set("hosts", one.hosts);
    if (one.by == By::diurnal) {
      element.set("by", "diurnal")
          .set_seconds("from", one.from)
          .set_seconds("until", one.until)
          .set_seconds("spread", one.spread)
          .set_seconds("period", one.period);
    } else if (one.by == By::sessions) {
      element.set("by", "sessions").set_seconds("on", one.on).set_seconds("off", one.off).set("shape", one.shape);
    } else if (one.by == By::file) {
      element.set("by", "file").set("file", file(one.file));
    }
    if (one.drop_out > 0) element.set("drop-out", one.drop_out).set_seconds("returns", one.returns);
  }
}

}  // namespace dadsim::scenario

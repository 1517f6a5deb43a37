#include "scenario/read_failures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "scenario/availability_file.hpp"
#include "scenario/files.hpp"
#include "scenario/host_list.hpp"
#include "scenario/quantity.hpp"
#include "support/pattern.hpp"

namespace dadsim::scenario {
namespace {

using By = spec::AvailabilitySpec::By;

constexpr std::size_t kMaxRules = 1000;                 // of each kind
constexpr Range kShape{.minimum = 0.1, .maximum = 20};  // below, means are made by a few very long times
constexpr const char* kHosts = "names of hosts in which * stands for anything, e.g. phone-*";
constexpr const char* kLinks = "names of links in which * stands for anything, e.g. \"hub *\"";

/// Reads the rules of one scenario.
class FailureReader {
 public:
  FailureReader(const std::vector<std::string>& placed, const ReadContext& context)
      : placed_(placed), context_(context) {}

  spec::FailureSpec read(const Node& scenario) {
    spec::FailureSpec what;
    if (const Element* failures = scenario.child("failures")) {
      const Node node(*failures, context_.findings);
      each(node, "fails", [&](const Node& one) { what.random.push_back(read_random(one)); });
      each(node, "outage", [&](const Node& one) { what.outages.push_back(read_outage(one)); });
      each(node, "joins", [&](const Node& one) {
        const double at = required_quantity(one, "at", kDurationForm, context_.catalog).value_or(1);
        what.outages.push_back({.match = hosts_of(one), .from = 0, .seconds = at});
      });
      each(node, "leaves", [&](const Node& one) {
        const double at = required_quantity(one, "at", kLatencyForm, context_.catalog).value_or(0);
        what.outages.push_back({.match = hosts_of(one), .from = at});
      });
      each(node, "checkpoint", [&](const Node& one) { what.checkpoints.push_back(read_checkpoint(one)); });
    }
    each(scenario, "availability", [&](const Node& one) { what.availability.push_back(read_availability(one)); });
    return what;
  }

 private:
  template <class Read>
  void each(const Node& parent, const char* name, const Read& read) {
    const std::vector<const Element*> elements = parent.children(name);
    if (elements.size() > kMaxRules) {
      parent.fail(fmt::format("{} <{}>", elements.size(), name), fmt::format("at most {}", kMaxRules));
    }
    for (std::size_t i = 0; i < std::min(elements.size(), kMaxRules); ++i) read(Node(*elements[i], context_.findings));
  }

  void check_fits(const Node& node, const std::string& pattern) {
    if (pattern.empty() || placed_.empty()) return;
    if (std::ranges::any_of(placed_, [&](const std::string& host) { return fits(pattern, host); })) return;
    node.fail_at("hosts", "fits no host of a worker or of the aggregator",
                 context_.findings.full() ? "" : context_.findings.suggest(pattern, placed_));
  }

  std::string hosts_of(const Node& node) {
    std::string pattern = plain_name(node.required_text("hosts", kHosts).value_or(""));
    check_fits(node, pattern);
    return pattern;
  }

  /// Either hosts or links.
  void read_match(const Node& node, bool& links, std::string& match) {
    links = node.has("links");
    if (links) {
      node.refuse("hosts", "stands beside links", "one of the two; another element for the other");
      match = plain_name(node.required_text("links", kLinks).value_or(""));
    } else {
      match = hosts_of(node);
    }
  }

  double duration(const Node& node, const char* attribute, double fallback) {
    return quantity(node, attribute, kDurationForm, fallback, context_.catalog);
  }
  double required(const Node& node, const char* attribute) {
    return required_quantity(node, attribute, kDurationForm, context_.catalog).value_or(1);
  }

  spec::RandomFailureSpec read_random(const Node& node) {
    spec::RandomFailureSpec spec;
    read_match(node, spec.links, spec.match);
    spec.mean_up = required(node, "mtbf");
    spec.mean_down = required(node, "mttr");
    spec.shape = node.real("shape", kShape, spec.shape);
    return spec;
  }

  spec::OutageSpec read_outage(const Node& node) {
    spec::OutageSpec spec;
    read_match(node, spec.links, spec.match);
    spec.from = quantity(node, "from", kLatencyForm, 0, context_.catalog);
    spec.seconds = duration(node, "for", spec.seconds);
    return spec;
  }

  spec::CheckpointSpec read_checkpoint(const Node& node) {
    spec::CheckpointSpec spec;
    spec.hosts = plain_name(node.text("hosts", spec.hosts));
    check_fits(node, spec.hosts);
    spec.every = required(node, "every");
    spec.bytes = required_quantity(node, "size", kBytesForm, context_.catalog).value_or(1);
    spec.storage = required_quantity(node, "storage", kBandwidthForm, context_.catalog).value_or(1);
    spec.restore = quantity(node, "restore", kLatencyForm, 0, context_.catalog);
    return spec;
  }

  spec::AvailabilitySpec read_availability(const Node& node) {
    static const std::array<std::string, 4> kBy = {"always", "diurnal", "sessions", "file"};
    spec::AvailabilitySpec spec;
    spec.hosts = hosts_of(node);
    spec.by = static_cast<By>(node.choice("by", kBy, 0));
    const auto belongs = [&](By by, std::initializer_list<const char*> attributes) {
      if (spec.by == by) return true;
      for (const char* attribute : attributes) {
        node.refuse(attribute, fmt::format("means nothing with by=\"{}\"", kBy[static_cast<std::size_t>(spec.by)]),
                    fmt::format("by=\"{}\"", kBy[static_cast<std::size_t>(by)]));
      }
      return false;
    };
    if (belongs(By::diurnal, {"from", "until", "spread", "period"})) read_diurnal(node, spec);
    if (belongs(By::sessions, {"on", "off", "shape"})) {
      spec.on = required(node, "on");
      spec.off = required(node, "off");
      spec.shape = node.real("shape", kShape, spec.shape);
    }
    if (belongs(By::file, {"file"})) read_file(node, spec);
    spec.drop_out = node.real("drop-out", kShare, spec.drop_out);
    if (spec.drop_out == 0) node.refuse("returns", "means nothing without drop-out", "drop-out=\"0.05\", or remove it");
    spec.returns = duration(node, "returns", spec.returns);
    if (spec.by == By::always && spec.drop_out == 0) {
      node.fail("<availability> says nothing", "by=\"diurnal\", \"sessions\" or \"file\", or drop-out=\"0.05\"");
    }
    return spec;
  }

  void read_diurnal(const Node& node, spec::AvailabilitySpec& spec) {
    spec.period = duration(node, "period", spec.period);
    const QuantityForm within{Catalog::Unit::seconds,
                              {.minimum = 0, .maximum = spec.period},
                              "seconds with their unit, from 0 to the period, e.g. 22h"};
    spec.from = required_quantity(node, "from", within, context_.catalog).value_or(0);
    spec.until = required_quantity(node, "until", within, context_.catalog).value_or(spec.period / 2);
    spec.spread = quantity(node, "spread", within, 0, context_.catalog);
    if (spec.from == spec.until) node.fail_at("until", "is the same time as from", "a later time, or an earlier one");
  }

  void read_file(const Node& node, spec::AvailabilitySpec& spec) {
    constexpr const char* kForm = "the path of a file with lines `host time on|off`";
    const std::optional<std::string> name = node.required_text("file", kForm);
    if (!name) return;
    const DataFile found = find_data_file(context_.path, *name, kForm);
    if (found.path.empty()) {
      node.fail_at("file", found.what, found.remedy);
      return;
    }
    spec.file = found.path;
    Findings findings(spec.file);
    const std::optional<std::string> content = read_document(spec.file, {"list of times", "host 0 on", ""}, findings);
    if (content) {
      std::vector<std::string> hosts;
      std::ranges::copy_if(placed_, std::back_inserter(hosts),
                           [&](const std::string& host) { return fits(spec.hosts, host); });
      spec.changes = read_availability_file(*content, hosts, placed_, context_.catalog, findings);
    }
    context_.findings.take(findings);
  }

  const std::vector<std::string>& placed_;
  const ReadContext& context_;
};

}  // namespace

spec::FailureSpec read_failures(const Node& scenario, const std::vector<std::string>& placed,
                                const ReadContext& context) {
  return FailureReader(placed, context).read(scenario);
}

}  // namespace dadsim::scenario

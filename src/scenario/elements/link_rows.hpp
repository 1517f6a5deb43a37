#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read_link.hpp"

// Attributes of links, shared by several elements: declaration and printing. elements/read_link.hpp reads them.

namespace dadsim::scenario {

inline constexpr QuantityForm kQueueForm = kBytesForm;

/// Returns a link as an attribute's value: its name in the catalogue, or a custom link's bandwidth with its unit.
std::string link_text(const spec::LinkSpec& link);

AttributeRule congestion_rule();
AttributeRule measured_rule();
AttributeRule per_connection_rule();
AttributeRule queue_rule();

/// Makes a row whose text is printed by a function of the struct.
template <class Spec, class Text>
Row<Spec> printed_as(AttributeRule rule, Text text) {
  return by_code<Spec>(std::move(rule), {}, [text](const Spec& spec, const PathText&) { return text(spec); })
      .without_default();
}

/// Returns the rows `ATTRIBUTE` and `ATTRIBUTE-latency` of a cluster's link.
template <class Spec>
std::vector<Row<Spec>> cluster_link(const char* attribute_name, spec::LinkSpec Spec::*member, Kind kind, bool required,
                                    std::function<bool(const Spec&)> printed = {}) {
  AttributeRule rule = attribute(attribute_name, std::move(kind));
  rule.required = required;
  return {printed_as<Spec>(std::move(rule), [member](const Spec& spec) { return link_text(spec.*member); })
              .printed_if(printed),
          printed_as<Spec>(attribute(fmt::format("{}-latency", attribute_name), quantity(kLatencyForm)),
                           [member](const Spec& spec) { return fmt::format("{}s", (spec.*member).latency); })
              .printed_if(printed)};
}

/// Returns whether one `queue` can be printed for both directions: only one of them is over TCP, or both are, with
/// equal queues.
bool one_queue(const spec::LinkSpec& up, const spec::LinkSpec& down);
double shared_queue(const spec::LinkSpec& up, const spec::LinkSpec& down);
/// Returns whether the bandwidth of a direction is a measured rate of transfers (goodput).
bool is_goodput(const spec::LinkSpec& up, const spec::LinkSpec& down);

/// Returns the rows of an access line.
template <class Spec>
std::vector<Row<Spec>> access_line(spec::LinkSpec Spec::*up, spec::LinkSpec Spec::*down) {
  const auto latency = [](spec::LinkSpec Spec::*link) {
    return [link](const Spec& spec) { return fmt::format("{}s", (spec.*link).latency); };
  };
  return {printed_as<Spec>(attribute("up", name_in("links")).must(),
                           [up](const Spec& spec) { return link_text(spec.*up); }),
          printed_as<Spec>(attribute("down", name_in("links")).must(),
                           [down](const Spec& spec) { return link_text(spec.*down); }),
          by_code<Spec>(attribute("latency", quantity(kLatencyForm))),
          printed_as<Spec>(attribute("up-latency", quantity(kLatencyForm)), latency(up)),
          printed_as<Spec>(attribute("down-latency", quantity(kLatencyForm)), latency(down)),
          printed_as<Spec>(attribute("transport", one_of<spec::Transport>()),
                           [up](const Spec& spec) { return to_string((spec.*up).transport); })
              .printed_if([=](const Spec& spec) { return (spec.*up).transport == (spec.*down).transport; }),
          printed_as<Spec>(attribute("efficiency", real(kPositiveShare)),
                           [up](const Spec& spec) { return fmt::format("{}", (spec.*up).efficiency); })
              .printed_if([=](const Spec& spec) {
                return (spec.*up).efficiency == (spec.*down).efficiency && !is_goodput(spec.*up, spec.*down);
              }),
          printed_as<Spec>(queue_rule(),
                           [=](const Spec& spec) { return fmt::format("{}B", shared_queue(spec.*up, spec.*down)); })
              .printed_if([=](const Spec& spec) {
                return one_queue(spec.*up, spec.*down) && !is_goodput(spec.*up, spec.*down);
              }),
          by_code<Spec>(congestion_rule()),
          printed_as<Spec>(measured_rule().otherwise("wire"), [](const Spec&) { return std::string("goodput"); })
              .printed_if([=](const Spec& spec) { return is_goodput(spec.*up, spec.*down); }),
          printed_as<Spec>(per_connection_rule(), [=](const Spec& spec) {
            return fmt::format("{}Bps", std::max((spec.*up).per_connection, (spec.*down).per_connection));
          }).printed_if([=](const Spec& spec) {
            return (spec.*up).per_connection > 0 || (spec.*down).per_connection > 0;
          })};
}

/// Concatenates rows.
template <class Spec>
std::vector<Row<Spec>> operator+(std::vector<Row<Spec>> rows, std::vector<Row<Spec>> more) {
  for (Row<Spec>& row : more) rows.push_back(std::move(row));
  return rows;
}

}  // namespace dadsim::scenario

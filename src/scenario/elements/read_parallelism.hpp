#pragma once

#include "scenario/elements/read.hpp"
#include "scenario/language/table.hpp"

namespace dadsim::scenario {

/// Largest number of devices along one dimension of parallelism.
inline constexpr std::int64_t kMostDivided = 4096;

/// Returns the devices per worker, from <timed-as>. Returns 1 if the element is missing or wrong; reading it reports
/// the errors.
std::int64_t devices_per_worker(const Element* timed_as);

/// Returns the attributes of <timed-as> that divide a network.
std::vector<Row<spec::TimedAsSpec>> parallelism_rows();

/// Reads one attribute of <timed-as> into `timed`. `option`: the command-line option that sets it, for errors. Returns
/// the printed value. Errors go to `findings`.
std::string read_timed_as_attribute(const std::string& option, const std::string& name, const std::string& text,
                                    spec::TimedAsSpec& timed, Findings& findings);

/// Returns the printed value of an attribute of <timed-as>; the default if the attribute has no effect.
std::string timed_as_attribute(const spec::TimedAsSpec& timed, const std::string& name);

/// Returns the attributes of <timed-as> that divide a network among devices, and the batch, which a search for layouts
/// sets.
const std::vector<std::string>& layout_attributes();

/// Returns whether an assignment of --set, or its path, is of a layout's attribute.
bool sets_layout(std::string_view assignment);

/// Returns the batch and the attributes of a layout that have an effect and differ from their defaults, as for --set:
/// "timed-as.tensor=8".
std::vector<std::string> layout_assignments(spec::TimedAsSpec timed);

/// Checks rules between attributes. Resets invalid values, so that they cause no further faults.
void check_division(const Node& node, spec::ParallelismSpec& how, std::int64_t batch);

/// Returns `use ATTRIBUTE="1", "2" or "4"` with the divisors of a number, at most twelve.
std::string use_divisor(std::string_view attribute, std::size_t number);

/// Returns the remedy for a network that cannot be divided as `timed` asks: values of one attribute that fit all
/// others. `devices`: devices of all workers together; 0: not known yet.
std::string remedy_for_division(spec::TimedAsSpec timed, std::size_t devices);

/// Checks that the devices can be divided among the workers, and that the runs support this layout.
void check_parallelism(const Element& timed_as, const spec::TimedAsSpec& timed, std::size_t devices,
                       const std::vector<spec::RunSpec>& runs, const ReadContext& context);

}  // namespace dadsim::scenario

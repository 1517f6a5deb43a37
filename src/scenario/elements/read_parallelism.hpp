#pragma once

#include "scenario/elements/read.hpp"
#include "scenario/language/table.hpp"

namespace dadsim::scenario {

/// Devices of one kind of division, at most.
inline constexpr std::int64_t kMostDivided = 4096;

/// How many devices a worker is of, as <timed-as> says; 1 where that is left out or wrong (what is wrong is found when
/// the element is read).
std::int64_t devices_per_worker(const Element* timed_as);

/// The attributes of <timed-as> that say how a network is divided.
std::vector<Row<spec::TimedAsSpec>> parallelism_rows();

/// Reads one attribute of <timed-as> by itself into `timed`; `option` says it. Returns the value as it is printed. What
/// is wrong with it goes to `findings`.
std::string read_timed_as_attribute(const std::string& option, const std::string& name, const std::string& text,
                                    spec::TimedAsSpec& timed, Findings& findings);

/// The value of an attribute of <timed-as> as it is printed; its default where it has no effect.
std::string timed_as_attribute(const spec::TimedAsSpec& timed, const std::string& name);

/// Rules that several of them share. What goes with nothing is put back, so that no more is found to be wrong of it.
void check_division(const Node& node, spec::ParallelismSpec& how, std::int64_t batch);

/// That the devices can be dealt out to workers, and that the runs can be divided so.
void check_parallelism(const Element& timed_as, const spec::TimedAsSpec& timed, std::size_t devices,
                       const std::vector<spec::RunSpec>& runs, const ReadContext& context);

}  // namespace dadsim::scenario

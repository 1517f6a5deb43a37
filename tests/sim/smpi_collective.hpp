#pragma once

// clang-format off
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>  // Redefines names of the standard library: include it after SimGrid's headers and before
                        // dadsim's.
// clang-format on

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/platform/engine.hpp"
#include "sim/process/child_process.hpp"
#include "spec/platform_specification.hpp"
#include "support/wire.hpp"

// Runs collectives of SMPI, SimGrid's implementation of MPI, on a dadsim platform.

// SMPI exports these functions but declares them in no header.
namespace simgrid::smpi {
int allreduce__lr(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int allreduce__rdb(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int allreduce__rab_rdb(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int allgather__NTSLR(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
int allgather__rdb(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
}  // namespace simgrid::smpi

namespace dadsim::test {

using AllReduce = int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
using AllGather = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);

/// Returns the seconds until the last rank ends, with one rank per host. Runs in a process of its own.
inline double by_smpi(const spec::PlatformSpec& platform, AllReduce all_reduce, AllGather all_gather,
                      int block_floats) {
  double seconds = -1;
  const auto body = [&](const sim::MessageSink& sink) {
    smpi_init_options();
    const auto engine = sim::load_engine(platform);
    // MPI calls cost no time, and messages of every size are eager. With a rendezvous, receivers too would delay a ring
    // whose latencies differ.
    for (const char* setting :
         {"network/latency-factor:1", "smpi/simulate-computation:no", "smpi/host-speed:1Gf", "smpi/os:0:0:0",
          "smpi/or:0:0:0", "smpi/ois:0:0:0", "smpi/async-small-thresh:1000000000",
          "smpi/send-is-detached-thresh:1000000000", "smpi/iprobe:0", "smpi/test:0", "smpi/wtime:0", "smpi/init:0"}) {
      simgrid::s4u::Engine::set_config(setting);
    }
    SMPI_init();
    const std::vector<std::string> hosts = host_names(platform);
    const auto ranks = static_cast<int>(hosts.size());
    // Values do not matter here, so all ranks share one buffer per purpose.
    std::vector<float> in(static_cast<std::size_t>(block_floats) * hosts.size());
    std::vector<float> out(in.size());
    double last = 0;
    SMPI_app_instance_register("oracle", nullptr, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto actor = simgrid::s4u::Actor::init(fmt::format("rank {}", rank),
                                                   simgrid::s4u::Host::by_name(hosts[static_cast<std::size_t>(rank)]));
      actor->set_property("instance_id", "oracle");
      actor->set_property("rank", std::to_string(rank));
      actor->start([&] {
        MPI_Init(nullptr, nullptr);
        const double begin = simgrid::s4u::Engine::get_clock();
        if (all_reduce != nullptr) {
          all_reduce(in.data(), out.data(), block_floats * ranks, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        } else {
          all_gather(in.data(), block_floats, MPI_FLOAT, out.data(), block_floats, MPI_FLOAT, MPI_COMM_WORLD);
        }
        last = std::max(last, simgrid::s4u::Engine::get_clock() - begin);
        MPI_Finalize();
      });
    }
    engine->run();
    WireWriter message;
    message << last;
    sink.send(message.bytes());
    std::_Exit(0);
  };
  const sim::ChildOutcome outcome = sim::run_in_child(
      body, [&](std::string_view bytes) { WireReader(bytes) >> seconds; }, 120);
  if (!(seconds > 0)) throw std::runtime_error("SMPI " + outcome.description() + ": " + outcome.output);
  return seconds;
}

}  // namespace dadsim::test

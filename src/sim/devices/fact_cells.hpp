#pragma once

#include "spec/platform_specification.hpp"
#include "support/fact_table.hpp"

// Cells that tables of devices and of links both have.

namespace dadsim::sim {

inline spec::GpuGeneration generation_in(const FactTable::Row& row) {
  using enum spec::GpuGeneration;
  return row.one_of<spec::GpuGeneration>(
      "generation", {{"volta", volta}, {"ampere", ampere}, {"hopper", hopper}, {"blackwell", blackwell}});
}

inline spec::CollectiveLibrary library_in(const FactTable::Row& row) {
  using enum spec::CollectiveLibrary;
  return row.one_of<spec::CollectiveLibrary>("library", {{"nccl", nccl}, {"rccl", rccl}, {"mpi", mpi}});
}

}  // namespace dadsim::sim

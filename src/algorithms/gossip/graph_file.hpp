#pragma once

#include <string>
#include <vector>

#include "step/neighbours.hpp"

namespace dadsim::algorithms {

/// Content of a file with a list of edges.
struct GraphFile {
  step::Neighbours graph;
  std::vector<std::string> notes;  ///< unused or doubtful parts of the file, each "file:line: what; why"
};

/// Reads a graph from a list of edges in common formats. A line `3 5` is an edge both ways, `3 > 5` or `3 -> 5` one
/// from site 3 to site 5 alone; blanks, tabs, commas, semicolons or `--` may separate them, and a weight (unused),
/// Directed or Undirected may follow. An edge may be listed once for each direction. Comments start with # or %; the
/// first line may be the number of sites, or of sites and of edges, or column names. Sites count from 0, or from 1 if
/// no site 0 is named; in MatrixMarket always from 1, and each entry of a `general` matrix is one direction. Throws
/// InputError with all errors, line by line: no such file, no edge, an unknown site, another number of sites, a
/// repeated edge, a graph that is not connected.
GraphFile read_graph_file(const std::string& path, std::size_t sites);

}  // namespace dadsim::algorithms

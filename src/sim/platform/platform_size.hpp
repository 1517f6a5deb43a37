#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::sim {

class Markup;

/// How much SimGrid would build from a platform file, counted from its tags before any of it is built.
class PlatformSize {
 public:
  explicit PlatformSize(std::string file) : file_(std::move(file)) {}

  /// A start tag, and whether it has an end tag of its own.
  void start(const Markup& markup);
  /// An end tag.
  void end(const Markup& markup);

  /// What is too large: more hosts than any platform may have, more switches than could be built, a table of routes
  /// that would not fit. Each with the line on which it is asked for.
  const std::vector<Diagnostic>& faults() const { return faults_; }

 private:
  struct Zone {
    std::string routing;
    int line = 0;
    std::int64_t points = 0;  ///< hosts, routers and zones in it
  };
  void add_hosts(double count, int line);
  void add_point();
  void cluster(const Markup& markup);

  std::string file_;
  std::vector<Zone> zones_;
  std::vector<Diagnostic> faults_;
  double hosts_ = 0, parts_ = 0, table_bytes_ = 0;  ///< of all clusters and zones
  bool reported_ = false;
};

}  // namespace dadsim::sim

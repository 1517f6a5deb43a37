#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dadsim::sim {

/// Max-min fair rates of transfers that share links with equal weights, by progressive filling (Bertsekas and Gallager,
/// Data Networks, 1992, section 6.5.2): the tightest link fixes the rate of those on it, then the next.
///
/// `capacity`: per link, in any unit per second; `links`: per transfer. A transfer without links gets an endless rate.
std::vector<double> max_min_rates(const std::vector<double>& capacity,
                                  const std::vector<const std::vector<std::int32_t>*>& links);

/// The links of flows one after the other, in one piece. A flow may stand for an equivalence class: `flows` of them
/// share each link that stands for several.
class LinksOfFlows {
 public:
  struct Crossing {
    std::int32_t link = 0;
    double flows = 1;
  };
  void cross(std::int32_t link, double flows) { crossings_.push_back({link, flows}); }
  void end_flow() { ends_.push_back(crossings_.size()); }

  std::size_t count() const { return ends_.size() - 1; }
  std::span<const Crossing> of(std::size_t flow) const {
    return std::span(crossings_).subspan(ends_[flow], ends_[flow + 1] - ends_[flow]);
  }
  std::size_t crossings() const { return crossings_.size(); }

 private:
  std::vector<Crossing> crossings_;
  std::vector<std::size_t> ends_{0};
};

std::vector<double> max_min_rates(const std::vector<double>& capacity, const LinksOfFlows& links);

}  // namespace dadsim::sim

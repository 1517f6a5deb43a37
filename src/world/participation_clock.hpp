#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace dadsim::world {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Draws the sites of a step or round, determines when to stop waiting for answers, and estimates each site's chance to
/// take part. OutageCalendar has the dates of outages.
class ParticipationClock {
 public:
  struct Rules {
    std::size_t sites = 0;
    std::uint64_t seed = 1;
    std::uint32_t stream = 0;          ///< random stream, which separates the draws of different methods
    double fraction = 1;               ///< share of all sites that a round needs; at least one site
    double over_selection = 1;         ///< sites drawn per site needed
    std::vector<double> chances = {};  ///< chance of each site to be drawn for a step; empty: sites are drawn by
                                       ///< `fraction`
    double deadline = kNever;          ///< seconds after which a round continues with the answers received
    std::size_t least = 0;             ///< answers that a round waits for even after its deadline
    std::size_t enough = 0;            ///< answers after which a round waits for `grace` seconds; 0: all
    double grace = 0;                  ///< seconds to wait after `enough` answers
    bool lasts = false;                ///< true: a round lasts until its deadline, even if all sites have answered
    bool counts_presence = false;      ///< true: a site's chance takes into account how often it was present
  };
  explicit ParticipationClock(Rules rules);

  /// Converts the value of a parameter, whose 0 means no deadline.
  static double deadline_of(double seconds) { return seconds > 0 ? seconds : kNever; }
  bool has_deadline() const { return rules_.deadline < kNever; }
  /// Returns the number of sites that a round needs.
  std::size_t needed() const { return needed_; }

  // ---- who takes part ----

  /// Returns sites drawn uniformly from `there`, in ascending order: the number that a round needs, times the
  /// over-selection, or all if there are fewer.
  std::vector<std::size_t> draw(std::int64_t round, std::vector<std::size_t> there) const;
  /// Draws each site with its own chance; without chances, takes all. Repeats the draw until `counts` is true for one
  /// of the sites. *Requires*: a site for which `counts` is true has a chance above 0.
  std::vector<std::int32_t> draw_each(std::int64_t step, const std::vector<std::int32_t>& there,
                                      const std::function<bool(std::int32_t site)>& counts) const;

  // ---- how long a round waits ----

  void begin(double now) { date_ = now + rules_.deadline; }
  /// Returns whether no further answer is needed or expected. `awaited`: number of sites that have not answered.
  bool is_complete(std::size_t answered, std::size_t awaited) const;
  /// Returns whether the round is complete, or its time is up.
  bool is_over(double now, std::size_t answered, std::size_t awaited);
  /// Returns the date at which the round ends if no further answer arrives, seconds; kNever: it waits for one.
  double date(std::size_t answered) const { return answered >= rules_.least ? date_ : kNever; }

  // ---- the chances ----

  /// Records whether a site was present at a draw.
  void note(std::size_t site, bool there);
  /// Returns the probability π of each of `sites` to take part: that of the draw, times its presence so far. `there`,
  /// `counts`: arguments of draw_each(). The presence is estimated with one added success in one added trial, and is
  /// thus above 0.
  std::vector<double> chances_of(const std::vector<std::int32_t>& sites, const std::vector<std::int32_t>& there = {},
                                 const std::function<bool(std::int32_t site)>& counts = {}) const;

 private:
  Rules rules_;
  std::size_t needed_ = 1;
  double date_ = kNever;
  std::vector<std::pair<double, double>> present_;  ///< per site: number of draws at which it was present, and of all
                                                    ///< draws
};

}  // namespace dadsim::world

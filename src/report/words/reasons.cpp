#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"

namespace dadsim::report::words {
namespace {

constexpr const char* kOthersAreWaitedFor = "others are waited for here, which is no device of its own";
constexpr const char* kRarelyBusy =
    "it is busy for less than a hundredth of every step, and was not changed: what takes long is the way there";
constexpr const char* kNoLatencyChanged = "no latency of a link was changed";

/// Returns the change that is evidence, with its saving.
std::string evidence_in_words(const Statement& reason) {
  return fmt::format("{} saves {:.1f} %", in_words(reason.part()), 100 * reason.number("saving"));
}

std::string others_as_tight(const Statement& reason) {
  return fmt::format("others {}are as tight, and take its place: {}", reason.is("of_its_kind") ? "of its kind " : "",
                     evidence_in_words(reason));
}

std::string held_by_round_trips(const Statement& reason) {
  return fmt::format("{}: {}",
                     reason.is("tcp") ? "over TCP windows, queues and losses hold messages up there, which go by round "
                                        "trips and not by the width of the line"
                                      : "messages wait for one another there, which goes by the length of the way",
                     evidence_in_words(reason));
}

std::string slower_when_faster(const Statement& reason) {
  return reason.is("tcp") ? "over TCP what comes faster overflows the queue in front of the next slow line, and losses "
                            "have to be repaired"
                          : "what comes earlier meets others on its way that it did not meet before";
}

constexpr const char* kRestIsWaitedFor = "the rest of the step is waited for meanwhile, as long as before";

std::string beyond_the_links(const Statement& reason) {
  return fmt::format(
      "most of it is what protocols and software take, or what others are waited for meanwhile: a network without "
      "limits saves {:.1f} %",
      100 * std::max(0.0, reason.number("saving")));
}

constexpr const char* kQueueUntried =
    "a longer queue, or fewer at once that write into it, would help; neither was tried";
constexpr const char* kProtocolsTakeMost = "of such a way links take the least; the rest is protocols and software";
constexpr const char* kHeldByWindows =
    "over TCP windows, queues and losses hold messages up there, which a wider line does not cure";
constexpr const char* kOthersTakeAsLong = "others are waited for as long meanwhile";

constexpr const char* kWaitingShortensToo =
    "what is waited for beside it, for others that compute, becomes shorter with it";
constexpr const char* kMessagesComeSooner =
    "messages that wait for one another there come sooner, and with them what follows";
std::string windows_grow_faster(const Statement& reason) {
  return fmt::format(
      "latency is {} of the step, counted where nothing hides it; over TCP windows grow by round trips, so "
      "that bandwidth and queueing become shorter too",
      share_in_words(reason.number("share")));
}
constexpr const char* kQueuesShortenToo = "over TCP queues become shorter with it, and round trips with them";

constexpr std::array kReasons{
    StatementKind{"others-are-waited-for", "a part of a critical path is no device, and was not made faster",
                  as_it_is<kOthersAreWaitedFor>},
    StatementKind{"rarely-busy", "a link on a critical path was not made faster", as_it_is<kRarelyBusy>},
    StatementKind{"no-latency-changed", "no latency was made less", as_it_is<kNoLatencyChanged>},
    StatementKind{"others-as-tight",
                  "a faster part saves next to nothing, since others take its place: a change that "
                  "shows it is a part of the reason",
                  others_as_tight},
    StatementKind{"held-by-round-trips", "the same, since round trips decide: likewise", held_by_round_trips},
    StatementKind{"slower-when-faster", "a faster part makes the run slower", slower_when_faster},
    StatementKind{"rest-is-waited-for", "a faster device saves next to nothing", as_it_is<kRestIsWaitedFor>},
    StatementKind{"beyond-the-links", "no faster link would save what a part takes", beyond_the_links},
    StatementKind{"queue-untried", "of a queue over TCP that a faster link does not help", as_it_is<kQueueUntried>},
    StatementKind{"protocols-take-most", "of a latency that is not the links'", as_it_is<kProtocolsTakeMost>},
    StatementKind{"held-by-windows", "of a link over TCP that a faster one does not help", as_it_is<kHeldByWindows>},
    StatementKind{"others-take-as-long", "of any other link", as_it_is<kOthersTakeAsLong>},
    StatementKind{"waiting-shortens-too", "a faster device saves more than its own share",
                  as_it_is<kWaitingShortensToo>},
    StatementKind{"messages-come-sooner", "a faster link saves more than its own share", as_it_is<kMessagesComeSooner>},
    StatementKind{"windows-grow-faster", "the same of a latency over TCP", windows_grow_faster},
    StatementKind{"queues-shorten-too", "the same of a bandwidth or a queue over TCP", as_it_is<kQueuesShortenToo>},
};

}  // namespace

std::span<const StatementKind> of_reasons() { return kReasons; }

}  // namespace dadsim::report::words

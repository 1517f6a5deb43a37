#include "support/terminal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "support/parse_whole.hpp"
#include "support/utf8.hpp"

namespace dadsim {
namespace {

struct CodeRange {
  std::uint32_t first, last;
};

/// Code points that are invisible, ascending: category Cf, U+2028 and U+2029, and blank fillers.
constexpr std::array<CodeRange, 24> kHidden{
    {{0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x0600, 0x0605},   {0x061C, 0x061C},   {0x06DD, 0x06DD},
     {0x070F, 0x070F},   {0x0890, 0x0891},   {0x08E2, 0x08E2},   {0x115F, 0x1160},   {0x17B4, 0x17B5},
     {0x180E, 0x180E},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},
     {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
     {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}}};

bool is_hidden(std::uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return true;
  const auto* range = std::ranges::lower_bound(kHidden, code, {}, &CodeRange::last);
  return range != kHidden.end() && code >= range->first;
}

std::string shown(std::string_view text, bool lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const std::size_t bytes = std::max<std::size_t>(1, character.bytes);
    const bool kept = lines && (text[0] == '\n' || text[0] == '\t');
    if (character.bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (kept || !is_hidden(character.code)) {
      result += text.substr(0, bytes);
    } else if (character.code < 0x100) {
      result += fmt::format("\\x{:02x}", character.code);
    } else {
      result += fmt::format("\\u{{{:x}}}", character.code);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

void write_to_standard_error(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::atomic<Colour>& chosen_colour() {
  static std::atomic<Colour> colour = Colour::automatic;
  return colour;
}

struct Listening {
  std::mutex mutex;
  std::function<void(std::string_view)> listener;
};

Listening& who_listens() {
  static Listening listening;
  return listening;
}

}  // namespace

std::optional<std::size_t> columns_of_terminal(int descriptor) {
  if (::isatty(descriptor) != 1) return std::nullopt;
  if (const char* named = std::getenv("COLUMNS")) {
    const auto columns = parse_whole<std::size_t>(named, 1);
    if (columns) return columns;
  }
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

void choose_colour(Colour colour) { chosen_colour() = colour; }

bool is_coloured(int descriptor) {
  if (chosen_colour() != Colour::automatic) return chosen_colour() == Colour::always;
  const auto is = [](const char* name) { return std::string_view(name == nullptr ? "" : name); };
  return ::isatty(descriptor) == 1 && is(std::getenv("NO_COLOR")).empty() && is(std::getenv("TERM")) != "dumb";
}

void hold_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The system returns the lowest free descriptor, which is this one. Standard input is opened for writing and the
    // others for reading, so that using them still fails.
    static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

std::string for_terminal(std::string_view text) { return shown(text, true); }

std::string with_hidden_characters_shown(std::string_view name) { return shown(name, false); }

bool has_hidden_characters(std::string_view name) {
  while (!name.empty()) {
    const Utf8Character character = first_character(name);
    if (character.bytes == 0 || is_hidden(character.code)) return true;
    name.remove_prefix(character.bytes);
  }
  return false;
}

void say(std::string_view text) noexcept {
  try {
    write_to_standard_error(for_terminal(text));
  } catch (...) {  // out of memory: drops the message, and the work continues
  }
}

void complain(std::string_view text) noexcept {
  try {
    const bool coloured = is_coloured(STDERR_FILENO);
    const std::string shown = for_terminal(text.substr(0, text.find_last_not_of('\n') + 1));
    write_to_standard_error(coloured ? "\033[31m" + shown + "\033[0m\n" : shown + '\n');
  } catch (...) {
  }
}

void say_in_place(std::string_view text) noexcept {
  try {
    Listening& listening = who_listens();
    const std::lock_guard lock(listening.mutex);
    if (listening.listener) return listening.listener(text);
    write_to_standard_error("\r\033[K" + with_hidden_characters_shown(text));
  } catch (...) {
  }
}

bool shows_in_place() noexcept {
  Listening& listening = who_listens();
  const std::lock_guard lock(listening.mutex);
  return listening.listener != nullptr || ::isatty(STDERR_FILENO) == 1;
}

void tell_instead(std::function<void(std::string_view)> listener) {
  Listening& listening = who_listens();
  const std::lock_guard lock(listening.mutex);
  listening.listener = std::move(listener);
}

}  // namespace dadsim

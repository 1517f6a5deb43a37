#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "support/interrupt.hpp"

namespace {

/// oneTBB throws where a thread is denied to it, and out of what must not throw: nobody else can say it.
[[noreturn]] void say_what_was_denied() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::runtime_error& error) {
      if (std::string_view(error.what()).find("pthread_create") != std::string_view::npos) {
        constexpr std::string_view kWords =
            "dadsim: a thread could not be started; nothing is wrong with what was asked, and the same command goes on "
            "once the system gives what it takes\n";
        [[maybe_unused]] const auto written = ::write(2, kWords.data(), kWords.size());
        ::_exit(dadsim::cli::kSimulationFailed);
      }
    } catch (...) {
    }
  }
  std::abort();
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Libraries take longer to set themselves up than some commands take in all, and a signal in that time would end the
// process by itself instead of with its exit code. What stands here runs before them (System V ABI, "Initialization and
// Termination Functions"). Sanitizers are not ready by then.
namespace {
void before_libraries() { dadsim::catch_interrupts(); }
[[gnu::used, gnu::section(".preinit_array")]] void (*const kBeforeLibraries)() = &before_libraries;
}  // namespace
#endif

int main(int argc, char** argv) {
  std::set_terminate(&say_what_was_denied);
  return dadsim::cli::run_command_line(argc, argv);
}

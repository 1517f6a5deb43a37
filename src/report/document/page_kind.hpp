#pragma once

#include <cstdint>

namespace dadsim::report {

/// The scripts that draw a page; `document` draws any Document.
enum class PageKind : std::uint8_t { document, run, sweep, plan, explain, layout, diagnose, scale_study };

}  // namespace dadsim::report

// The range of sizes and counts, on command lines and in files.
#pragma once

namespace retrace {

/// The largest size or count. A smaller one may still exceed memory; the allocation reports that.
inline constexpr int largest_count = 1'000'000'000;

}  // namespace retrace

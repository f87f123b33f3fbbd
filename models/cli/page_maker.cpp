#include <retrace/core/base/error.h>
#include <retrace/models/cli/build_info.h>
#include <retrace/models/cli/page_maker.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace retrace {
namespace {

/// ", 2026-11-28"; empty without a number of seconds since 1970 that a year of four digits has.
std::string date_of_source() {
  const char* given = std::getenv("SOURCE_DATE_EPOCH");
  const std::string_view word = given == nullptr ? "" : given;
  std::int64_t seconds = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), seconds);
  constexpr std::int64_t year_10000 = 253'402'300'800;
  if (error != std::errc() || rest != word.data() + word.size() || seconds < 0 || seconds >= year_10000) return "";
  const auto day = std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
  const std::chrono::year_month_day date(day);
  const auto two_digits = [](unsigned number) { return text(number < 10 ? "0" : "", number); };
  return text(", ", static_cast<int>(date.year()), "-", two_digits(static_cast<unsigned>(date.month())), "-",
              two_digits(static_cast<unsigned>(date.day())));
}

/// Whether the numbers are drawn from a seed; those of a stored model or trace are not.
bool has_seed(const StudyFlags& flags) { return flags.subject.empty() || !std::filesystem::exists(flags.subject); }

}  // namespace

std::string maker_of(const StudyFlags& flags) {
  const bool is_seed_given = std::ranges::find(flags.given, "seed") != flags.given.end();
  const std::string seed = has_seed(flags) && !is_seed_given ? text(" --seed ", flags.options.seed) : "";
  return text("retrace ", build_info.version, ": ", flags.command, seed, date_of_source());
}

}  // namespace retrace

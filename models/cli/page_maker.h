// What made a page, for a reader who wants to make it again.
#pragma once

#include <string>

#include <retrace/models/cli/study_flags.h>

namespace retrace {

/// "retrace 0.3.0: retrace study lstm --seed 0", and the date where SOURCE_DATE_EPOCH says it
/// (https://reproducible-builds.org/specs/source-date-epoch): else a page would be another one each day.
std::string maker_of(const StudyFlags& flags);

}  // namespace retrace

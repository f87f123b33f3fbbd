// Messages of errors for people who did not call the function that found them.
#pragma once

#include <string_view>

namespace retrace {

/// The message without the name of the function that begins it: "make_model: there is no ..." is "there is no ...".
std::string_view without_function(std::string_view message);

}  // namespace retrace

// Messages of errors in tests.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include <retrace/core/base/error.h>

namespace retrace {

inline constexpr const char* nothing_thrown = "nothing was thrown";

/// The message of the error of type E that the call throws, or nothing_thrown.
template <class E = ValueError, class Call> std::string message_of(Call&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return nothing_thrown;
}

/// Expects an error of type E of the call, whose message has these parts.
template <class E, class Call> void expect_words(Call&& call, std::initializer_list<const char*> parts) {
  const std::string message = message_of<E>(call);
  for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
}

// The messages that many ops share, worded here alone.
/// `operand` has integers: "x[2, 3]".
inline std::string needs_real(const std::string& op, const std::string& operand) {
  return op + ": needs real numbers (f32, f64), but " + operand + " is i64; convert it with to(f32) or to(f64)";
}
/// Two operands with their dtypes: "x[2] is f32", "y[2] is f64".
inline std::string dtypes_differ(const std::string& op, const std::string& one, const std::string& other) {
  return op + ": " + one + " and " + other + ": dtypes differ; convert one with to()";
}

/// Expects exactly this error of the call.
template <class E, class Call> void expect_error(Call&& call, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown instead of: " << message;
  } catch (const E& error) {
    EXPECT_EQ(error.what(), message);
  } catch (const Error& error) {
    ADD_FAILURE() << "another type of error: " << error.what() << "\ninstead of: " << message;
  }
}

}  // namespace retrace

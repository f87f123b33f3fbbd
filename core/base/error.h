// The errors that Retrace throws. Every message names the function, the operands with their shapes, the rule that was
// broken and the remedy; what threw has changed nothing.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <retrace/core/base/build_mode.h>

namespace retrace {

/// The base of every error that the library throws.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Ranks, shapes or axes do not fit.
class ShapeError : public Error {
  using Error::Error;
};
/// An element type that the function does not take, or a mixture of them.
class DtypeError : public Error {
  using Error::Error;
};
/// Dual numbers were passed to an op declared not to support them (custom_op's differences_only).
class DifferencesOnlyError : public DtypeError {
  using DtypeError::DtypeError;
};
/// An index, label or position outside its range.
class IndexError : public Error {
  using Error::Error;
};
/// An option or a number that has no meaning here.
class ValueError : public Error {
  using Error::Error;
};
/// There is not enough memory for a tensor. Does not also derive from std::bad_alloc: `catch (const std::exception&)`
/// does not catch an exception with two std::exception bases.
class MemoryError : public Error {
  using Error::Error;
};
/// A misuse of the tape.
class TapeError : public Error {
  using Error::Error;
};
/// A file that cannot be read, written or understood.
class FileError : public Error {
  using Error::Error;
};

/// A value as text() writes it: numbers with up to six digits, "true" or "false", strings as they are.
std::string to_text(double number);
std::string to_text(long long number);
std::string to_text(unsigned long long number);
std::string to_text(bool truth);
inline std::string_view to_text(std::string_view text) { return text; }
inline std::string_view to_text(const char* text) { return text; }
template <class Integer>
requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>) std::string to_text(Integer number) {
  return to_text(std::conditional_t<std::is_signed_v<Integer>, long long, unsigned long long>{number});
}

/// The parts as one string.
std::string concatenated(std::initializer_list<std::string_view> parts);

/// The parts of a message, one after the other: text("axis ", 3, " is not there"). (There are hundreds of combinations
/// of types, so this is to be compiled small, not fast.)
template <class... Parts> [[gnu::cold]] std::string text(const Parts&... parts) {
  return concatenated({std::string_view(to_text(parts))...});
}

}  // namespace retrace

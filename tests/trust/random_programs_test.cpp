// Random programs on a tape give the values and gradients of the naive interpreter.
#include <retrace/core/tensor/random.h>
#include <retrace/tests/trust/in_full.h>
#include <retrace/tests/trust/program.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace retrace {
namespace {

std::string bytes_of_seed(std::uint64_t seed) {
  Random random(seed);
  std::string result;
  for (int k = 0; k < 40; ++k) {
    const std::uint64_t bits = random.bits64();
    for (int shift = 0; shift < 64; shift += 8) result += static_cast<char>(bits >> shift & 0xff);
  }
  return result;
}

bool differs(std::string_view bytes) { return !difference(make_program(bytes)).empty(); }

/// The number of programs: of a sample, of `ctest -L trust`, or as RETRACE_PROGRAMS asks.
std::int64_t programs() {
  if (const char* asked = std::getenv("RETRACE_PROGRAMS")) return std::atoll(asked);
  return in_full() ? 1'000'000 : 2'000;
}

TEST(RandomPrograms, AgreeWithTheNaiveInterpreter) {
  std::map<std::string_view, int> used;
  std::int64_t differentiated = 0, failures = 0;
  for (std::int64_t seed = 0; seed < programs() && failures < 3; ++seed) {
    const std::string bytes = bytes_of_seed(static_cast<std::uint64_t>(seed));
    const Program program = make_program(bytes);
    for (const Program::Call& call : program.calls) ++used[call.op->name];
    differentiated += !program.outputs.empty();
    if (difference(program).empty()) continue;
    ++failures;
    const Program smallest = make_program(shrunk(bytes, differs));
    ADD_FAILURE() << "seed " << seed << ": " << difference(program) << "\n"
                  << in_words(program) << "\nor smaller: " << difference(smallest) << "\n"
                  << in_words(smallest);
  }
  EXPECT_GT(differentiated, programs() * 8 / 10);
  for (const ProgramOp& op : program_ops()) EXPECT_GT(used[op.name], 0) << op.name << " is in no program";
}

/// A program with a fault in its backward is found, and made smaller.
TEST(RandomPrograms, FindAWrongGradient) {
  const auto tripled = [](std::string_view bytes) {
    Program program = make_program(bytes);
    ProgramOp wrong;
    for (Program::Call& call : program.calls) {
      if (call.op->name != "tanh" || !program.nodes[call.first].wants) continue;
      wrong = *call.op;
      wrong.run = [run = call.op->run](const Tensors& in, const Numbers& n) {
        return Tensors{on_gradient(run(in, n)[0], [](const Tensor& dy) { return dy * 1.01; })};
      };
      call.op = &wrong;
      break;
    }
    return !difference(program).empty();
  };
  std::string found;
  for (std::uint64_t seed = 0; seed < 500 && found.empty(); ++seed)
    if (tripled(bytes_of_seed(seed))) found = bytes_of_seed(seed);
  ASSERT_NE(found, "");
  const std::size_t calls_before = make_program(found).calls.size();
  const std::string smaller = shrunk(found, tripled);
  EXPECT_TRUE(tripled(smaller));
  EXPECT_LT(smaller.size(), 40U) << calls_before;
  EXPECT_LE(make_program(smaller).calls.size(), 2U) << in_words(make_program(smaller));
}

}  // namespace
}  // namespace retrace

// Debug builds report a backward that asks its record in a wrong order.
#include <gtest/gtest.h>
#include <retrace/core/core.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>

namespace retrace {
namespace {

constexpr OpInfo info{"product", "y = a b", "da = dy b, db = dy a", "a, b"};

/// The gradients of a b by this backward, which saved both.
void run(BackwardFunction backward, const Tensor& a, const Tensor& b) {
  Tape tape;
  Tensor y = a.detach() * b.detach();
  record(info, backward, {&a, &b}, {&y}, {&a, &b});
  tape.backward(sum(y));
}

void both_before_writing(Record& r) {
  const float *a = r.saved(0).values<float>(), *b = r.saved(1).values<float>(), *dy = r.grad_out<float>();
  const GradientSlot<float> da = r.grad_in<float>(0), db = r.grad_in<float>(1);
  da.put(2, [=](std::int64_t k) { return dy[k] * b[k]; });
  db.put(2, [=](std::int64_t k) { return dy[k] * a[k]; });
}

void in_turn(Record& r) {
  const float *a = r.saved(0).values<float>(), *b = r.saved(1).values<float>(), *dy = r.grad_out<float>();
  const GradientSlot<float> da = r.grad_in<float>(0, Begin::in_turn), db = r.grad_in<float>(1, Begin::in_turn);
  da.put(2, [=](std::int64_t k) { return dy[k] * b[k]; });
  db.put(2, [=](std::int64_t k) { return dy[k] * a[k]; });
}

void reading_what_is_written_over(Record& r) {
  const float* dy = r.grad_out<float>();
  const Tensor db = r.tensor_over_saved(0);
  const float* a = r.saved(0).values<float>();
  for (std::int64_t k = 0; k < 2; ++k) OpAccess::values<float>(db)[k] = dy[k] * a[k];
  r.add(1, db);
}

#ifdef NDEBUG
constexpr bool is_checked = false;
#else
constexpr bool is_checked = true;
#endif

TEST(RequestOrder, AnInputThatIsAskedForBeforeItsTwinIsWrittenIsReported) {
  const Tensor x = parameter(tensor({1, 2})), other = parameter(tensor({3, 4})), twin = parameter(tensor({1, 2}));
  run(both_before_writing, x, other);  // harmless
  if (!is_checked) GTEST_SKIP() << "debug builds check the order";
  EXPECT_EQ(message_of<TapeError>([&] { run(both_before_writing, twin, twin); }),
            "backward: product asked for the gradient of input 1, which is the same tensor as input 0, "
            "before it had written that one; ask for an input just before writing it");
}

TEST(RequestOrder, InputsThatAreWrittenInTurnMayBeAskedForAtOnce) {
  const Tensor x = parameter(tensor({1, 2}));
  run(in_turn, x, x);
  EXPECT_EQ(x.grad().values<float>()[1], 4);
}

TEST(RequestOrder, ASavedValueThatIsReadAfterItsBufferWasGivenAwayIsReported) {
  if (!is_checked) GTEST_SKIP() << "debug builds check the order";
  const Tensor x = parameter(tensor({1, 2})), other = parameter(tensor({3, 4}));
  EXPECT_EQ(message_of<TapeError>([&] { run(reading_what_is_written_over, x, other); }),
            "backward: product asked for the values of saved value 0 after tensor_over_saved() had given "
            "their buffer away; read them first");
}

}  // namespace
}  // namespace retrace

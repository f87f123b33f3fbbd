// What is exported, by its bytes, and what is refused; whether other programs read it right is runtime_test.mjs's part.
#include <gtest/gtest.h>
#include <retrace/models/onnx/export_onnx.h>
#include <retrace/models/onnx/export_sequence_model.h>
#include <retrace/models/onnx/free_axes.h>
#include <retrace/models/onnx/operators.h>
#include <retrace/models/onnx/protobuf.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/source_text.h>
#include <retrace/tests/temporary_folder.h>

#include <filesystem>

namespace retrace {
namespace {

Random random_of_exports() { return Random(5); }

/// The message with which the function is refused; no file is there then.
std::string refusal(const onnx::FunctionOfTensors& f, const Tensor& example, const std::vector<std::string>& axes) {
  const TemporaryFolder folder;
  const std::string path = folder / "refused.onnx";
  std::string message;
  try {
    export_onnx(path, f, {.inputs = {{"x", example, axes}}, .outputs = {"y"}});
  } catch (const ValueError& error) {
    message = error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  return message;
}

std::string exported_bytes(const onnx::FunctionOfTensors& f, const Tensor& example) {
  const TemporaryFolder folder;
  export_onnx(folder / "f.onnx", f, {.inputs = {{"x", example, {"batch", "time"}}}, .outputs = {"y"}});
  return file_bytes(folder / "f.onnx");
}

bool has(const std::string& bytes, std::string_view part) { return bytes.find(part) != std::string::npos; }

TEST(OnnxProtobuf, WritesFieldsAsTheFormatSays) {
  onnx::Message inner;
  inner.integer(1, 300);
  onnx::Message message;
  message.integer(2, -1).bytes(3, "ab").message(4, inner).number(5, 1.0F);
  EXPECT_EQ(message.encoded(), std::string("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                           "\x1a\x02"
                                           "ab"
                                           "\x22\x03\x08\xac\x02"
                                           "\x2d\x00\x00\x80\x3f",
                                           25));
}

TEST(OnnxLengths, AreFormulasOfTheFreeAxes) {
  const std::vector<onnx::FreeAxis> axes{{"batch", 0, 0, {4, 2, 4, 3}}, {"time", 0, 1, {7, 7, 5, 6}}};
  const auto formula = onnx::formula_of({28, 14, 20, 18}, axes);
  ASSERT_TRUE(formula);
  EXPECT_EQ(formula->of.size(), 2U);
  EXPECT_EQ(formula->factor, 1);
  const auto shorter = onnx::formula_of({13, 13, 9, 11}, axes);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->first, -1);
  EXPECT_EQ(shorter->factor, 2);
  EXPECT_FALSE(onnx::formula_of({49, 49, 25, 36}, axes));
}

TEST(ExportOnnx, WritesAStandardNodeForAnLstmInF32AndAScanInF64) {
  for (const Dtype dtype : {f32, f64}) {
    const DtypeScope scope(dtype);
    Random random = random_of_exports();
    const Lstm lstm(3, 4, random);
    const std::string bytes =
        exported_bytes([&](const Tensors& in) { return Tensors{lstm(in[0]).y}; }, random.normal({2, 5, 3}));
    EXPECT_EQ(has(bytes, "LSTM") && has(bytes, "hidden_size"), dtype == f32);
    EXPECT_EQ(has(bytes, "Scan"), dtype == f64);
    EXPECT_TRUE(has(bytes, "batch") && has(bytes, "time"));
  }
}

TEST(ExportOnnx, LeavesOutWhatNoOutputNeeds) {
  const Tensor x = random_of_exports().normal({2, 5, 3});
  const std::string bytes = exported_bytes(
      [](const Tensors& in) {
        const Tensor unused = erf(in[0]);
        return Tensors{tanh(in[0]) + 0 * unused.dim(0)};
      },
      x);
  EXPECT_TRUE(has(bytes, "Tanh"));
  EXPECT_FALSE(has(bytes, "Erf"));
}

TEST(ExportOnnx, OfAModuleHasTheNamesOfItsWeights) {
  Random random = random_of_exports();
  const TemporaryFolder folder;
  export_onnx(folder / "linear.onnx", Linear(3, 2, random), random.normal({2, 3}));
  const std::string bytes = file_bytes(folder / "linear.onnx");
  EXPECT_TRUE(has(bytes, "weight") && has(bytes, "bias"));
}

TEST(ExportOnnx, RefusesWhatAFileCannotHold) {
  const Tensor x = random_of_exports().normal({2, 5, 3});
  const std::vector<std::string> axes{"batch", "time"};
  const auto says = [&](const onnx::FunctionOfTensors& f, std::string_view part) {
    const std::string message = refusal(f, x, axes);
    EXPECT_TRUE(has(message, part)) << message;
  };
  says(
      [](const Tensors& in) {
        const auto forward = [](const Tensors& inputs) { return 2 * inputs[0]; };
        const auto backward = [](const Tensor& dy, const Tensors&, const Tensor&) { return Tensors{2 * dy}; };
        return Tensors{custom_op("doubled", {in[0]}, forward, backward)};
      },
      "the op doubled cannot be exported: its formula is a C++ function");
  says([](const Tensors& in) { return Tensors{cumprod(in[0])}; }, "the op cumprod cannot be exported");
  says([](const Tensors& in) { return Tensors{mse(in[0], 2 * in[0])}; }, "it is a loss");
  says(
      [](const Tensors& in) {
        Random random(1);
        return Tensors{dropout(in[0], 0.5, &random)};
      },
      "it draws random numbers");
  says([](const Tensors& in) { return Tensors{masked_fill(in[0], greater(in[0], 0), 1)}; },
       "is not on the tape, but changes with the values of the inputs");
  says([](const Tensors& in) { return Tensors{in[0] / static_cast<double>(in[0].dim(1))}; },
       "its divisor changes with the lengths");
  says(
      [](const Tensors& in) {
        Tensor y = in[0];
        for (std::int64_t t = 0; t < in[0].dim(1); ++t) y = tanh(y);
        return Tensors{y};
      },
      "computes in another way at other lengths");
  says([](const Tensors& in) { return in; }, "is not what an op on the tape computed");
}

TEST(ExportOnnx, KeepsAnEarlierFileWhereItIsRefused) {
  const TemporaryFolder folder;
  std::ofstream(folder / "kept.onnx") << "earlier";
  const Tensor x = random_of_exports().normal({2, 3});
  EXPECT_THROW(export_onnx(folder / "kept.onnx", [](const Tensors& in) { return Tensors{cumprod(in[0])}; },
                           {.inputs = {{"x", x, {"batch"}}}, .outputs = {"y"}}),
               ValueError);
  EXPECT_EQ(file_bytes(folder / "kept.onnx"), "earlier");
}

TEST(ExportOnnx, OfAModelThatStepsIsALoop) {
  Random random = random_of_exports();
  const auto model = make_model("rmc", {.input = 3, .output = 2, .slot_size = 4, .slots = 2, .heads = 2}, random);
  const TemporaryFolder folder;
  const ExportedModel exported = export_onnx(folder / "rmc.onnx", *model, random.normal({2, 5, 3}));
  EXPECT_TRUE(exported.answers_all_rows);
  EXPECT_EQ(exported.fixed_time, "");
  EXPECT_TRUE(has(file_bytes(folder / "rmc.onnx"), "Loop"));
}

TEST(ExportOnnx, ReadmeListsEveryOpOfTheTable) {
  const std::string readme = file_bytes(std::string(RETRACE_SOURCE_DIR) + "/models/onnx/README.md");
  for (const onnx::Operator& row : onnx::operators())
    EXPECT_TRUE(has(readme, text("| ", row.op, " | ", row.operators, " |\n"))) << row.op;
}

}  // namespace
}  // namespace retrace

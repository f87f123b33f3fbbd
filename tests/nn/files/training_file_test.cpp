// A loop of one's own goes on from its file, byte for byte; files of another training are refused.
#include <retrace/nn/files/training_file.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {
namespace {

struct Net {
  Linear in, out;
  explicit Net(Random& random, std::int64_t hidden = 5) : in(3, hidden, random), out(hidden, 2, random) {}
  Tensor operator()(const Tensor& x, Random& random) const { return out(dropout(tanh(in(x)), 0.4, &random)); }
  void visit(auto&& see) const { see("in", in), see("out", out); }
};

/// A loop with everything that changes: dropout and batches from one generator, an average, a plateau, groups, a part
/// that is frozen at first, and a count.
struct Loop {
  Random random{7};
  Net net{random};
  AdamW adam{decay_groups(net, AdamOptions{.lr = 0.05, .weight_decay = 0.1})};
  Ema average{net, {.decay = 0.9, .rising = true}};
  ReduceOnPlateau plateau{.base = 1, .factor = 0.5, .patience = 0, .threshold = 0.2};
  std::int64_t examples = 0;
  double lowest = std::numeric_limits<double>::infinity();

  TrainingParts parts() {
    return {.parameters = parameters(net),
            .optimizers = {&adam},
            .averages = {&average},
            .plateaus = {&plateau},
            .randoms = {&random},
            .numbers = {&examples, &lowest}};
  }
  void run(int steps) {
    for (int k = 0; k < steps; ++k) {
      if (adam.steps() < 6)
        freeze(net.in);
      else
        unfreeze(net.in);
      const Tensor x = random.normal({4, 3});
      Tape tape;
      const Tensor loss = mean(square(net(x, random) - 1));
      tape.backward(loss);
      adam.step();
      average.update();
      examples += 4;
      lowest = std::min(lowest, loss.item());
      if (adam.steps() % 3 == 0) adam.scale_learning_rates(plateau(loss.item()));
    }
  }
};

TEST(TrainingFile, AResumedLoopEndsWithTheSameBytes) {
  const TemporaryFolder folder;
  const std::string half = folder / "half", straight = folder / "straight", resumed = folder / "resumed";
  Loop whole;
  whole.run(20);
  save_training(straight, whole.parts());
  Loop first;
  first.run(10);
  save_training(half, first.parts());
  Loop second;
  second.random.bits();
  load_training(half, second.parts());
  EXPECT_EQ(second.adam.steps(), 10);
  EXPECT_EQ(second.adam.slots()[0].updates, 4) << "it was frozen for six steps";
  second.run(10);
  save_training(resumed, second.parts());
  EXPECT_LT(whole.adam.learning_rate(), 0.05) << "the plateau must have been met, or the test shows nothing of it";
  EXPECT_EQ(weights_hash(second.net), weights_hash(whole.net));
  EXPECT_EQ(second.examples, 80);
  EXPECT_EQ(second.lowest, whole.lowest);
  EXPECT_EQ(second.plateau.state, whole.plateau.state);
  EXPECT_TRUE(file_bytes(resumed) == file_bytes(straight));
  EXPECT_FALSE(file_bytes(resumed) == file_bytes(half));
}

/// A file that is refused leaves all bytes as they were.
template <class E> void expect_refused(const std::string& path, Loop& loop, const std::string& message) {
  const TemporaryFolder folder;
  save_training(folder / "before", loop.parts());
  expect_error<E>([&] { load_training(path, loop.parts()); }, message);
  save_training(folder / "after", loop.parts());
  EXPECT_TRUE(file_bytes(folder / "before") == file_bytes(folder / "after"));
}

TEST(TrainingFile, AFileOfAnotherModelListsAllDifferences) {
  const TemporaryFolder folder;
  const std::string path = folder / "other";
  Random random(1);
  const Net other(random, 6);
  Adam adam(other);
  Loop loop;
  loop.run(2);
  save_training(path, {.parameters = parameters(other), .optimizers = {&adam}});
  expect_refused<ValueError>(path, loop,
                             "load_training: " + path +
                                 " is of other optimisers (adam), not of (adamw), and nothing was changed; make those, "
                                 "or begin again in another file");
  AdamW same_kind(std::vector<NamedTensor>{{"b", other.out.bias.value()}});
  const Tensor weight = ones({2}, f64);
  save_training(path, {.parameters = {{"in.bias", weight}, {"extra", weight}}, .optimizers = {&same_kind}});
  const std::string message = message_of([&] { load_training(path, loop.parts()); });
  for (const char* part :
       {"is of another training, and nothing was changed:", "\n  model.in.bias is f64 [2], here it is f32 [5]",
        "\n  missing: random.0 [3]", "\n  missing: model.out.weight [2, 5]", "\n  unexpected: model.extra [2]",
        "\n  optimizer.0.steps is i64 [2], here it is i64 [5]", "\n  unexpected: optimizer.0.state.b.m [2]"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  expect_refused<ValueError>(path, loop, message);
}

TEST(TrainingFile, FilesOfOtherKindsAndBrokenOnesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder / "weights";
  Loop loop;
  save(path, loop.net);
  expect_refused<FileError>(
      path, loop,
      "load_training: " + path + " is no training that save_training wrote; load() reads the weights of a model");
  save_training(path, loop.parts());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_THROW(load_training(path, loop.parts()), FileError);
  EXPECT_THROW(load_training(folder / "none", loop.parts()), FileError);
}

TEST(TrainingFile, PartsThatCannotBeStoredAreNamed) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  Loop loop;
  {
    const EmaScope averaged(loop.average);
    expect_error<ValueError>([&] { save_training(path, loop.parts()); },
                             "save_training: average.0 is swapped in; swap() the weights back first");
  }
  TrainingParts parts = loop.parts();
  parts.randoms.push_back(nullptr);
  expect_error<ValueError>([&] { load_training(path, parts); },
                           "load_training: random.1 is a null pointer; leave it out of the parts");
  parts = loop.parts();
  parts.parameters.push_back(parts.parameters[0]);
  expect_error<ValueError>([&] { save_training(path, parts); },
                           "save_training: two tensors are named 'model.in.weight'; give the parameters of each model "
                           "names of their own");
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace retrace

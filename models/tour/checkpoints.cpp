// Lesson 8: a training that stops and goes on, and ends with the same bytes as one that never stopped.
#include <fstream>
#include <iostream>
#include <iterator>

#include <retrace/nn/nn.h>
using namespace retrace;

struct Classifier {
  Linear first, second;
  explicit Classifier(Random& random) : first(8, 32, random), second(32, 3, random) {}
  Tensor operator()(const Tensor& x, Random* noise) const {
    return second(dropout(first(x, Activation::tanh), 0.2, noise));
  }
  void visit(auto&& see) const { see("first", first), see("second", second); }
};

struct Training {  // all that changes: weights, Adam's moments and steps, random numbers, what the loop itself counts
  Random random{7};
  Classifier model{random};
  Adam adam{model};
  double losses = 0;

  TrainingParts parts() {
    return {.parameters = parameters(model), .optimizers = {&adam}, .randoms = {&random}, .numbers = {&losses}};
  }
  void run_until(std::int64_t last) {
    const WarmUpCosine schedule{.base = 1e-2, .warm_up = 10, .steps = 200};  // of the step alone: nothing to store
    while (adam.steps() < last) {
      adam.set_learning_rate(schedule(adam.steps()));
      Tensor x = random.normal({16, 8}), labels = argmax(slice(x, {all, range(0, 3)}));
      Tape tape;
      Tensor loss = cross_entropy(model(x, &random), labels);
      tape.backward(loss);
      adam.step();
      losses += loss.item();
    }
  }
};

std::string bytes_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int main() {
  Training whole;
  whole.run_until(200);
  save("lesson8-whole.safetensors", whole.model);
  std::cout << "200 steps at once: mean loss " << whole.losses / 200 << '\n';
  {
    Training stopped;
    stopped.run_until(120);
    save_training("lesson8-checkpoint.safetensors", stopped.parts());  // all or nothing, even if the machine fails
    save("lesson8-weights.safetensors", stopped.model);
  }  // the program ends

  Training resumed;  // another one begins with the same lines
  load_training("lesson8-checkpoint.safetensors", resumed.parts());
  std::cout << "goes on after step " << resumed.adam.steps() << '\n';
  resumed.run_until(200);
  save("lesson8-resumed.safetensors", resumed.model);
  const bool same = bytes_of("lesson8-whole.safetensors") == bytes_of("lesson8-resumed.safetensors") &&
                    resumed.losses == whole.losses;
  std::cout << (same ? "ends with the same bytes\n" : "ends with other bytes\n");

  Training weights_alone;  // without Adam's moments and the place in the random numbers it is another training
  load("lesson8-weights.safetensors", weights_alone.model);
  weights_alone.run_until(80);
  save("lesson8-weights.safetensors", weights_alone.model);
  const bool differs = bytes_of("lesson8-whole.safetensors") != bytes_of("lesson8-weights.safetensors");

  Random random(1);
  const Linear other(8, 3, random);
  Adam its_adam(other);
  try {  // a checkpoint of another training is refused, with all differences, and nothing is changed
    load_training("lesson8-checkpoint.safetensors", {.parameters = parameters(other), .optimizers = {&its_adam}});
    return 1;
  } catch (const ValueError& error) {
    std::cout << error.what() << '\n';
  }
  return same && differs ? 0 : 1;
}

// Lesson 4: an LSTM on your own CSV file, from the file to answers in words. The same without code is
//   retrace train data --data gestures.csv --label gesture --sequence recording --out runs/gestures
//   retrace predict runs/gestures --input gestures.csv
#include <cmath>
#include <fstream>
#include <iostream>

#include <retrace/models/data/batches.h>
#include <retrace/models/data/csv.h>
#include <retrace/models/data/normalise.h>
#include <retrace/models/data/split.h>
#include <retrace/nn/nn.h>
using namespace retrace;

struct Classifier {
  Lstm lstm;
  Linear head;
  Classifier(std::int64_t features, std::int64_t classes, Random& random)
      : lstm(features, 32, random), head(32, classes, random) {}
  Tensor operator()(const Tensor& x) const { return head(slice(lstm(x).y, {all, -1})); }  // after the last step
  void visit(auto&& see) const { see("lstm", lstm), see("head", head); }
};

constexpr std::int64_t steps = 10;  // of each recording

void write_file(Random& random) {  // in place of yours: a line per step, a column with the word to learn
  std::ofstream csv("gestures.csv");
  csv << "recording,x,y,gesture\n";
  for (int recording = 0; recording < 240; ++recording) {
    const double turn = recording % 3 - 1, start = random.uniform({1}).item() * 6;  // left, straight or right
    for (std::int64_t t = 0; t < steps; ++t) {
      const double angle = start + 0.6 * turn * double(t), noise = random.normal({1}).item();
      csv << recording << ',' << 100 * std::cos(angle) + 10 * noise << ',' << 0.1 * std::sin(angle) << ','
          << (turn < 0   ? "left"
              : turn > 0 ? "right"
                         : "straight")
          << '\n';
    }
  }
}

double accuracy(const Tensor& logits, const Tensor& labels) {
  const Tensor answers = argmax(logits);
  std::int64_t right = 0;
  for (std::int64_t b = 0; b < labels.numel(); ++b) right += answers[b].item() == labels[b].item();
  return double(right) / double(labels.numel());
}

int main() {
  Random random(1);
  write_file(random);

  // Words become labels 0, 1, 2; columns that are not asked for may hold anything.
  const Csv csv = read_csv("gestures.csv", {.words = {"gesture"}, .columns = {"x", "y", "gesture"}});
  const std::vector<std::string>& words = csv.words.at("gesture");
  const std::int64_t recordings = csv.values.dim(0) / steps;
  Tensor x = reshape(slice(csv.values, {all, range(0, 2)}), {recordings, steps, 2});
  Tensor y = slice(reshape(csv.labels("gesture"), {recordings, steps}), {all, 0});

  // A fifth is held out, with its share of each word; scales are those of the recordings to train on.
  const Split parts = stratified_split(y, 0.2, random);
  const Normaliser scale = normalise(take(x, parts.train), Normalisation::standard);
  const Tensor train_x = scale(take(x, parts.train)).to(f32), train_y = take(y, parts.train);
  const Tensor test_x = scale(take(x, parts.test)).to(f32), test_y = take(y, parts.test);

  Classifier model(2, std::ssize(words), random);
  Adam adam(model, {.lr = 1e-2});
  const Batches batches(train_x.dim(0), 32, random.stream("batches"));
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    double loss_of_epoch = 0;
    for (const Tensor& rows : batches.epoch(epoch)) {
      Tape tape;
      Tensor loss = cross_entropy(model(take(train_x, rows)), take(train_y, rows));
      tape.backward(loss);
      clip_norm(model, 1.0);
      adam.step();
      loss_of_epoch += loss.item() / double(batches.size());
    }
    if (epoch % 5 == 4) std::cout << "epoch " << epoch + 1 << "  loss " << loss_of_epoch << '\n';
  }

  const Tensor answers = argmax(model(test_x));
  for (std::int64_t sample = 0; sample < 3; ++sample)
    std::cout << "recording " << parts.test[sample].item() << " is " << words[std::size_t(answers[sample].item())]
              << ", the file says " << words[std::size_t(test_y[sample].item())] << '\n';
  const double result = accuracy(model(test_x), test_y);
  std::cout << "accuracy on " << test_y.numel() << " recordings that it has not seen: " << result << '\n';
  return result > 0.9 ? 0 : 1;
}

#include <retrace/nn/files/training_file.h>

#include <bit>
#include <map>
#include <utility>

#include <retrace/core/base/printable.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/nn/optim/number_range.h>

namespace retrace {
namespace {

using TensorsByName = std::map<std::string, Tensor>;
constexpr const char* optimizers_entry = "retrace.optimizers";

// Counters and flags are stored as short tensors.
Tensor as_tensor(std::vector<std::int64_t> numbers) {
  return indices(numbers, Shape{static_cast<std::int64_t>(numbers.size())});
}
Tensor as_tensor(const std::vector<double>& numbers) {
  return tensor(numbers, Shape{static_cast<std::int64_t>(numbers.size())}, f64);
}
template <class T> std::vector<T> numbers_of(const Tensor& stored) {
  const auto values = stored.values<T>();
  return {values.begin(), values.end()};
}

Tensor steps_of(const AnyOptimizer::Standing& standing) {
  std::vector<std::int64_t> numbers{standing.steps};
  numbers.insert(numbers.end(), standing.updates.begin(), standing.updates.end());
  return as_tensor(std::move(numbers));
}
AnyOptimizer::Standing standing_of(const Tensor& steps, const Tensor& rates) {
  const auto numbers = numbers_of<std::int64_t>(steps);
  return {.steps = numbers[0],
          .updates = {numbers.begin() + 1, numbers.end()},
          .learning_rates = numbers_of<double>(rates)};
}

Tensor state_of(const Random& random) {
  const Random::State state = random.state();
  return as_tensor(std::vector{std::bit_cast<std::int64_t>(state.key), std::bit_cast<std::int64_t>(state.stream),
                               std::bit_cast<std::int64_t>(state.drawn)});
}
Random random_of(const Tensor& stored) {
  const auto values = stored.values<std::int64_t>();
  return Random(Random::State{.key = std::bit_cast<std::uint64_t>(values[0]),
                              .stream = std::bit_cast<std::uint64_t>(values[1]),
                              .drawn = std::bit_cast<std::uint64_t>(values[2])});
}

Tensor state_of(const ReduceOnPlateau& plateau) {
  const ReduceOnPlateau::State& s = plateau.state;
  return as_tensor(std::vector<double>{s.scale, s.best, s.has_best ? 1.0 : 0.0, static_cast<double>(s.without_gain),
                                       static_cast<double>(s.cooldown_left)});
}
ReduceOnPlateau::State plateau_of(const Tensor& stored) {
  const auto values = stored.values<double>();
  return {.scale = values[0],
          .best = values[1],
          .has_best = values[2] != 0,
          .without_gain = static_cast<std::int64_t>(values[3]),
          .cooldown_left = static_cast<std::int64_t>(values[4])};
}

Tensor state_of(const std::variant<std::int64_t*, double*>& number) {
  return std::visit([](auto* value) { return as_tensor(std::vector{*value}); }, number);
}

// The parts as tensors: those of weights, optimisers and averages themselves, the others as copies.
class PartTensors {
 public:
  PartTensors(const char* function, const TrainingParts& parts) : function_(function) {
    for (const NamedTensor& parameter : parts.parameters) add("model." + parameter.name, parameter.tensor);
    for_each(parts.optimizers, "optimizer", [&](const std::string& name, const AnyOptimizer& optimizer) {
      for (const OptimizerSlot& slot : optimizer.slots())
        for (const NamedTensor& state : slot.state) add(text(name, ".state.", state.name), state.tensor);
      add(name + ".steps", steps_of(optimizer.standing()));
      add(name + ".learning_rates", as_tensor(optimizer.standing().learning_rates));
    });
    for_each(parts.averages, "average", [&](const std::string& name, const Ema& average) {
      if (average.swapped())
        throw ValueError(text(function, ": ", name, " is swapped in; swap() the weights back first"));
      for (const NamedTensor& tensor : average.averages()) add(text(name, ".of.", tensor.name), tensor.tensor);
      add(name + ".updates", as_tensor(std::vector{average.updates()}));
    });
    const auto add_state = [&](const std::string& name, const auto& part) { add(name, state_of(part)); };
    for_each(parts.plateaus, "plateau", add_state);
    for_each(parts.randoms, "random", add_state);
    for (std::size_t k = 0; k < parts.numbers.size(); ++k) {
      std::visit([&](auto* number) { check(number, text("number.", k)); }, parts.numbers[k]);
      add_state(text("number.", k), parts.numbers[k]);
    }
  }

  const TensorsByName& by_name() const { return tensors_; }

  // Where the file differs, one difference per line.
  std::string differences(const TensorsByName& file) const {
    std::string list;
    for (const auto& [name, mine] : tensors_) {
      const auto found = file.find(name);
      if (found == file.end())
        list += text("\n  missing: ", printable(name), " ", mine.shape());
      else if (found->second.shape() != mine.shape() || found->second.dtype() != mine.dtype())
        list += text("\n  ", printable(name), " is ", found->second.dtype(), " ", found->second.shape(),
                     ", here it is ", mine.dtype(), " ", mine.shape());
    }
    for (const auto& [name, tensor] : file)
      if (!tensors_.contains(name)) list += text("\n  unexpected: ", printable(name), " ", tensor.shape());
    return list;
  }

 private:
  template <class Part, class See> void for_each(const std::vector<Part*>& list, const char* kind, See&& see) {
    for (std::size_t k = 0; k < list.size(); ++k) {
      check(list[k], text(kind, ".", k));
      see(text(kind, ".", k), *list[k]);
    }
  }
  void check(const void* part, const std::string& name) const {
    if (part == nullptr) throw ValueError(text(function_, ": ", name, " is a null pointer; leave it out of the parts"));
  }
  void add(const std::string& name, const Tensor& tensor) {
    check_defined(function_, tensor, name.c_str());
    if (!tensors_.emplace(name, tensor).second)
      throw ValueError(text(function_, ": two tensors are named '", printable(name),
                            "'; give the parameters of each model names of their own"));
  }

  const char* function_;
  TensorsByName tensors_;
};

std::string kinds_of(const TrainingParts& parts) {
  std::string list;
  for (const AnyOptimizer* optimizer : parts.optimizers) list += text(list.empty() ? "" : ", ", optimizer->name());
  return list;
}

void check_kinds(const std::string& path, const SafetensorsFile& file, const TrainingParts& parts) {
  const auto stored = file.metadata.find(optimizers_entry);
  if (stored == file.metadata.end())
    throw FileError(
        text("load_training: ", path, " is no training that save_training wrote; load() reads the weights of a model"));
  if (const std::string here = kinds_of(parts); stored->second != here)
    throw ValueError(text("load_training: ", path, " is of other optimisers (", printable(stored->second),
                          "), not of (", here,
                          "), and nothing was changed; make those, or begin again in another file"));
}

// Before anything is changed.
void check_standings(const std::string& path, const TrainingParts& parts, const TensorsByName& file) {
  const std::string function = text("load_training: ", path);
  for (std::size_t k = 0; k < parts.optimizers.size(); ++k) {
    const std::string name = text("optimizer.", k);
    for (const double rate : file.at(name + ".learning_rates").values<double>())
      check_number(function.c_str(), "a learning rate in the file", rate, not_negative);
    for (const std::int64_t count : file.at(name + ".steps").values<std::int64_t>())
      check_number(function.c_str(), "a count of steps in the file", count, not_negative);
  }
}

// The values of the parts that are no tensors.
void give_states(const TrainingParts& parts, const TensorsByName& file) {
  for (std::size_t k = 0; k < parts.optimizers.size(); ++k) {
    const std::string name = text("optimizer.", k);
    parts.optimizers[k]->resume(standing_of(file.at(name + ".steps"), file.at(name + ".learning_rates")));
  }
  for (std::size_t k = 0; k < parts.averages.size(); ++k)
    parts.averages[k]->resume(file.at(text("average.", k, ".updates")).values<std::int64_t>()[0]);
  for (std::size_t k = 0; k < parts.plateaus.size(); ++k)
    parts.plateaus[k]->state = plateau_of(file.at(text("plateau.", k)));
  for (std::size_t k = 0; k < parts.randoms.size(); ++k) *parts.randoms[k] = random_of(file.at(text("random.", k)));
  for (std::size_t k = 0; k < parts.numbers.size(); ++k)
    std::visit([&]<class T>(T* number) { *number = file.at(text("number.", k)).values<T>()[0]; }, parts.numbers[k]);
}

}  // namespace

void save_training(const std::string& path, const TrainingParts& parts) {
  write_safetensors(path, PartTensors("save_training", parts).by_name(), {{optimizers_entry, kinds_of(parts)}});
}

void load_training(const std::string& path, const TrainingParts& parts) {
  const PartTensors here("load_training", parts);
  const SafetensorsFile file = read_safetensors(path);
  check_kinds(path, file, parts);
  if (const std::string list = here.differences(file.tensors); !list.empty())
    throw ValueError(text("load_training: ", path, " is of another training, and nothing was changed:", list));
  check_standings(path, parts, file.tensors);
  for (const auto& [name, tensor] : here.by_name()) copy_values(file.tensors.at(name), tensor);
  give_states(parts, file.tensors);
}

}  // namespace retrace

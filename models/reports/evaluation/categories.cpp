#include <retrace/models/reports/evaluation/categories.h>

#include <algorithm>

namespace retrace {

CategoryCounter::Kind& CategoryCounter::kind_of(const Category& category) {
  auto way = std::ranges::find(ways_, category.name, &Way::name);
  if (way == ways_.end()) way = ways_.insert(ways_.end(), Way{std::string(category.name), {}});
  Kind& kind = way->kinds[category.value];
  kind.words = category.words.empty() ? std::to_string(category.value) : std::string(category.words);
  return kind;
}

void CategoryCounter::add(const Prediction& sample) {
  struct Sum {
    double score = 0;
    std::int64_t answers = 0;
  };
  std::vector<std::pair<Category, Sum>> sums;  // the categories of this sample's answers
  for (std::int64_t answer = 0; answer < sample.example.answers(); ++answer) {
    if (!sample.counts(answer)) continue;
    for (const Category& category : task_.categories(sample.example, answer)) {
      auto sum = std::ranges::find_if(sums, [&](const auto& each) {
        return each.first.name == category.name && each.first.value == category.value;
      });
      if (sum == sums.end()) sum = sums.insert(sums.end(), {category, {}});
      sum->second.score += sample.score(answer);
      ++sum->second.answers;
    }
  }
  for (const auto& [category, sum] : sums) kind_of(category).scores.add_sample(sum.score, sum.answers);
}

std::vector<CategoryTable> CategoryCounter::tables() const {
  std::vector<CategoryTable> tables;
  for (const Way& way : ways_) {
    CategoryTable& table = tables.emplace_back(CategoryTable{way.name, {}});
    for (const auto& [value, kind] : way.kinds) table.rows.push_back({kind.words, kind.scores.estimate(task_.kind())});
  }
  return tables;
}

}  // namespace retrace

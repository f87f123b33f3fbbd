#include <retrace/tests/gradbench/plain.h>

#include <cmath>
#include <numbers>

namespace plain {

Numbers joined(const Matrix& rows) {
  Numbers result;
  for (const Numbers& row : rows) result.insert(result.end(), row.begin(), row.end());
  return result;
}

Matrix rows_of(std::span<const double> numbers, std::size_t columns) {
  Matrix rows;
  for (std::size_t first = 0; first < numbers.size(); first += columns)
    rows.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>(first),
                      numbers.begin() + static_cast<std::ptrdiff_t>(first + columns));
  return rows;
}

Numbers differences(const std::function<double(const Numbers&)>& f, Numbers x) {
  constexpr double step = 1e-5;
  Numbers result;
  for (double& element : x) {
    const double middle = element;
    element = middle + step;
    const double above = f(x);
    element = middle - step;
    result.push_back((above - f(x)) / (2 * step));
    element = middle;
  }
  return result;
}

double determinant(const Matrix& a) {
  if (a.empty()) return 1;
  double result = 0;
  for (std::size_t column = 0; column < a.size(); ++column) {
    Matrix minor(a.begin() + 1, a.end());
    for (Numbers& row : minor) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    result += (column % 2 == 0 ? 1 : -1) * a[0][column] * determinant(minor);
  }
  return result;
}

double log_posterior(const Numbers& parameters, const Matrix& x, std::size_t k, double gamma, double m) {
  const std::size_t d = x[0].size(), below = d * (d - 1) / 2;
  const double *alpha = parameters.data(), *mu = alpha + k, *q = mu + k * d, *l = q + k * d;
  const double size = static_cast<double>(d), freedom = size + m + 1;
  double total = 0, weights = 0;
  for (std::size_t c = 0; c < k; ++c) weights += std::exp(alpha[c]);
  Numbers density(x.size());  // of the mixture, at each point
  for (std::size_t c = 0; c < k; ++c) {
    Matrix triangle(d, Numbers(d));
    double log_root = 0, trace = 0;  // ln det Q; the trace of Q^T Q
    for (std::size_t column = 0, next = 0; column < d; ++column) {
      triangle[column][column] = std::exp(q[c * d + column]);
      log_root += q[c * d + column];
      for (std::size_t row = column + 1; row < d; ++row) triangle[row][column] = l[c * below + next++];
    }
    for (const double element : joined(triangle)) trace += element * element;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double squares = 0;
      for (std::size_t row = 0; row < d; ++row) {
        double product = 0;
        for (std::size_t column = 0; column < d; ++column)
          product += triangle[row][column] * (x[i][column] - mu[c * d + column]);
        squares += product * product;
      }
      density[i] +=
          std::exp(alpha[c]) / weights * std::exp(log_root - squares / 2) / std::pow(2 * std::numbers::pi, size / 2);
    }
    // Wishart's density of X = Q^T Q with the scale V = 1 / gamma^2: det X^((n - d - 1) / 2) e^(-tr(X / V) / 2) /
    // (2^(n d / 2) det V^(n / 2) Gamma_d(n / 2)).
    total += (freedom - size - 1) * log_root - gamma * gamma * trace / 2 - freedom * size / 2 * std::log(2) +
             freedom * size * std::log(gamma) - size * (size - 1) / 4 * std::log(std::numbers::pi);
    for (std::size_t j = 0; j < d; ++j) total -= std::lgamma((freedom - static_cast<double>(j)) / 2);
  }
  for (const double each : density) total += std::log(each);
  return total;
}

double lstm_loss(const Numbers& parameters, Matrix state, const Matrix& letters) {
  const std::size_t layers = state.size() / 2, b = letters[0].size();
  const double* outer = parameters.data() + 8 * layers * b;
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  double total = 0;
  for (std::size_t t = 0; t + 1 < letters.size(); ++t) {
    Numbers y(b);
    double exponentials = 2;
    for (std::size_t i = 0; i < b; ++i) {
      y[i] = letters[t][i] * outer[i];
      for (std::size_t layer = 0; layer < layers; ++layer) {
        const double *weight = parameters.data() + 8 * layer * b + i, *bias = weight + 4 * b;
        double &hidden = state[2 * layer][i], &cell = state[2 * layer + 1][i];
        const auto gate = [&](std::size_t k, double input) { return input * weight[k * b] + bias[k * b]; };
        cell = cell * sigmoid(gate(0, y[i])) + sigmoid(gate(1, hidden)) * std::tanh(gate(3, hidden));
        y[i] = hidden = sigmoid(gate(2, y[i])) * std::tanh(cell);
      }
      y[i] = y[i] * outer[b + i] + outer[2 * b + i];
      exponentials += std::exp(y[i]);
    }
    for (std::size_t i = 0; i < b; ++i) total -= letters[t + 1][i] * (y[i] - std::log(exponentials));
  }
  return total / static_cast<double>((letters.size() - 1) * b);
}

double least_squares(const Numbers& x, int n) {
  double total = 0;
  for (int i = 0; i < n; ++i) {
    const double t = -1 + 2.0 * i / (n - 1);
    double distance = t > 0 ? 1 : t < 0 ? -1 : 0;
    for (std::size_t j = 0; j < x.size(); ++j) distance -= x[j] * std::pow(t, static_cast<double>(j));
    total += distance * distance / 2;
  }
  return total;
}

namespace {

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result(a.size(), Numbers(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b[0].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) result[i][j] += a[i][k] * b[k][j];
  return result;
}

// About a unit vector.
Matrix rotation(double angle, double x, double y, double z) {
  const double c = std::cos(angle), s = std::sin(angle), d = 1 - c;
  return {{c + x * x * d, x * y * d - z * s, x * z * d + y * s},
          {x * y * d + z * s, c + y * y * d, y * z * d - x * s},
          {x * z * d - y * s, y * z * d + x * s, c + z * z * d}};
}
Matrix rotation(const double* r) {
  const double angle = std::hypot(r[0], r[1], r[2]);
  return angle == 0 ? rotation(0, 1, 0, 0) : rotation(angle, r[0] / angle, r[1] / angle, r[2] / angle);
}

}  // namespace

Numbers projection_errors(const Numbers& x, const Numbers& seen) {
  const Matrix turned = product(rotation(x.data()), {{x[11] - x[3]}, {x[12] - x[4]}, {x[13] - x[5]}});
  const double u = turned[0][0] / turned[2][0], v = turned[1][0] / turned[2][0], r2 = u * u + v * v;
  const double bent = 1 + x[9] * r2 + x[10] * r2 * r2;
  return {x[14] * (u * bent * x[6] + x[7] - seen[0]), x[14] * (v * bent * x[6] + x[8] - seen[1])};
}

Matrix posed(const Numbers& theta, const Hand& hand) {
  std::vector<Matrix> absolutes;
  Matrix result(hand.vertices.size(), Numbers(3));
  for (std::size_t bone = 0; bone < hand.parents.size(); ++bone) {
    // After two other bones, five fingers of four bones and four numbers; the last bone of each is still.
    double about_x = 0, about_z = 0;
    if (bone >= 2 && bone < 22 && (bone - 2) % 4 < 3) {
      const std::size_t first = 6 + 4 * ((bone - 2) / 4), joint = (bone - 2) % 4;
      about_x = theta[first + (joint == 0 ? 0 : joint + 1)];
      about_z = joint == 0 ? theta[first + 1] : 0;
    }
    Matrix turn = product(rotation(about_z, 0, 0, 1), rotation(about_x, 1, 0, 0));
    for (Numbers& row : turn) row.push_back(0);
    turn.push_back({0, 0, 0, 1});
    const Matrix relative = product(rows_of(hand.relatives[bone], 4), turn);
    const int parent = hand.parents[bone];
    absolutes.push_back(parent < 0 ? relative : product(absolutes[static_cast<std::size_t>(parent)], relative));
    const Matrix transform = product(absolutes.back(), rows_of(hand.inverses[bone], 4));
    for (std::size_t v = 0; v < result.size(); ++v)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j)
          result[v][i] += hand.weights[v][bone] * transform[i][j] * hand.vertices[v][j];
  }
  const Matrix turn = rotation(theta.data());
  for (Numbers& vertex : result) {
    if (hand.mirrored) vertex[0] = -vertex[0];
    const Matrix turned = product(turn, {{vertex[0]}, {vertex[1]}, {vertex[2]}});
    for (std::size_t i = 0; i < 3; ++i) vertex[i] = turned[i][0] + theta[3 + i];
  }
  return result;
}

double miss(double w) {
  double x = 0, y = 8, vx = 0.75, vy = 0;
  while (y + 0.1 * vy > 0) {
    double ax = 0, ay = 0;
    for (const double height : {10 - w, 0.0}) {  // a charge at (10, height) pushes by 1 / distance^2
      const double dx = x - 10, dy = y - height, distance = std::hypot(dx, dy);
      ax += dx / (distance * distance * distance), ay += dy / (distance * distance * distance);
    }
    x += 0.1 * vx, y += 0.1 * vy;
    vx += 0.1 * ax, vy += 0.1 * ay;
  }
  return std::pow(x - y / vy * vx, 2);
}

}  // namespace plain

/* Gradients of a C program, checked by
 *
 *   retrace gradcheck --command unit_vector --input x=12
 *
 * y = x / |x|, dx = (dy - y <y, dy>) / |x|. Requests are lines, {"x": {"x": [0.5, -1, ...]}} and, for a gradient, "dy"
 * beside "x"; models/checks/foreign_program.h has all rules. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_numbers = 1000, max_line = 100000 };

/* Reads "[1, 2.5, ...]" and returns how many numbers there are. */
static int read_numbers(const char* text, double* numbers) {
  int count = 0;
  text = strchr(text, '[');
  while (text != NULL && *text != ']' && count < max_numbers) {
    char* end;
    numbers[count] = strtod(text + 1, &end);
    if (end == text + 1) break;
    text = end;
    ++count;
  }
  return count;
}

static void print_numbers(const double* numbers, int count) {
  for (int k = 0; k < count; ++k) printf("%s%.17g", k == 0 ? "[" : ", ", numbers[k]);
  printf("]");
}

int main(void) {
  static char line[max_line];
  static double x[max_numbers], y[max_numbers], dy[max_numbers], dx[max_numbers];
  while (fgets(line, sizeof line, stdin) != NULL) {
    const int count = read_numbers(line, x);
    double squares = 0, along = 0;
    for (int k = 0; k < count; ++k) squares += x[k] * x[k];
    const double length = sqrt(squares);
    for (int k = 0; k < count; ++k) y[k] = x[k] / length;
    printf("{\"y\": ");
    print_numbers(y, count);
    const char* cotangent = strstr(line, "\"dy\"");
    if (cotangent != NULL && read_numbers(cotangent, dy) == count) {
      for (int k = 0; k < count; ++k) along += y[k] * dy[k];
      for (int k = 0; k < count; ++k) dx[k] = (dy[k] - y[k] * along) / length;
      printf(", \"dx\": {\"x\": ");
      print_numbers(dx, count);
      printf("}");
    }
    printf("}\n");
    fflush(stdout); /* or the answer waits in a buffer */
  }
  return 0;
}

// Drives everything that decides calibration state over seeded streams and prints one digest per item. The same lines must come from
// every compiler, optimisation level and CPU; tests/determinism/expected.txt holds them.
#include "trace.h"

int main() {
  margin::determinism::probe_math();
  margin::determinism::probe_calibrators();
  margin::determinism::probe_votes();
  margin::determinism::probe_pool();
  return 0;
}

// Learns a few outcomes of an overconfident model through the installed library and checks that it is believed less.
#include <margin/calibrator.h>

#include <cstdio>

int main() {
  int unused = 0;  // compiles only if our warnings do not reach users
  auto calibrator = margin::make_calibrator("margin", {{"alpha", 0.1}});
  if (!calibrator) {
    std::fprintf(stderr, "%s\n", calibrator.error().message.c_str());
    return 1;
  }
  margin::Calibrator& margin_calibrator = **calibrator;
  margin_calibrator.join(0);
  for (int i = 0; i < 200; ++i) {
    if (!margin_calibrator.observe({.model = 0, .confidence = 0.95, .outcome = i % 2 == 0 ? 1.0 : 0.0})) return 1;
  }
  const double calibrated = margin_calibrator.calibrate(0, 0.95);
  std::printf("stated 0.95, right half of the time, calibrated %.3f\n", calibrated);
  return calibrated > 0.4 && calibrated < 0.6 ? 0 : 1;
}

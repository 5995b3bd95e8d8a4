// Reads rows "probability outcome [model]" from standard input and prints the metrics that others know too as one JSON object.
// against_sklearn.py compares it with scikit-learn.
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "margin/metric.h"

namespace {

void print(std::string_view name, std::optional<double> value) {
  if (value) {
    std::printf("\"%s\": %.17g, ", name.data(), *value);
  } else {
    std::printf("\"%s\": null, ", name.data());
  }
}

}  // namespace

int main() {
  std::vector<double> p;
  std::vector<double> o;
  std::vector<margin::ModelId> models;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    double probability = 0.0;
    double outcome = 0.0;
    margin::ModelId model = 0;
    if (!(fields >> probability >> outcome)) {
      std::cerr << "line " << p.size() + 1 << ": expected \"probability outcome [model]\", got \"" << line << "\"\n";
      return 2;
    }
    fields >> model;
    p.push_back(probability);
    o.push_back(outcome);
    models.push_back(model);
  }
  const margin::Predictions rows{p, o};
  std::printf("{");
  print("ece", margin::ece(rows));
  print("ece_per_model", margin::ece_per_model(rows, models));
  print("equal_mass_ece", margin::equal_mass_ece(rows));
  print("brier", margin::brier(rows));
  print("log_loss", margin::log_loss(rows));
  print("auroc", margin::auroc(rows));
  print("sharpness", margin::sharpness(p));
  std::printf("\"reliability\": [");
  const char* separator = "";
  for (const margin::ReliabilityBin& bin : margin::reliability_table(rows)) {
    std::printf("%s{\"count\": %zu, \"mean_probability\": %.17g, \"mean_outcome\": %.17g}", separator, bin.count, bin.mean_probability,
                bin.mean_outcome);
    separator = ", ";
  }
  std::printf("]}\n");
  return 0;
}

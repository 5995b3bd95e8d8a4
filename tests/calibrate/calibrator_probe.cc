// calibrator_probe METHOD [name=value ...] < commands: lets the Python tests of this folder drive a calibrator.
// Commands, one per line: join M | leave M | fit M C O W (gathered) | freeze (fits what was gathered) | learn M C O W | predict M C.
// Prints one number per predict, with all its digits.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "margin/calibrator.h"

namespace {

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "calibrator_probe: %s\n", why.c_str());
  std::exit(2);
}

double number(std::istream& line) {
  std::string text;
  line >> text;
  double value = 0.0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) fail("not a number: " + text);
  return value;
}

margin::Observation observation(std::istream& line) {
  margin::Observation row;
  line >> row.model;
  row.confidence = number(line);
  row.outcome = number(line);
  row.weight = number(line);
  return row;
}

void expect(const margin::Status& status) {
  if (!status) fail(status.error().message);
}

std::unique_ptr<margin::Calibrator> make(int argc, char** argv) {
  if (argc < 2) fail("which method?");
  margin::Parameters parameters;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    double value = 0.0;
    const char* begin = argument.data() + equals + 1;
    const bool numeric = std::from_chars(begin, argument.data() + argument.size(), value).ec == std::errc{};
    parameters[argument.substr(0, equals)] = numeric ? margin::ParameterValue(value) : margin::ParameterValue(std::string(begin));
  }
  auto made = margin::make_calibrator(argv[1], parameters);
  if (!made) fail(made.error().message);
  return std::move(made).value();
}

}  // namespace

int main(int argc, char** argv) {
  const auto calibrator = make(argc, argv);
  std::vector<margin::Observation> calibration_rows;
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::string verb;
    margin::ModelId model = 0;
    line >> verb;
    if (verb == "join") {
      line >> model;
      calibrator->join(model);
    } else if (verb == "leave") {
      line >> model;
      calibrator->leave(model);
    } else if (verb == "fit") {
      calibration_rows.push_back(observation(line));
    } else if (verb == "freeze") {
      expect(calibrator->fit(calibration_rows));
      calibration_rows.clear();
    } else if (verb == "learn") {
      expect(calibrator->observe(observation(line)));
    } else if (verb == "predict") {
      line >> model;
      std::printf("%.17g\n", calibrator->calibrate(model, number(line)));
    } else {
      fail("unknown command: " + text);
    }
  }
}

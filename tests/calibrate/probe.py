"""Drives calibrator_probe: commands in, calibrated confidences out."""
import subprocess


def run(program, method, parameters, commands):
    """The answers to the `predict` commands, in order. Commands are tuples such as ("learn", model, confidence, outcome, weight)."""
    arguments = [program, method] + [f"{name}={value}" for name, value in parameters.items()]
    text = "".join(" ".join(word if isinstance(word, str) else repr(word) for word in command) + "\n" for command in commands)
    done = subprocess.run(arguments, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    return [float(line) for line in done.stdout.split()]

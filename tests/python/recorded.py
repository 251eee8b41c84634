"""What the modules *_programs.py share: values that TensorFlow 1.15 gave."""
import json


def write(path, results):
    """A line for each name."""
    with open(path, "w") as file:
        file.write("{\n%s\n}\n" % ",\n".join(
            json.dumps(name) + ": " + json.dumps(results[name])
            for name in sorted(results)))

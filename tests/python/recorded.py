"""What the modules *_programs.py share: values that TensorFlow 1.15 gave."""
import base64
import json
import zlib


def write(path, results):
    """A line for each name."""
    with open(path, "w") as file:
        file.write("{\n%s\n}\n" % ",\n".join(
            json.dumps(name) + ": " + json.dumps(results[name])
            for name in sorted(results)))


def packed(path):
    """The bytes of a file as text."""
    with open(path, "rb") as file:
        return base64.b64encode(zlib.compress(file.read(), 9)).decode()


def unpack(text, path):
    """Writes the file that `packed` read."""
    with open(path, "wb") as file:
        file.write(zlib.decompress(base64.b64decode(text)))

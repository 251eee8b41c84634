"""Compares the cost model's choices of convolutions with measured ones.

    choices.py [--nets resnet50,densenet121] [--zoo] [--seconds 60] [--check PERCENT] [--out FILE]

For each network `headrace tune` measures every algorithm of every convolution that the network has. The table says how long all
convolutions take with the algorithms that the cost model chooses, how long with the fastest ones, and what is lost. --check fails
if the choices of all networks together lose more than that: measure on a quiet machine.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

from run import FOLDER, ROOT, TITLES, parse_nets, prepare, say, spec, title, zoo_names

PROGRAM = ROOT / "build" / "bin" / "headrace"


def in_all(net, batch, seconds):
    """(ms with the choices of the cost model, ms with the fastest algorithms); None if the network has no convolutions that take time."""
    shapes = [f"{f['name']}={','.join(str(batch if n is None else n) for n in f['shape'])}" for f in spec(net)["feeds"]]
    fetches = [option for name in spec(net)["fetches"] for option in ("--fetch", name)]
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, "tune", FOLDER / f"{net}.pb", "--cache", pathlib.Path(folder) / "choices", "--seconds", seconds, *fetches]
        command += [option for shape in shapes for option in ("--shape", shape)]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{net}: headrace tune failed:\n{done.stdout}")
    found = re.search(r"([\d.]+) +([\d.]+) +in all", done.stdout)
    # 0: its convolutions take less than what is printed.
    return (float(found[1]), float(found[2])) if found and float(found[2]) > 0 else None


def table(results, in_total):
    """`in_total`: chosen, fastest and lost of all networks together."""
    lines = ["| network | chosen | fastest | lost |", "|---|---|---|---|"]
    for (net, batch), (chosen, fastest) in results.items():
        lines.append(f"| {title(net, batch)} | {chosen:.2f} ms | {fastest:.2f} ms | {lost(chosen, fastest):.1f} % |")
    return "\n".join(lines + ["| all | {:.2f} ms | {:.2f} ms | {:.1f} % |".format(*in_total)])


def lost(chosen, fastest):
    return 100 * (chosen / fastest - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default=",".join(n for n in TITLES if not n.startswith("lstm")), help="default: %(default)s")
    parser.add_argument("--zoo", action="store_true", help="all networks of zoo.py instead")
    parser.add_argument("--seconds", type=float, default=60, help="of measuring for each network, at most")
    parser.add_argument("--check", type=float, help="per cent that may be lost")
    parser.add_argument("--out", help="also write the table to this file")
    args = parser.parse_args()
    nets = parse_nets(parser, ",".join(zoo_names()) if args.zoo else args.nets)
    prepare(sorted({name for name, _ in nets}))
    results = {}
    for net, batch in nets:
        say(f"{net}, batch {batch}")
        if times := in_all(net, batch, args.seconds):
            results[net, batch] = times
    if not results:
        raise SystemExit("none of these networks has convolutions to choose for")
    chosen, fastest = map(sum, zip(*results.values()))
    loss = lost(chosen, fastest)
    text = table(results, (chosen, fastest, loss))
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text + "\n")
    if args.check is not None and loss > args.check:
        raise SystemExit(f"{loss:.1f} % are lost, wanted at most {args.check:g}")


if __name__ == "__main__":
    main()

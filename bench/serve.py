"""Measures Headrace beside its peers with several clients at once.

    serve.py [--nets resnet50,mobilenet_v2,encoder_matmul] [--clients 1,2,4] [--threads N] [--busy N] [--seconds 3] [--turns 3] [--out FILE] [--readme]

Clients are threads of one process that run one session, each as fast as it can. Every engine has
its default options, or the number of threads that --threads sets (1: each client computes alone); OpenVINO has a request for each client, and is
measured in float32 too where it chooses another precision. The engines run in turns. --busy lets that many other processes compute meanwhile.
Prints a table in Markdown: runs a second of
all clients together, over all turns, and the 99th percentile of the time of a run. --readme puts it into README.md.
"""
import argparse
import contextlib
import subprocess
import sys
import time

from run import (BFLOAT16, FLOAT32, NAMES, REST, column, deliver, geometric_mean, load_all, parse_nets, percentile, prepare,
                 say, title, versions)


@contextlib.contextmanager
def busy(processes):
    """That many processes compute meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in others:
            process.kill()
            process.wait()


def measure(workers, clients, seconds, turns):
    """{engine: (runs a second, 99th percentile in ms)}."""
    times, walls = {e: [] for e in workers}, {e: 0.0 for e in workers}
    for _ in range(turns):
        for engine, w in workers.items():
            time.sleep(REST)
            trial = w.ask(3, clients)["wall_s"] / 3
            answer = w.ask(max(5, int(seconds / trial)), clients)
            times[engine] += answer["ms"]
            walls[engine] += answer["wall_s"]
    return {e: (len(times[e]) / walls[e], percentile(times[e], 0.99)) for e in workers}


def serve_table(results, precisions):
    engines = [e for e in NAMES if any(e in values for values in results.values())]
    columns = ["network", "clients", *(column(e, precisions.get(e)) for e in engines), "throughput", "99 %"]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    means = []
    for (net, batch, clients), values in results.items():
        cells = [title(net, batch), str(clients)]
        cells += [f"{values[e][0]:.1f} runs/s, {values[e][1]:.1f} ms" if e in values else "-" for e in engines]
        ours, peers = values["headrace"], [v for e, v in values.items() if e in FLOAT32 and e != "headrace"]
        means.append((ours[0] / max(v[0] for v in peers), ours[1] / min(v[1] for v in peers)))
        lines.append("| " + " | ".join(cells + [f"{v:.2f}" for v in means[-1]]) + " |")
    cells = ["geometric mean", *[""] * (1 + len(engines)), *(f"{geometric_mean(ratios):.2f}" for ratios in zip(*means))]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default="resnet50,mobilenet_v2,encoder_matmul", help="default: %(default)s")
    parser.add_argument("--clients", default="1,2,4", help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=0, help="of every engine; 0: its default")
    parser.add_argument("--busy", type=int, default=0, help="other processes that compute meanwhile")
    parser.add_argument("--seconds", type=float, default=3, help="of each turn, about")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", help="also write the table to this file")
    parser.add_argument("--readme", action="store_true", help="also write the table into README.md")
    args = parser.parse_args()
    if args.readme and (args.threads or args.busy):
        parser.error("--readme is for default options on a quiet machine")
    nets = parse_nets(parser, args.nets)
    prepare(sorted({name for name, _ in nets}))
    results, precisions = {}, {}
    for net, batch in nets:
        workers = load_all(net, batch, args.threads, leave_out=[BFLOAT16])
        precisions.update((e, w.precision) for e, w in workers.items() if w.precision)
        with busy(args.busy):
            for clients in map(int, args.clients.split(",")):
                say(f"{net}, batch {batch}: {clients} clients")
                results[net, batch, clients] = measure(workers, clients, args.seconds, args.turns)
        for w in workers.values():
            w.stop()
    options = f"{args.threads} threads set by an option" if args.threads else "their default options"
    meanwhile = f" while {args.busy} other processes compute" if args.busy else ""
    text = (f"Clients at once, threads of one process that run one session, all engines with {options} and in turns{meanwhile} ({versions()}): runs a second of all clients, "
            "99th percentile of the time of a run; then the ratios of Headrace's to the best peer's in float32: for throughput more is better.\n\n"
            f"{serve_table(results, precisions)}\n")
    deliver(args, text, "serve")


if __name__ == "__main__":
    main()

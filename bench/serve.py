"""Measures Headrace beside its peers with several clients at once.

    serve.py [--nets resnet50,mobilenet_v2,encoder_matmul] [--clients 1,2,4] [--seconds 3] [--turns 3] [--out FILE] [--readme]

Clients are threads of one process that run one session, each as fast as it can. Every engine has
its default options (OpenVINO: float32, a request for each client). The engines run in turns. Prints a table in Markdown: runs a second of
all clients together, over all turns, and the 99th percentile of the time of a run. --readme puts it into README.md.
"""
import argparse
import pathlib
import time

from run import NAMES, OWN_CHOICE, REST, ROOT, geometric_mean, load_all, parse_nets, percentile, prepare, replace_between, say, title, versions


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


def serve_table(results):
    engines = [e for e in NAMES if any(e in values for values in results.values())]
    columns = ["network", "clients", *(NAMES[e] for e in engines), "throughput", "99 %"]
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    means = []
    for (net, batch, clients), values in results.items():
        cells = [title(net, batch), str(clients)]
        cells += [f"{values[e][0]:.1f} runs/s, {values[e][1]:.1f} ms" if e in values else "-" for e in engines]
        ours, peers = values["headrace"], [v for e, v in values.items() if e != "headrace"]
        means.append((ours[0] / max(v[0] for v in peers), ours[1] / min(v[1] for v in peers)))
        lines.append("| " + " | ".join(cells + [f"{v:.2f}" for v in means[-1]]) + " |")
    cells = ["geometric mean", *[""] * (1 + len(engines)), *(f"{geometric_mean(column):.2f}" for column in zip(*means))]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default="resnet50,mobilenet_v2,encoder_matmul", help="default: %(default)s")
    parser.add_argument("--clients", default="1,2,4", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=3, help="of each turn, about")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--out", help="also write the table to this file")
    parser.add_argument("--readme", action="store_true", help="also write the table into README.md")
    args = parser.parse_args()
    nets = parse_nets(parser, args.nets)
    prepare(sorted({name for name, _ in nets}))
    results = {}
    for net, batch in nets:
        workers = load_all(net, batch, leave_out=[OWN_CHOICE])
        for clients in map(int, args.clients.split(",")):
            say(f"{net}, batch {batch}: {clients} clients")
            results[net, batch, clients] = measure(workers, clients, args.seconds, args.turns)
        for w in workers.values():
            w.stop()
    text = (f"Clients at once, threads of one process that run one session, all engines with their default options and in turns ({versions()}): runs a second of all clients, "
            "99th percentile of the time of a run; then the ratios of Headrace's to the best peer's: for throughput more is better.\n\n"
            f"{serve_table(results)}\n")
    print(text)
    if args.out:
        pathlib.Path(args.out).write_text(text)
    if args.readme:
        replace_between(ROOT / "README.md", "serve", text)


if __name__ == "__main__":
    main()

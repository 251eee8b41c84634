"""The file "checkpoint", which lists the checkpoints of a folder, and the files
of a checkpoint."""
import glob
import os
import re
import time

from headrace._src.framework.messages import CheckpointState, SaverDef
from headrace._src.framework.text_compat import as_text
from headrace._src.platform import tf_logging as logging
from headrace._src.platform.durable import write_atomically


def _state_path(checkpoint_dir, latest_filename):
    return os.path.join(os.fspath(checkpoint_dir),
                        latest_filename or "checkpoint")


def _relative(path, folder):
    return path if os.path.isabs(path) else os.path.relpath(path, folder)


def generate_checkpoint_state_proto(save_dir, model_checkpoint_path,
                                    all_model_checkpoint_paths=None,
                                    all_model_checkpoint_timestamps=None,
                                    last_preserved_timestamp=None):
    """The CheckpointState that lists these checkpoints, the oldest first.

    `model_checkpoint_path` is the newest, and joins the others if it is not the
    last of them. Relative paths are made relative to a relative `save_dir`.
    ValueError unless there are as many timestamps as paths."""
    paths = list(all_model_checkpoint_paths or ())
    if not paths or paths[-1] != model_checkpoint_path:
        logging.info("%s is not in all_model_checkpoint_paths. Manually adding "
                     "it.", model_checkpoint_path)
        paths.append(model_checkpoint_path)
    times = all_model_checkpoint_timestamps
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths "
            "(got paths %s and timestamps %s)" % (paths, times))
    if not os.path.isabs(save_dir):
        paths = [_relative(p, save_dir) for p in paths]
        model_checkpoint_path = _relative(model_checkpoint_path, save_dir)
    state = CheckpointState(model_checkpoint_path=model_checkpoint_path,
                            all_model_checkpoint_paths=paths,
                            all_model_checkpoint_timestamps=times or [])
    if last_preserved_timestamp is not None:
        state.last_preserved_timestamp = last_preserved_timestamp
    return state


def update_checkpoint_state(save_dir, model_checkpoint_path,
                            all_model_checkpoint_paths=None,
                            latest_filename=None,
                            all_model_checkpoint_timestamps=None,
                            last_preserved_timestamp=None):
    """Writes the file "checkpoint", or `latest_filename`, of `save_dir`. See
    generate_checkpoint_state_proto. RuntimeError if the checkpoint has that
    path."""
    write_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths,
                latest_filename, False, all_model_checkpoint_timestamps,
                last_preserved_timestamp)


def write_state(save_dir, path, all_paths=None, latest_filename=None,
                relative=False, timestamps=None, last_preserved=None):
    """update_checkpoint_state; `relative`: lists paths relative to
    `save_dir`."""
    if relative:
        def shorten(p):
            return os.path.relpath(p, save_dir) if os.path.isabs(p) else p
        path = shorten(path)
        all_paths = [shorten(p) for p in all_paths or ()]
    file = _state_path(save_dir, latest_filename)
    state = generate_checkpoint_state_proto(save_dir, path, all_paths,
                                            timestamps, last_preserved)
    if file == state.model_checkpoint_path:
        raise RuntimeError(
            "Save path '%s' conflicts with path used for checkpoint state.  "
            "Please use a different save path." % path)
    write_atomically(file, str(state).encode())


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a folder; None if its file is missing or damaged.
    Paths relative to the folder are joined to it. ValueError if the file names
    no checkpoint.

    Paths are strings; there are no shapes and dtypes here."""
    checkpoint_dir = as_text(os.fspath(checkpoint_dir))
    file = _state_path(checkpoint_dir, latest_filename)
    try:
        with open(file, "rb") as f:
            text = f.read().decode()
        state = CheckpointState()
        state.MergeText(text)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        logging.warning("%s: %s", file, error)
        logging.warning("%s: Checkpoint ignored", file)
        return None
    if not state.model_checkpoint_path:
        raise ValueError("Invalid checkpoint state loaded from "
                         + checkpoint_dir)

    def full(path):
        return path if os.path.isabs(path) else (
            os.path.join(checkpoint_dir, path))
    paths = [full(p) for p in state.all_model_checkpoint_paths]
    state.model_checkpoint_path = full(state.model_checkpoint_path)
    state.ClearField("all_model_checkpoint_paths")
    state.all_model_checkpoint_paths.extend(paths)
    return state


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The path of the newest checkpoint that the folder's file lists; None if
    there is no file, or the checkpoint is gone.

    A string without the file's ending, as Saver.restore takes it; there are no
    shapes and dtypes here. It raises nothing for folders that do not exist,
    ValueError for a file that names no checkpoint."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    path = state.model_checkpoint_path
    if checkpoint_exists(path):
        return path
    logging.error("Couldn't match files for checkpoint %s", path)
    return None


def _first_files(checkpoint_prefix):
    """The files by which a checkpoint is known: of version 2, else of 1."""
    prefix = as_text(os.fspath(checkpoint_prefix))
    return glob.glob(prefix + ".index") or [
        p for p in glob.glob(prefix) if os.path.isfile(p)]


def checkpoint_exists(checkpoint_prefix):
    """True if there is a checkpoint, of version 1 or 2, with this prefix."""
    return bool(_first_files(checkpoint_prefix))


def get_checkpoint_mtimes(checkpoint_prefixes):
    """When the checkpoints were changed, in seconds since 1970; those that are
    missing are left out."""
    files = [_first_files(p) for p in checkpoint_prefixes]
    return [os.stat(f[0]).st_mtime_ns // 10**9 * 1.0 for f in files if f]


def meta_graph_filename(checkpoint_filename, meta_graph_suffix="meta"):
    """The file of the graph beside a checkpoint."""
    base = re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename)
    return "%s.%s" % (base, meta_graph_suffix)


def remove_checkpoint(checkpoint_prefix,
                      checkpoint_format_version=SaverDef.V2,
                      meta_graph_suffix="meta"):
    """Deletes the files of a checkpoint and of its graph. Those that are not
    there are no error."""
    prefix = as_text(os.fspath(checkpoint_prefix))
    patterns = [meta_graph_filename(prefix, meta_graph_suffix)]
    if checkpoint_format_version == SaverDef.V2:
        # Without its index, what is left is no checkpoint.
        prefix = glob.escape(prefix)
        patterns = [glob.escape(patterns[0]), prefix + ".index",
                    prefix + ".data-?????-of-?????"]
    else:
        patterns.append(prefix)
    for pattern in patterns:
        for path in glob.glob(pattern):
            try:
                os.remove(path)
            except FileNotFoundError:
                pass


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None,
                            seconds_to_sleep=1, timeout=None):
    """The newest checkpoint of a folder, once it is not last_checkpoint; None
    if that takes longer than `timeout` seconds."""
    last = last_checkpoint
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last:
            return path
        if end is not None and time.monotonic() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None,
                         timeout_fn=None):
    """Yields each new checkpoint of a folder, `min_interval_secs` apart at
    least. After `timeout` seconds without one it ends; or asks `timeout_fn`,
    which returns True to end."""
    path = None
    while True:
        new = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if new is None:
            if not timeout_fn:
                logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start = time.monotonic()
        path = new
        yield path
        rest = start + min_interval_secs - time.monotonic()
        if rest > 0:
            time.sleep(rest)


def existing_checkpoint(checkpoint_dir_or_file):
    """The prefix of a checkpoint: of the newest one for a folder. ValueError if
    the folder lists none."""
    path = as_text(os.fspath(checkpoint_dir_or_file))
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError("Couldn't find 'checkpoint' file or checkpoints in "
                             "given directory %s" % path)
        return latest
    return path

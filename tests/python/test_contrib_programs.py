"""tf.contrib gives the variables, names, shapes and numbers of TensorFlow 1.15
in the programs of contrib_programs.py."""
import json

import contrib_programs
import numpy as np
import pytest

import headrace as tf

with open(contrib_programs.VALUES) as file:
    WANTED = json.load(file)


def test_every_program_has_values():
    assert sorted(WANTED) == sorted(contrib_programs.PROGRAMS)


@pytest.mark.parametrize("name", sorted(contrib_programs.PROGRAMS))
def test_a_program_gives_what_tensorflow_gives(name):
    got = json.loads(json.dumps(contrib_programs.run(tf, name)))
    wanted = WANTED[name]
    assert got["variables"] == wanted["variables"]
    assert len(got["results"]) == len(wanted["results"])
    for ours, theirs in zip(got["results"], wanted["results"]):
        if isinstance(theirs, str) or len(theirs) < 4 or isinstance(
                theirs[2], str):
            assert ours == theirs
            continue
        # More may be known of a shape here.
        known = [[a if b is not None else None for a, b in zip(*dims)]
                 if len(dims[0]) == len(dims[1]) else dims[0]
                 for dims in zip(ours[1:3], theirs[1:3])]
        assert known == theirs[1:3], theirs[0]
        np.testing.assert_allclose(ours[3], theirs[3], rtol=1e-4, atol=2e-5,
                                   err_msg=theirs[0])
        free = [names for program, names in contrib_programs.FREE_NAMES.items()
                if name.startswith(program)]
        if not free or free[0] is not None and theirs[0] not in free[0]:
            assert ours[0] == theirs[0]

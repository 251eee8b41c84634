"""What the tests of TensorFlow assert besides of arrays: containers, texts,
commands, and what threads and streams do."""
import collections
import contextlib
import difflib
import os
import re
import subprocess
import tempfile
import threading
import unittest
from urllib import parse


class CheckedThread:
    """A thread of a test: join() raises what its function raised, and the test
    fails if the thread was not joined."""

    def __init__(self, testcase, target, args=None, kwargs=None):
        self._testcase = testcase
        self._target = target
        self._args, self._kwargs = args or (), kwargs or {}
        self._error = None
        self._running = threading.Event()
        self._joined = False
        self._thread = threading.Thread(target=self._protected)

    def _protected(self):
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as error:
            self._error = error

    def start(self):
        """Starts the thread."""
        self._running.set()
        self._thread.start()

    def join(self):
        """Waits for the thread. AssertionError if its function raised."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._testcase.fail("Error in checkedThread: %s" % self._error)

    def is_alive(self):
        return self._thread.is_alive()

    def check_termination(self):
        """AssertionError if it was started and not joined."""
        if self._joined or not self._running.is_set():
            return
        if self.is_alive():
            self._testcase.fail("A checked thread was not joined, and is "
                                "still alive.")
        self._testcase.fail("A checked thread was not joined.")


class CapturedWrites:
    """What was written to a stream: contents()."""

    def __init__(self, path):
        self._path = path

    def contents(self):
        with open(self._path) as file:
            return file.read()


class Assertions(unittest.TestCase):
    """Assertions of containers, texts and commands."""
    _threads = ()

    def tearDown(self):
        for thread in self._threads:
            thread.check_termination()
        super().tearDown()

    def checkedThread(self, target, args=None, kwargs=None):
        """A thread that is joined before the test ends. Its join() fails the
        test if `target` raises."""
        thread = CheckedThread(self, target, args, kwargs)
        self._threads = [*self._threads, thread]
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream):
        """What the block writes to `stream` or its file descriptor, in a file:
        yields an object with contents()."""
        stream.flush()
        descriptor = stream.fileno()
        handle, path = tempfile.mkstemp()
        kept = os.dup(descriptor)
        os.dup2(handle, descriptor)
        try:
            yield CapturedWrites(path)
        finally:
            stream.flush()
            os.dup2(kept, descriptor)
            os.close(kept)
            os.close(handle)
            self.addCleanup(os.remove, path)

    def assertSameElements(self, expected_seq, actual_seq, msg=None):
        """The same elements, however often."""
        for name, value in (("Expected", expected_seq), ("Actual", actual_seq)):
            if isinstance(value, (str, bytes)):
                self.fail("Passing string/bytes to assertSameElements is "
                          "usually a bug. Did you mean to use assertEqual?\n"
                          "%s: %s" % (name, value))
        expected, actual = list(expected_seq), list(actual_seq)
        missing = [x for x in expected if x not in actual]
        extra = [x for x in actual if x not in expected]
        if missing or extra:
            self.fail("%sExpected, but missing:\n  %r\nUnexpected, but present:"
                      "\n  %r" % (msg + "\n" if msg else "", missing, extra))

    def assertSameStructure(self, a, b, aname="a", bname="b", msg=None):
        """Dicts, lists and what is in them are equal."""
        problems = []
        _structure_problems(a, b, aname, bname, problems)
        if problems:
            self.fail("; ".join(problems[:10]) + (" : %s" % msg if msg else ""))

    def assertNoCommonElements(self, expected_seq, actual_seq, msg=None):
        common = set(expected_seq) & set(actual_seq)
        if common:
            self.fail("%s in both sequences%s" % (
                sorted(common, key=str), " : %s" % msg if msg else ""))

    def assertContainsSubset(self, expected_subset, actual_set, msg=None):
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self.fail("Missing elements %s\nExpected: %s\nActual: %s%s" % (
                missing, expected_subset, actual_set,
                " : %s" % msg if msg else ""))

    def assertContainsSubsequence(self, container, subsequence, msg=None):
        """The parts, in order, with what there may be between them."""
        rest = iter(container)
        if not all(any(x == y for y in rest) for x in subsequence):
            self.fail("%s not a subsequence of %s.%s" % (
                subsequence, container, " : %s" % msg if msg else ""))

    def assertContainsExactSubsequence(self, container, subsequence, msg=None):
        """The parts, in order, with nothing between them."""
        container, wanted = list(container), list(subsequence)
        if not any(container[i:i + len(wanted)] == wanted
                   for i in range(len(container) - len(wanted) + 1)):
            self.fail("%s not an exact subsequence of %s.%s" % (
                subsequence, container, " : %s" % msg if msg else ""))

    def assertContainsInOrder(self, strings, target, msg=None):
        """The strings lie in `target`, each after the one before."""
        place = 0
        for string in [strings] if isinstance(strings, str) else strings:
            found = target.find(string, place)
            if found < 0:
                self.fail("Did not find %r in %r after place %d.%s" % (
                    string, target, place, " : %s" % msg if msg else ""))
            place = found + len(string)

    def assertSequenceStartsWith(self, prefix, whole, msg=None):
        prefix = list(prefix) if hasattr(prefix, "__len__") else [prefix]
        self.assertEqual(list(whole)[:len(prefix)], prefix, msg)

    def assertSequenceAlmostEqual(self, expected_seq, actual_seq, places=None,
                                  msg=None, delta=None):
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for a, b in zip(expected_seq, actual_seq):
            self.assertAlmostEqual(a, b, places=places, msg=msg, delta=delta)

    def assertTotallyOrdered(self, *groups, **kwargs):
        """Elements of a group are equal, and less than those of groups
        after it."""
        msg = kwargs.get("msg")
        for i, left in enumerate(groups):
            for a in left:
                for b in left:
                    self.assertTrue(a == b and not a != b and not a < b, msg)
                for right in groups[i + 1:]:
                    for b in right:
                        self.assertTrue(a < b and b > a and a <= b and a != b,
                                        msg)

    def assertBetween(self, value, minv, maxv, msg=None):
        self.assertGreaterEqual(value, minv, msg)
        self.assertLessEqual(value, maxv, msg)

    def assertNotStartsWith(self, actual, unexpected_start, msg=None):
        if actual.startswith(unexpected_start):
            self.fail("%r does start with %r%s" % (
                actual, unexpected_start, " : %s" % msg if msg else ""))

    def assertNotEndsWith(self, actual, unexpected_end, msg=None):
        if actual.endswith(unexpected_end):
            self.fail("%r does end with %r%s" % (
                actual, unexpected_end, " : %s" % msg if msg else ""))

    def assertRegexMatch(self, actual_str, regexes, message=None):
        """One of the expressions is found in the text."""
        if isinstance(regexes, (str, bytes)):
            self.fail("regexes is string or bytes; use assertRegex instead.")
        if not regexes:
            self.fail("No regexes specified.")
        pattern = (b"(?:%s)" if isinstance(regexes[0], bytes) else "(?:%s)") % (
            b")|(?:" if isinstance(regexes[0], bytes) else ")|(?:").join(
                regexes)
        if not re.search(pattern, actual_str, re.MULTILINE):
            self.fail("%r does not contain any of the regexes %s.%s" % (
                actual_str, regexes, " : %s" % message if message else ""))

    def assertMultiLineEqual(self, first, second, msg=None, **kwargs):
        self.assertIsInstance(first, str)
        self.assertIsInstance(second, str)
        if first != second:
            lines = difflib.ndiff(first.splitlines(True),
                                  second.splitlines(True))
            self.fail("%s\n%s" % (msg or "", "".join(lines)))

    def assertUrlEqual(self, a, b, msg=None):
        """URLs that mean the same: the order of parameters does not count."""
        a, b = parse.urlparse(a), parse.urlparse(b)
        self.assertEqual(a[:3], b[:3], msg)
        self.assertEqual(sorted(a.params.split(";")),
                         sorted(b.params.split(";")), msg)
        self.assertEqual(parse.parse_qs(a.query, True),
                         parse.parse_qs(b.query, True), msg)
        self.assertEqual(a.fragment, b.fragment, msg)

    def assertJsonEqual(self, first, second, msg=None):
        import json
        self.assertSameStructure(json.loads(first), json.loads(second),
                                 "first", "second", msg)

    def assertRaisesWithLiteralMatch(self, expected_exception,
                                     expected_exception_message,
                                     callable_obj=None, *args, **kwargs):
        """The block or the call raises with exactly this message."""
        @contextlib.contextmanager
        def context():
            try:
                yield
            except expected_exception as error:
                self.assertEqual(str(error), expected_exception_message)
                return
            self.fail("%s not raised" % expected_exception.__name__)
        if callable_obj is None:
            return context()
        with context():
            callable_obj(*args, **kwargs)

    def _run_command(self, command, env):
        run = subprocess.run(command, shell=isinstance(command, str), env=env,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return run.returncode, run.stdout

    def assertCommandSucceeds(self, command, regexes=(b"",), env=None,
                              close_fds=True, msg=None):
        """It exits with 0, and one of the expressions matches its output."""
        status, output = self._run_command(command, env)
        self.assertEqual(status, 0, "%s\n%s" % (output, msg or ""))
        self.assertRegexMatch(output, _bytes_of(regexes), msg)

    def assertCommandFails(self, command, regexes, env=None, close_fds=True,
                           msg=None):
        """It exits with another status than 0, and one of the expressions
        matches its output."""
        status, output = self._run_command(command, env)
        self.assertNotEqual(status, 0, "%s\n%s" % (output, msg or ""))
        self.assertRegexMatch(output, _bytes_of(regexes), msg)

    # Old names, which Python's own class has no more.

    assert_ = unittest.TestCase.assertTrue
    assertEquals = unittest.TestCase.assertEqual
    assertNotEquals = unittest.TestCase.assertNotEqual
    assertAlmostEquals = unittest.TestCase.assertAlmostEqual
    assertNotAlmostEquals = unittest.TestCase.assertNotAlmostEqual
    assertRegexpMatches = unittest.TestCase.assertRegex
    assertNotRegexpMatches = unittest.TestCase.assertNotRegex
    failUnless = unittest.TestCase.assertTrue
    failIf = unittest.TestCase.assertFalse
    failUnlessEqual = unittest.TestCase.assertEqual


def _bytes_of(regexes):
    if isinstance(regexes, (str, bytes)):
        regexes = [regexes]
    return [r.encode() if isinstance(r, str) else r for r in regexes]


def _structure_problems(a, b, aname, bname, problems):
    mappings = [isinstance(x, collections.abc.Mapping) for x in (a, b)]
    sequences = [isinstance(x, collections.abc.Sequence)
                 and not isinstance(x, (str, bytes)) for x in (a, b)]
    if all(mappings):
        for key in a:
            if key not in b:
                problems.append("%s has [%r] but %s does not"
                                % (aname, key, bname))
            else:
                _structure_problems(a[key], b[key], "%s[%r]" % (aname, key),
                                    "%s[%r]" % (bname, key), problems)
        problems.extend("%s lacks [%r] but %s has it" % (aname, key, bname)
                        for key in b if key not in a)
    elif all(sequences):
        for i, (x, y) in enumerate(zip(a, b)):
            _structure_problems(x, y, "%s[%d]" % (aname, i),
                                "%s[%d]" % (bname, i), problems)
        if len(a) != len(b):
            problems.append("%s has %d elements but %s has %d"
                            % (aname, len(a), bname, len(b)))
    elif any(mappings) or any(sequences):
        problems.append("%s is a %r but %s is a %r"
                        % (aname, type(a), bname, type(b)))
    elif a != b:
        problems.append("%s is %r but %s is %r" % (aname, a, bname, b))

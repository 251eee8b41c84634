"""Functions of Python values, which must do the same when they are converted:
(function, its arguments)."""
import functools

LEVEL = 1
__private = 7


def try_finally(n):
    out = []
    for i in range(n):
        try:
            if i == 2:
                continue
            if i == 4:
                break
            out.append(i)
        except ValueError:
            out.append("error")
        else:
            out.append("else")
        finally:
            out.append("finally")
    else:
        out.append("all")
    return out


def return_in_try(n):
    try:
        if n > 1:
            return "try"
        if n < 0:
            raise ValueError(n)
    except ValueError as e:
        return "except", e.args
    else:
        n += 100
    return n


def loop_else(n):
    for i in range(3):
        if i == n:
            break
    else:
        return "else"
    while n < 10:
        n += 1
    else:
        n = -n
    return i, n


def nested_loop_else(n):
    found = []
    for i in range(n):
        for j in range(i):
            if i % 2:
                break
            if j == 2:
                continue
            found.append((i, j))
        else:
            found.append(i)
            continue
        found.append("broke")
    return found


def walrus(n):
    total = 0
    while (m := n - total) > 0:
        total += 1
        if (k := m * 2) > 6 and (last := k):
            total += last - k
    return total, m, [y := i for i in range(3)], y


def global_name(n):
    global LEVEL
    before = LEVEL
    if n > 1:
        LEVEL = n
    result = LEVEL
    LEVEL = before
    return result


def global_inside(n):
    if n > 1:
        global LEVEL
        LEVEL = 1
    return LEVEL


def counter(n):
    count = 0

    def step(by=1):
        nonlocal count
        if by > 0:
            count += by
        return count
    for _ in range(n):
        step()
    step(by=0)
    return count


def deletes(n):
    x = n
    if n > 1:
        del x
    try:
        return x
    except NameError as e:
        return type(e).__name__


def unbound(n):
    if n > 1:
        y = n
    return y


def named_as_what_sets_the_state(values):
    """Its names are those that the rewritten code has for itself."""
    if values > 1:
        values = values * 2
    while values > 7:
        values -= 3
    item = None
    for item in range(values):
        values += item
    return values, item


class Base:
    def value(self, n):
        return n + 1


class Private(Base):
    __factor = 3

    def __scaled(self, n):
        return n * self.__factor if n > 1 else n

    def value(self, n):
        if n > 1:
            n = super().value(n)
        self.__n = n
        return self.__scaled(n), self.__n, __private if n < 0 else 0

    @property
    def double(self):
        return 2 if self.__n else 0

    @classmethod
    def make(cls, n):
        if n > 1:
            return cls().value(n)
        return cls.__name__

    @staticmethod
    def fixed(n):
        return n if n > 1 else -n


def private(n):
    p = Private()
    return p.value(n), p.double, Private.make(n), Private.fixed(n)


def class_inside(n):
    class Local:
        size = n if n > 1 else 0

        def get(self):
            if self.size:
                return self.size
            return "none"
    return Local().get()


def generator_inside(n):
    def items():
        for i in range(n):
            if i == 1:
                continue
            yield i
    return list(items()), sum(i for i in items() if not i or i > 0)


def arguments(n, /, a=1, *rest, k, **more):
    if n > a:
        a = k
    return n, a, rest, k, more


def calls(n):
    args, more = (1, 2), {"x": n}
    return arguments(n, *args, 5, k=2, y=0, **more)


def defaults(n):
    def inner(x, scale=n * 2 if n > 1 else 5, *, bias=lambda v: v + n):
        if x:
            x = bias(x)
        return x * scale
    return inner(n), inner(1, 2), inner(3, bias=abs)


def lambdas(n):
    a, b = lambda x: x + 1 if x > 1 else x, lambda x: x * 2 if x > 1 else -x
    return a(n), b(n), (lambda *r, **k: (r, k))(n, m=n)


def chains(n):
    calls = []

    def f(x):
        calls.append(x)
        return x
    return 0 < f(n) < f(5) != 7, 1 < n == 2, n in [1] is not None, calls


def logic(n):
    return (n and "yes" or "no", not n, None or n, 0 and n,
            (n > 1 or [])[:1] if not n else [n], not not n)


def unpacking(n):
    (a, *b), c = [n, 1, 2], {"k": n}
    for a, (b[0], c["k"]) in [(1, (2, 3))]:
        if a:
            a, b = b, a
    return a, b, c


def comprehensions(n):
    x = "outer"
    r = [x for x in range(n) if x > 1 and x < 9], {x: y for x in [n]
                                                  for y in range(x) if not y}
    return r, x


def with_items(n):
    class Context:
        def __enter__(self):
            return n

        def __exit__(self, *_):
            return True
    with Context() as c, Context():
        if c > 1:
            raise ValueError("suppressed")
        return c
    return "after"


def frames(n):
    y = 2
    if n > 1:
        y = eval("3 + n", {"n": n})
    return y, sorted(k for k in vars(Private) if "value" in k)


def augmented(n):
    data = {"a": [0], "b": 1}
    for i in range(n):
        data["a"][0] += i
        data["b"] -= 1
        if i > 1:
            data["c"] = i
    return data


def decorate(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        if args[0] > 1:
            return "many", f(*args, **kwargs)
        return f(*args, **kwargs)
    return wrapper


@decorate
@decorate
def decorated(n):
    return n if n > 1 else -n


def recursion(n):
    if n <= 1:
        return 1
    return n * recursion(n - 1)


def strings(n):
    return f"{n if n > 1 else 'few'}-{not n!r:>6}", "%s" % (n or "-")


def assertion(n):
    assert n > 1, "n is %d" % n
    return n


def deep(n):
    def a(x):
        def b(y):
            if y > x:
                return y - n
            return [k(y) for k in [lambda z: z + x if z else n]]
        return b
    return a(1)(n)


def imports(n):
    if n > 1:
        import math as m
        from os.path import join
    else:
        import math as m
        join = None
    return m.floor(n), join and join("a", "b")


def early(n):
    """A docstring."""
    if n == 0:
        return
    while True:
        n -= 1
        if n < 1:
            return "low"
        if n == 2:
            return "two"


FUNCTIONS = [
    try_finally, return_in_try, loop_else, nested_loop_else, walrus,
    global_name, global_inside, counter, deletes, unbound, private,
    class_inside, generator_inside, calls, defaults, lambdas, chains, logic,
    unpacking, comprehensions, with_items, frames, augmented, decorated,
    recursion, strings, assertion, deep, imports, early,
    named_as_what_sets_the_state]
CASES = [(f, n) for f in FUNCTIONS for n in (-1, 0, 1, 2, 3, 5)]


def outcome(function, *args):
    """What a call gives or raises."""
    try:
        return function(*args)
    except Exception as error:
        return type(error), str(error)

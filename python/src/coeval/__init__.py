# SPDX-License-Identifier: MIT
"""Coeval puts what many small machines did onto one clock, and says how sure it is.

    import coeval
    s = coeval.open("s/")
    s.edges(node="n*", from_=1.0).to_pandas()

Times are ns on the timeline (`time_ns`), with the half-width of their bound beside them (`bound_ns`), which is
missing where it is not known. What the tables hold is written in docs/tables.md.
"""
import os as _os

try:
    from . import _coeval
except ImportError as e:
    if _os.path.exists(_os.path.join(_os.path.dirname(__file__), "_coeval.abi3.so")):
        raise
    raise ImportError("coeval's module was not built; with python3-dev installed, `make demo` or `make install` builds it") from e
from ._coeval import Error

__all__ = ["Error", "Session", "Table", "Verdict", "Outcome", "open", "sync", "check", "simulate"]
__version__ = _coeval.version


def _ns(seconds):
    """Seconds as ns: exactly, of what has as many digits; an int is taken for seconds, too."""
    if seconds is None:
        return None
    from fractions import Fraction

    return round(Fraction(repr(seconds) if isinstance(seconds, float) else seconds) * 1_000_000_000)


class Column:
    """Cells of a table's column.

    `kind` is int, uint, float, bool, name, text or bytes; `nullable`: in other rows cells may be missing; `values` a buffer of them, of names their numbers in `names`, of
    text and bytes a list. `valid`, a buffer of bools, tells which cells are there; None: all are.
    """

    __slots__ = ("kind", "nullable", "values", "valid", "names")

    def __init__(self, kind, nullable, values, valid, names):
        self.kind, self.nullable, self.values, self.valid, self.names = kind, nullable, values, valid, names

    def __len__(self):
        return len(self.values)

    def to_list(self):
        """The cells as Python objects; None for those that are missing."""
        if self.kind in ("text", "bytes"):
            return list(self.values)
        cells = memoryview(self.values).tolist()
        if self.kind == "name":
            cells = [self.names[i] if self.names else None for i in cells]
        if self.valid is None:
            return cells
        return [c if v else None for c, v in zip(cells, memoryview(self.valid).tolist())]

    def to_numpy(self, missing="mask"):
        """The cells as an array, without copying them.

        Names are their numbers in `names`, -1 where there is none. `missing`: what to do where cells are missing: "mask" (a
        masked array), "nan" (floats, which hold whole numbers up to 2**53 only).
        """
        import numpy as np

        if self.kind in ("text", "bytes"):
            return np.array(self.values, dtype=object)
        cells = np.asarray(self.values)
        if self.valid is None:
            return cells
        valid = np.asarray(self.valid)
        if self.kind == "name":
            return np.where(valid, cells, np.int32(-1))
        if self.kind == "float" or missing == "nan":
            return np.where(valid, cells.astype(float), np.nan)
        if missing != "mask":
            raise ValueError(f"missing is 'mask' or 'nan', not {missing!r}")
        return np.ma.masked_array(cells, mask=~valid)

    def to_pandas(self, missing="null"):
        """The cells as pandas has them: names as a Categorical, numbers that may be missing with NA."""
        import numpy as np
        import pandas as pd

        if self.kind in ("text", "bytes"):
            return np.array(self.values, dtype=object)
        cells = np.asarray(self.values)
        if self.kind == "name":
            return pd.Categorical.from_codes(self.to_numpy(), self.names)
        if not self.nullable or self.kind == "float" or missing == "nan":
            return self.to_numpy("nan")
        mask = np.zeros(len(cells), bool) if self.valid is None else ~np.asarray(self.valid)
        if self.kind == "bool":
            return pd.arrays.BooleanArray(cells, mask)
        return pd.arrays.IntegerArray(cells, mask)


class Rows:
    """Rows of a table: a mapping from the names of its columns to Column.

    `facts` are what is said of the whole table; `gaps` counts losses among what was read, which only the table `gaps` shows;
    `late` rows that came after a later one.
    """

    def __init__(self, columns, facts=None, gaps=None, late=None):
        self._columns = {name: Column(*c) for name, c in columns.items()}
        self.facts, self.gaps, self.late = facts or {}, gaps, late

    def __len__(self):
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, name):
        return self._columns[name]

    def __iter__(self):
        return iter(self._columns)

    def keys(self):
        return self._columns.keys()

    def to_dict(self):
        """{name: list}"""
        return {name: c.to_list() for name, c in self._columns.items()}

    def to_numpy(self, missing="mask"):
        """{name: array}"""
        return {name: c.to_numpy(missing) for name, c in self._columns.items()}

    def to_pandas(self, missing="null"):
        """A DataFrame. `missing`: "null": numbers that may be missing are of pandas' types with NA; "nan": floats with NaN."""
        import pandas as pd

        frame = pd.DataFrame(
            {name: c.to_pandas(missing) for name, c in self._columns.items()}, copy=False)
        frame.attrs.update(self.facts, gaps=self.gaps)
        return frame


class Table(_coeval.Table):
    """A table of a session, which is read anew each time: by whatever knows Arrow's PyCapsule interface, such as
    polars.DataFrame(table), pyarrow.table(table) and DuckDB, or by the methods here."""

    def rows(self):
        """All rows."""
        return Rows(*self.read())

    def to_pandas(self, missing="null"):
        """All rows as a pandas DataFrame: see Rows.to_pandas()."""
        return self.rows().to_pandas(missing)

    def to_numpy(self, missing="mask"):
        """All rows as {name: array}: see Column.to_numpy()."""
        return self.rows().to_numpy(missing)

    def to_dict(self):
        """All rows as {name: list}."""
        return self.rows().to_dict()

    def columns(self):
        """{name: what it is}"""
        return {name: what for name, _, _, what in self.describe()}


class Verdict:
    """How a clock is tied: `clock`, `verdict` (good, degraded, ambiguous, unsynchronised), `reason`."""

    def __init__(self, clock, verdict, reason):
        self.clock, self.verdict, self.reason = clock, verdict, reason

    def __repr__(self):
        return f"{self.clock}: {self.verdict}" + (f" ({self.reason})" if self.reason else "")


class Outcome:
    """What became of a rule: `rule`, `verdict` (holds, violated, cannot tell, not tried), how many cases `held`, were `violated`, are `undecided`."""

    def __init__(self, rule, verdict, held, violated, undecided):
        self.rule, self.verdict = rule, verdict
        self.held, self.violated, self.undecided = held, violated, undecided

    def __repr__(self):
        return f"{self.rule}: {self.verdict} ({self.held} held, {self.violated} violated, {self.undecided} undecided)"


class Session:
    """A session: a directory that `coeval` made, or a CTF trace. See open()."""

    def __init__(self, path):
        self.path = _os.fspath(path)
        self.uuid, self.epoch_unix_ns, self._tables = _coeval.about(self.path)

    def __repr__(self):
        return f"coeval.open({self.path!r})"

    def tables(self):
        """{name: what it is} of the tables that this session has."""
        return {name: what for name, what, _ in self._tables}

    def table(self, name, *, from_=None, until=None, node=None, lines=None, nominal=False, **more):
        """Table `name`, of `from_` to `until` seconds, of clocks or nodes that the glob `node` matches, and of lines or channels
        that the globs `lines` ("a*,b") do. nominal: as if the clocks were not synchronised."""
        return Table(self.path, name, node=node, lines=lines, from_ns=_ns(from_), until_ns=_ns(until), nominal=nominal, **more)

    def edges(self, **how):
        """Changes of lines: see table() for what may be said."""
        return self.table("edges", **how)

    def samples(self, **how):
        """Analog readings."""
        return self.table("samples", **how)

    def events(self, name=None, **how):
        """Events with their fields as JSON; with a `name`, the events of that name, with a column for each field."""
        return self.table("events" if name is None else f"event_{name}", **how)

    def spans(self, **how):
        """Spans, from begin to end."""
        return self.table("spans", **how)

    def marks(self, **how):
        """Beacons, pulses and messages as they were stored."""
        return self.table("marks", **how)

    def gaps(self, **how):
        """Losses."""
        return self.table("gaps", **how)

    def clocks(self, **how):
        """The clocks, and how well each is tied."""
        return self.table("clocks", **how)

    def violations(self, rules, **how):
        """Cases of the rules in a file (docs/check.md) that were violated, or are undecided."""
        return self.table("violations", rules=_os.fspath(rules), **how)

    def calls(self, rules=(), program=None, **how):
        """Executions of functions and tasks (docs/calls.md); `rules`: files; `program`: the traced ELF file."""
        return self.table("calls", list=[_os.fspath(r) for r in rules], program=program and _os.fspath(program), **how)

    def waits(self, rules=(), **how):
        """Times that threads did not run: why, and who woke them (docs/calls.md); `rules`: files."""
        return self.table("waits", list=[_os.fspath(r) for r in rules], **how)

    def tasks(self, pins=(), power=None, unit=1.0, **how):
        """Runs of tasks (docs/task-show.md): marked by packets, spans, or `pins` that are high; `power`: a channel, `unit` watts each."""
        return self.table("tasks", list=list(pins), watts=power, unit=unit, **how)

    def power(self, watts=None, *, amperes=None, volts=None, unit=1.0, line=None, between=None, **how):
        """Energy of intervals (docs/power.md): of all readings, of the states of a `line`, or `between` "A..B". Power is the channel
        `watts`, or `amperes` times `volts`, a channel or a number; `unit`: of a reading."""
        fixed = volts if isinstance(volts, (int, float)) else 0.0
        return self.table("power", watts=watts, amperes=amperes, volts=None if fixed else volts, fixed_volts=fixed, unit=unit,
                          line=line, between=between, **how)

    def sync(self, **how):
        """See coeval.sync()."""
        return sync(self.path, **how)

    def check(self, rules):
        """See coeval.check()."""
        return check(self.path, rules)

    def follow(self, table="edges", *, lines=None, estimated=False, save=False):
        """Rows of a session that is still written, as they become final (`estimated`: as early as they can be estimated): an
        iterator over Rows, which ends when the session does."""
        for columns in _coeval.Following(self.path, table, lines=lines, estimated=estimated, save=save):
            yield Rows(columns)


def open(path):
    """The session at `path`."""
    return Session(path)


def sync(session, *, estimator=None, reference=None, pulses=(), match=(), beacon_period=0, save=True):
    """Tie the clocks of a session, as `coeval sync` does: {clock: Verdict}. Without rules (`pulses` such as "PPS:rise:1s",
    `match`: names or files of rules for messages) those of the last time are used again. save: write sync.json."""
    path = session.path if isinstance(session, Session) else _os.fspath(session)
    clocks = _coeval.synchronise(path, estimator=estimator, reference=reference, pulses=list(pulses),
                                 match=[_os.fspath(m) for m in match], beacon_period_ns=_ns(beacon_period), save=save)[2]
    return {clock: Verdict(clock, verdict, reason) for clock, verdict, reason in clocks}


def check(session, rules):
    """Check the rules of a file (docs/check.md) against a session: a list of Outcome."""
    path = session.path if isinstance(session, Session) else _os.fspath(session)
    return [Outcome(*o) for o in _coeval.check(path, _os.fspath(rules))]


def simulate(world, path, *, seed=None):
    """Make the session of a simulated world (docs/sim.md) at `path`, with the truth in it; seed: draw it anew."""
    _coeval.simulate(_os.fspath(world), _os.fspath(path), seed)
    return Session(path)

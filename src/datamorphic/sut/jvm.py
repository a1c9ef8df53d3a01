"""Java, started once a process, and a bridge to Weka in it: loops over rows that Java runs.

What crosses between Python and Java are whole tables, never single rows or values: a crossing takes longer than
Weka needs for a row.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .._checks import optional_import
from ..errors import ModelError, SystemRaised

Floats = npt.NDArray[np.float64]
#: an attribute of Weka's: its name, and its values where it is nominal
Attribute = tuple[str, tuple[str, ...] | None]

MEMORY_VARIABLE, MEMORY = "DATAMORPHIC_WEKA_MEMORY", "512m"
LEAST_MEMORY = 16 << 20  # with less, Java ends the whole process while it starts
#: jars that python-weka-wrapper3 keeps beside Weka's: linear algebra
BESIDE = ("mtj.jar", "core.jar", "arpack_combined.jar")
#: what Java may make of serialised models: Weka's objects and plain data, no programs
DATA_ONLY = "weka.**;no.uib.cipr.**;java.lang.*;java.util.*;java.util.concurrent.**;java.text.*;java.math.*;java.io.File;!*"
GET_JAVA = (
    "Install one (Debian, Ubuntu: apt install default-jre-headless), or say where it is: JAVA_HOME=/path/to/it."
)


def _jpype() -> Any:
    return optional_import("jpype", "weka", "Running Weka")


def java_path() -> str:
    """Return where Java's library is; it is not started."""
    jpype = _jpype()
    try:
        return str(jpype.getDefaultJVMPath())
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException) as error:
        raise ModelError(f"There is no Java that Weka could run in ({_line(str(error))}). {GET_JAVA}") from None


def _memory() -> str:
    given = os.environ.get(MEMORY_VARIABLE) or MEMORY
    parts = re.fullmatch(r"(\d{1,9})([kmg])", given.strip(), flags=re.IGNORECASE)
    if parts is None or int(parts[1]) << 10 * " kmg".index(parts[2].lower()) < LEAST_MEMORY:
        raise ModelError(f"${MEMORY_VARIABLE} must be at least 16m, as in 512m or 2g. Got {given!r}.")
    return parts[0]


_running: Bridge | None = None
_starting = threading.Lock()


def bridge(jar: str) -> Bridge:
    """Return the way to Weka in the Java of this process, which is started when it is needed first."""
    global _running
    if _running is None:
        with _starting:
            if _running is None:
                _running = _start(jar)
    if _running.jar != jar:
        raise ModelError(
            f"This process runs Weka from {_running.jar!r} and can run no other. "
            f"Use that one, or run {jar!r} in a process of its own."
        )
    if _running.process != os.getpid():
        raise ModelError(
            "This process was forked from one that runs Java, and Java does not work in it. "
            "Start processes with the method 'spawn', or with joblib."
        )
    return _running


def _start(jar: str) -> Bridge:
    jpype, path = _jpype(), java_path()
    beside = (os.path.join(os.path.dirname(jar), name) for name in BESIDE)
    paths, memory = [jar, *filter(os.path.isfile, beside)], f"-Xmx{_memory()}"
    ours = not jpype.isJVMStarted()
    if ours:
        try:
            jpype.startJVM(
                path,
                memory,
                "-Xrs",  # signals, Ctrl-C for one, are Python's
                "-XX:+UseSerialGC",  # no threads that work in the background: other processes want the cores
                "-XX:-UsePerfData",
                "-Xlog:disable",
                "-XX:+DisplayVMOutputToStderr",
                "-Djava.awt.headless=true",
                f"-Djdk.serialFilter={DATA_ONLY}",
                # Weka 3.9 keeps packages and settings in the user's home: no result may hang on these
                f"-DWEKA_HOME={os.devnull}",
                "-Dweka.packageManager.offline=true",
                "-Dweka.packageManager.loadPackages=false",
                classpath=paths,
                convertStrings=False,
                ignoreUnrecognized=True,
                interrupt=False,
            )
        except Exception as error:  # of several types, whatever went wrong
            raise ModelError(f"Java does not start ({_line(str(error))}). {GET_JAVA}") from None
    if jpype.getJVMVersion() < (11,):
        raise ModelError(f"Weka needs Java 11 or newer, and this is {jpype.getJVMVersion()[0]}. {GET_JAVA}")
    if ours:
        _silence(jpype)
    elif not _has_weka(jpype):  # somebody else started Java for something else
        for each in paths:
            jpype.addClassPath(each)
    return Bridge(jpype, jar)


def _silence(jpype: Any) -> None:
    """Let Java print nothing: output may be read by programs, and what matters is raised."""
    nothing = jpype.JClass("java.io.PrintStream")(jpype.JClass("java.io.OutputStream").nullOutputStream())
    system = jpype.JClass("java.lang.System")
    system.setOut(nothing)
    system.setErr(nothing)
    jpype.JClass("java.util.logging.LogManager").getLogManager().reset()


def _has_weka(jpype: Any) -> bool:
    try:
        jpype.JClass("weka.core.Version")
    except TypeError:
        return False
    return True


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


# -- the bridge ------------------------------------------------------------------------------------------------


class Bridge:
    """The way to Weka: classifiers by name, headers of tables, and functions of whole tables.

    Tables are matrices of numbers with the class last; a nominal value is its place, NaN is missing.
    """

    def __init__(self, jpype: Any, jar: str) -> None:
        self._jpype, self.process = jpype, os.getpid()
        classifier = jpype.JClass("weka.classifiers.Classifier")
        source = classifier.class_.getProtectionDomain().getCodeSource().getLocation()
        self.jar = jar  # where it was added to a Java that somebody else started, Java does not know
        if source is not None:
            self.jar = os.path.realpath(str(jpype.JClass("java.nio.file.Paths").get(source.toURI())))
        self._classifier = classifier
        self._utils = jpype.JClass("weka.core.Utils")
        self._serial = jpype.JClass("weka.core.SerializationHelper")
        self._objects = jpype.JArray(jpype.JClass("java.lang.Object"))
        self._header = lru_cache(maxsize=256)(self._new_header)
        self._class = lru_cache(maxsize=256)(self._find_class)
        self._fit, self._classify, self._distribute = _programs(jpype)

    def classifier(self, name: str, options: str) -> Any:
        """Return a new classifier of Java's from the name of its class and options as on Weka's command line."""
        kind, refused = self._class(name), f"Weka does not take the options {options!r} of {name}"
        try:
            model = kind()
            split = self._utils.splitOptions(options)
            model.setOptions(split)
            self._utils.checkForRemainingOptions(split)  # those it took are blank by now
        except self._jpype.JException as error:
            raise ModelError(f"{refused}: {self._words(error)}") from None
        except UnicodeEncodeError:
            raise ModelError(f"{refused}: they hold half a character.") from None
        return model

    def _find_class(self, name: str) -> Any:
        try:
            kind = self._jpype.JClass(name)
        except (self._jpype.JException, TypeError) as error:
            raise ModelError(
                f"{name} cannot be loaded: {_line(str(error))}. It may need a jar that is looked for beside weka.jar: "
                + ", ".join(BESIDE)
            ) from None
        abstract = self._jpype.JClass("java.lang.reflect.Modifier").isAbstract(kind.class_.getModifiers())
        if abstract or not issubclass(kind, self._classifier):
            raise ModelError(f"{name} is no classifier, but a part that Weka's classifiers are made of.")
        return kind

    def header(self, attributes: tuple[Attribute, ...]) -> Any:
        """Return an empty table of these attributes, the last of which is the class."""
        return self._header(attributes)

    def _new_header(self, attributes: tuple[Attribute, ...]) -> Any:
        attribute, text = self._jpype.JClass("weka.core.Attribute"), self._jpype.JClass("java.lang.String")
        listed = self._listed(
            attribute(text(name)) if values is None else attribute(text(name), self._listed(map(text, values)))
            for name, values in attributes
        )
        header = self._jpype.JClass("weka.core.Instances")("data", listed, 0)
        header.setClassIndex(len(attributes) - 1)
        return header

    def _listed(self, each: Iterable[Any]) -> Any:
        found = self._jpype.JClass("weka.core.FastVector")()
        for one in each:
            found.addElement(one)
        return found

    def fit(self, model: Any, header: Any, rows: Floats) -> None:
        """Build a classifier."""
        self._run(self._fit, model, header, rows)

    def classify(self, model: Any, header: Any, rows: Floats) -> Floats:
        """Return the place of the label of each row, or its number; NaN where Weka answers that it is missing."""
        return np.array(self._run(self._classify, model, header, rows), dtype=np.float64)

    def distribute(self, model: Any, header: Any, rows: Floats) -> Floats:
        """Return how likely each label of each row is."""
        found = np.array(self._run(self._distribute, model, header, rows), dtype=np.float64)
        return found.reshape(len(rows), header.numClasses())

    def _run(self, program: Any, model: Any, header: Any, rows: Floats) -> Any:
        try:
            # one flat array: JPype 1.7 crashes on matrices without columns
            numbers = self._jpype.JArray.of(rows.ravel())
            return program.apply(self._objects([model, header, numbers, self._jpype.JInt(rows.shape[1])]))
        except self._jpype.JException as error:
            raise SystemRaised(self._words(error)) from None

    def dump(self, model: Any) -> bytes:
        """Return a classifier as bytes."""
        stream = self._jpype.JClass("java.io.ByteArrayOutputStream")()
        try:
            self._serial.write(stream, model)
        except self._jpype.JException as error:
            raise ModelError(f"Weka cannot save this classifier: {self._words(error)}") from None
        return bytes(stream.toByteArray())

    def load(self, saved: bytes) -> Any:
        """Return a classifier from its bytes; whatever else they hold is refused."""
        values = self._jpype.JArray.of(np.frombuffer(saved, dtype=np.int8))
        try:
            model = self._serial.read(self._jpype.JClass("java.io.ByteArrayInputStream")(values))
        except self._jpype.JException as error:
            raise ModelError(f"Weka cannot read this saved classifier: {self._words(error)}") from None
        if not isinstance(model, self._classifier):
            raise ModelError("What was saved is no classifier of Weka.")
        return model

    def _words(self, error: Any) -> str:
        """Return what Java threw in one line."""
        # an exception that an interface does not announce comes wrapped
        while str(error.getClass().getSimpleName()) in (
            "UndeclaredThrowableException",
            "ExceptionInInitializerError",
        ):
            error = error.getCause()
        name, message = str(error.getClass().getName()), error.getMessage()
        text = name if message is None else f"{name}: {_line(str(message))}"
        return f"{text}. Give Java more: {MEMORY_VARIABLE}=2g" if name.endswith("OutOfMemoryError") else text


# -- programs in Java ------------------------------------------------------------------------------------------


def _programs(jpype: Any) -> tuple[Any, Any, Any]:
    """Return `fit`, `classify` and `distribute` as functions of Java: (model, header, numbers, width) to the result.

    They are put together from method handles, since there may be no compiler; Java compiles them as it runs them.
    """
    java = jpype.JClass
    handles, types = java("java.lang.invoke.MethodHandles"), java("java.lang.invoke.MethodType").methodType
    find, named = handles.publicLookup(), java("java.lang.Class").forName
    number, whole, nothing = (java(f"java.lang.{each}").TYPE for each in ("Double", "Integer", "Void"))
    numbers, anything = named("[D"), java("java.lang.Object").class_
    table, row, model = (
        java(each).class_ for each in ("weka.core.Instances", "weka.core.Instance", "weka.classifiers.Classifier")
    )
    old = not row.isInterface()  # until 3.6 it was the class itself
    new_row = java("weka.core.Instance" if old else "weka.core.DenseInstance").class_

    def method(owner: Any, name: str, gives: Any, *takes: Any) -> Any:
        return find.findVirtual(owner, name, types(gives, list(takes)))

    def static(owner: str, name: str, gives: Any, *takes: Any) -> Any:
        return find.findStatic(java(owner).class_, name, types(gives, list(takes)))

    def new(owner: Any, *takes: Any) -> Any:
        return find.findConstructor(owner, types(nothing, list(takes)))

    def parameters(*kinds: Any) -> list[Any]:
        """Return for each parameter the function that gives it."""
        return [
            handles.dropArguments(
                handles.dropArguments(handles.identity(kind), 1, list(kinds[i + 1 :])), 0, list(kinds[:i])
            )
            for i, kind in enumerate(kinds)
        ]

    def call(function: Any, *values: Any) -> Any:
        """Return the function that calls another with what functions of the same parameters give."""
        joined = function
        for place in reversed(range(len(values))):
            joined = handles.collectArguments(joined, place, values[place])
        own = values[0].type()
        order = list(range(own.parameterCount())) * len(values)
        return handles.permuteArguments(joined, own.changeReturnType(function.type().returnType()), order)

    def then(action: Any, value: Any) -> Any:
        gives_nothing = action.asType(action.type().changeReturnType(nothing))
        return handles.foldArguments(value, gives_nothing)

    times = static("java.lang.Math", "multiplyExact", whole, whole, whole)

    # data = new Instances(header, count); for each row: data.add(new Instance(1, row))
    header, given, width = parameters(table, numbers, whole)
    count = call(
        static("java.lang.Math", "floorDiv", whole, whole, whole), call(handles.arrayLength(numbers), given), width
    )
    empty = call(new(table, table, whole), header, count)
    data, i, _, given, width = parameters(table, whole, table, numbers, whole)
    start = call(times, i, width)
    end = call(static("java.lang.Math", "addExact", whole, whole, whole), start, width)
    values = call(static("java.util.Arrays", "copyOfRange", numbers, numbers, whole, whole), given, start, end)
    weighted = handles.insertArguments(new(new_row, number, numbers), 0, [jpype.JDouble(1.0)])
    weighted = weighted.asType(types(row, [numbers]))
    add = method(table, "add", nothing if old else java("java.lang.Boolean").TYPE, row)
    filled = handles.countedLoop(count, empty, then(call(add, data, call(weighted, values)), data))

    def with_table(program: Any) -> Any:
        """Return a program of a model and a table as a function of an array of four things."""
        learner, header, given, width = parameters(model, table, numbers, whole)
        made = call(program, learner, call(filled, header, given, width))
        spread = made.asType(types(anything, [anything] * 4)).asSpreader(named("[Ljava.lang.Object;"), 4)
        function = java("java.util.function.Function").class_
        return java("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(function, spread)

    learner, data = parameters(model, table)
    rows, labels = call(method(table, "numInstances", whole), data), call(method(table, "numClasses", whole), data)
    array = handles.arrayConstructor(numbers)
    answers, i, learner, data = parameters(numbers, whole, model, table)
    one = call(method(table, "instance", row, whole), data, i)

    # for each row: answers[i] = model.classifyInstance(row)
    answer = call(method(model, "classifyInstance", number, row), learner, one)
    put = call(handles.arrayElementSetter(numbers), answers, i, answer)
    classify = handles.countedLoop(rows, call(array, rows), then(put, answers))

    # for each row: copy model.distributionForInstance(row) to answers, at i times the number of labels
    answer = call(method(model, "distributionForInstance", numbers, row), learner, one)
    copy = static("java.lang.System", "arraycopy", nothing, anything, whole, anything, whole, whole)
    copy = handles.insertArguments(copy, 1, [jpype.JInt(0)]).asType(
        types(nothing, [numbers, numbers, whole, whole])
    )
    many = call(method(table, "numClasses", whole), data)
    put = call(copy, answer, answers, call(times, i, many), many)
    distribute = handles.countedLoop(rows, call(array, call(times, rows, labels)), then(put, answers))

    build = method(model, "buildClassifier", nothing, table)
    return with_table(build), with_table(classify), with_table(distribute)

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

from .._validation import import_optional
from ..errors import ModelError, SystemRaised

Floats = npt.NDArray[np.float64]
#: an attribute of Weka's: its name, and its values where it is nominal
Attribute = tuple[str, tuple[str, ...] | None]

MEMORY_VARIABLE, DEFAULT_MEMORY = "DATAMORPHIC_WEKA_MEMORY", "512m"
MIN_MEMORY_BYTES = 16 << 20  # with less, Java ends the whole process while it starts
#: jars that python-weka-wrapper3 keeps beside Weka's: linear algebra
COMPANION_JARS = ("mtj.jar", "core.jar", "arpack_combined.jar")
#: what Java may make of serialised models: Weka's objects and plain data, no programs
SERIAL_FILTER = "weka.**;no.uib.cipr.**;java.lang.*;java.util.*;java.util.concurrent.**;java.text.*;java.math.*;java.io.File;!*"
JAVA_HINT = (
    "Install one (Debian, Ubuntu: apt install default-jre-headless), or say where it is: JAVA_HOME=/path/to/it."
)


def _import_jpype() -> Any:
    return import_optional("jpype", "weka", "Running Weka")


def find_java() -> str:
    """Return where Java's library is; it is not started."""
    jpype = _import_jpype()
    try:
        return str(jpype.getDefaultJVMPath())
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException) as error:
        raise ModelError(
            f"There is no Java that Weka could run in ({_to_one_line(str(error))}). {JAVA_HINT}"
        ) from None


def _read_memory_limit() -> str:
    setting = os.environ.get(MEMORY_VARIABLE) or DEFAULT_MEMORY
    parts = re.fullmatch(r"(\d{1,9})([kmg])", setting.strip(), flags=re.IGNORECASE)
    if parts is None or int(parts[1]) << 10 * " kmg".index(parts[2].lower()) < MIN_MEMORY_BYTES:
        raise ModelError(f"${MEMORY_VARIABLE} must be at least 16m, as in 512m or 2g. Got {setting!r}.")
    return parts[0]


_running: WekaBridge | None = None
_start_lock = threading.Lock()


def get_bridge(jar: str) -> WekaBridge:
    """Return the way to Weka in the Java of this process, which is started when it is needed first."""
    global _running
    if _running is None:
        with _start_lock:
            if _running is None:
                _running = _start_java(jar)
    if _running.jar != jar:
        raise ModelError(
            f"This process runs Weka from {_running.jar!r} and can run no other. "
            f"Use that one, or run {jar!r} in a process of its own."
        )
    if _running.process_id != os.getpid():
        raise ModelError(
            "This process was forked from one that runs Java, and Java does not work in it. "
            "Start processes with the method 'spawn', or with joblib."
        )
    return _running


def _start_java(jar: str) -> WekaBridge:
    jpype, path = _import_jpype(), find_java()
    companions = (os.path.join(os.path.dirname(jar), name) for name in COMPANION_JARS)
    paths, memory = [jar, *filter(os.path.isfile, companions)], f"-Xmx{_read_memory_limit()}"
    started_here = not jpype.isJVMStarted()
    if started_here:
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
                f"-Djdk.serialFilter={SERIAL_FILTER}",
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
            raise ModelError(f"Java does not start ({_to_one_line(str(error))}). {JAVA_HINT}") from None
    if jpype.getJVMVersion() < (11,):
        raise ModelError(f"Weka needs Java 11 or newer, and this is {jpype.getJVMVersion()[0]}. {JAVA_HINT}")
    if started_here:
        _silence(jpype)
    elif not _has_weka(jpype):  # somebody else started Java for something else
        for jar_path in paths:
            jpype.addClassPath(jar_path)
    return WekaBridge(jpype, jar)


def _silence(jpype: Any) -> None:
    """Let Java print nothing: output may be read by programs, and what matters is raised."""
    null_stream = jpype.JClass("java.io.PrintStream")(jpype.JClass("java.io.OutputStream").nullOutputStream())
    system = jpype.JClass("java.lang.System")
    system.setOut(null_stream)
    system.setErr(null_stream)
    jpype.JClass("java.util.logging.LogManager").getLogManager().reset()


def _has_weka(jpype: Any) -> bool:
    try:
        jpype.JClass("weka.core.Version")
    except TypeError:
        return False
    return True


def _to_one_line(text: str) -> str:
    return " ".join(text.split())[:300]


# -- the bridge ------------------------------------------------------------------------------------------------


class WekaBridge:
    """The way to Weka: classifiers by name, headers of tables, and functions of whole tables.

    Tables are matrices of numbers with the class last; a nominal value is its place, NaN is missing.
    """

    def __init__(self, jpype: Any, jar: str) -> None:
        self._jpype, self.process_id = jpype, os.getpid()
        classifier = jpype.JClass("weka.classifiers.Classifier")
        source = classifier.class_.getProtectionDomain().getCodeSource().getLocation()
        self.jar = jar  # where it was added to a Java that somebody else started, Java does not know
        if source is not None:
            self.jar = os.path.realpath(str(jpype.JClass("java.nio.file.Paths").get(source.toURI())))
        self._classifier = classifier
        self._utils = jpype.JClass("weka.core.Utils")
        self._serial = jpype.JClass("weka.core.SerializationHelper")
        self._object_array = jpype.JArray(jpype.JClass("java.lang.Object"))
        self._cached_header = lru_cache(maxsize=256)(self._build_header)
        self._cached_class = lru_cache(maxsize=256)(self._find_class)
        self._fit, self._classify, self._distribute = _build_programs(jpype)

    def make_classifier(self, name: str, options: str) -> Any:
        """Return a new classifier of Java's from the name of its class and options as on Weka's command line."""
        kind, message = self._cached_class(name), f"Weka does not take the options {options!r} of {name}"
        try:
            model = kind()
            split_options = self._utils.splitOptions(options)
            model.setOptions(split_options)
            self._utils.checkForRemainingOptions(split_options)  # those it took are blank by now
        except self._jpype.JException as error:
            raise ModelError(f"{message}: {self._format_error(error)}") from None
        except UnicodeEncodeError:
            raise ModelError(f"{message}: they hold half a character.") from None
        return model

    def _find_class(self, name: str) -> Any:
        try:
            kind = self._jpype.JClass(name)
        except (self._jpype.JException, TypeError) as error:
            raise ModelError(
                f"{name} cannot be loaded: {_to_one_line(str(error))}. It may need a jar that is looked for beside weka.jar: "
                + ", ".join(COMPANION_JARS)
            ) from None
        is_abstract = self._jpype.JClass("java.lang.reflect.Modifier").isAbstract(kind.class_.getModifiers())
        if is_abstract or not issubclass(kind, self._classifier):
            raise ModelError(f"{name} is no classifier, but a part that Weka's classifiers are made of.")
        return kind

    def make_header(self, attributes: tuple[Attribute, ...]) -> Any:
        """Return an empty table of these attributes, the last of which is the class."""
        return self._cached_header(attributes)

    def _build_header(self, attributes: tuple[Attribute, ...]) -> Any:
        attribute_class, string_class = (
            self._jpype.JClass("weka.core.Attribute"),
            self._jpype.JClass("java.lang.String"),
        )
        java_attributes = self._to_java_list(
            attribute_class(string_class(name))
            if values is None
            else attribute_class(string_class(name), self._to_java_list(map(string_class, values)))
            for name, values in attributes
        )
        header = self._jpype.JClass("weka.core.Instances")("data", java_attributes, 0)
        header.setClassIndex(len(attributes) - 1)
        return header

    def _to_java_list(self, items: Iterable[Any]) -> Any:
        vector = self._jpype.JClass("weka.core.FastVector")()
        for item in items:
            vector.addElement(item)
        return vector

    def fit(self, model: Any, header: Any, rows: Floats) -> None:
        """Build a classifier."""
        self._run_program(self._fit, model, header, rows)

    def classify(self, model: Any, header: Any, rows: Floats) -> Floats:
        """Return the place of the label of each row, or its number; NaN where Weka answers that it is missing."""
        return np.array(self._run_program(self._classify, model, header, rows), dtype=np.float64)

    def distribute(self, model: Any, header: Any, rows: Floats) -> Floats:
        """Return how likely each label of each row is."""
        probabilities = np.array(self._run_program(self._distribute, model, header, rows), dtype=np.float64)
        return probabilities.reshape(len(rows), header.numClasses())

    def _run_program(self, program: Any, model: Any, header: Any, rows: Floats) -> Any:
        try:
            # one flat array: JPype 1.7 crashes on matrices without columns
            numbers = self._jpype.JArray.of(rows.ravel())
            return program.apply(self._object_array([model, header, numbers, self._jpype.JInt(rows.shape[1])]))
        except self._jpype.JException as error:
            raise SystemRaised(self._format_error(error)) from None

    def dump(self, model: Any) -> bytes:
        """Return a classifier as bytes."""
        stream = self._jpype.JClass("java.io.ByteArrayOutputStream")()
        try:
            self._serial.write(stream, model)
        except self._jpype.JException as error:
            raise ModelError(f"Weka cannot save this classifier: {self._format_error(error)}") from None
        return bytes(stream.toByteArray())

    def load(self, data: bytes) -> Any:
        """Return a classifier from its bytes; whatever else they hold is refused."""
        values = self._jpype.JArray.of(np.frombuffer(data, dtype=np.int8))
        try:
            model = self._serial.read(self._jpype.JClass("java.io.ByteArrayInputStream")(values))
        except self._jpype.JException as error:
            raise ModelError(f"Weka cannot read this saved classifier: {self._format_error(error)}") from None
        if not isinstance(model, self._classifier):
            raise ModelError("What was saved is no classifier of Weka.")
        return model

    def _format_error(self, error: Any) -> str:
        """Return what Java threw in one line."""
        # an exception that an interface does not announce comes wrapped
        while str(error.getClass().getSimpleName()) in (
            "UndeclaredThrowableException",
            "ExceptionInInitializerError",
        ):
            error = error.getCause()
        name, message = str(error.getClass().getName()), error.getMessage()
        text = name if message is None else f"{name}: {_to_one_line(str(message))}"
        return f"{text}. Give Java more: {MEMORY_VARIABLE}=2g" if name.endswith("OutOfMemoryError") else text


# -- programs in Java ------------------------------------------------------------------------------------------


def _build_programs(jpype: Any) -> tuple[Any, Any, Any]:
    """Return `fit`, `classify` and `distribute` as functions of Java: (model, header, numbers, width) to the result.

    They are put together from method handles, since there may be no compiler; Java compiles them as it runs them.
    """
    java = jpype.JClass
    handles, types = java("java.lang.invoke.MethodHandles"), java("java.lang.invoke.MethodType").methodType
    lookup, find_class = handles.publicLookup(), java("java.lang.Class").forName
    double_type, int_type, void_type = (
        java(f"java.lang.{type_name}").TYPE for type_name in ("Double", "Integer", "Void")
    )
    array_type, object_type = find_class("[D"), java("java.lang.Object").class_
    table, row, model = (
        java(class_name).class_
        for class_name in ("weka.core.Instances", "weka.core.Instance", "weka.classifiers.Classifier")
    )
    is_old_weka = not row.isInterface()  # until 3.6 it was the class itself
    new_row = java("weka.core.Instance" if is_old_weka else "weka.core.DenseInstance").class_

    def find_method(owner: Any, name: str, return_type: Any, *argument_types: Any) -> Any:
        return lookup.findVirtual(owner, name, types(return_type, list(argument_types)))

    def find_static(owner: str, name: str, return_type: Any, *argument_types: Any) -> Any:
        return lookup.findStatic(java(owner).class_, name, types(return_type, list(argument_types)))

    def find_constructor(owner: Any, *argument_types: Any) -> Any:
        return lookup.findConstructor(owner, types(void_type, list(argument_types)))

    def make_parameters(*kinds: Any) -> list[Any]:
        """Return for each parameter the function that gives it."""
        return [
            handles.dropArguments(
                handles.dropArguments(handles.identity(kind), 1, list(kinds[i + 1 :])), 0, list(kinds[:i])
            )
            for i, kind in enumerate(kinds)
        ]

    def compose(function: Any, *values: Any) -> Any:
        """Return the function that calls another with what functions of the same parameters give."""
        combined = function
        for position in reversed(range(len(values))):
            combined = handles.collectArguments(combined, position, values[position])
        own_type = values[0].type()
        order = list(range(own_type.parameterCount())) * len(values)
        return handles.permuteArguments(combined, own_type.changeReturnType(function.type().returnType()), order)

    def chain(action: Any, value: Any) -> Any:
        void_action = action.asType(action.type().changeReturnType(void_type))
        return handles.foldArguments(value, void_action)

    multiply = find_static("java.lang.Math", "multiplyExact", int_type, int_type, int_type)

    # data = new Instances(header, count); for each row: data.add(new Instance(1, row))
    header, flat_rows, width = make_parameters(table, array_type, int_type)
    count = compose(
        find_static("java.lang.Math", "floorDiv", int_type, int_type, int_type),
        compose(handles.arrayLength(array_type), flat_rows),
        width,
    )
    empty = compose(find_constructor(table, table, int_type), header, count)
    data, i, _, flat_rows, width = make_parameters(table, int_type, table, array_type, int_type)
    start = compose(multiply, i, width)
    end = compose(find_static("java.lang.Math", "addExact", int_type, int_type, int_type), start, width)
    values = compose(
        find_static("java.util.Arrays", "copyOfRange", array_type, array_type, int_type, int_type),
        flat_rows,
        start,
        end,
    )
    make_row = handles.insertArguments(find_constructor(new_row, double_type, array_type), 0, [jpype.JDouble(1.0)])
    make_row = make_row.asType(types(row, [array_type]))
    add_row = find_method(table, "add", void_type if is_old_weka else java("java.lang.Boolean").TYPE, row)
    fill_table = handles.countedLoop(count, empty, chain(compose(add_row, data, compose(make_row, values)), data))

    def wrap_program(program: Any) -> Any:
        """Return a program of a model and a table as a function of an array of four things."""
        learner, header, flat_rows, width = make_parameters(model, table, array_type, int_type)
        composed_program = compose(program, learner, compose(fill_table, header, flat_rows, width))
        spreader = composed_program.asType(types(object_type, [object_type] * 4)).asSpreader(
            find_class("[Ljava.lang.Object;"), 4
        )
        function = java("java.util.function.Function").class_
        return java("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(function, spreader)

    learner, data = make_parameters(model, table)
    rows, labels = (
        compose(find_method(table, "numInstances", int_type), data),
        compose(find_method(table, "numClasses", int_type), data),
    )
    array = handles.arrayConstructor(array_type)
    answers, i, learner, data = make_parameters(array_type, int_type, model, table)
    instance = compose(find_method(table, "instance", row, int_type), data, i)

    # for each row: answers[i] = model.classifyInstance(row)
    answer = compose(find_method(model, "classifyInstance", double_type, row), learner, instance)
    store_answer = compose(handles.arrayElementSetter(array_type), answers, i, answer)
    classify = handles.countedLoop(rows, compose(array, rows), chain(store_answer, answers))

    # for each row: copy model.distributionForInstance(row) to answers, at i times the number of labels
    answer = compose(find_method(model, "distributionForInstance", array_type, row), learner, instance)
    copy_array = find_static(
        "java.lang.System", "arraycopy", void_type, object_type, int_type, object_type, int_type, int_type
    )
    copy_array = handles.insertArguments(copy_array, 1, [jpype.JInt(0)]).asType(
        types(void_type, [array_type, array_type, int_type, int_type])
    )
    label_count = compose(find_method(table, "numClasses", int_type), data)
    store_answer = compose(copy_array, answer, answers, compose(multiply, i, label_count), label_count)
    distribute = handles.countedLoop(
        rows, compose(array, compose(multiply, rows, labels)), chain(store_answer, answers)
    )

    build = find_method(model, "buildClassifier", void_type, table)
    return wrap_program(build), wrap_program(classify), wrap_program(distribute)

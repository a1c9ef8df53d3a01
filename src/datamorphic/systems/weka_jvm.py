"""A Java virtual machine with Weka, started once per process, and a bridge to it.

Only whole tables are passed between Python and Java, never single rows or values: passing a value takes longer than Weka
needs for a row. The loops over rows run in Java.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._validation import import_optional
from ..errors import ModelError, SystemRaised

Floats = npt.NDArray[np.float64]
JavaObject: TypeAlias = Any  # JPype has no types
#: the name of an attribute, and its values if it is nominal
Attribute = tuple[str, tuple[str, ...] | None]

MEMORY_VARIABLE, DEFAULT_MEMORY = "DATAMORPHIC_WEKA_MEMORY", "512m"
MIN_MEMORY_BYTES = 16 << 20  # with less, Java ends the whole process at its start
#: jars for linear algebra, which python-weka-wrapper3 stores beside Weka's
COMPANION_JARS = ("mtj.jar", "core.jar", "arpack_combined.jar")
#: classes that Java may deserialise: Weka's objects and plain data, no code
SERIAL_FILTER = (
    "weka.**;no.uib.cipr.**;java.lang.*;java.util.*;java.util.concurrent.**;java.text.*;java.math.*;java.io.File;!*"
)
JAVA_HINT = "Install Java (Debian, Ubuntu: apt install default-jre-headless), or set its path: JAVA_HOME=/path/to/java."


def _import_jpype() -> ModuleType:
    return import_optional("jpype", "weka", "Running Weka")


def find_java() -> str:
    """Return the path of Java's library without starting it."""
    jpype = _import_jpype()
    try:
        return str(jpype.getDefaultJVMPath())
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException) as error:
        raise ModelError(f"Weka needs Java, and none was found ({_to_one_line(str(error))}). {JAVA_HINT}") from None


def _read_memory_limit() -> str:
    setting = os.environ.get(MEMORY_VARIABLE) or DEFAULT_MEMORY
    parts = re.fullmatch(r"(\d{1,9})([kmg])", setting.strip(), flags=re.IGNORECASE)
    if parts is None or int(parts[1]) << 10 * " kmg".index(parts[2].lower()) < MIN_MEMORY_BYTES:
        raise ModelError(f"${MEMORY_VARIABLE} must be at least 16m, as in 512m or 2g. Got {setting!r}.")
    return parts[0]


_running: WekaBridge | None = None
_start_lock = threading.Lock()


def get_bridge(jar: str) -> WekaBridge:
    """Return the bridge to Weka in this process; start Java if necessary."""
    global _running
    if _running is None:
        with _start_lock:
            if _running is None:
                _running = _start_java(jar)
    if _running.jar != jar:
        raise ModelError(
            f"This process runs Weka from {_running.jar!r} and cannot load another jar. "
            f"Use that one, or run {jar!r} in another process."
        )
    if _running.process_id != os.getpid():
        raise ModelError(
            "This process was forked from one that runs Java, and Java does not work in forked processes. "
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
                "-Xrs",  # Python handles signals such as Ctrl-C
                "-XX:+UseSerialGC",  # no background threads: other processes need the cores
                "-XX:-UsePerfData",
                "-Xlog:disable",
                "-XX:+DisplayVMOutputToStderr",
                "-Djava.awt.headless=true",
                f"-Djdk.serialFilter={SERIAL_FILTER}",
                # Weka 3.9 reads packages and settings from the user's home; results must not depend on them
                f"-DWEKA_HOME={os.devnull}",
                "-Dweka.packageManager.offline=true",
                "-Dweka.packageManager.loadPackages=false",
                classpath=paths,
                convertStrings=False,
                ignoreUnrecognized=True,
                interrupt=False,
            )
        except Exception as error:  # JPype raises errors of several types
            raise ModelError(f"Java does not start ({_to_one_line(str(error))}). {JAVA_HINT}") from None
    if jpype.getJVMVersion() < (11,):
        raise ModelError(f"Weka needs Java 11 or newer. Found version {jpype.getJVMVersion()[0]}. {JAVA_HINT}")
    if started_here:
        _silence(jpype)
    elif not _has_weka(jpype):  # other code started Java without Weka
        for jar_path in paths:
            jpype.addClassPath(jar_path)
    return WekaBridge(jpype, jar)


def _silence(jpype: ModuleType) -> None:
    """Discard what Java prints: stdout is for programs, and errors are raised."""
    null_stream = jpype.JClass("java.io.PrintStream")(jpype.JClass("java.io.OutputStream").nullOutputStream())
    system = jpype.JClass("java.lang.System")
    system.setOut(null_stream)
    system.setErr(null_stream)
    jpype.JClass("java.util.logging.LogManager").getLogManager().reset()


def _has_weka(jpype: ModuleType) -> bool:
    try:
        jpype.JClass("weka.core.Version")
    except TypeError:
        return False
    return True


def _to_one_line(text: str) -> str:
    return " ".join(text.split())[:300]


# -- the bridge ------------------------------------------------------------------------------------------------


class WekaBridge:
    """Creates Weka's classifiers and applies them to whole tables.

    Tables are matrices of numbers with the class in the last column. Nominal values are indices; NaN is missing.
    """

    def __init__(self, jpype: ModuleType, jar: str) -> None:
        self._jpype, self.process_id = jpype, os.getpid()
        classifier = jpype.JClass("weka.classifiers.Classifier")
        source = classifier.class_.getProtectionDomain().getCodeSource().getLocation()
        self.jar = jar  # unknown to Java if other code started it
        if source is not None:
            self.jar = os.path.realpath(str(jpype.JClass("java.nio.file.Paths").get(source.toURI())))
        self._classifier = classifier
        self._utils = jpype.JClass("weka.core.Utils")
        self._serial = jpype.JClass("weka.core.SerializationHelper")
        self._object_array = jpype.JArray(jpype.JClass("java.lang.Object"))
        self._cached_header = lru_cache(maxsize=256)(self._build_header)
        self._cached_class = lru_cache(maxsize=256)(self._find_class)
        self._fit, self._classify, self._distribute = _build_programs(jpype)

    def make_classifier(self, name: str, options: str) -> JavaObject:
        """Return a new Java classifier from the name of its class and its options."""
        kind, message = self._cached_class(name), f"Weka rejects the options {options!r} of {name}"
        try:
            model = kind()
            split_options = self._utils.splitOptions(options)
            model.setOptions(split_options)
            self._utils.checkForRemainingOptions(split_options)  # accepted options are blank by now
        except self._jpype.JException as error:
            raise ModelError(f"{message}: {self._format_error(error)}") from None
        except UnicodeEncodeError:
            raise ModelError(f"{message}: they contain half a surrogate pair.") from None
        return model

    def _find_class(self, name: str) -> JavaObject:
        try:
            kind = self._jpype.JClass(name)
        except (self._jpype.JException, TypeError) as error:
            raise ModelError(
                f"{name} cannot be loaded: {_to_one_line(str(error))}. It may need one of these jars, which "
                "are searched beside weka.jar: " + ", ".join(COMPANION_JARS)
            ) from None
        is_abstract = self._jpype.JClass("java.lang.reflect.Modifier").isAbstract(kind.class_.getModifiers())
        if is_abstract or not issubclass(kind, self._classifier):
            raise ModelError(f"{name} is not a classifier, but a component of Weka's classifiers.")
        return kind

    def make_header(self, attributes: tuple[Attribute, ...]) -> JavaObject:
        """Return an empty table with these attributes, the last of which is the class."""
        return self._cached_header(attributes)

    def _build_header(self, attributes: tuple[Attribute, ...]) -> JavaObject:
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

    def _to_java_list(self, items: Iterable[Any]) -> JavaObject:
        vector = self._jpype.JClass("weka.core.FastVector")()
        for item in items:
            vector.addElement(item)
        return vector

    def fit(self, model: JavaObject, header: JavaObject, rows: Floats) -> None:
        """Build a classifier."""
        self._run_program(self._fit, model, header, rows)

    def classify(self, model: JavaObject, header: JavaObject, rows: Floats) -> Floats:
        """Return the label code or number of each row; NaN if Weka gives none."""
        return np.array(self._run_program(self._classify, model, header, rows), dtype=np.float64)

    def distribute(self, model: JavaObject, header: JavaObject, rows: Floats) -> Floats:
        """Return the probability of each label for each row."""
        probabilities = np.array(self._run_program(self._distribute, model, header, rows), dtype=np.float64)
        return probabilities.reshape(len(rows), header.numClasses())

    def _run_program(self, program: JavaObject, model: JavaObject, header: JavaObject, rows: Floats) -> JavaObject:
        try:
            # a flat array, because JPype 1.7 crashes on matrices without columns
            numbers = self._jpype.JArray.of(rows.ravel())
            return program.apply(self._object_array([model, header, numbers, self._jpype.JInt(rows.shape[1])]))
        except self._jpype.JException as error:
            raise SystemRaised(self._format_error(error)) from None

    def dump(self, model: JavaObject) -> bytes:
        """Return a classifier as bytes."""
        stream = self._jpype.JClass("java.io.ByteArrayOutputStream")()
        try:
            self._serial.write(stream, model)
        except self._jpype.JException as error:
            raise ModelError(f"Weka cannot save this classifier: {self._format_error(error)}") from None
        return bytes(stream.toByteArray())

    def load(self, data: bytes) -> JavaObject:
        """Return a classifier from bytes; reject anything else they hold."""
        values = self._jpype.JArray.of(np.frombuffer(data, dtype=np.int8))
        try:
            model = self._serial.read(self._jpype.JClass("java.io.ByteArrayInputStream")(values))
        except self._jpype.JException as error:
            raise ModelError(f"Weka cannot read this saved classifier: {self._format_error(error)}") from None
        if not isinstance(model, self._classifier):
            raise ModelError("The saved object is not a classifier of Weka.")
        return model

    def _format_error(self, error: JavaObject) -> str:
        """Return a Java exception as one line."""
        # exceptions that an interface does not declare are wrapped
        while str(error.getClass().getSimpleName()) in ("UndeclaredThrowableException", "ExceptionInInitializerError"):
            error = error.getCause()
        name, message = str(error.getClass().getName()), error.getMessage()
        text = name if message is None else f"{name}: {_to_one_line(str(message))}"
        return f"{text}. Give Java more memory: {MEMORY_VARIABLE}=2g" if name.endswith("OutOfMemoryError") else text


# -- programs in Java ------------------------------------------------------------------------------------------


def _build_programs(jpype: ModuleType) -> tuple[JavaObject, JavaObject, JavaObject]:
    """Return `fit`, `classify` and `distribute` as Java functions.

    Each takes (model, header, numbers, width). They are composed of method handles, because there may be no Java compiler.
    The JVM compiles them when they run.
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
    is_old_weka = not row.isInterface()  # until Weka 3.6 Instance was a class
    new_row = java("weka.core.Instance" if is_old_weka else "weka.core.DenseInstance").class_

    def find_method(owner: JavaObject, name: str, return_type: JavaObject, *argument_types: JavaObject) -> JavaObject:
        return lookup.findVirtual(owner, name, types(return_type, list(argument_types)))

    def find_static(owner: str, name: str, return_type: JavaObject, *argument_types: JavaObject) -> JavaObject:
        return lookup.findStatic(java(owner).class_, name, types(return_type, list(argument_types)))

    def find_constructor(owner: JavaObject, *argument_types: JavaObject) -> JavaObject:
        return lookup.findConstructor(owner, types(void_type, list(argument_types)))

    def make_parameters(*kinds: JavaObject) -> list[JavaObject]:
        """Return one function per parameter, which returns that parameter."""
        return [
            handles.dropArguments(
                handles.dropArguments(handles.identity(kind), 1, list(kinds[i + 1 :])), 0, list(kinds[:i])
            )
            for i, kind in enumerate(kinds)
        ]

    def compose(function: JavaObject, *values: JavaObject) -> JavaObject:
        """Return a function that calls `function` with the results of others."""
        combined = function
        for position in reversed(range(len(values))):
            combined = handles.collectArguments(combined, position, values[position])
        own_type = values[0].type()
        order = list(range(own_type.parameterCount())) * len(values)
        return handles.permuteArguments(combined, own_type.changeReturnType(function.type().returnType()), order)

    def chain(action: JavaObject, value: JavaObject) -> JavaObject:
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

    def wrap_program(program: JavaObject) -> JavaObject:
        """Return a program of a model and a table as a function of an array of four."""
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

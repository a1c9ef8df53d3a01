"""A Java virtual machine with Weka, started once per process by JPype, and a bridge to it.

Only whole tables are passed between Python and Java: passing a value takes longer than Weka needs for a row. The loops over
rows are in ``java/datamorphic/WekaLoops.java``.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
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
LOOPS_FOLDER = str(Path(__file__).parent / "java")
#: jars for linear algebra, which python-weka-wrapper3 stores beside Weka's
COMPANION_JARS = ("mtj.jar", "core.jar", "arpack_combined.jar")
#: classes that Java may deserialise: Weka's objects and plain data, no code
SERIAL_FILTER = (
    "weka.**;no.uib.cipr.**;java.lang.*;java.util.*;java.util.concurrent.**;java.text.*;java.math.*;java.io.File;!*"
)
JAVA_HINT = "Install Java (Debian, Ubuntu: apt install default-jre-headless), or set its path: JAVA_HOME=/path/to/java."


def find_java() -> str:
    """Return the path of Java's library without starting it."""
    jpype = import_optional("jpype", "weka", "Running Weka")
    try:
        return str(jpype.getDefaultJVMPath())
    except (jpype.JVMNotFoundException, jpype.JVMNotSupportedException) as error:
        raise ModelError(f"Weka needs Java, and none was found ({_to_one_line(error)}). {JAVA_HINT}") from None


def _read_memory_limit() -> str:
    setting = os.environ.get(MEMORY_VARIABLE) or DEFAULT_MEMORY
    parts = re.fullmatch(r"(\d{1,9})([kmg])", setting.strip(), flags=re.IGNORECASE)
    if parts is None or int(parts[1]) << 10 * " kmg".index(parts[2].lower()) < MIN_MEMORY_BYTES:
        raise ModelError(f"${MEMORY_VARIABLE} must be at least 16m, as in 512m or 2g. Got {setting!r}.")
    return parts[0]


def _to_one_line(message: object) -> str:
    return " ".join(str(message).split())[:300]


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
        remedy = f"Use that one, or run {jar!r} in another process"
        raise ModelError(f"This process runs Weka from {_running.jar!r} and cannot load another jar. {remedy}.")
    if _running.process_id != os.getpid():
        raise ModelError(
            "This process was forked from one that runs Java, and Java does not work in forked processes. "
            "Start processes with the method 'spawn', or with joblib."
        )
    return _running


def _start_java(jar: str) -> WekaBridge:
    path = find_java()
    import jpype

    companions = (os.path.join(os.path.dirname(jar), name) for name in COMPANION_JARS)
    jars = [jar, *filter(os.path.isfile, companions)]
    started_here = not jpype.isJVMStarted()
    if started_here:
        options = [
            f"-Xmx{_read_memory_limit()}",
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
        ]
        try:
            jpype.startJVM(
                path,
                *options,
                classpath=[*jars, LOOPS_FOLDER],
                convertStrings=False,  # strings of Java stay objects of Java until str() converts them
                ignoreUnrecognized=True,  # not every Java knows all -XX options
                interrupt=False,  # Python handles Ctrl-C
            )
        except Exception as error:  # JPype raises errors of several types
            raise ModelError(f"Java does not start ({_to_one_line(error)}). {JAVA_HINT}") from None
    if jpype.getJVMVersion() < (11,):
        raise ModelError(f"Weka needs Java 11 or newer. Found version {jpype.getJVMVersion()[0]}. {JAVA_HINT}")
    if started_here:  # discard what Java prints: stdout is for programs, and errors are raised
        null_stream = jpype.JClass("java.io.PrintStream")(jpype.JClass("java.io.OutputStream").nullOutputStream())
        jpype.JClass("java.lang.System").setOut(null_stream)
        jpype.JClass("java.lang.System").setErr(null_stream)
        jpype.JClass("java.util.logging.LogManager").getLogManager().reset()
    else:  # by other code, perhaps without Weka
        jpype.addClassPath(LOOPS_FOLDER)
        try:
            jpype.JClass("weka.core.Version")
        except TypeError:
            for jar_path in jars:
                jpype.addClassPath(jar_path)
    return WekaBridge(jpype, jar)


class WekaBridge:
    """Creates Weka's classifiers and applies them to whole tables.

    Tables are matrices of numbers with the class in the last column. Nominal values are indices; NaN is missing.
    """

    def __init__(self, jpype: ModuleType, jar: str) -> None:
        self._jpype, self.process_id = jpype, os.getpid()
        self._classifier = jpype.JClass("weka.classifiers.Classifier")
        self._utils = jpype.JClass("weka.core.Utils")
        self._serial = jpype.JClass("weka.core.SerializationHelper")
        self._loops = jpype.JClass("datamorphic.WekaLoops")
        source = self._classifier.class_.getProtectionDomain().getCodeSource().getLocation()
        self.jar = jar  # unknown to Java if other code started it
        if source is not None:
            self.jar = os.path.realpath(str(jpype.JClass("java.nio.file.Paths").get(source.toURI())))
        #: return an empty table with some attributes, the last of which is the class
        self.make_header = lru_cache(maxsize=256)(self._make_header)
        self._find_class = lru_cache(maxsize=256)(self._load_class)

    def make_classifier(self, name: str, options: str) -> JavaObject:
        """Return a new Java classifier from the name of its class and its options."""
        kind, message = self._find_class(name), f"Weka rejects the options {options!r} of {name}"
        try:
            model = kind()
            split_options = self._utils.splitOptions(options)
            model.setOptions(split_options)
            self._utils.checkForRemainingOptions(split_options)  # accepted options are blank by now
        except self._jpype.JException as error:
            raise ModelError(f"{message}: {_format_exception(error)}") from None
        except UnicodeEncodeError:
            raise ModelError(f"{message}: they contain half a surrogate pair.") from None
        return model

    def _load_class(self, name: str) -> JavaObject:
        try:
            kind = self._jpype.JClass(name)
        except (self._jpype.JException, TypeError) as error:
            hint = f"It may need one of these jars, which are searched beside weka.jar: {', '.join(COMPANION_JARS)}"
            raise ModelError(f"{name} cannot be loaded: {_to_one_line(error)}. {hint}") from None
        is_abstract = self._jpype.JClass("java.lang.reflect.Modifier").isAbstract(kind.class_.getModifiers())
        if is_abstract or not issubclass(kind, self._classifier):
            raise ModelError(f"{name} is not a classifier, but a component of Weka's classifiers.")
        return kind

    def _make_header(self, attributes: tuple[Attribute, ...]) -> JavaObject:
        attribute_class, string_class = map(self._jpype.JClass, ("weka.core.Attribute", "java.lang.String"))
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
        vector = self._jpype.JClass("weka.core.FastVector")()  # a list of Java in Weka 3.9, but not in Weka 3.6
        for item in items:
            vector.addElement(item)
        return vector

    def fit(self, model: JavaObject, header: JavaObject, rows: Floats) -> None:
        """Build a classifier."""
        self._run_loop(self._loops.fit, model, header, rows)

    def classify(self, model: JavaObject, header: JavaObject, rows: Floats) -> Floats:
        """Return the label code or number of each row; NaN if Weka gives none."""
        return np.array(self._run_loop(self._loops.classify, model, header, rows), dtype=np.float64)

    def distribute(self, model: JavaObject, header: JavaObject, rows: Floats) -> Floats:
        """Return the probability of each label for each row."""
        probabilities = np.array(self._run_loop(self._loops.distribute, model, header, rows), dtype=np.float64)
        return probabilities.reshape(len(rows), header.numClasses())

    def _run_loop(self, loop: JavaObject, model: JavaObject, header: JavaObject, rows: Floats) -> JavaObject:
        try:
            return loop(model, header, self._jpype.JArray.of(rows.ravel()), rows.shape[1])
        except self._jpype.JException as error:
            raise SystemRaised(_format_exception(error)) from None

    def dump(self, model: JavaObject) -> bytes:
        """Return a classifier as bytes."""
        stream = self._jpype.JClass("java.io.ByteArrayOutputStream")()
        try:
            self._serial.write(stream, model)
        except self._jpype.JException as error:
            raise ModelError(f"Weka cannot save this classifier: {_format_exception(error)}") from None
        return bytes(stream.toByteArray())

    def load(self, data: bytes) -> JavaObject:
        """Return a classifier from bytes; reject anything else they hold."""
        values = self._jpype.JArray.of(np.frombuffer(data, dtype=np.int8))
        try:
            model = self._serial.read(self._jpype.JClass("java.io.ByteArrayInputStream")(values))
        except self._jpype.JException as error:
            raise ModelError(f"Weka cannot read this saved classifier: {_format_exception(error)}") from None
        if not isinstance(model, self._classifier):
            raise ModelError("The saved object is not a classifier of Weka.")
        return model


def _format_exception(error: JavaObject) -> str:
    """Return a Java exception as one line."""
    while str(error.getClass().getSimpleName()) == "ExceptionInInitializerError":
        error = error.getCause()
    name, message = str(error.getClass().getName()), error.getMessage()
    text = name if message is None else f"{name}: {_to_one_line(message)}"
    return f"{text}. Give Java more memory: {MEMORY_VARIABLE}=2g" if name.endswith("OutOfMemoryError") else text

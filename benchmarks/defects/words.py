"""Words of findings that name a cause: each is the beginning of a word, as a regular expression."""

# the labels go one way along a column, and the answers another: the cause without its kind
MISREAD = (
    "serving",
    "misread",
    "read wrong",
    r"(go|goes) with the label",
    r"(follow|match|fit)(s|ed)? the label",
    r"labels (do|go|follow|differ|rise|fall)",
    r"than the labels",
    r"from the labels",
)
SCALE = ("multipl", "factor", "unit", "divid", "scale", "rescal", "stretch", "×", r"times \d", *MISREAD)
SHIFT = ("shift", "offset", "add", "subtract", "plus", "minus", "moved", r"\w+ (hours|days) (later|earlier)", *MISREAD)
SWAP = ("swap", "exchang", "interchang", "permut", "mixed up", *MISREAD)
CODES = ("swap", "exchang", "interchang", "permut", "coding", "recod", "codes", "labelled differently", *MISREAD)
SIGN = ("sign", "negat", "invert", "revers", "opposite", r"multiplied by [-−]1", *MISREAD)
FILL = ("missing", "fill", "imput", "gap", "absent")
CLIP = ("clip", "cap", "cut off", "limit", "flat", "bound", "saturat", "stops", *MISREAD)
ROUND = ("round", "step", "coarse", "integer", "whole number", "no effect", "constant", *MISREAD)
SPELLING = ("spell", "letter case", "upper", "lower", "capital", "spaces", "unknown", "unseen", "new categor", *MISREAD)
LOST = ("no effect", "ignore", "constant", "lost", "not used", "does not depend", "unused", *MISREAD)
DATES = ("day and month", "month and day", "swap", *MISREAD)
CLASSES = (
    "swap",
    "renam",
    "permut",
    "exchang",
    "mixed up",
    "mapped",
    "class names",
    "names of classes",
    "inverted",
    "way out",
)
THRESHOLD = ("threshold", "cut-off", "cutoff", "recall", "misses", "way out")
NUMBERS = (
    "factor",
    "multipl",
    "scale",
    "unit",
    "offset",
    "too (low|high|large|small)",
    "divid",
    "bias",
    r"log",
    "way out",
)
STALE = (
    "stale",
    "cach",
    "same answer",
    "identical answer",
    "constant",
    "default",
    "previous row",
    "another row",
    "answers exactly",
)
LEAK = (
    "leak",
    "disguise",
    "afterwards",
    "after the",
    "only with",
    "only for",
    "gives away",
    "reveals",
    "alone",
    r"labels? \S+ only",
)
DUPLICATES = ("duplicat", "same rows", "repeat", "copies", "identical rows", "training data")
SENTINELS = ("sentinel", "placeholder", "stand for missing", "stands for missing", "code for missing", "missing value")
DRIFT = ("drift", "chang", "differ", "new data", "training data", "reference")
RANGE = ("range", "outside", "beyond", "extrapol", "above", "below", "largest", "smallest")
ENCODED = (
    *("encod", "leak", "memor", "by heart", "overfit", "many values", "cardinality", "no relation", "noise", "harm"),
    *("computed from the labels", "hardly any rows per"),
)

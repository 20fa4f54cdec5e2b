"""removed: names that much code still uses and these versions do not have.

Python 3.15, numpy 2, pandas 3, scipy 1.18, scikit-learn 1.9.  Where the
library's own message names the replacement there is no row.
"""

# SPDX-License-Identifier: Apache-2.0

BUILTINS = {
    "basestring": "str", "buffer": "memoryview", "cmp": "(a > b) - (a < b)",
    "execfile": "exec(open(name).read())", "file": "open()", "long": "int",
    "raw_input": "input()", "reduce": "from functools import reduce",
    "reload": "from importlib import reload", "unichr": "chr()",
    "unicode": "str", "xrange": "range()",
}
MODULES = {
    "ConfigParser": "configparser", "HTMLParser": "html.parser", "Queue": "queue",
    "StringIO": "io.StringIO", "Tkinter": "matplotlib, for there is no screen",
    "asynchat": "asyncio", "asyncore": "asyncio", "cPickle": "pickle",
    "cStringIO": "io.StringIO", "cgi": "urllib.parse and html",
    "cookielib": "http.cookiejar",
    "distutils": "shutil, sysconfig or packaging.version", "imp": "importlib",
    "imghdr": "PIL.Image.open(name).format", "parser": "ast", "pipes": "shlex",
    "pkg_resources": "importlib.metadata", "smtpd": "nothing: the network is off",
    "sndhdr": "wave", "telnetlib": "nothing: the network is off",
    "urllib2": "urllib.request", "urlparse": "urllib.parse",
    "sklearn.cross_validation": "sklearn.model_selection",
    "sklearn.grid_search": "sklearn.model_selection",
    "sklearn.learning_curve": "sklearn.model_selection",
    "sklearn.datasets.samples_generator": "sklearn.datasets",
    "sklearn.neural_network.multilayer_perceptron": "sklearn.neural_network",
    "sklearn.externals.six": "plain Python 3", "pandas.util.testing": "pandas.testing",
    "matplotlib.finance": "plotting the prices with matplotlib itself",
    "mpl_toolkits.basemap": "matplotlib with coordinates of your own",
}
# By the module or class: its attribute, and what does it now.
ATTRIBUTES = {
    "numpy": {
        "trapz": "np.trapezoid", "product": "np.prod", "cumproduct": "np.cumprod",
        "bool8": "np.bool", "in1d": "np.isin", "row_stack": "np.vstack",
        "asscalar": "a.item()", "msort": "np.sort(a, axis=0)", "math": "import math",
        "rank": "a.ndim", "int0": "np.intp", "loads": "pickle.loads", "tostring": "a.tobytes()",
    },
    "ndarray": {
        "ptp": "np.ptp(a)", "itemset": "a[i] = value", "tostring": "a.tobytes()",
        "newbyteorder": "a.view(a.dtype.newbyteorder())",
        "append": "np.append(a, x), or build a list first",
    },
    "pandas": {
        "np": "import numpy as np", "Int64Index": "pd.Index(x, dtype='int64')",
        "Float64Index": "pd.Index(x, dtype='float64')",
        "UInt64Index": "pd.Index(x, dtype='uint64')", "Panel": "a dict of DataFrames",
        "datetime": "import datetime", "rolling_mean": "s.rolling(n).mean()",
        "rolling_std": "s.rolling(n).std()", "ewma": "s.ewm(span=n).mean()",
        "TimeGrouper": "pd.Grouper(freq=...)",
        "scatter_matrix": "pd.plotting.scatter_matrix",
    },
    "DataFrame": {
        "append": "pd.concat([df, other])", "iteritems": "df.items()",
        "applymap": "df.map()", "ix": "df.loc or df.iloc",
        "as_matrix": "df.to_numpy()", "get_value": "df.at[row, column]",
        "set_value": "df.at[row, column] = value", "sort": "df.sort_values()",
        "lookup": "df.to_numpy()[rows, columns]", "pad": "df.ffill()",
        "backfill": "df.bfill()", "mad": "(df - df.mean()).abs().mean()",
        "swapaxes": "df.transpose()", "tshift": "df.shift(freq=...)",
        "slice_shift": "df.shift()", "to_panel": "a dict of DataFrames",
        "first": "df.loc[:end]", "last": "df.loc[start:]",
    },
    "Series": {
        "append": "pd.concat([s, other])", "iteritems": "s.items()",
        "ix": "s.loc or s.iloc", "as_matrix": "s.to_numpy()",
        "mad": "(s - s.mean()).abs().mean()", "order": "s.sort_values()",
        "sort": "s.sort_values()", "get_value": "s.at[key]", "view": "s.astype()",
        "is_monotonic": "s.is_monotonic_increasing", "pad": "s.ffill()",
        "ravel": "s.to_numpy().ravel()", "nonzero": "s.to_numpy().nonzero()",
    },
    "Index": {"is_monotonic": "is_monotonic_increasing", "format": "astype(str)"},
    "DatetimeIndex": {
        "week": "isocalendar().week", "weekofyear": "isocalendar().week",
    },
    "DatetimeProperties": {
        "week": "s.dt.isocalendar().week", "weekofyear": "s.dt.isocalendar().week",
    },
    "Styler": {"applymap": "style.map()", "render": "style.to_html()"},
    "scipy": {
        "interp": "np.interp", "pi": "np.pi", "array": "np.array", "mean": "np.mean",
        "sqrt": "np.sqrt", "exp": "np.exp", "linspace": "np.linspace",
        "factorial": "scipy.special.factorial", "rand": "np.random.rand",
    },
    "scipy.integrate": {
        "simps": "simpson", "trapz": "trapezoid", "cumtrapz": "cumulative_trapezoid",
    },
    "scipy.misc": {
        "factorial": "scipy.special.factorial", "comb": "scipy.special.comb",
        "derivative": "a difference quotient, or sympy.diff",
        "imread": "PIL.Image.open", "imresize": "PIL.Image.Image.resize",
        "logsumexp": "scipy.special.logsumexp",
    },
    "scipy.stats": {
        "binom_test": "binomtest", "itemfreq": "np.unique(x, return_counts=True)",
        "median_absolute_deviation": "median_abs_deviation",
    },
    "scipy.signal": {
        "hann": "scipy.signal.windows.hann", "hamming": "scipy.signal.windows.hamming",
        "gaussian": "scipy.signal.windows.gaussian", "ricker": "your own function",
        "blackman": "scipy.signal.windows.blackman", "cwt": "your own convolution",
    },
    "sklearn.datasets": {
        "load_boston": "load_diabetes, or data given in `files`",
        "fetch_mldata": "load_digits, or data given in `files`",
    },
    "sklearn.metrics": {
        "plot_confusion_matrix": "ConfusionMatrixDisplay.from_estimator",
        "plot_roc_curve": "RocCurveDisplay.from_estimator",
        "plot_precision_recall_curve": "PrecisionRecallDisplay.from_estimator",
        "jaccard_similarity_score": "jaccard_score",
    },
    "sklearn.externals": {"joblib": "import joblib"},
    "sklearn.preprocessing": {"Imputer": "sklearn.impute.SimpleImputer"},
    "matplotlib.cm": {
        "get_cmap": "plt.get_cmap()", "register_cmap": "matplotlib.colormaps.register()",
    },
    "matplotlib.pyplot": {"register_cmap": "matplotlib.colormaps.register()"},
    "seaborn": {
        "factorplot": "sns.catplot", "tsplot": "sns.lineplot",
    },
    "networkx": {
        "info": "print(G)", "from_pandas_dataframe": "nx.from_pandas_edgelist",
        "from_numpy_matrix": "nx.from_numpy_array",
        "to_numpy_matrix": "nx.to_numpy_array", "write_gpickle": "pickle.dump",
        "read_gpickle": "pickle.load",
        "connected_component_subgraphs": "G.subgraph(c) for each of "
        "nx.connected_components(G)",
    },
    "Graph": {"node": "G.nodes", "edge": "G.edges", "nodes_iter": "G.nodes"},
    "PIL.Image": {
        "ANTIALIAS": "Image.Resampling.LANCZOS", "LINEAR": "Image.Resampling.BILINEAR",
        "CUBIC": "Image.Resampling.BICUBIC",
    },
    "ImageDraw": {"textsize": "draw.textbbox()", "multiline_textsize": "draw.textbbox()"},
    "FreeTypeFont": {"getsize": "font.getbbox()", "getoffset": "font.getbbox()"},
    "time": {"clock": "time.perf_counter()"},
    "inspect": {
        "getargspec": "inspect.getfullargspec()", "formatargspec": "inspect.signature()",
    },
    "string": {
        "letters": "string.ascii_letters", "lowercase": "string.ascii_lowercase",
        "uppercase": "string.ascii_uppercase", "maketrans": "str.maketrans()",
        "join": "separator.join()", "replace": "text.replace()",
    },
    "dict": {
        "has_key": "key in d", "iteritems": "d.items()", "itervalues": "d.values()",
        "iterkeys": "d.keys()",
    },
    "str": {"decode": "text is decoded already"},
    "itertools": {
        "izip": "zip()", "imap": "map()", "ifilter": "filter()",
        "izip_longest": "itertools.zip_longest()",
    },
    "collections": dict.fromkeys(
        ("Mapping", "MutableMapping", "Sequence", "Iterable", "Iterator", "Callable",
         "Hashable", "Set", "MutableSet", "MutableSequence", "Container", "Sized"),
        "collections.abc",
    ),
    "fractions": {"gcd": "math.gcd()"},
    "sys": {"maxint": "sys.maxsize", "setdefaultencoding": "text is Unicode already"},
    "os": {"getcwdu": "os.getcwd()", "errno": "import errno"},
    "urllib": {
        "urlopen": "urllib.request.urlopen()", "urlencode": "urllib.parse.urlencode()",
        "quote": "urllib.parse.quote()", "unquote": "urllib.parse.unquote()",
    },
    "ast": dict.fromkeys(("Str", "Num", "Bytes", "NameConstant", "Ellipsis"),
                         "ast.Constant"),
    "asyncio": {
        "coroutine": "async def", "async": "asyncio.create_task()",
    },
    "array": {"tostring": "tobytes()", "fromstring": "frombytes()"},
    "base64": {
        "encodestring": "base64.encodebytes()", "decodestring": "base64.decodebytes()",
    },
    "platform": {"linux_distribution": "platform.platform()", "dist": "platform.platform()"},
    "Thread": {"isAlive": "is_alive()"},
    "locale": {"format": "locale.format_string()"},
    "jinja2": {"Markup": "markupsafe.Markup", "escape": "markupsafe.escape"},
    "ssl": {"wrap_socket": "an SSLContext, though the network is off"},
}
# By the function: an argument that it does not take any more.
ARGUMENTS = {
    "fillna": {"method": "ffill() or bfill()"},
    "read_csv": {
        "error_bad_lines": "on_bad_lines='skip'", "warn_bad_lines": "on_bad_lines='warn'",
        "squeeze": ".squeeze('columns') on the result", "prefix": "rename the columns",
        "mangle_dupe_cols": "leave it out",
        "infer_datetime_format": "leave it out",
        "date_parser": "date_format, or pd.to_datetime afterwards",
    },
    "read_excel": {"sheetname": "sheet_name"},
    "to_csv": {"line_terminator": "lineterminator"},
    "to_excel": {"encoding": "leave it out"},
    "resample": {"how": ".resample(...).mean() or the like"},
    "describe": {"datetime_is_numeric": "leave it out"},
    "replace": {"method": "ffill() or bfill()"},
    "groupby": {"axis": "df.T.groupby()"},
    "OneHotEncoder.__init__": {"sparse": "sparse_output"},
    # scikit-learn checks these arguments before the function has a name.
    "": {"squared": "root_mean_squared_error()"},
    # Of any class of scikit-learn.
    "__init__": {
        "base_estimator": "estimator", "affinity": "metric", "n_iter": "max_iter",
        "multi_class": "leave it out, or a OneVsRestClassifier around it",
        "presort": "leave it out", "min_impurity_split":
        "min_impurity_decrease", "normalize": "a StandardScaler in a pipeline",
    },
    "gca": {"projection": "fig.add_subplot(projection='3d')"},
}
# What a message says, and what to do. The message is matched from its start.
MESSAGES = (
    ("There is no current event loop", "asyncio.run(main()), or await at the top level"),
    (r"load\(\) missing 1 required positional argument: 'Loader'", "yaml.safe_load(text)"),
    (r"Cannot perform reduction '\w+' with string dtype", "numeric_only=True"),
    (r"dtype 'str' does not support operation", "numeric_only=True"),
    (r"agg function failed \[how->(mean|std|median)", "numeric_only=True"),
    (r"Could not convert .* to numeric", "numeric_only=True, or pd.to_numeric() before"),
    (r"(DataFrame|Series)\.drop\(\) takes from 1 to 2", "columns=[...] or axis=1 by name"),
    (r"\w+(plot|map)\(\) takes from 0 to 1 positional", "data=df, x=..., y=... by name"),
    (r"No engine for filetype: 'xls'", "a name that ends in .xlsx"),
    (r"setting an array element with a sequence.*inhomogeneous",
     "rows of one length, or dtype=object"),
    (r"Object of type (u?int|float|bool|ndarray|Timestamp|Series|DataFrame)\w* is not JSON",
     ".item(), .tolist() or .to_dict() on what numpy and pandas made"),
    (r"'utf-8' codec can't decode byte", "encoding='latin-1' or 'cp1252', or mode 'rb'"),
    (r".* is not a valid package style", "a name of plt.style.available"),
    (r"keyword grid_b is not recognized", "visible=... instead of b=..."),
    (r"Rectangle\.set\(\) got an unexpected keyword argument 'normed'", "density=True"),
    (r"type object 'datetime\.datetime' has no attribute 'datetime'",
     "the class itself, as in datetime.now(): it was imported without its module"),
)

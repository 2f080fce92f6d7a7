"""Stands for plugins of pytest that are not there: options that only say how tests are
run or reported are taken, and do nothing. pytest would end without a test otherwise.
"""

from importlib.util import find_spec

FLAG, VALUE, MAYBE = {"action": "store_true"}, {"action": "append"}, {"nargs": "?", "const": "", "action": "append"}

OPTIONS = {
    "pytest_cov": {
        "--cov": MAYBE, "--cov-report": VALUE, "--cov-config": VALUE, "--cov-fail-under": VALUE, "--cov-context": VALUE, "--cov-precision": VALUE,
        "--cov-append": FLAG, "--cov-branch": FLAG, "--no-cov": FLAG, "--no-cov-on-fail": FLAG, "--cov-reset": FLAG,
    },
    "xdist": {"-n --numprocesses": VALUE, "--dist": VALUE, "--maxprocesses": VALUE, "--max-worker-restart": VALUE},
    "pytest_timeout": {"--timeout": VALUE, "--timeout-method": VALUE, "--session-timeout": VALUE},
    "pytest_rerunfailures": {"--reruns": VALUE, "--reruns-delay": VALUE},
    "pytest_randomly": {"--randomly-seed": VALUE, "--randomly-dont-reorganize": FLAG, "--randomly-dont-reset-seed": FLAG},
    "pytest_random_order": {"--random-order": FLAG, "--random-order-bucket": VALUE, "--random-order-seed": VALUE},
    "pytest_benchmark": {
        "--benchmark-disable": FLAG, "--benchmark-skip": FLAG, "--benchmark-enable": FLAG, "--benchmark-autosave": FLAG, "--benchmark-columns": VALUE,
        "--benchmark-group-by": VALUE, "--benchmark-sort": VALUE, "--benchmark-storage": VALUE,
    },
    "pytest_html": {"--html": VALUE, "--self-contained-html": FLAG, "--css": VALUE},
    "pytest_asyncio": {"--asyncio-mode": VALUE},
    "pytest_instafail": {"--instafail": FLAG},
    "pytest_socket": {"--disable-socket": FLAG, "--allow-unix-socket": FLAG, "--allow-hosts": VALUE},
    "pytest_mypy": {"--mypy": FLAG, "--mypy-ignore-missing-imports": FLAG},
    "pytest_flake8": {"--flake8": FLAG},
    "pytest_black": {"--black": FLAG},
    "pytest_isort": {"--isort": FLAG},
    "pytest_ruff": {"--ruff": FLAG, "--ruff-format": FLAG},
    "pytest_doctestplus": {"--doctest-plus": FLAG, "--doctest-rst": FLAG, "--doctest-ufunc": FLAG},
    "pytest_sugar": {"--old-summary": FLAG, "--force-sugar": FLAG},
}
SETTINGS = {
    "pytest_asyncio": ["asyncio_mode", "asyncio_default_fixture_loop_scope", "asyncio_default_test_loop_scope"],
    "pytest_timeout": ["timeout", "timeout_method", "timeout_func_only"],
    "xdist": ["looponfailroots"],
    "pytest_socket": [],
    "pytest_doctestplus": ["doctest_plus", "doctest_norecursedirs", "text_file_format"],
}


def pytest_addoption(parser):
    group = parser.getgroup("plugins that are not in the image")
    for module, options in OPTIONS.items():
        if find_spec(module) is not None:
            continue
        for names, how in options.items():
            try:
                group._addoption(*names.split(), dest="absent" + names.split()[-1].replace("-", "_"), **how)
            except ValueError:
                pass  # another plugin has it
        for name in SETTINGS.get(module, []):
            try:
                parser.addini(name, "of %s, which is not in the image" % module)
            except (AssertionError, ValueError):
                pass

"""Protections from configs with mistakes and from files of others; see `mutation.py`."""

from benchmarks.mutation import Mutation

_FUZZ = "tests/reliability/test_config_fuzz.py"
_HOSTILE = "tests/reliability/test_untrusted_files.py"
_ERROR = f"{_FUZZ}::test_every_broken_config_is_one_config_error"
_SHORT = f"{_FUZZ}::test_every_message_is_short_and_printable"
_FILE = f"{_HOSTILE}::test_a_hostile_file_gives_one_short_error"

INPUT = (
    Mutation(
        "Aliases that stand for more than a million values are refused",
        "envs/yaml_text.py",
        "        if count > MAX_VALUES:",
        "        if False:",
        _FILE,
    ),
    Mutation(
        "A YAML value that holds itself is refused",
        "envs/yaml_text.py",
        "        elif id(node) not in self._num_values:",
        "        elif False:",
        _ERROR,
    ),
    Mutation(
        "YAML of endless depth is refused",
        "envs/yaml_text.py",
        "        if len(self._path) > MAX_DEPTH:",
        "        if False:",
        _ERROR,
    ),
    Mutation(
        "A key that stands twice is refused with both lines",
        "envs/yaml_text.py",
        "            if key.value in lines:",
        "            if False:",
        _ERROR,
    ),
    Mutation(
        "YAML tags, which can name Python objects, are refused",
        "envs/yaml_text.py",
        "        if kind not in _KINDS:",
        "        if False:",
        _ERROR,
    ),
    Mutation(
        "Counts that no array can have are refused",
        "factorio_rl/config_sections.py",
        "LARGEST_COUNT = 2**31 - 1",
        "LARGEST_COUNT = 2**900",
        _ERROR,
    ),
    Mutation(
        "However many mistakes a config has, the message is short",
        "factorio_rl/overrides.py",
        "MAX_LISTED = 1_700",
        "MAX_LISTED = 10**9",
        _SHORT,
    ),
    Mutation(
        "A message holds no control characters of a file or a name",
        "envs/one_line.py",
        'letter if letter.isprintable() else "?"',
        "letter",
        _SHORT,
    ),
    Mutation(
        "An unknown held-out set is refused before jax starts and before anything is written",
        "factorio_rl/train_args.py",
        "    if heldout not in HELDOUT_SETS:",
        "    if False:",
        f"{_FUZZ}::test_the_command_prints_one_error_and_writes_nothing",
    ),
    Mutation(
        "A pipe or a device in the place of a file is not waited for",
        "envs/text_file.py",
        "    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):",
        "    if True:",
        f"{_HOSTILE}::test_what_is_no_regular_file_is_refused_without_waiting",
    ),
    Mutation(
        "A text file above its bound is refused",
        "envs/text_file.py",
        "    if len(data) > max_bytes:",
        "    if False:",
        _FILE,
    ),
    Mutation(
        "A blueprint that unpacks to more than its bound is refused",
        "envs/blueprint/text.py",
        "stream.decompress(raw, MAX_JSON_BYTES + 1)",
        "stream.decompress(raw)",
        _FILE,
    ),
    Mutation(
        "An impossible task in a pool is refused, the others are read",
        "envs/pool_file.py",
        "            check_task(solved, unpack_difficulty(record), unpack_variants(record))",
        "            pass",
        "tests/envs/test_pool_checks.py::test_an_impossible_task_is_refused_and_the_others_are_read",
    ),
    Mutation(
        "No pickle anywhere",
        "envs/pool_file.py",
        "import json\n",
        "import json\nimport pickle\n",
        f"{_HOSTILE}::test_no_code_runs_or_unpacks_what_a_file_says",
        quick=True,
    ),
    Mutation(
        "A link out of a run directory is refused",
        "factorio_rl/run_links.py",
        "            if path.is_symlink() and not _target(path).is_relative_to(root):",
        "            if False:",
        f"{_HOSTILE}::test_a_link_out_of_a_run_directory_is_refused",
    ),
    Mutation(
        "The name of a held-out set reaches no path",
        "envs/heldout.py",
        "    if name not in HELDOUT_SETS:",
        "    if False:",
        f"{_HOSTILE}::test_the_name_of_a_task_set_reaches_no_path",
    ),
)

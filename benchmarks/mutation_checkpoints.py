"""Protections of checkpoints: damage, kills, full disks, what is kept.

See `mutation.py`. The drills of `tests/reliability` are slow, so they stand only where nothing
cheaper holds a protection.
"""

from benchmarks.mutation import Mutation

_CHECKPOINT = "tests/factorio_rl/test_checkpoint.py"
_DAMAGE = "tests/factorio_rl/test_checkpoint_damage.py"
_SET_ASIDE = f"{_DAMAGE}::test_damaged_newest_is_set_aside_and_the_one_before_is_used"
_SAVER = "tests/factorio_rl/test_saver.py"
_RETENTION = "tests/factorio_rl/test_retention.py::test_newest_best_and_multiples_stay"
_KILLED = (
    "tests/reliability/test_exact_resume.py::"
    "test_run_that_is_killed_while_it_writes_goes_on_bit_for_bit"
)

CHECKPOINTS = (
    Mutation(
        "Numbers that changed on the disk are noticed: each part has a digest of ours",
        "factorio_rl/checkpoint.py",
        "            if digest(parts[name]) != manifest.digests.get(name):",
        "            if False:",
        f"{_SET_ASIDE}[other_numbers]",
    ),
    Mutation(
        "A manifest that was changed is noticed",
        "factorio_rl/checkpoint_manifest.py",
        "        intact = own == _own_digest(content)",
        "        intact = own is not None",
        f"{_SET_ASIDE}[change_manifest]",
    ),
    Mutation(
        "Whatever Orbax raises on a damaged checkpoint is an error in words",
        "factorio_rl/checkpoint.py",
        "        except Exception as error:\n            # Orbax raises many types",
        "        except KeyError as error:\n            # Orbax raises many types",
        f"{_DAMAGE}::test_whatever_orbax_raises_is_an_error_in_words",
    ),
    Mutation(
        "A run whose checkpoints are gone before it reported a chunk is not begun anew",
        "factorio_rl/checkpoint.py",
        "        if not lost and self._witness.exists():",
        "        if False:",
        "tests/factorio_rl/test_trainer.py::"
        "test_run_that_has_logged_no_chunk_is_not_begun_anew_without_its_checkpoints",
    ),
    Mutation(
        "A newest checkpoint that is gone is told",
        "factorio_rl/checkpoint.py",
        "            if last > step and not self._aside(last).exists():",
        "            if False:",
        "tests/factorio_rl/test_checkpoint.py::test_newest_checkpoint_that_is_gone_is_told",
    ),
    Mutation(
        "A checkpoint that a run removes while another process reads it is chosen anew",
        "factorio_rl/checkpoint.py",
        "                if (self.directory / str(step)).exists():\n                    raise\n",
        "                raise\n",
        "tests/factorio_rl/test_checkpoint.py::"
        "test_step_that_a_run_removes_meanwhile_is_chosen_anew",
    ),
    Mutation(
        "A best checkpoint that cannot be told for damage is a warning",
        "factorio_rl/checkpoint.py",
        '                    tell(f"warning: {error}")',
        "                    pass",
        "tests/factorio_rl/test_checkpoint.py::"
        "test_checkpoint_whose_score_cannot_be_read_is_told_when_the_best_is_asked_for",
    ),
    Mutation(
        "A damaged checkpoint is set aside and told, an older one is used",
        "factorio_rl/checkpoint.py",
        "            for damaged, reason in failures.items():",
        "            for damaged, reason in ():",
        f"{_SET_ASIDE}[delete_data]",
    ),
    Mutation(
        "With nothing but damaged checkpoints the run ends; it is not begun anew",
        "factorio_rl/checkpoint.py",
        "        if lost:",
        "        if False:",
        f"{_DAMAGE}::test_folder_of_damaged_checkpoints_is_an_error_that_names_them[cut_off]",
    ),
    Mutation(
        "With nothing but what was set aside the run is not begun anew either",
        "factorio_rl/checkpoint.py",
        '[*failures.values(), *(f"{path}: set aside before" for path in self._corrupt())]',
        "[*failures.values()]",
        f"{_DAMAGE}::test_folder_with_nothing_but_what_was_set_aside_is_not_begun_anew",
    ),
    Mutation(
        "An array of another type or shape is refused by its name",
        "factorio_rl/checkpoint_check.py",
        "        if (entry.shape, entry.dtype) != (leaf.shape, leaf.dtype):",
        "        if False:",
        f"{_DAMAGE}::test_other_shape_is_an_error_that_names_the_leaf",
    ),
    Mutation(
        "A link in a checkpoint is refused",
        "factorio_rl/checkpoint_check.py",
        "            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):",
        "            if False:",
        f"{_DAMAGE}::test_links_out_of_the_folder_are_refused",
    ),
    Mutation(
        "A checkpoint far larger than its arrays is not read",
        "factorio_rl/checkpoint_check.py",
        "    if found_bytes > allowed_bytes:",
        "    if False:",
        f"{_DAMAGE}::test_far_too_large_a_checkpoint_is_not_read",
    ),
    Mutation(
        "A chunk that unpacks to more than its array is not read",
        "factorio_rl/checkpoint_check.py",
        "        elif prod(entry.storage_metadata.chunk_shape) > max(prod(leaf.shape), 1):",
        "        elif False:",
        f"{_DAMAGE}::test_chunk_that_unpacks_to_more_than_its_array_is_not_read",
    ),
    Mutation(
        "A checkpoint has its name only once it is whole",
        "factorio_rl/checkpoint.py",
        "        unfinished = folder.with_name(folder.name + _WRITING)",
        "        unfinished = folder",
        f"{_CHECKPOINT}::test_failed_save_leaves_the_others_and_nothing_else",
    ),
    Mutation(
        "All of a checkpoint is on the disk before it has its name",
        "factorio_rl/checkpoint.py",
        "            _sync(unfinished)\n",
        "",
        f"{_CHECKPOINT}::test_all_of_a_checkpoint_is_on_the_disk_before_it_has_its_name",
    ),
    Mutation(
        "A kill in a deletion leaves no half checkpoint in its place",
        "factorio_rl/checkpoint.py",
        "                (self.directory / str(step)).rename(leaving)\n"
        "                _remove(leaving)",
        "                _remove(self.directory / str(step))",
        f"{_CHECKPOINT}::test_checkpoint_that_was_half_removed_is_not_seen",
    ),
    Mutation(
        "What a killed process left is removed at the next start",
        "factorio_rl/training_run.py",
        "        self._store.remove_leftovers()\n",
        "",
        f"{_KILLED}[killed_in_delete]",
    ),
    Mutation(
        "A checkpoint of other settings or tasks is refused with what differs",
        "factorio_rl/checkpoint.py",
        "            if name in known and known[name] != value",
        "            if False",
        f"{_CHECKPOINT}::test_checkpoint_of_other_settings_is_refused_with_what_differs",
    ),
    Mutation(
        "The best checkpoint stays",
        "factorio_rl/retention.py",
        "        kept.add(champion.step)",
        "        pass",
        _RETENTION,
    ),
    Mutation(
        "Every so many chunks a checkpoint stays",
        "factorio_rl/retention.py",
        "    if every_chunks is not None:",
        "    if False:",
        _RETENTION,
    ),
    Mutation(
        "On a full disk old checkpoints make room for the new one",
        "factorio_rl/saver.py",
        "                if not freed:",
        "                if True:",
        f"{_SAVER}::test_full_disk_gets_room_from_old_checkpoints_once",
    ),
    Mutation(
        "A checkpoint that cannot be written does not end the run",
        "factorio_rl/saver.py",
        "        if self._failed >= limit:",
        "        if True:",
        f"{_SAVER}::test_what_is_no_full_disk_costs_no_old_checkpoint",
    ),
    Mutation(
        "Too many in a row that cannot be written end the run",
        "factorio_rl/saver.py",
        "        if self._failed >= limit:",
        "        if False:",
        f"{_SAVER}::test_run_ends_after_so_many_failures_in_a_row",
    ),
    Mutation(
        "A run whose last state could not be saved does not end as if it was",
        "factorio_rl/saver.py",
        "        if self._failure is not None:",
        "        if False:",
        f"{_SAVER}::test_run_whose_last_checkpoint_failed_does_not_end_as_if_saved",
    ),
    Mutation(
        "A state that is not fit to go on from is not saved",
        "factorio_rl/saver.py",
        "        if why_not is not None:",
        "        if False:",
        f"{_SAVER}::test_state_that_is_not_fit_is_not_saved",
    ),
)

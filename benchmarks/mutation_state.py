"""Protections of a run's state: checkpoints, resuming, signals, the run directory.

See `mutation.py`. The drills of `tests/reliability` are slow, so they stand only where nothing
cheaper holds a protection.
"""

from benchmarks.mutation import Mutation

_CHECKPOINT = "tests/factorio_rl/test_checkpoint.py"
_DAMAGE = "tests/factorio_rl/test_checkpoint_damage.py"
_SET_ASIDE = f"{_DAMAGE}::test_damaged_newest_is_set_aside_and_the_one_before_is_used"
_SAVER = "tests/factorio_rl/test_saver.py"
_RETENTION = "tests/factorio_rl/test_retention.py::test_newest_best_and_multiples_stay"
_PREEMPTION = "tests/factorio_rl/test_preemption.py"
_STATE = "tests/factorio_rl/test_state_check.py::test_state_that_training_cannot_have_made_is_told"
_DIRECTORY = "tests/factorio_rl/test_run_directory.py"
_LOCK = "tests/factorio_rl/test_run_lock.py"
_KILLED = (
    "tests/reliability/test_exact_resume.py::"
    "test_run_that_is_killed_while_it_writes_goes_on_bit_for_bit"
)
_AGAIN = (
    "tests/reliability/test_signals.py::test_run_that_is_stopped_in_an_evaluation_makes_it_again"
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

RESUMING = (
    Mutation(
        "A run that was stopped goes on with its replay, bit for bit",
        "factorio_rl/training_run.py",
        "        self._state = LoopState(**parts)",
        '        self._state = LoopState(**{**parts, "replay": self._state.replay})',
        "tests/factorio_rl/test_trainer.py::"
        "test_stopped_and_resumed_run_equals_an_uninterrupted_one_bit_for_bit",
    ),
    Mutation(
        "Metrics past the checkpoint are made again, and stand once",
        "factorio_rl/training_run.py",
        "        self._reporter.resume(manifest.step, scored=self._is_evaluated)\n",
        "",
        f"{_KILLED}[killed_in_save]",
    ),
    Mutation(
        "An evaluation that was interrupted is made again",
        "factorio_rl/training_run.py",
        "        self._is_evaluated = manifest.score is not None",
        "        self._is_evaluated = True",
        _AGAIN,
    ),
    Mutation(
        "A state is saved before it is evaluated",
        "factorio_rl/training_run.py",
        "            is_saved = self._saver.save(self._state, is_last=is_last)\n"
        "            score = self._evaluate()\n",
        "            score = self._evaluate()\n"
        "            is_saved = self._saver.save(self._state, is_last=is_last)\n",
        "tests/factorio_rl/test_training_run.py::test_state_is_saved_before_it_is_evaluated",
    ),
    Mutation(
        "A state that was not fit to be saved is made up for by the next that is",
        "factorio_rl/training_run.py",
        "        elif (is_due or self._saver.is_owed) and not self._is_evaluated:",
        "        elif is_due and not self._is_evaluated:",
        "tests/factorio_rl/test_training_run.py::"
        "test_state_that_was_not_fit_to_be_saved_is_made_up_for_by_the_next",
    ),
    Mutation(
        "Task numbers of a checkpoint that lead out of the pool are noticed, digests or not",
        "factorio_rl/state_check.py",
        "        if not _within(index, num_tasks):",
        "        if False:",
        f"{_STATE}[with_pending_task-a task number is not from 0 to 3]",
    ),
    Mutation(
        "Parameters of a checkpoint that are not finite are noticed",
        "factorio_rl/state_check.py",
        "    if not bool(all_finite((learner.params, learner.optimizer, state.precision.scales))):",
        "    if False:",
        f"{_STATE}[with_nan-a parameter is not finite]",
    ),
    Mutation(
        "A line of the metrics that somebody else wrote does not keep a run from going on",
        "factorio_rl/metrics.py",
        "        except (ValueError, RecursionError):",
        "        except json.JSONDecodeError:",
        "tests/factorio_rl/test_metrics.py::"
        "test_lines_of_another_hand_do_not_keep_a_run_from_going_on[endless depth]",
    ),
    Mutation(
        "A pipe in the place of a run's file is not waited for",
        "factorio_rl/run_directory.py",
        "        self._require_kinds()",
        "        pass",
        f"{_DIRECTORY}::"
        "test_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for[metrics.jsonl]",
    ),
    Mutation(
        "A run whose checkpoints are gone is not begun anew",
        "factorio_rl/training_run.py",
        "        if self._reporter.has_progress() or self._directory.has_progress():",
        "        if False:",
        "tests/reliability/test_exact_resume.py::"
        "test_run_whose_checkpoints_are_gone_is_not_begun_anew",
    ),
    Mutation(
        "Deterministic flags are set before jax is loaded",
        "factorio_rl/cli.py",
        "    if options.config.run.deterministic:",
        "    if False:",
        "tests/factorio_rl/test_runtime.py::"
        "test_deterministic_run_adds_its_flags_before_jax_is_loaded",
    ),
    Mutation(
        "A second signal ends a process that runs no handler, as in a compilation",
        "factorio_rl/preemption.py",
        "signal.signal(number, _leave_to_the_watcher)\n"
        "        threading.Thread(target=self._watch, args=(watched,), "
        'name="signals", daemon=True).start()\n',
        "signal.signal(number, lambda number, _: self._note(number))\n",
        f"{_PREEMPTION}::test_second_signal_ends_a_process_that_runs_no_handler",
    ),
    Mutation(
        "A second signal ends the run at once",
        "factorio_rl/preemption.py",
        "            os._exit(128 + number)",
        "            return",
        f"{_PREEMPTION}::test_second_signal_ends_the_process_at_once[2-2]",
    ),
    Mutation(
        "A signal that the caller ignores, as nohup does, is ignored",
        "factorio_rl/preemption.py",
        "            if signal.getsignal(number) is not signal.SIG_IGN:",
        "            if True:",
        f"{_PREEMPTION}::test_signal_that_the_caller_has_ignored_stays_ignored",
        quick=True,
    ),
    Mutation(
        "A signal in an evaluation is obeyed after the move",
        "factorio_rl/evaluation.py",
        "            before_each_move()",
        "            pass",
        "tests/factorio_rl/test_evaluation.py::test_evaluation_can_be_ended_between_two_moves",
    ),
    Mutation(
        "A run asks its evaluation to obey signals",
        "factorio_rl/training_run.py",
        "self._evaluator.evaluate(params, self._stop.raise_if_asked)",
        "self._evaluator.evaluate(params)",
        _AGAIN,
    ),
    Mutation(
        "A run directory belongs to one process at a time",
        "factorio_rl/run_lock.py",
        "        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "        pass",
        f"{_LOCK}::test_a_directory_is_held_by_one_process_at_a_time",
        quick=True,
    ),
    Mutation(
        "A lock file that is removed is taken again",
        "factorio_rl/run_lock.py",
        "            taken = _taken(self.folder)",
        "            return",
        f"{_LOCK}::test_a_lock_whose_file_was_removed_is_taken_again",
    ),
    Mutation(
        "An evaluation that cannot be written is refused before it is made",
        "factorio_rl/evaluate_command.py",
        "        require_writable(folder)",
        "        pass",
        "tests/factorio_rl/test_trainer.py::"
        "test_evaluation_that_could_not_be_written_is_refused_before_it_is_made",
    ),
    Mutation(
        "A run whose lock file was removed does not train beside another run",
        "factorio_rl/training_run.py",
        "        self._directory.require_lock()\n        is_last",
        "        is_last",
        "tests/factorio_rl/test_trainer.py::"
        "test_run_ends_when_its_lock_was_removed_and_another_run_has_begun",
    ),
    Mutation(
        "A run directory of another architecture or environment is refused",
        "factorio_rl/run_directory.py",
        "            self._refuse(architecture_differences(saved, config))",
        "            pass",
        f"{_DIRECTORY}::test_other_architecture_environment_or_task_set_is_refused",
    ),
    Mutation(
        "A run directory of other tasks is refused",
        "factorio_rl/run_directory.py",
        "            self._refuse(self._identity_differences(identity))",
        "            pass",
        f"{_DIRECTORY}::test_other_tasks_under_the_same_settings_are_refused",
    ),
    Mutation(
        "A run directory that somebody removed is not made anew in part",
        "factorio_rl/checkpoint.py",
        "            self.directory.mkdir(exist_ok=True)",
        "            self.directory.mkdir(parents=True, exist_ok=True)",
        f"{_CHECKPOINT}::test_run_directory_that_is_gone_is_not_made_anew",
    ),
    Mutation(
        "Settings that may change are told",
        "factorio_rl/run_directory.py",
        "        return [] if saved is None else tunable_differences(saved, config)",
        "        return []",
        f"{_DIRECTORY}::test_changed_tunables_are_reported_and_saved",
    ),
    Mutation(
        "A directory with files of something else is left alone",
        "factorio_rl/run_directory.py",
        "            file.name not in ours and not is_leftover(file.name) "
        "for file in self.path.iterdir()",
        "            False for file in self.path.iterdir()",
        f"{_DIRECTORY}::test_directory_with_files_of_something_else_is_refused",
    ),
)

"""Protections of a run's state at a stop and a start: resuming, signals, the run directory.

See `mutation.py`. The drills of `tests/reliability` are slow, so they stand only where nothing
cheaper holds a protection.
"""

from benchmarks.mutation import Mutation

_CHECKPOINT = "tests/factorio_rl/test_checkpoint.py"
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

RESUMING = (
    Mutation(
        "A run that was stopped goes on with its replay, bit for bit",
        "factorio_rl/training_run.py",
        "        self._state = replace(self._state, **parts)",
        '        self._state = replace(self._state, **{**parts, "replay": self._state.replay})',
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
        "    if not bool(all_finite((learner.params, learner.optimizer, scales))):",
        "    if False:",
        f"{_STATE}[with_nan-a parameter is not finite]",
    ),
    Mutation(
        "A line of the metrics that somebody else wrote does not keep a run from going on",
        "factorio_rl/metrics.py",
        "    except (ValueError, RecursionError):",
        "    except json.JSONDecodeError:",
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
        "A run whose lock file was removed reports nothing beside another run",
        "factorio_rl/training_run.py",
        '        """Reports an event with the counters before its fields and the time after."""\n'
        "        self._directory.require_lock()\n",
        '        """Reports an event with the counters before its fields and the time after."""\n',
        "tests/factorio_rl/test_trainer.py::"
        "test_run_ends_when_its_lock_was_removed_and_another_run_has_begun[imitation-0]",
    ),
    Mutation(
        "A lock with another name is not written into",
        "factorio_rl/run_lock.py",
        "    if os.fstat(file.fileno()).st_nlink == 1:",
        "    if True:",
        f"{_LOCK}::test_a_lock_with_another_name_is_not_written_into",
    ),
    Mutation(
        "A link in the place of a run's file is refused",
        "factorio_rl/run_directory.py",
        "path for path in paths if path.is_symlink() or (path.exists() and not path.is_file())",
        "path for path in paths if path.exists() and not path.is_file()",
        f"{_DIRECTORY}::"
        "test_link_in_the_place_of_a_file_is_refused_and_not_written_through[metrics.jsonl]",
    ),
    Mutation(
        "A run directory whose name no checkpoint can have is refused",
        "factorio_rl/run_directory.py",
        "        self._require_name()\n",
        "",
        f"{_DIRECTORY}::test_name_that_checkpoints_cannot_be_written_under_is_refused",
    ),
    Mutation(
        "Metrics that were changed before a resume are told",
        "factorio_rl/metrics.py",
        "            if is_there:",
        "            if False:",
        "tests/factorio_rl/test_metrics.py::"
        "test_lines_that_were_changed_before_a_resume_are_told[noise-1 lines of it are no records]",
    ),
    Mutation(
        "Settings of jax that the program cannot compute with are refused",
        "factorio_rl/runtime.py",
        '    if jax.config.values["jax_enable_x64"]:',
        "    if False:",
        "tests/factorio_rl/test_runtime.py::"
        "test_environment_that_keeps_jax_from_computing_is_an_error_in_words"
        "[JAX_ENABLE_X64-1-JAX_ENABLE_X64 is set]",
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

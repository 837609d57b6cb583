"""Protections of what a run writes and prints, and from wandb; see `mutation.py`."""

from benchmarks.mutation import Mutation

_ATOMIC = "tests/envs/test_atomic_file.py"
_METRICS = "tests/factorio_rl/test_metrics_failures.py"
_OUTPUT = "tests/factorio_rl/test_safe_output.py"
_SINK = "tests/factorio_rl/test_wandb_sink.py"
_PROCESS = "tests/factorio_rl/test_wandb_process.py"
_CLOCK = (
    "tests/factorio_rl/test_display.py::"
    "test_clock_that_stands_still_or_goes_backwards_gives_no_rate_and_no_negative_time"
)

REPORTING = (
    Mutation(
        "A file is on the disk before it has its name",
        "envs/atomic_file.py",
        "            os.fsync(file.fileno())",
        "            pass",
        f"{_ATOMIC}::test_file_is_on_the_disk_before_it_has_its_name",
    ),
    Mutation(
        "A killed writer leaves the old file",
        "envs/atomic_file.py",
        '    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")',
        "    fresh = path",
        f"{_ATOMIC}::test_killed_writer_leaves_the_old_file_and_a_leftover_that_is_removed",
        quick=True,
    ),
    Mutation(
        "Pictures and reports on a full disk leave the old ones",
        "factorio_rl/evaluation_files.py",
        "    write_atomically(path, [encoded.getbuffer()])",
        "    path.write_bytes(encoded.getbuffer())",
        "tests/factorio_rl/test_evaluation_files.py::"
        "test_full_disk_leaves_the_old_files_and_no_part_of_new_ones",
    ),
    Mutation(
        "A metrics file that cannot be written ends no run",
        "factorio_rl/metrics.py",
        "        except OSError as error:\n            self._complain(error)\n            return\n"
        "        if self._failures:",
        "        except ZeroDivisionError:\n            return\n        if self._failures:",
        f"{_METRICS}::test_device_that_is_always_full_raises_nothing",
    ),
    Mutation(
        "Lines that a full disk did not take follow in order",
        "factorio_rl/metrics.py",
        "                while self._waiting:\n"
        "                    self._append(file, self._waiting[0][0])\n"
        "                    self._waiting.popleft()",
        "                while self._waiting:\n"
        "                    self._append(file, self._waiting.popleft()[0])",
        f"{_METRICS}::test_lines_that_a_full_disk_did_not_take_follow_in_order",
    ),
    Mutation(
        "A line that fits in part is cut off again",
        "factorio_rl/metrics.py",
        "        file.truncate(size)\n",
        "",
        f"{_METRICS}::test_line_that_fits_in_part_is_neither_torn_nor_lost_nor_doubled",
    ),
    Mutation(
        "A report that cannot be written is a warning",
        "factorio_rl/reporter.py",
        "        except Exception as error:  # a",
        "        except ZeroDivisionError as error:  # a",
        "tests/factorio_rl/test_reporter.py::test_file_that_cannot_be_written_is_a_warning",
    ),
    Mutation(
        "A terminal or pipe that closes ends no run",
        "factorio_rl/safe_output.py",
        "        with suppress(OSError, ValueError):\n            self._stream.write(text)",
        "        self._stream.write(text)",
        f"{_OUTPUT}::test_no_error_of_the_stream_is_raised",
        quick=True,
    ),
    Mutation(
        "A full disk under the standard output ends no run",
        "factorio_rl/safe_output.py",
        "            stream.settle()",
        "            pass",
        f"{_OUTPUT}::test_full_disk_under_the_output_does_not_end_the_program",
    ),
    Mutation(
        "A clock that goes backwards gives no negative time",
        "factorio_rl/display.py",
        "divmod(max(0, int(seconds)), 60)",
        "divmod(int(seconds), 60)",
        _CLOCK,
    ),
    Mutation(
        "wandb is kept out of the signals of the terminal",
        "factorio_rl/wandb_sink.py",
        "            start_new_session=True,",
        "            start_new_session=False,",
        f"{_SINK}::test_nothing_of_wandb_enters_the_process_of_the_run",
    ),
    Mutation(
        "A wandb process that was killed is replaced",
        "factorio_rl/wandb_sink.py",
        '                failure = self._run("offline")\n',
        "                pass\n",
        f"{_SINK}::test_killed_process_is_replaced_by_one_that_gets_all_events",
    ),
    Mutation(
        "The end of a run does not wait for a wandb that hangs at its start",
        "factorio_rl/wandb_sink.py",
        "            going_online.send_signal(signal.SIGALRM)",
        "            pass",
        f"{_SINK}::test_end_of_a_run_does_not_wait_for_a_start_that_hangs",
    ),
    Mutation(
        "A wandb that cannot be started turns it off",
        "factorio_rl/wandb_sink.py",
        "        except OSError as error:\n            failure",
        "        except ZeroDivisionError as error:\n            failure",
        f"{_SINK}::test_full_disk_at_the_start_turns_the_sink_off",
    ),
    Mutation(
        "Signals that stop a run do not stop its upload",
        "factorio_rl/wandb_process.py",
        "        signal.signal(number, signal.SIG_IGN)",
        "        pass",
        f"{_PROCESS}::test_signals_that_stop_the_run_do_not_stop_its_upload",
    ),
    Mutation(
        "A wandb that hangs is ended",
        "factorio_rl/wandb_process.py",
        "        signal.alarm(PATIENCE_S)\n        receiver.take(value)",
        "        receiver.take(value)",
        f"{_PROCESS}::test_hang_ends_it",
    ),
)

"""Protections from numbers that are not finite, a failing verifier, and too little memory.

See `mutation.py`.
"""

from benchmarks.mutation import Mutation

_LEARNER = "tests/factorio_rl/test_learner.py"
_SELFPLAY = "tests/factorio_rl/test_selfplay.py"
_NON_FINITE = "tests/factorio_rl/test_non_finite.py"
_SCORING = "tests/factorio_rl/test_scoring.py"
_FAILURES = "tests/factorio_rl/test_verifier_failures.py"
_DEVICE = "tests/factorio_rl/test_device_errors.py"
_MEMORY = "tests/factorio_rl/test_memory_need.py"
_POOL = "tests/envs/test_pool_generation.py"

NUMBERS = (
    Mutation(
        "An update whose loss or gradient is not finite is skipped",
        "factorio_rl/learner.py",
        "        params, optimizer_state = jax.tree.map(partial(jnp.where, finite), new, old)",
        "        params, optimizer_state = new",
        f"{_LEARNER}::test_update_on_a_score_that_is_no_number_is_as_if_left_out",
    ),
    Mutation(
        "A step to parameters that are not finite is not made",
        "factorio_rl/learner.py",
        " & jnp.isfinite(norm) & all_finite(new)",
        " & jnp.isfinite(norm)",
        f"{_LEARNER}::test_step_to_parameters_that_are_not_finite_is_not_made",
    ),
    Mutation(
        "A search that is not finite ends the episode",
        "factorio_rl/selfplay.py",
        "        action = jnp.where(finite, found.action, finish)",
        "        action = found.action",
        f"{_SELFPLAY}::test_search_that_is_not_finite_ends_the_episode_and_leaves_no_row",
    ),
    Mutation(
        "A search that is not finite leaves nothing in the replay",
        "factorio_rl/selfplay.py",
        "policy, env, actor.episode, finite)",
        "policy, env, actor.episode, jnp.ones_like(finite))",
        f"{_SELFPLAY}::test_search_that_is_not_finite_ends_the_episode_and_leaves_no_row",
    ),
    Mutation(
        "Skipped updates past a limit in a row end the run with a dump",
        "factorio_rl/non_finite.py",
        "    if in_a_row > config.learner.max_skipped_updates:",
        "    if False:",
        f"{_NON_FINITE}::test_full_disk_costs_the_dump_and_not_the_message",
    ),
    Mutation(
        "Chunks with searches that are not finite past a limit end the run with a dump",
        "factorio_rl/non_finite.py",
        "    elif chunks > config.actor.max_non_finite_chunks:",
        "    elif False:",
        f"{_NON_FINITE}::test_searches_past_the_limit_end_the_run",
    ),
    Mutation(
        "A parameter that is not finite is never saved",
        "factorio_rl/non_finite.py",
        "    if not bool(all_finite((learner.params, learner.optimizer, state.precision.scales))):",
        "    if False:",
        f"{_NON_FINITE}::test_parameter_that_is_not_finite_is_not_to_be_saved",
    ),
    Mutation(
        "Parameters whose last update was skipped are not saved",
        "factorio_rl/non_finite.py",
        "    if learner.skipped_in_row:",
        "    if False:",
        f"{_NON_FINITE}::test_score_that_is_no_number_skips_updates_until_it_is_gone",
    ),
    Mutation(
        "A layout whose verification fails scores 0 and costs no other its score",
        "factorio_rl/scoring.py",
        "        except Exception as error:",
        "        except ZeroDivisionError as error:",
        f"{_SCORING}::test_layout_that_cannot_be_verified_scores_zero_and_costs_no_other_its_score",
    ),
    Mutation(
        "A layout above its tick cap is written down",
        "factorio_rl/scoring.py",
        "            self._failures.record(spec, placements, failure)",
        "            pass",
        f"{_SCORING}::test_layouts_above_the_tick_cap_are_counted_and_logged",
    ),
    Mutation(
        "The files of failed layouts are bounded in number",
        "factorio_rl/verifier_failures.py",
        '            if len(list(self._folder.glob("*.json"))) >= MAX_FILES:',
        "            if False:",
        f"{_FAILURES}::test_files_are_bounded_over_all_starts_of_a_run",
    ),
    Mutation(
        "A full disk costs the file of a failed layout and not the run",
        "factorio_rl/verifier_failures.py",
        "        except OSError as error:",
        "        except ZeroDivisionError as error:",
        f"{_FAILURES}::test_full_disk_costs_the_file_and_is_told_once",
    ),
    Mutation(
        "Out of memory on the device names the settings to lower",
        "factorio_rl/device_errors.py",
        "        if is_out_of_memory(error):",
        "        if False:",
        f"{_DEVICE}::test_allocation_that_jax_cannot_make_names_bytes_and_settings",
    ),
    Mutation(
        "Out of memory in the host's arrays names the settings to lower",
        "factorio_rl/device_errors.py",
        "    except MemoryError as error:",
        "    except ZeroDivisionError as error:",
        f"{_DEVICE}::test_allocation_that_numpy_cannot_make_counts_too",
        quick=True,
    ),
    Mutation(
        "A failed compilation names the switches to try",
        "factorio_rl/device_errors.py",
        "            _ON_CHIP.search(text) or _COMPILATION.search(text)",
        "            False",
        f"{_DEVICE}::test_failed_compilation_names_the_switches_to_try",
    ),
    Mutation(
        "A replay above the memory is refused before anything is written",
        "factorio_rl/memory_need.py",
        "    if needed <= available:",
        "    if True:",
        f"{_MEMORY}::test_replay_above_the_memory_is_refused_with_the_figures",
    ),
    Mutation(
        "A scatter writes to places of its own, in the order of no threads",
        "factorio_rl/replay.py",
        'new.astype(ring.dtype), mode="drop", unique_indices=True)',
        'new.astype(ring.dtype), mode="drop")',
        "tests/factorio_rl/test_deterministic_programs.py::"
        "test_every_scatter_writes_to_places_of_its_own",
    ),
    Mutation(
        "A search tree above the memory is refused before anything is written",
        "factorio_rl/memory_need.py",
        "        if needed > available:",
        "        if False:",
        f"{_MEMORY}::test_search_tree_above_the_memory_is_refused_with_both_settings[search-actor.num_envs]",
    ),
    Mutation(
        "A task worker that is killed ends the start in words",
        "envs/pool_generation.py",
        "        except BrokenProcessPool:",
        "        except ZeroDivisionError:",
        f"{_POOL}::test_worker_that_is_killed_ends_it_in_words",
    ),
    Mutation(
        "A signal to all processes stops the making of tasks as one to the run does",
        "envs/pool_generation.py",
        "            time.sleep(STOP_GRACE_S)\n            tell()\n",
        "",
        f"{_POOL}::test_a_stop_that_was_asked_for_wins_over_a_worker_that_died",
    ),
)

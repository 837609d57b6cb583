"""Imports go one way, jax stays out where it is not needed, and files stay small."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_LINES = 400

# A module imports only what is below it here.
ORDER = (
    "train",
    "factorio_rl.__main__",
    "factorio_rl.cli",
    "factorio_rl.report_command",
    "factorio_rl.run_report",
    "factorio_rl.run_report_training",
    "factorio_rl.run_report_scores",
    "factorio_rl.run_report_facts",
    "factorio_rl.run_scores",
    "factorio_rl.run_pictures",
    "factorio_rl.run_charts",
    "factorio_rl.run_record",
    "factorio_rl.audit_command",
    "factorio_rl.reproduce_command",
    "factorio_rl.render_command",
    "factorio_rl.export_command",
    "factorio_rl.pack_command",
    "factorio_rl.design_command",
    "factorio_rl.design_example",
    "factorio_rl.design_task",
    "factorio_rl.tasks_command",
    "factorio_rl.tasks_build",
    "factorio_rl.tasks_show",
    "factorio_rl.tasks_validate",
    "factorio_rl.design_bar",
    "factorio_rl.design_files",
    "factorio_rl.design_summary",
    "factorio_rl.design_page",
    "factorio_rl.design_page_tables",
    "factorio_rl.design_page_plan",
    "factorio_rl.design_page_steps",
    "factorio_rl.design_start",
    "factorio_rl.design_search",
    "factorio_rl.design_rounds",
    "factorio_rl.design_pruning",
    "factorio_rl.design_judge",
    "factorio_rl.design_play",
    "factorio_rl.verify_command",
    "factorio_rl.verify_text",
    "factorio_rl.design_answer",
    "factorio_rl.verify_answer",
    "factorio_rl.pictures",
    "factorio_rl.first_compile",
    "factorio_rl.in_background",
    "factorio_rl.trainer",
    "factorio_rl.training_run",
    "factorio_rl.saver",
    "factorio_rl.state_check",
    "factorio_rl.run_fields",
    "factorio_rl.best_agent",
    "factorio_rl.evaluate_command",
    "factorio_rl.initial_params",
    "factorio_rl.agent_file",
    "factorio_rl.agent_scores",
    "factorio_rl.printing",
    "factorio_rl.reporter",
    "factorio_rl.wandb_sink",
    "factorio_rl.wandb_process",
    "factorio_rl.wandb_files",
    "factorio_rl.file_note",
    "factorio_rl.wandb_mode",
    "factorio_rl.display",
    "factorio_rl.wandb_names",
    "factorio_rl.metrics",
    "factorio_rl.safe_output",
    "factorio_rl.evaluation_files",
    "factorio_rl.run_parameters",
    "factorio_rl.evaluation",
    "factorio_rl.pool",
    "factorio_rl.non_finite",
    "factorio_rl.non_finite_dump",
    "factorio_rl.chunk",
    "factorio_rl.keys",
    "factorio_rl.device_errors",
    "factorio_rl.memory_need",
    "factorio_rl.precision_choice",
    "factorio_rl.audit_run",
    "factorio_rl.audit_programs",
    "factorio_rl.audit",
    "factorio_rl.convolutions",
    "factorio_rl.non_finite_case",
    "factorio_rl.precision",
    "factorio_rl.agreement",
    "factorio_rl.time_breakdown",
    "factorio_rl.loop_state",
    "factorio_rl.checkpoint",
    "factorio_rl.retention",
    "factorio_rl.checkpoint_check",
    "factorio_rl.checkpoint_manifest",
    "factorio_rl.curriculum_picture",
    "factorio_rl.curriculum",
    "factorio_rl.scoring",
    "factorio_rl.failure_kinds",
    "factorio_rl.arrivals",
    "factorio_rl.verifier_failures",
    "factorio_rl.learner",
    "factorio_rl.losses",
    "factorio_rl.selfplay",
    "factorio_rl.replay",
    "factorio_rl.demonstrations",
    "factorio_rl.network_timing",
    "factorio_rl.model",
    "factorio_rl.tower_timing",
    "factorio_rl.fp8_network",
    "factorio_rl.quantize",
    "factorio_rl.precision_switch",
    "factorio_rl.network",
    "factorio_rl.search",
    "factorio_rl.search.choice",
    "factorio_rl.search.policy",
    "factorio_rl.search.kernel_tree",
    "factorio_rl.search.kernel",
    "factorio_rl.search.kernel_select",
    "factorio_rl.search.lean_tree",
    "factorio_rl.search.methods",
    "factorio_rl.search.backup",
    "factorio_rl.search.walk",
    "factorio_rl.search.settings",
    "factorio_rl.search.select",
    "factorio_rl.search.tree_figures",
    "factorio_rl.search.tree",
    "factorio_rl.runtime",
    "factorio_rl.preemption",
    "factorio_rl.run_directory",
    "factorio_rl.run_links",
    "factorio_rl.run_lock",
    "factorio_rl.train_args",
    "factorio_rl.wandb_sweep",
    "factorio_rl.env_shape",
    "factorio_rl.config_file",
    "factorio_rl.config_fields",
    "factorio_rl.overrides",
    "factorio_rl.config",
    "factorio_rl.config_sections",
    "factorio_rl.argument_types",
    "factorio_rl.home_folder",
    "factorio_rl.chart_lines",
    "factorio_rl.chart_grid",
    "factorio_rl.chart_axes",
    "factorio_rl.html_page",
    "factorio_rl",
    "envs.observe_choice",
    "envs.kernel_check",
    "envs.observation",
    "envs.reach_kernel",
    "envs.reach",
    "envs.symmetry",
    "envs.dynamics",
    "envs.types",
    "envs.heldout",
    "envs.pool_file",
    "envs.pool_checks",
    "envs.pool_records",
    "envs.task_file",
    "envs.task_brief",
    "envs.task_fields",
    "envs.task_problems",
    "envs.task_checks",
    "envs.task_bound",
    "envs.task_room",
    "envs.pool_generation",
    "envs.generate",
    "envs.construction",
    "envs.machine_sites",
    "envs.routing",
    "envs.task_draw",
    "envs.arm_counts",
    "envs.split",
    "envs.geometry",
    "envs.solved",
    "envs.flow_order",
    "envs.random_draw",
    "envs.verifier",
    "envs.verifier.first_use",
    "envs.verifier.bottleneck",
    "envs.verifier.limits",
    "envs.verifier.cures",
    "envs.verifier.changes",
    "envs.verifier.diagnosis",
    "envs.verifier.lane_flow",
    "envs.verifier.observe",
    "envs.verifier.api",
    "envs.verifier.report",
    "envs.verifier.recurrence",
    "envs.verifier.marks",
    "envs.verifier.filling",
    "envs.verifier.engine",
    "envs.verifier.arms",
    "envs.verifier.belts",
    "envs.verifier.state",
    "envs.verifier.reach",
    "envs.verifier.compile",
    "envs.verifier.parts",
    "envs.verifier.arm_plans",
    "envs.verifier.targets",
    "envs.verifier.lanes",
    "envs.verifier.encode",
    "envs.verifier.records",
    "envs.verifier.jit",
    "envs.render_heat",
    "envs.render",
    "envs.render_text",
    "envs.text_legend",
    "envs.draw_svg",
    "envs.draw_entities",
    "envs.draw_labels",
    "envs.draw_machines",
    "envs.draw_belts",
    "envs.draw_canvas",
    "envs.heat_colours",
    "envs.draw",
    "envs.turns",
    "envs.labels",
    "envs.actions",
    "envs.task_spec",
    "envs.layout_input",
    "envs.blueprint.exporting",
    "envs.blueprint.description",
    "envs.blueprint.power",
    "envs.blueprint.pole_search",
    "envs.blueprint.importing",
    "envs.blueprint.outputs",
    "envs.blueprint.inference",
    "envs.blueprint.site",
    "envs.blueprint.ports",
    "envs.blueprint.taint",
    "envs.blueprint.structure",
    "envs.blueprint.settings",
    "envs.blueprint.pieces",
    "envs.blueprint.game",
    "envs.blueprint.book",
    "envs.blueprint.text",
    "envs.blueprint",
    "envs.families",
    "envs.item_flow",
    "envs.layout_json",
    "envs.layout",
    "envs.catalogue",
    "envs.yaml_text",
    "envs.text_file",
    "envs.one_line",
    "envs.suggestion",
    "envs.atomic_file",
    "envs.errors",
    "envs",
)

JAX_FREE = (
    "envs.verifier",
    "envs.render",
    "envs.layout",
    "envs.layout_input",
    "envs.catalogue",
    "envs.task_spec",
    "envs.generate",
    "envs.heldout",
    "factorio_rl.config_file",
    "factorio_rl.config_fields",
    "factorio_rl.cli",
    "factorio_rl.pool",
    "factorio_rl.tasks_build",
    "factorio_rl.tasks_show",
    "factorio_rl.run_report",
    "factorio_rl.design_page",
)
HEAVY = ("jax", "flax", "optax", "orbax", "wandb")


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): path
    for path in (
        ROOT / "train.py",
        *(ROOT / "envs").rglob("*.py"),
        *(ROOT / "factorio_rl").rglob("*.py"),
    )
}


def imported(path: Path) -> Iterator[str]:
    """Modules of the project that a file imports anywhere, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the whole module name"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from [name for name in (inner, node.module) if name in MODULES][:1]


def run_python(code: str, **env: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_has_a_place_in_the_order() -> None:
    assert sorted(ORDER) == sorted(MODULES)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_imports_only_what_is_below_it(name: str) -> None:
    place = {module: number for number, module in enumerate(ORDER)}
    upward = {other for other in imported(MODULES[name]) if place[other] <= place[name]}
    assert not upward


def test_the_environment_knows_nothing_of_learning() -> None:
    for name, path in MODULES.items():
        if name.partition(".")[0] == "envs":
            assert not [other for other in imported(path) if other.startswith("factorio_rl")]


def test_jax_free_modules_load_no_jax() -> None:
    code = f"""
import importlib, sys
for name in {JAX_FREE}:
    importlib.import_module(name)
    loaded = [heavy for heavy in {HEAVY} if heavy in sys.modules]
    if loaded:
        print(name, "loads", loaded)
        break
from envs.verifier import verify
print([heavy for heavy in {HEAVY} if heavy in sys.modules])
"""
    assert run_python(code) == "[]\n"


def test_the_verifier_and_the_command_line_load_numba_only_when_used() -> None:
    code = "import envs.verifier, factorio_rl.cli, sys; print('numba' in sys.modules)"
    assert run_python(code) == "False\n"


def test_importing_any_module_does_no_jax_work() -> None:
    names = [name for name in ORDER if name not in ("train", "factorio_rl.__main__")]
    code = f"import importlib\nfor name in {names}: importlib.import_module(name)\nprint('done')"
    # Any array made at import would ask for this platform and fail.
    assert run_python(code, JAX_PLATFORMS="no_such_platform") == "done\n"


def test_no_file_is_above_400_lines() -> None:
    folders = ("envs", "factorio_rl", "tests", "benchmarks")
    files = [ROOT / "train.py", *(path for name in folders for path in (ROOT / name).rglob("*.py"))]
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    assert {name: lines for name, lines in long.items() if lines > MAX_LINES} == {}
